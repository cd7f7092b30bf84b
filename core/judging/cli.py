"""`python -m core collect`: arguments, the estimate, a line of progress, and Ctrl-C."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, TypeVar

from ..interpretation.format import one_line

if TYPE_CHECKING:
    from ..store import Store
    from .job import Job
    from .plan import Progress
    from .runner import Run

T = TypeVar("T")

DONE, INCOMPLETE, FAILED = 0, 3, 4
"""Exit codes: everything is answered; something is left for another run; the run could not go on."""
LOCAL = "http://localhost:11434/v1"
LINE_SECONDS = 2.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command; those of a job, its judge and its budget bear the names of their fields."""
    add = parser.add_argument
    add(
        "items",
        nargs="?",
        metavar="ITEMS",
        help="CSV, .jsonl or .parquet with prompt, response_a, response_b (or more); item_id, gold …",
    )
    add("--items-of", metavar="DATASET", help="judge the texts of a data set of the store instead")
    add("--max-items", type=int, metavar="N", help="judge the first N items only")
    add("--store", required=True, metavar="PATH", help="store file, not the one the app has open")
    add("--dataset", help="name of the data set (default: the file's stem)")
    add = parser.add_argument_group("the judge").add_argument
    add("--model", required=True, nargs="+", help="openai/NAME, anthropic/NAME …; several share the job")
    add("--base-url", metavar="URL", help=f"a server with the OpenAI format, such as {LOCAL}")
    add("--judge", metavar="NAME", help="who votes (default: the model's name)")
    add("--key-env", metavar="VARIABLE", help="environment variable that holds the key")
    add("--price", nargs=2, type=float, metavar=("PROMPT", "COMPLETION"), help="per million tokens")
    longest = "longest reply, its reasoning included, in tokens (4096)"
    add("--reply-tokens", dest="max_tokens", metavar="REPLY_TOKENS", type=int, help=longest)
    add("--timeout", type=float, default=120.0, help="timeout of a call, in seconds (120)")
    add("--reasoning-effort", metavar="EFFORT", help="for models that take it: low, medium, high …")
    add("--top-p", type=float, metavar="P", help="sample from the likeliest tokens of this share")
    further = "a further parameter of each call, its value as JSON, such as seed=7"
    add("--param", nargs="+", default=[], metavar="NAME=JSON", help=further)
    header = "a further header; $NAME stands for an environment variable"
    add("--header", nargs="+", default=[], metavar="NAME=VALUE", help=header)
    moved = "earlier address of this server: what was collected there counts"
    add("--same-server", metavar="URL", help=moved)
    unknown_host = "send texts to this host, which is not a known one"
    add("--yes-send-to", nargs="+", default=[], metavar="HOST", help=unknown_host)
    add = parser.add_argument_group("what is asked").add_argument
    add(
        "--protocol",
        default="pairwise",
        help="pairwise (default), greedy, score, listwise, usc, gsa, apoc, fuser",
    )
    add("--votes", type=int, help="votes per comparison (8), scores per response (1), orderings per list (7)")
    add("--orders", default="balanced", help="balanced (default) or ab")
    add("--confidence", default="none", help="none (default), self, multi or logprob")
    add("--ties", action=argparse.BooleanOptionalAction, default=True, help="allow ties (default)")
    add("--temperature", type=float, help="default: 1 where several votes are drawn, else 0")
    add("--few-shot", type=int, default=0, metavar="K", help="show K labelled items as examples")
    add("--samples-of", nargs="+", default=[], metavar="JUDGE", help="votes that usc, gsa or fuser read")
    add("--keyed-model", metavar="MODEL", help="the judge that confirms for apoc (default: the same)")
    add("--prompts", metavar="FOLDER", help="edited prompts, instead of the project's own")
    add("--seed", type=int, default=0, help="of examples and orderings (0)")
    add = parser.add_argument_group("limits, over all runs of the job").add_argument
    add("--concurrency", type=int, default=16, help="concurrent calls, at most 256 (16)")
    add("--max-calls", dest="calls", metavar="MAX_CALLS", type=int)
    add("--max-tokens", dest="tokens", metavar="MAX_TOKENS", type=int)
    currency = "in the currency of the price"
    add("--max-cost", dest="cost", metavar="MAX_COST", type=float, help=currency)
    once_more = "ask again where there is only: unparsed, cut_off, refused, error"
    add("--again", nargs="+", default=[], metavar="STATUS", help=once_more)
    add("--reread", action="store_true", help="read stored replies without a verdict again; send nothing")
    add("--give-up", type=int, default=20, metavar="N", help="failures in a row of a dead server (20)")
    add("--batch", action="store_true", help="hand in batches: half the price, results within a day")
    add("--batch-size", type=int, default=10_000, metavar="N", help="calls in one batch (10,000)")
    add("--dry-run", action="store_true", help="print the estimate and send nothing")


def collect(options: argparse.Namespace) -> int:
    """Run the command and return its exit code.

    Raises AppellateError for what the user must change.
    """
    with _interrupts() as interrupts:
        try:
            return _collect(options, interrupts)
        except KeyboardInterrupt:
            _say("stopped before anything was sent")
            return INCOMPLETE


def _collect(options: argparse.Namespace, interrupts: _Interrupts) -> int:
    from ..store import Store
    from .job import Budget
    from .plan import plan
    from .registry import start

    budget = _record(Budget, options)
    with Store.open(options.store) as store:
        job, notes = _job(options, store)
        planned = plan(job, store, confirmed=options.yes_send_to, again=options.again, batch=options.batch)
        read = all(_say(one_line(sentence)) for sentence in (*notes, *planned.sentences))
        if options.dry_run:
            return DONE
        if not read:
            return INCOMPLETE
        interrupts.raised = False
        run = start(
            job,
            store,
            concurrency=options.concurrency,
            budget=budget,
            confirmed=options.yes_send_to,
            again=options.again,
            reread=options.reread,
            give_up=options.give_up,
            batch=options.batch,
            batch_size=options.batch_size,
        )
        last = _follow(run, interrupts)
    return _end(last, options.store)


@dataclass
class _Interrupts:
    """Ctrl-C: it ends the command while nothing is sent, and is only counted once calls are paid.

    Raised anywhere, it would close the store under the calls in flight.
    """

    count: int = 0
    raised: bool = True

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Count one, or end the command."""
        if self.raised:
            raise KeyboardInterrupt
        self.count += 1


@contextmanager
def _interrupts() -> Iterator[_Interrupts]:
    found = _Interrupts()
    # In the background of a shell it is ignored, and stays so; only the main thread handles signals.
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if ignored or threading.current_thread() is not threading.main_thread():
        yield found
        return
    before = signal.signal(signal.SIGINT, found.handle)
    try:
        yield found
    finally:
        signal.signal(signal.SIGINT, before)


def _job(options: argparse.Namespace, store: Store) -> tuple[Job, tuple[str, ...]]:
    """The job, and notes about its items."""
    from ..errors import InvalidOption
    from .items import ItemFile, items_of, lists_of, read_file
    from .job import Job, Judge

    if (options.items is None) == (options.items_of is None):
        raise InvalidOption(
            "Name a file of items, or a data set of the store with {option}, and not both", option="items_of"
        )
    if options.items_of is not None:
        file, dataset = ItemFile(items=items_of(store, options.items_of)), options.items_of
        if options.protocol == "listwise":
            file = ItemFile(items=lists_of(file.items))
    else:
        path = Path(options.items)
        file, dataset = read_file(path), path.name.split(".")[0]
    if options.max_items is not None and options.max_items < 1:
        raise InvalidOption("{option} {given}: 1 or more", option="max_items", given=options.max_items)
    if options.judge and len(options.model) > 1:
        raise InvalidOption(
            "{option} names one judge; with several {option:model} each has its model's name", option="judge"
        )
    further = {"parameters": _parameters(options), "headers": _named("header", options.header)}
    keyed = _record(Judge, options, model=options.keyed_model, **further) if options.keyed_model else None
    job = _record(
        Job,
        options,
        dataset=options.dataset or dataset,
        items=file.items[: options.max_items],
        judges=tuple(
            _record(Judge, options, model=model, name=options.judge or "", **further)
            for model in options.model
        ),
        keyed=keyed,
        prompts=Path(options.prompts) if options.prompts else None,
    )
    return job, file.notes


def _parameters(options: argparse.Namespace) -> tuple[tuple[str, str], ...]:
    """Further parameters of each call, with their values as JSON."""
    own = {"reasoning_effort": options.reasoning_effort, "top_p": options.top_p}
    given = dict(_named("param", options.param))
    return tuple(
        (given | {name: json.dumps(value) for name, value in own.items() if value is not None}).items()
    )


def _named(option: str, given: list[str]) -> tuple[tuple[str, str], ...]:
    """Pairs out of `NAME=VALUE`.

    Raises InvalidOption.
    """
    from ..errors import InvalidOption

    for text in given:
        if not text.partition("=")[0] or "=" not in text:
            raise InvalidOption("{option} {text}: write NAME=VALUE", option=option, text=text)
    return tuple((name, value) for name, _, value in (text.partition("=") for text in given))


def _record(kind: type[T], options: argparse.Namespace, **others: object) -> T:
    """A dataclass out of the options that bear the names of its fields, but for `others`."""
    names = [field.name for field in fields(kind) if hasattr(options, field.name)]  # type: ignore[arg-type]
    # What was not given has the default of the field.
    given = {name: value for name in names if (value := getattr(options, name)) is not None}
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    return kind(**given | others)


def _follow(run: Run, interrupts: _Interrupts) -> Progress:
    """Show progress until the run has finished. Ctrl-C waits for the calls in flight; again, for nothing.

    A reader that has gone (`2>&1 | head`) counts as Ctrl-C: nobody would see what is spent.
    """
    handled, reported_at, told, before = 0, 0.0, 0, ""
    while True:
        progress = run.wait(0.2)
        for message in progress.messages[told:]:
            _say(f"appellate: {one_line(message)}")
        told = len(progress.messages)
        if progress.finished:
            return progress
        if time.monotonic() - reported_at >= LINE_SECONDS:
            reported_at, sentence = time.monotonic(), progress.sentence
            # While batches wait there is nothing new for hours.
            if sentence != before and not _say(one_line(sentence)):
                interrupts.count = max(interrupts.count, 1)
            before = sentence
        if interrupts.count > handled:
            handled = interrupts.count
            run.stop(at_once=handled > 1)
            _say("stopping at once" if handled > 1 else "stopping: waiting for the calls in flight")


def _end(last: Progress, store: str) -> int:
    for remedy in last.remedies:
        _say(one_line(remedy))
    if last.state == "failed":
        _say("appellate: the run failed; what was answered is in the store, and the same command goes on")
        return FAILED
    _say(one_line(last.sentence))
    if not last.left:
        print(f"{last.answered:,} answers in {one_line(store)}")
        return DONE
    way = "raise the limit to go on" if last.over_budget else "the same command goes on with them"
    _say(f"{last.left:,} requests are left: {way}")
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
