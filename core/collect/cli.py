"""`python -m core collect`: arguments, the estimate, a line of progress, and Ctrl-C."""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from ..errors import InvalidOption
from ..finding.wording import count, one_line
from ..installation import PROGRAM
from ..options import add_flags, flags, help_of
from .job import Budget, Job, Judge, Terms

if TYPE_CHECKING:
    from .job_file import Options, Settings
    from .plan import Plan, Progress
    from .runner import Run

DONE, INCOMPLETE, FAILED = 0, 3, 4
"""Exit codes: everything is answered; something is left for another run; the run could not go on.
"""
LINE_SECONDS = 2.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command; those of a job, its judge and its budget bear the names of their
    fields.
    """
    add = parser.add_argument
    add(
        "items",
        nargs="?",
        metavar="ITEMS",
        help=(
            "CSV, .jsonl or .parquet with prompt, response_a, response_b (or more), or prompt and "
            "response; a job file (.toml); or a store, whose last job is asked again with what is "
            "given besides, such as another --prompt"
        ),
    )
    add("--items-file", metavar="FILE", help="the items, where ITEMS is a job file")
    add("--items-of", metavar="DATASET", help="judge the texts of a data set of the store instead")
    add("--max-items", type=int, metavar="N", help="judge the first N items only")
    add("--store", metavar="PATH", help="store file, not the one the app has open")
    add_flags(parser, Job, "dataset", unset=True)
    group = parser.add_argument_group("the judge")
    group.add_argument("--model", nargs="+", help=help_of(Judge, "model"))
    add_flags(group, Judge, unset=True)
    add = group.add_argument
    add("--reasoning-effort", metavar="EFFORT", help="for models that take it: low, medium, high …")
    add("--top-p", type=float, metavar="P", help="sample from the likeliest tokens of this share")
    group = parser.add_argument_group("what is asked")
    add_flags(group, Job, *(name for name in flags(Job).values() if name != "dataset"), unset=True)
    add = group.add_argument
    add(
        "--preset",
        metavar="NAME",
        help="ask as a paper does: btd-wmt, th-self, th-multi, pcf or raee-reference; "
        "other options win",
    )
    add(
        "--verdict-words",
        nargs="+",
        metavar="VERDICT=WORDS",
        help="the words that mean A, B and tie in replies",
    )
    group = parser.add_argument_group("limits, over all runs of the job")
    add_flags(group, Budget, unset=True)
    add_flags(group, Terms, unset=True)
    add = group.add_argument
    add(
        "--write-job",
        metavar="FILE",
        help="write these options as a job file (.toml) and send nothing",
    )
    add("--dry-run", action="store_true", help="print the estimate and send nothing")
    add(
        "--try",
        dest="try_items",
        type=int,
        metavar="N",
        help="ask about the first N items only, show the replies beside what was read, keep none",
    )
    add("--yes", action="store_true", help="send the calls of the estimate without a question")


def collect(options: argparse.Namespace) -> int:
    """Run the command and return its exit code. Raises AppellateError for what the user must
    change.
    """
    with _interrupts() as interrupts:
        try:
            return _collect(options, interrupts)
        except KeyboardInterrupt:
            _say("stopped before anything was sent")
            return INCOMPLETE


def _collect(options: argparse.Namespace, interrupts: _Interrupts) -> int:
    from ..files import written_whole
    from ..store import Store
    from .job import values_of
    from .job_file import keep, written
    from .plan import plan
    from .registry import complete, start
    from .trial import as_versions, first_of, seal, tried

    settings = _settings(options)
    given, terms = settings.options, settings.terms()
    if "store" not in given:
        raise InvalidOption("{option}: name the file that the votes go to", option="store")
    with Store.open(given["store"]) as store:
        job, notes = settings.job(store)
        job, versions = as_versions(job, store)
        notes = (*notes, *versions)
        if options.try_items:
            job = first_of(job, options.try_items, store)
        if options.write_job:
            facts = (given.get("items"), given.get("items_of"), given.get("max_items"))
            target = Path(options.write_job)
            with written_whole(target) as part:
                text = written(job, terms, known_options(), *facts, folder=target.parent)
                part.write_text(text, encoding="utf-8")
            return DONE
        planned = plan(
            job,
            store,
            confirmed=terms.confirmed,
            again=terms.again,
            batch=terms.batch,
            repair=terms.repair,
        )
        sentences = (*store.notes, *notes, *planned.sentences)
        read = all(_say(one_line(sentence)) for sentence in sentences)
        if options.dry_run:
            _say("nothing was sent")
            return DONE
        if settings.file is not None:
            _check_consent(settings, planned)
        if not read or not _agreed(planned, terms, options):
            return INCOMPLETE
        if options.try_items:
            for each in tried(job, **values_of(terms)):
                print(f"{one_line(each.item_id)}, {one_line(each.judge)}: {one_line(each.read)}")
                print("\n".join(f"    {one_line(line)}" for line in each.reply.splitlines()))
            return DONE
        job, sealed = seal(job, store)
        if sealed is not None:
            _say(sealed)
        interrupts.raised = False
        last = _follow(start(job, store, **values_of(terms)), interrupts)
        if complete(last):
            keep(store, job, terms, known_options())
    return _end(last, given["store"], job)


def _agreed(planned: Plan, terms: Terms, options: argparse.Namespace) -> bool:
    """Whether the calls of an estimate may be made, and paid: `--yes`, a limit, or an answer at the
    terminal.

    Raises InvalidOption where nobody can be asked.
    """
    calls = planned.calls + planned.further_calls
    if not calls or options.yes or terms.reread or terms.budget != Budget():
        return True
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr and sys.stderr.isatty()):
        raise InvalidOption(
            "{calls} would be made ({price}), and nobody is there to be asked: agree with "
            "{option:yes}, or set a limit such as {option:max_calls} or {option:max_cost}; nothing "
            "was sent",
            option="yes",
            calls=count(calls, "call"),
            price=planned.price,
        )
    print(
        f"Make {count(calls, 'call')}, {planned.price}? [y/N] ", end="", file=sys.stderr, flush=True
    )
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    _say("nothing was sent")
    return False


def _check_consent(settings: Settings, planned: Plan) -> None:
    """What a job file asks for is sent, and paid, only where this call says so: any host but this
    machine is confirmed, and a price below the listed one is no way around a limit in money.

    Raises NotConfirmed, InvalidOption.
    """
    from .client import listed_price
    from .endpoint import HOSTS, NotConfirmed

    agreed = {host.lower() for host in settings.options.get("yes_send_to", ())}
    hosts = {place.host for place in planned.destinations.values() if not place.local} - agreed
    if hosts and (planned.calls or planned.further_calls or planned.waiting):
        raise NotConfirmed(
            "{file} asks to send all prompts and responses to {hosts}, which may cost; confirm it "
            "with {option:yes_send_to {names}}",
            file=settings.file,
            hosts=sorted(hosts),
            names=" ".join(sorted(hosts)),
        )
    if "cost" not in settings.chosen or "price" in settings.chosen:
        return
    for judge, place in planned.destinations.items():
        listed = listed_price(judge.model) if HOSTS.get(judge.provider) == place.host else None
        if judge.price is None or listed is None:
            continue
        usual = tuple(each * 1e6 for each in listed)
        if any(a < b * (1 - 1e-9) for a, b in zip(judge.price, usual, strict=True)):
            raise InvalidOption(
                "{file}, judge {name}: its price of {own} is below the listed {usual}, so that "
                "{option:max_cost} would not hold; confirm it with {option:price {given}}, or "
                "leave it out of the file",
                option="price",
                file=settings.file,
                name=judge.name,
                own=" and ".join(f"{each:g}" for each in judge.price),
                usual=" and ".join(f"{each:g}" for each in usual),
                given=" ".join(f"{each:g}" for each in judge.price),
            )


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
    interrupts = _Interrupts()
    # In the background of a shell it is ignored, and stays so; only the main thread handles
    # signals.
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if ignored or threading.current_thread() is not threading.main_thread():
        yield interrupts
        return
    before = signal.signal(signal.SIGINT, interrupts.handle)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)


@cache
def known_options() -> Options:
    """The options of the command, which are the keys of a job file."""
    from .job_file import options_of

    return options_of(add_arguments)


def _settings(options: argparse.Namespace) -> Settings:
    """What the command line asks for, with what its job file does."""
    from ..store import Store
    from ..store.export import is_database
    from .job_file import Settings, last, read

    fields = {option.field for option in known_options().values()}
    given = {
        name: value for name, value in vars(options).items() if name in fields and value is not None
    }
    if str(given.get("items", "")).lower().endswith(".toml"):
        return read(Path(given.pop("items")), known_options(), given)
    if is_database(Path(given.get("items", ""))):
        path = given.pop("items")
        given.setdefault("store", path)
        with Store.open(path) as store:
            return last(store, Path(path).name, known_options(), given)
    if "items_file" in given:
        raise InvalidOption("{option}: goes with a job file (.toml)", option="items_file")
    if "judge" in given and len(given.get("model", ())) > 1:
        raise InvalidOption(
            "{option} names one judge; with several {option:model} each has its model's name",
            option="judge",
        )
    keyed = {"model": given["keyed_model"], "judge": ""} if "keyed_model" in given else None
    return Settings(
        options=given,
        judges=tuple({"model": model} for model in given.get("model", ())),
        keyed=keyed,
    )


def _follow(run: Run, interrupts: _Interrupts) -> Progress:
    """Show progress until the run has finished. Ctrl-C waits for the calls in flight; again, for
    nothing.

    A reader that has gone (`2>&1 | head`) counts as Ctrl-C: nobody would see what is spent.
    """
    handled, reported_at, said, before = 0, 0.0, 0, ""
    while True:
        progress = run.wait(0.2)
        for message in progress.messages[said:]:
            _say(f"appellate: {one_line(message)}")
        said = len(progress.messages)
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


def _end(last: Progress, store: str, job: Job) -> int:
    from .trial import next_steps

    for line in (*last.by_judge, *last.remedies):
        _say(one_line(line))
    if last.state == "failed":
        _say(
            "appellate: the run failed; what was answered is in the store, and the same command "
            "goes on"
        )
        return FAILED
    _say(one_line(last.sentence))
    if not last.left:
        print(f"{last.answered:,} answers in {one_line(store)}")
        for step in next_steps(job, shlex.quote(one_line(store))):
            print(f"Next: {PROGRAM} {step}")
        stopped = any(share.stopped for share in last.judges.values())
        return INCOMPLETE if stopped else DONE
    way = "raise the limit to go on" if last.over_budget else "the same command goes on with them"
    _say(f"{last.left:,} requests are left: {way}")
    return INCOMPLETE


def _say(line: str) -> bool:
    """Write a line to standard error; False if its reader has gone, after which nothing is written
    there.
    """
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
