"""`python -m core collect`: arguments, the estimate, a line of progress, and Ctrl-C."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.judging.items import Item
    from core.judging.job import Job, Judge
    from core.judging.progress import Progress
    from core.judging.runner import Run
    from core.store import Store

DONE, INCOMPLETE = 0, 3
"""Exit codes: everything is answered; something is left for another run."""
LOCAL = "http://localhost:11434/v1"
LINE_SECONDS = 2.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "items",
        nargs="?",
        metavar="ITEMS.csv",
        help="columns prompt, response_a, response_b (or more); item_id, model_a, model_b, gold, category",
    )
    parser.add_argument(
        "--items-of", metavar="DATASET", help="judge the texts of a data set of the store instead"
    )
    parser.add_argument(
        "--store", required=True, metavar="PATH", help="store file, not the one the app has open"
    )
    parser.add_argument("--dataset", help="name of the data set (default: the file's stem)")
    model = parser.add_argument_group("the judge")
    model.add_argument(
        "--model", required=True, nargs="+", help="openai/NAME, anthropic/NAME …; several share the job"
    )
    model.add_argument("--base-url", metavar="URL", help=f"a server with the OpenAI format, such as {LOCAL}")
    model.add_argument("--judge", metavar="NAME", help="who votes (default: the model's name)")
    model.add_argument("--key-env", metavar="VARIABLE", help="environment variable that holds the key")
    model.add_argument(
        "--price", nargs=2, type=float, metavar=("PROMPT", "COMPLETION"), help="per million tokens"
    )
    model.add_argument("--reply-tokens", type=int, default=1024, help="longest reply, in tokens (1024)")
    model.add_argument("--timeout", type=float, default=120.0, help="seconds a call may take (120)")
    model.add_argument(
        "--yes-send-to",
        nargs="+",
        default=[],
        metavar="HOST",
        help="send texts to this host, which is not a known one",
    )
    asked = parser.add_argument_group("what is asked")
    asked.add_argument(
        "--protocol",
        default="pairwise",
        help="pairwise (default), greedy, score, listwise, usc, gsa, apoc, fuser",
    )
    asked.add_argument(
        "--votes", type=int, help="votes a comparison (8), scores a response (1), orderings (7)"
    )
    asked.add_argument("--orders", default="balanced", help="balanced (default) or ab")
    asked.add_argument("--confidence", default="none", help="none (default), self, multi or logprob")
    asked.add_argument(
        "--ties", action=argparse.BooleanOptionalAction, default=True, help="allow ties (default)"
    )
    asked.add_argument("--temperature", type=float, help="default: 1 where several votes are drawn, else 0")
    asked.add_argument(
        "--few-shot", type=int, default=0, metavar="K", help="show K labelled items as examples"
    )
    asked.add_argument(
        "--samples-of", nargs="+", default=[], metavar="JUDGE", help="votes that usc, gsa or fuser read"
    )
    asked.add_argument(
        "--keyed-model", metavar="MODEL", help="the judge that confirms for apoc (default: the same)"
    )
    asked.add_argument("--prompts", metavar="FOLDER", help="edited prompts, instead of the project's own")
    asked.add_argument("--seed", type=int, default=0, help="of examples and orderings (0)")
    limits = parser.add_argument_group("limits, over all runs of the job")
    limits.add_argument("--concurrency", type=int, default=16, help="calls at once, at most 64 (16)")
    limits.add_argument("--max-calls", type=int)
    limits.add_argument("--max-tokens", type=int)
    limits.add_argument("--max-cost", type=float, help="in the currency of the price")
    limits.add_argument("--dry-run", action="store_true", help="print the estimate and send nothing")


def collect(options: argparse.Namespace) -> int:
    """Run the command and return its exit code.

    Raises AppellateError for what the user must change.
    """
    from core.judging.job import Budget
    from core.judging.planning import plan
    from core.judging.runner import start
    from core.store import Store

    budget = Budget(calls=options.max_calls, tokens=options.max_tokens, cost=options.max_cost)
    with Store.open(options.store) as store:
        job = _job(options, store)
        planned = plan(job, store, confirmed=options.yes_send_to)
        for sentence in planned.sentences:
            print(_one_line(sentence), file=sys.stderr)
        if options.dry_run:
            return DONE
        run = start(
            job,
            store,
            concurrency=options.concurrency,
            budget=budget,
            confirmed=options.yes_send_to,
        )
        last = _follow(run)
    return _end(last, options.store)


def _job(options: argparse.Namespace, store: Store) -> Job:
    from core.judging.items import items_of, read_items
    from core.judging.job import Job
    from core.votes import InvalidOption

    if (options.items is None) == (options.items_of is None):
        raise InvalidOption("Name a file of items, or a data set of the store with --items-of, and not both")
    items: tuple[Item, ...]
    if options.items_of is not None:
        items, dataset = items_of(store, options.items_of), options.dataset or options.items_of
    else:
        path = Path(options.items)
        items, dataset = read_items(path), options.dataset or path.name.split(".")[0]
    if options.judge and len(options.model) > 1:
        raise InvalidOption("--judge names one judge; with several --model each has its model's name")
    return Job(
        dataset=dataset,
        items=items,
        judges=tuple(_judge(options, model, options.judge or "") for model in options.model),
        protocol=options.protocol,
        votes=options.votes,
        orders=options.orders,
        confidence=options.confidence,
        ties=options.ties,
        temperature=options.temperature,
        few_shot=options.few_shot,
        seed=options.seed,
        samples_of=tuple(options.samples_of),
        keyed=_judge(options, options.keyed_model, "") if options.keyed_model else None,
        prompts=Path(options.prompts) if options.prompts else None,
    )


def _judge(options: argparse.Namespace, model: str, name: str) -> Judge:
    from core.judging.job import Judge

    return Judge(
        model=model,
        base_url=options.base_url,
        name=name,
        max_tokens=options.reply_tokens,
        price=tuple(options.price) if options.price else None,
        key_env=options.key_env,
        timeout=options.timeout,
    )


def _follow(run: Run) -> Progress:
    """Show progress until the run has finished. Ctrl-C waits for the calls in flight; again, for nothing."""
    pressed, said_at = 0, 0.0
    while True:
        try:
            progress = run.wait(0.2)
            if progress.finished:
                return progress
            if time.monotonic() - said_at >= LINE_SECONDS:
                said_at = time.monotonic()
                print(_one_line(progress.sentence), file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            pressed += 1
            run.stop(at_once=pressed > 1)
            said = "stopping at once" if pressed > 1 else "stopping: waiting for the calls in flight"
            print(said, file=sys.stderr, flush=True)


def _end(last: Progress, store: str) -> int:
    from core.votes import AppellateError

    for message in last.messages:
        print(f"appellate: {_one_line(message)}", file=sys.stderr)
    if last.state == "failed":
        raise AppellateError(
            "the run failed; what was answered is in the store, and the same command goes on"
        )
    print(_one_line(last.sentence), file=sys.stderr)
    if last.answered == last.planned:
        print(f"{last.answered:,} answers in {_one_line(store)}")
        return DONE
    left = last.planned - last.answered
    print(f"{left:,} requests are left: the same command goes on with them", file=sys.stderr)
    return INCOMPLETE


def _one_line(text: str) -> str:
    """What a provider says is hostile: no line breaks, no terminal escapes."""
    return "".join(c if c.isprintable() else " " for c in text)
