"""What is in a file, how it would be read, what checks would lack, and the command that comes next.

`python -m core doctor FILE`; nothing is loaded into a store. No text of an answer is printed:
names of columns, labels, and counts.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..files import file_to_read
from ..finding.wording import count, enumerated, one_line
from ..installation import PROGRAM
from ..labels import shown
from ..options import default_of, flags, from_flags

if TYPE_CHECKING:
    from ..importers import ReadOptions
    from ..importers.options import Inspection, Question
    from ..schema import ImportResult

NAMED = {"judge": "judge", "item_id": "item"}
LABELS, REASONS = 12, 5
"""Most labels, and reasons of rejected rows, that are listed."""


def doctor(options: argparse.Namespace) -> int:
    """Run the command: 0 if the file can be audited, 2 if something has to be said first."""
    from ..auditing.sources import check_columns_known
    from ..importers import ReadOptions, inspect
    from ..store.export import is_database

    name, path = file_to_read(options.file)
    reading = from_flags(ReadOptions, options)
    if is_database(path):
        check_columns_known(options.file, reading)
        return _read(options.file, reading)
    looks = inspect(path, name, reading)
    for line in _columns(looks):
        print(one_line(line))
    if looks.suggested and not looks.refusal:
        # What the file's names and values suggest is taken in words only, never unasked.
        mapping = tuple({**looks.suggested, **dict(reading.mapping)}.items())
        likely = inspect(path, looks.name, replace(reading, mapping=mapping))
        if not any(question.option == "plan" for question in likely.questions):
            reading, looks = replace(reading, mapping=mapping), likely
            _section("Read by what its names and values suggest (look them through):")
            for line in _columns(looks)[1:]:
                print(one_line(line))
    asked = [question for question in looks.questions if question.option != "mapping:judge"]
    answers = [_answer(question) for question in asked]
    # Where no column names the judge, the name of the file, or of what it is, does.
    if (missing := [name for name in looks.missing if name != "judge"]) and not asked:
        answers = [f"--map {name}=COLUMN" for name in missing]
    if looks.refusal and all(question.option != "plan" for question in asked):
        # It says what the file is, and the option that names a column.
        return 2
    if answers:
        for question in asked:
            meanings = (f"{value} ({words})" for value, words in question.choices[:LABELS])
            _section(f"To be said: {question.text} {'; '.join(meanings)}")
        _next("doctor", options.file, reading, *answers)
        return 2
    return _read(options.file, reading, looks)


def _columns(looks: Inspection) -> list[str]:
    """Columns and what they are read as, labels, and what was decided."""
    lines = [f"{looks.name}: columns {', '.join(map(shown, looks.columns))}"]
    lines += [f"  {name:<12} is {_source(source)}" for name, source in looks.mapping.items()]
    if looks.judges:
        lines.append(f"  a column for each of {len(looks.judges):,} judges")
    if looks.layout == "native":
        lines.append(f"  read as {looks.format}")
    if looks.labels:
        each = ", ".join(f"{shown(label)} {n:,}" for label, n in looks.labels[:LABELS])
        more = f" and {len(looks.labels) - LABELS:,} more" if len(looks.labels) > LABELS else ""
        lines.append(f"  labels: {each}{more}")
    if looks.layout == "plan" and not looks.questions:
        # What is read says it again.
        return lines
    return lines + [f"  {note}" for note in looks.notes]


def _source(column: str) -> str:
    return f"{shown(column[1:])} in every row" if column[:1] == "=" else f"column {shown(column)}"


def _answer(question: Question) -> str:
    """The flag that answers a question, with what it may be."""
    name, _, part = question.option.partition(":")
    if name == "plan":
        # As it is typed, the first for an example.
        return question.choices[0][0]
    if name == "mapping":
        return f"--map {part}=COLUMN"
    return f"--{name.replace('_', '-')} {'|'.join(value for value, _ in question.choices)}"


def _section(text: str) -> None:
    print(f"\n{one_line(text)}")


def _read(name: str, reading: ReadOptions, looks: Inspection | None = None) -> int:
    """Read the file and say what is in it, what checks would lack, and what comes next."""
    from ..auditing.run import people_alone
    from ..auditing.sources import read_sources
    from ..importers import mostly_rejected
    from ..importers.by_plan import of_people

    results = read_sources([file_to_read(name)], reading, looks=looks)
    for result in results:
        _section(f"Read: {_counts(result)}")
        for sentence in (*_who(result), *result.told):
            print(one_line(f"  {sentence}"))
        for reason, n in _reasons(result).items():
            print(one_line(f"  {n:,} rows: {reason}"))
        if refused := mostly_rejected(result):
            _section(str(refused))
            return 2
    if not any(result.votes.num_rows for result in results):
        _section("There is no judgement of a judge in it.")
        return 2
    if all(result.kind == "scores" and of_people(result) for result in results):
        people = sorted({who for result in results for who in result.votes["judge"].to_pylist()})
        _section(people_alone(people))
        return 2
    for result in results:
        if result.kind == "votes" and result.votes.num_rows and not result.gold_only:
            for sentence in _lacking(result):
                print(one_line(f"  {sentence}"))
    # Gold and rankings alone say something beside votes, in a store.
    alone = all(result.gold_only or result.kind == "rankings" for result in results)
    _next("import" if alone else "audit", name, reading)
    return 0


def _who(result: ImportResult) -> Iterator[str]:
    """Judges, people, metrics and models, the first of each."""
    votes = result.votes
    if result.gold_only or not votes.num_rows:
        return
    pairs = votes.group_by(["judge", "rater_type"]).aggregate([]).to_pylist()
    kind = {pair["judge"]: pair["rater_type"] for pair in pairs}
    yield from _named("Judges", (name for name, is_ in kind.items() if is_ != "human"))
    yield from _named("People", (name for name, is_ in kind.items() if is_ == "human"))
    for title, columns in (("Metrics", ("metric",)), ("Models", ("model", "model_a", "model_b"))):
        there = (votes[name].unique().to_pylist() for name in columns if name in votes.column_names)
        yield from _named(title, dict.fromkeys(name for names in there for name in names))


def _named(title: str, names: Iterable[str | None]) -> Iterator[str]:
    some = [name for name in names if name is not None]
    if some:
        more = f" and {len(some) - LABELS:,} more" if len(some) > LABELS else ""
        yield f"{title}: {', '.join(map(shown, some[:LABELS]))}{more}."


def _counts(result: ImportResult) -> str:
    columns = result.votes.column_names
    numbers = {name: len(result.votes[name].unique()) for name in NAMED if name in columns}
    distinct = [count(n, NAMED[name]) for name, n in numbers.items()]
    unit = "gold label" if result.gold_only else result.kind.removesuffix("s")
    return (
        f"{count(result.votes.num_rows, unit)} of {enumerated(distinct)}; {result.n_rejected:,} "
        f"rejected, {count(result.duplicates, 'duplicate')} left out."
    )


def _reasons(result: ImportResult) -> Mapping[str, int]:
    """The most frequent reasons of rejected rows."""
    from collections import Counter

    places = (result.rejected[name].to_pylist() for name in ("column", "reason"))
    counts = Counter(f"{column}: {reason}" for column, reason in zip(*places, strict=True))
    return dict(counts.most_common(REASONS))


def _lacking(result: ImportResult) -> Iterator[str]:
    """What would let more be checked, one sentence per need."""
    from ..auditing.options import AuditOptions
    from ..auditing.overall import missing
    from ..auditing.run import audit
    from ..schema import Selection
    from ..store import Store

    with Store.holding([result]) as store:
        audited = audit(store, Selection(), AuditOptions(splits=0), readings=[result])
    sentences = missing(audited.checks)
    yield "Every check has what it needs." if not sentences else "To check more:"
    yield from (f"  {sentence}" for sentence in sentences)


def _next(command: str, file: str, reading: ReadOptions, *told: str) -> None:
    words = [file, *_as_flags(reading)]
    line = " ".join([PROGRAM, command, *map(shlex.quote, words), *told])
    _section(f"Next: {line}")


def _as_flags(reading: ReadOptions) -> list[str]:
    """The flags that say what options of reading say."""
    words: list[str] = []
    for flag, name in flags(type(reading)).items():
        value: Any = getattr(reading, name)
        if value == default_of(type(reading), name):
            continue
        if isinstance(value, tuple):
            words += [flag, *(one if isinstance(one, str) else "=".join(one) for one in value)]
        else:
            words += [flag, str(value)]
    return words
