"""What native formats share: how one is known, how its records are read, and their fields.

`registry` lists the formats.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import InvalidOption, UnreadableFile
from ..labels import VOCABULARIES, Vocabulary
from ..schema import RANKINGS, SCORES, VOTES, Form, ImportResult
from .checks import TypedRows, finish
from .columns import DTYPES, Rejects, encode_cells, masked_numbers, unstorable
from .json_tables import Record, Records
from .options import ReadOptions
from .rankings import finish_lists
from .scores import fill_scales
from .source import MAX_COLUMNS, Source

Vote = Mapping[str, Any]
"""Canonical column → value, missing columns left out; `extra` holds a mapping of text. A vote or
score without a status is `ok`, and `unparsed` where the tool found none.
"""
Reader = Callable[[Record], "Iterable[Vote | BadField]"]
"""The votes, or scores, of a record. Raises BadField for a bad record; one among the votes rejects
itself alone.
"""

VERDICTS = VOCABULARIES["A>B"]
REPEATS = "repeats"
"""Name in a vote of the text by which repetitions of its key are put in order."""


@dataclass(slots=True, eq=False, kw_only=True)
class NativeFile:
    """JSON records of a native format.

    test_set : the records that PandaLM's outputs need beside them.
    constants : columns with one text in every row, where no option gives another; filled by the
        reader.
    left_out : rows that are no judgements, by what says so; counted by the reader.
    """

    format: NativeFormat
    source: Source
    records: Records
    options: ReadOptions
    test_set: Records | None = None
    notes: list[str] = field(default_factory=list)
    constants: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)

    def name_judge(self, name: str = "") -> None:
        """Name the judge that nothing names, as the file is unless it has a name."""
        self.constants["judge"] = name or self.source.stem
        like = "" if name else ", as the file is"
        self.notes.append(
            f"Nothing names the judge, so it is called {self.constants['judge']}{like}."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeFormat:
    """A published format.

    needs : fields that its records have, by which it is recognised unless there is a `sniff`.
    dataset : name of the data set; `by_file`: unless the file's name has a `__`, then what stands
        before it.
    reader : made for each file.
    tables : endings of names, one of which a column of its tables has; each row is a record.
    gold_only : its rows are gold, and nobody's votes.
    also : formats of other judgements that the same records hold.
    """

    name: str
    line: str
    needs: tuple[str, ...]
    dataset: str
    reader: Callable[[NativeFile], Reader]
    by_file: bool = False
    sniff: Callable[[Record], bool] | None = None
    form: Form = VOTES
    tables: tuple[str, ...] = ()
    gold_only: bool = False
    also: tuple[NativeFormat, ...] = ()

    def fits(self, record: Record) -> bool:
        """Whether a record is of this format."""
        return self.sniff(record) if self.sniff else all(name in record for name in self.needs)


class BadField(ValueError):
    """Column, value and reason: a field that its format does not allow. The whole record is
    rejected.
    """


def required(record: Record, name: str, kind: type | tuple[type, ...] = str) -> Any:
    """Field that must be there; BadField if it is absent, null or of another kind."""
    value = record.get(name)
    # bool is an int to Python, and no label here is a truth value.
    if not isinstance(value, kind) or isinstance(value, bool) or value == "":
        raise BadField(
            name, value, f"{name} is missing or of another kind; export the record again"
        )
    return value


def text(value: object) -> str | None:
    """Text of an optional field; anything but text and numbers is missing."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8") or None
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def number(value: object) -> float | None:
    """Finite number that fits 64 bits; anything else is missing."""
    if (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) <= sys.float_info.max
    ):
        return float(value)
    return None


def verdict(label: object, column: str, vocabulary: Vocabulary = VERDICTS) -> int | None:
    """Vote of a label such as A>B, +1 for A; None for null, where the tool found no verdict;
    BadField for others.
    """
    if label is None or label == "":
        return None
    vote = (
        vocabulary.vote(str(label))
        if isinstance(label, str | int) and not isinstance(label, bool)
        else None
    )
    if vote is None:
        raise BadField(
            column, label, f"not a label of {vocabulary.name} ({vocabulary.meaning}); correct it"
        )
    return vote


def read_native(file: NativeFile) -> list[ImportResult]:
    """Read each kind of judgement that the records hold; the first is there without any too."""
    first = _read_kind(file)
    others = [
        _read_kind(
            replace(
                file,
                format=other,
                records=replace(file.records, rejects=Rejects()),
                notes=[],
                constants={},
                left_out={},
            )
        )
        for other in file.format.also
    ]
    others = [other for other in others if other.n_read]
    return [first, *others] if first.n_read or not others else others


def _read_kind(file: NativeFile) -> ImportResult:
    """Collect what every record holds; a record with a bad field, or a huge one, is rejected whole.

    Raises InvalidOption: `mapping` names a column; native files take a fixed text only.
    """
    format, records, options = file.format, file.records, file.options
    read = format.reader(file)
    for canonical, theirs in options.mapping:
        if not theirs.startswith("="):
            raise InvalidOption(
                "{file}: {option} {column}={value}: columns of a {format} file are known. Only a "
                "fixed text "
                "can be given: {option} {column}=={value}.",
                option="map",
                file=file.source.name,
                column=canonical,
                value=theirs,
                format=format.name,
            )
    votes: list[Vote] = []
    rows: list[int] = []
    for row, record in zip(records.row, records.records, strict=True):
        try:
            read_here = list(read(record))
            those = [vote for vote in read_here if not isinstance(vote, BadField)]
            _refuse_unstorable(those)
        except BadField as bad:
            _reject(records, row, bad)
        else:
            for other in read_here:
                if isinstance(other, BadField):
                    _reject(records, row, other)
            votes += [_with_status(vote) for vote in those]
            rows += [row] * len(those)
    if len({vote.get("metric") for vote in votes}) > MAX_COLUMNS:
        raise UnreadableFile(
            f"{file.source.name}: more than {MAX_COLUMNS:,} names of scorers or metrics, which "
            "count as columns do. Keep those that are asked about."
        )
    file.notes += [
        f"Left out, as no judge's: {n:,} with {why}." for why, n in file.left_out.items()
    ]
    if votes and REPEATS in votes[0]:
        _number_repeats(votes, format.form)
    present = [c for c in format.form.columns if any(c.name in vote for vote in votes)]
    extra = dict.fromkeys(name for vote in votes for name in vote.get("extra", ()))
    constants = file.constants | options.constants()
    if options.rater_type and not any("rater_type" in vote for vote in votes):
        constants["rater_type"] = options.rater_type
    typed = TypedRows(
        row=np.array(rows, np.int64),
        text={
            c.name: encode_cells(text(v.get(c.name)) for v in votes)
            for c in present
            if c.kind == "text"
        },
        numbers={
            c.name: masked_numbers((v.get(c.name) for v in votes), DTYPES[c.kind])
            for c in present
            if c.kind != "text"
        },
        extra={
            name: encode_cells(text(vote.get("extra", {}).get(name)) for vote in votes)
            for name in extra
        },
        rejects=records.rejects,
        rows=records.rows,
        mapping={name: f"={value}" for name, value in constants.items()},
        notes=file.notes,
        form=format.form,
        gold_only=format.gold_only,
    )
    stem = file.source.stem
    dataset = stem.partition("__")[0] if format.by_file and "__" in stem else format.dataset
    dataset = dataset or (file.source.together or file.source.stem)
    if format.form is RANKINGS:
        return finish_lists(
            typed,
            file.source,
            format.name,
            constants,
            dataset=dataset,
            bad=np.zeros(len(rows), bool),
            beside=np.zeros(0, np.int64),
        )
    if format.form is SCORES:
        typed.fill(constants, dataset, no_default=("status",))
        fill_scales(typed, options)
    return finish(typed, file.source, format.name, constants=constants, dataset=dataset)


def _with_status(vote: Vote) -> Vote:
    said = [vote[name] for name in ("vote", "score") if name in vote]
    return {"status": "unparsed" if said[0] is None else "ok", **vote} if said else vote


def _number_repeats(votes: list[Vote], form: Form) -> None:
    """Number judgements of one key in the order of their texts."""
    by_key: dict[tuple[Any, ...], list[int]] = {}
    for place, vote in enumerate(votes):
        key = tuple(vote.get(name) for name in form.key if name != "run")
        by_key.setdefault(key, []).append(place)
    for places in by_key.values():
        for run, place in enumerate(sorted(places, key=lambda place: str(votes[place][REPEATS]))):
            votes[place] = {**votes[place], "run": run}


def _reject(records: Records, row: int, bad: BadField) -> None:
    column, value, reason = bad.args
    records.rejects.add(row, column, "" if value is None else str(value), reason)


def _refuse_unstorable(votes: Iterable[Vote]) -> None:
    for vote in votes:
        for name, value in vote.items():
            if isinstance(value, str) and (why := unstorable(value)):
                raise BadField(name, value, why)
