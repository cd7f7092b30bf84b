"""Any table of votes: one row a vote (long), a column a judge (wide), or two scores a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..labels import NAMES, TIE_WORDS, Vocabulary, normalise
from ..schema import COLUMN_NAMES, COLUMNS, ImportResult
from .checks import Draft, finish
from .columns import (
    CHOICES,
    BadCell,
    Coded,
    Numbers,
    Rejects,
    order_word,
    parse_confidence,
    parse_float,
    parse_int,
)
from .options import SCORE_COLUMNS, ReadOptions
from .plan import Plan, plan
from .row_parser import Typed
from .source import Source
from .tables import Sheet, unguard

_LONG_TEXTS = ("prompt", "response_a", "response_b", "rationale")


def read_table(sheet: Sheet, source: Source, options: ReadOptions, format: str) -> ImportResult:
    """Turn a sheet of text cells into an ImportResult; see `finish` for how rows are held against each other.

    Raises
    ------
    UnreadableFile : a required column is missing.
    AmbiguousLabels : the labels can be read in several ways, see `core.labels.decide`.
    UnknownName : an option names a column that the file has not.
    """
    how = plan(sheet, source.name, options)
    how.refuse_open_questions(source.name)
    long = _stack(sheet, how)
    typed = _Typed(long, how, options)
    draft = typed.draft()
    draft.rows = sheet.rows
    draft.notes = [*sheet.notes, *how.notes, *typed.notes]
    dataset = source.stem
    constants = options.constants() | ({"dataset": options.dataset} if options.dataset else {})
    return finish(draft, source, format, constants=constants, dataset=dataset)


@dataclass(frozen=True, slots=True, eq=False)
class _Long:
    """One row a vote: cells by canonical column, with the file's own name of each."""

    cells: dict[str, Coded]
    named: dict[str, str]
    extra: dict[str, Coded]
    row: NDArray[np.int64]
    rejects: Rejects
    vote_column: NDArray[np.int64] | None = None


def _stack(sheet: Sheet, how: Plan) -> _Long:
    """Bring a wide sheet into long form; blank cells of a judge's column are no votes."""
    names = {c: t for c, t in how.mapping.items() if not t.startswith("=")}
    cells = {canonical: sheet.columns[theirs] for canonical, theirs in names.items()}
    extra = {name: sheet.columns[name] for name in how.extra}
    if how.unguard:
        text = {column.name for column in COLUMNS if column.kind == "text"}
        cells = {name: column.map(unguard) if name in text else column for name, column in cells.items()}
        extra = {unguard(name): column.map(unguard) for name, column in extra.items()}
    for name, constant in how.constants.items():
        cells[name] = Coded.constant(constant, len(sheet.row))
    cells = {name: column.map(str if name in _LONG_TEXTS else str.strip) for name, column in cells.items()}
    if "position" in cells:
        cells["position"] = cells["position"].map(order_word)
    extra = {
        name: column.map(lambda value: value if value.strip() else None) for name, column in extra.items()
    }
    extra = {_extra_name(name): column for name, column in extra.items()}
    if how.layout != "wide":
        return _Long(cells, names, extra, sheet.row, sheet.rejects)
    votes = [sheet.columns[name].map(str.strip) for name in how.judges]
    index = [np.flatnonzero(~column.missing) for column in votes]
    take = np.concatenate(index) if index else np.zeros(0, np.int64)
    judge = np.repeat(np.arange(len(votes)), [len(i) for i in index])
    order = np.lexsort((judge, take))
    labels: dict[str, int] = {}
    new = [np.array([labels.setdefault(v, len(labels)) for v in column.values], np.int64) for column in votes]
    codes = [table[column.codes[rows]] for table, column, rows in zip(new, votes, index, strict=True)]
    cells = {name: column.take(take[order]) for name, column in cells.items()}
    cells["vote"] = Coded(np.concatenate([np.zeros(0, np.int64), *codes])[order], list(labels))
    cells["judge"] = Coded(judge[order], list(how.judges))
    extra = {name: column.take(take[order]) for name, column in extra.items()}
    return _Long(cells, names, extra, sheet.row[take[order]], sheet.rejects, judge[order])


def _extra_name(name: str) -> str:
    """Name of a column that is kept as it is; one named like a canonical column that it is not, renamed."""
    return f"{name} (in the file)" if name in COLUMN_NAMES else name


class _Typed(Typed):
    """Parses the cells of a long table of votes."""

    def __init__(self, long: _Long, how: Plan, options: ReadOptions) -> None:
        super().__init__(long.cells, long.named, long.extra, long.row, long.rejects)
        self.long, self.how, self.options = long, how, options
        self.notes: list[str] = []

    def column(self, name: str, i: int | np.integer[Any]) -> str:
        if name == "vote" and self.long.vote_column is not None:
            return self.how.judges[int(self.long.vote_column[i])]
        return super().column(name, i)

    def draft(self) -> Draft:
        cells, n = self.long.cells, len(self.long.row)
        self.reject_unstorable()
        text = {c.name: cells[c.name] for c in COLUMNS if c.kind == "text" and c.name in cells}
        for name in text.keys() & CHOICES.keys():
            text[name] = self.choice(name)
        for name in ("item_id",) if self.how.gold_only else ("item_id", "judge"):
            self.reject_missing(name)
        if self.options.rater_type:
            text["rater_type"] = text.get("rater_type", Coded.constant(None, n)).filled(
                self.options.rater_type
            )
        numbers: dict[str, Numbers] = {}
        for column in COLUMNS:
            if (
                column.name in cells
                and column.name not in ("vote", "gold", "confidence")
                and column.kind != "text"
            ):
                function, dtype = (parse_int, np.int64) if column.kind == "int" else (parse_float, np.float64)
                numbers[column.name] = self.parse(column.name, function, dtype)
        if "confidence" in cells:
            scale = self.how.scale
            numbers["confidence"] = self.parse("confidence", lambda t: parse_confidence(t, scale), np.float64)
        if "gold" in cells and self.how.gold_vocabulary:
            numbers["gold"] = self._votes("gold", self.how.gold_vocabulary)
        if self.how.gold_only:
            self.reject_missing("gold")
        else:
            vote = self._scores() if self.how.layout == "scores" else self._slots(self._label_votes())
            numbers["vote"], text["status"] = self.settle_status("vote", vote, text.get("status"), self.notes)
            if "confidence" in numbers:
                confidence = numbers["confidence"]
                numbers["confidence"] = Numbers(confidence.values, confidence.valid & numbers["vote"].valid)
        draft = Draft(
            row=self.long.row,
            text=text,
            numbers=numbers,
            rejects=self.rejects,
            rows=0,
            extra=self.long.extra,
            mapping=dict(self.how.mapping),
            gold_only=self.how.gold_only,
        )
        draft.take(self.good)
        return draft

    def _votes(self, name: str, vocabulary: Vocabulary) -> Numbers:
        """Votes of a column of labels; a label outside the vocabulary rejects its row and is never a tie."""
        if vocabulary.name == NAMES:
            return self._named(name)

        def vote(label: str) -> int:
            found = vocabulary.vote(label)
            if found is None:
                raise BadCell(
                    f"not a label of {vocabulary.name} ({vocabulary.meaning}); correct it, or use --labels"
                )
            return found

        return self.parse(name, vote, np.int64)

    def _label_votes(self) -> Numbers:
        assert self.how.vocabulary is not None
        return self._votes("vote", self.how.vocabulary)

    def _named(self, name: str) -> Numbers:
        """Labels that are the better model's name."""
        column = self.long.cells[name]
        codes: dict[str, int] = {}

        def coded(cells: Coded) -> NDArray[np.int64]:
            table = [codes.setdefault(normalise(value), len(codes)) for value in cells.values]
            return np.array([*table, -1], np.int64)[cells.codes]

        label = coded(column)
        a, b = coded(self.long.cells["model_a"]), coded(self.long.cells["model_b"])
        tie = np.isin(label, [codes[word] for word in TIE_WORDS if word in codes])
        value = np.where(tie, 0, np.where(label == a, 1, -1))
        valid = ~column.missing & (tie | ((label == a) ^ (label == b)))
        self.reject(
            ~column.missing & ~valid,
            name,
            "names neither model_a nor model_b of its row, nor a tie; correct the name",
        )
        return Numbers(value, valid)

    def _slots(self, vote: Numbers) -> Numbers:
        """Turn labels that name the first and second shown into labels that name the models."""
        if not self.how.slots:
            return vote
        position = self.long.cells.get("position", Coded.constant(None, len(self.long.row)))
        flip = np.array([value.casefold() == "ba" for value in position.values] + [False], bool)[
            position.codes
        ]
        self.reject(
            position.missing & vote.valid,
            "position",
            "the label names the first or second shown, but position is missing; write ab or ba",
        )
        return Numbers(np.where(flip, -vote.values, vote.values), vote.valid)

    def _scores(self) -> Numbers:
        a, b = (self.parse(name, parse_float, np.float64) for name in SCORE_COLUMNS)
        difference = a.values - b.values
        # 100.8 - 100.7 is a little more than 0.1 in binary; it must tie at a margin of 0.1.
        tied = np.abs(difference) <= self.options.tie_margin * (1 + 1e-9)
        return Numbers(np.where(tied, 0, np.sign(difference)).astype(np.int64), a.valid & b.valid)
