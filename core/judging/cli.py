"""`python -m core collect`: arguments, the estimate, a line of progress, and Ctrl-C."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..store import Store
    from .items import Item
    from .job import Job, Judge
    from .plan import Progress
    from .runner import Run


DONE, INCOMPLETE, FAILED = 0, 3, 4
"""Exit codes: everything is answered; something is left for another run; the run could not go on."""
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
    with _Presses() as presses:
        try:
            return _collect(options, presses)
        except KeyboardInterrupt:
            _say("stopped before anything was sent")
            return INCOMPLETE


def _collect(options: argparse.Namespace, presses: _Presses) -> int:
    from ..store import Store
    from .job import Budget
    from .plan import plan
    from .registry import start

    budget = Budget(calls=options.max_calls, tokens=options.max_tokens, cost=options.max_cost)
    with Store.open(options.store) as store:
        job, notes = _job(options, store)
        planned = plan(job, store, confirmed=options.yes_send_to)
        heard = all(_say(_one_line(sentence)) for sentence in (*notes, *planned.sentences))
        if options.dry_run:
            return DONE
        if not heard:
            return INCOMPLETE
        presses.raised = False
        run = start(
            job,
            store,
            concurrency=options.concurrency,
            budget=budget,
            confirmed=options.yes_send_to,
        )
        last = _follow(run, presses)
    return _end(last, options.store)


class _Presses:
    """Ctrl-C: it ends the command while nothing is sent, and is only counted once calls are paid.

    Raised anywhere, it would close the store under the calls in flight.
    """

    def __init__(self) -> None:
        self.count = 0
        self.raised = True
        self._before: Any = None

    def __enter__(self) -> _Presses:
        # In the background of a shell it is ignored, and stays so.
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN and _is_main_thread():
            self._before = signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _press(self, number: int, frame: FrameType | None) -> None:
        if self.raised:
            raise KeyboardInterrupt
        self.count += 1


def _is_main_thread() -> bool:
    """Only there signals can be handled."""
    return threading.current_thread() is threading.main_thread()


def _job(options: argparse.Namespace, store: Store) -> tuple[Job, tuple[str, ...]]:
    """The job, and what is to be said of its items."""
    from ..errors import InvalidOption
    from .items import items_of, lists_of, read_file
    from .job import Job

    if (options.items is None) == (options.items_of is None):
        raise InvalidOption("Name a file of items, or a data set of the store with --items-of, and not both")
    items: tuple[Item, ...]
    notes: tuple[str, ...] = ()
    if options.items_of is not None:
        items, dataset = items_of(store, options.items_of), options.dataset or options.items_of
        items = lists_of(items) if options.protocol == "listwise" else items
    else:
        path = Path(options.items)
        file = read_file(path)
        items, notes = file.items, file.notes
        dataset = options.dataset or path.name.split(".")[0]
    if options.judge and len(options.model) > 1:
        raise InvalidOption("--judge names one judge; with several --model each has its model's name")
    job = Job(
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
    return job, notes


def _judge(options: argparse.Namespace, model: str, name: str) -> Judge:
    from .job import Judge

    return Judge(
        model=model,
        base_url=options.base_url,
        name=name,
        max_tokens=options.reply_tokens,
        price=tuple(options.price) if options.price else None,
        key_env=options.key_env,
        timeout=options.timeout,
    )


def _follow(run: Run, presses: _Presses) -> Progress:
    """Show progress until the run has finished. Ctrl-C waits for the calls in flight; again, for nothing.

    A reader that has gone (`2>&1 | head`) counts as Ctrl-C: nobody would see what is spent.
    """
    heard, said_at = 0, 0.0
    while True:
        progress = run.wait(0.2)
        if progress.finished:
            return progress
        if time.monotonic() - said_at >= LINE_SECONDS:
            said_at = time.monotonic()
            if not _say(_one_line(progress.sentence)):
                presses.count = max(presses.count, 1)
        if presses.count > heard:
            heard = presses.count
            run.stop(at_once=heard > 1)
            _say("stopping at once" if heard > 1 else "stopping: waiting for the calls in flight")


def _end(last: Progress, store: str) -> int:
    for message in last.messages:
        _say(f"appellate: {_one_line(message)}")
    if last.state == "failed":
        _say("appellate: the run failed; what was answered is in the store, and the same command goes on")
        return FAILED
    _say(_one_line(last.sentence))
    if last.answered == last.planned:
        print(f"{last.answered:,} answers in {_one_line(store)}")
        return DONE
    left = last.planned - last.answered
    _say(f"{left:,} requests are left: the same command goes on with them")
    return INCOMPLETE


def _say(line: str) -> bool:
    """Write a line to standard error; False if its reader has gone, after which nothing is written there."""
    if sys.stderr is None:
        return True
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        # Its buffer keeps the line, and must not fail at exit.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
        return False
    return True


def _one_line(text: str) -> str:
    """What a provider says is hostile: no line breaks, no terminal escapes."""
    return "".join(c if c.isprintable() else " " for c in text)
