"""What must hold among the rows of a file: keys, conflicts and duplicates, gold, and whole
rankings.

Typed rows go in, and the Arrow table of the canonical form comes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..memory import LARGE, give_back
from ..schema import RANKINGS, VOTES, Form, ImportResult
from .columns import (
    DTYPES,
    Cells,
    Codes,
    Mask,
    Numbers,
    Rejects,
    all_differ,
    cell_codes,
    cell_text,
    coded_cells,
    constant_cells,
    dense_codes,
    fill_missing,
    has_number,
    is_text,
    narrow_cells,
    small_codes,
)
from .source import Source

COMPARISON = ("dataset", "item_id", "model_a", "model_b")
TWICE = {
    "votes": (
        "the same models, judge, run and position {} but another vote, confidence, gold or status"
    ),
    "scores": "the same model, judge, metric and run {} but another score, gold or status",
}
"""What is wrong with two judgements of one key; `{}` says where the other is."""
_AGAIN = {
    "votes": "voted more than once on a comparison in the same order",
    "scores": "scored an answer more than once",
}


@dataclass(slots=True, eq=False, kw_only=True)
class TypedRows:
    """Judgements of one file in typed columns of a form, before rows are compared with each other.

    row : data row of the file that each comes from.
    text, numbers : canonical columns; a column in neither takes its default.
    extra : other columns of the file.
    rows : data rows in the file.  numbered : the file says which run a row is; None before `fill`.
    """

    row: NDArray[np.integer[Any]]
    text: dict[str, Cells]
    numbers: dict[str, Numbers]
    rejects: Rejects
    rows: int
    extra: dict[str, Cells] = field(default_factory=dict)
    mapping: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    gold_only: bool = False
    form: Form = VOTES
    numbered: bool | None = None
    runs_by_order: bool = False

    def take(self, keep: Mask | Codes) -> None:
        """Keep only these rows, by a mask or by their numbers in order."""
        import pyarrow as pa

        if keep.dtype == bool and keep.all():
            return
        index = pa.array(np.flatnonzero(keep) if keep.dtype == bool else keep)
        self.row = self.row[keep]
        self.text = {name: column.take(index) for name, column in self.text.items()}
        self.extra = {name: column.take(index) for name, column in self.extra.items()}
        self.numbers = {name: column[keep] for name, column in self.numbers.items()}

    def codes(self, names: Iterable[str]) -> Codes:
        """A small code for each distinct combination of these columns."""
        return small_codes(self.columns(names))

    def columns(self, names: Iterable[str]) -> list[Cells | Numbers]:
        """These columns, of texts or of numbers."""
        return [self.text[name] if name in self.text else self.numbers[name] for name in names]

    def value(self, name: str, i: int | np.integer[Any]) -> str:
        """A cell as messages show it, empty if it is missing."""
        if name in self.text:
            return cell_text(self.text[name], i)
        column = self.numbers.get(name)
        return "" if column is None or column[i] is np.ma.masked else str(column[i])

    def reject(self, i: int | np.integer[Any], column: str, value: str, reason: str) -> None:
        self.rejects.add(self.row[i], column, value, reason)

    def item(self, i: int | np.integer[Any]) -> str:
        """Item of a row as messages show it."""
        return repr(self.value("item_id", i)[:80])

    def fill(
        self, constants: Mapping[str, str], dataset: str, *, no_default: tuple[str, ...] = ()
    ) -> None:
        """Give every column of the form its cells: the file's, the constant, the default, or
        missing.

        no_default : columns whose default does not apply.
        """
        n = len(self.row)
        if self.numbered is None:
            self.numbered = "run" in self.numbers
        # One column without a cell stands for all: a large file has a dozen of them.
        nothing = constant_cells(None, n)
        no_number = {
            kind: np.ma.array(np.broadcast_to(dtype(0), n), mask=True)
            for kind, dtype in DTYPES.items()
        }
        for column in self.form.columns:
            name = column.name
            if column.kind == "text":
                cells = self.text.get(name, nothing)
                default = dataset if name == "dataset" else column.default
                if name in constants:
                    cells = constant_cells(constants[name], n)
                elif default is not None and name not in no_default:
                    cells = fill_missing(cells, str(default))
                self.text[name] = cells
            elif name not in self.numbers:
                self.numbers[name] = no_number[column.kind]
        self.numbers["run"] = np.ma.array(self.numbers["run"].filled(0), mask=self.gold_only)


def finish(
    rows: TypedRows, source: Source, format: str, *, constants: Mapping[str, str], dataset: str
) -> ImportResult:
    """Fill defaults, reject conflicts, drop duplicates, and build the table.

    A vote's key is (dataset, item, models, judge, run, position). Votes with the same key and the
    same vote, confidence, gold and status load once; with others, all of them are rejected. In a
    file without a run column a key that comes with different votes means repetitions: all its rows
    are numbered 0, 1, 2 … in file order. Comparisons with two different gold labels lose the rows
    that carry them. Direct scores, whose key is (dataset, item, model, judge, metric, run), are
    compared in the same way. Source: docs/methods.md §0.
    """
    if source.rows > LARGE:
        give_back()
    rows.fill(constants, dataset, no_default=("status", "rater_type") if rows.gold_only else ())
    if rows.form is VOTES:
        reject_gold_conflicts(rows)
    duplicates = _settle_keys(rows)
    return checked(rows, source, format, duplicates)


_PART = 2**17


def checked(rows: TypedRows, source: Source, format: str, duplicates: int) -> ImportResult:
    """The result of rows in which every column of their form is filled."""
    import pyarrow as pa

    kinds = rows.form.schema()
    columns = {name: narrow_cells(cells) for name, cells in rows.text.items()}
    for name, column in rows.numbers.items():
        if len(column) <= _PART or has_number(column).any():
            columns[name] = pa.array(column)
        else:
            # Of a column without a number a small part stands for all.
            part = pa.nulls(_PART, pa.from_numpy_dtype(column.dtype))
            parts = [*[part] * (len(column) // _PART), part.slice(0, len(column) % _PART)]
            columns[name] = pa.chunked_array(parts)
    columns["extra"] = _extra(rows.extra, len(rows.row), kinds.field("extra").type)
    columns["row"] = pa.array(rows.row)
    reading = ImportResult(
        name=source.name,
        sha256=source.sha256,
        format=format,
        rows=rows.rows,
        votes=pa.table({name: columns[name] for name in kinds.names}),
        rejects=rows.rejects.table(rows.row),
        duplicates=duplicates,
        mapping=rows.mapping,
        notes=tuple(rows.notes),
        reasons=tuple(rows.rejects.messages.values()),
        gold_only=rows.gold_only,
        kind=rows.form.kind,
        runs_by_order=rows.runs_by_order,
    )
    said = reading.unread if reading.n_unread else None
    return replace(reading, notes=(*reading.notes, said)) if said else reading


def _extra(columns: Mapping[str, Cells], n: int, kind: Any) -> Any:
    """Map by row of the other columns that have a cell there."""
    import pyarrow as pa

    names = list(columns)
    if not names or not n:
        empty = pa.array([], pa.string())
        return pa.MapArray.from_arrays(pa.array(np.zeros(n + 1, np.int32)), empty, empty, kind)
    parts = []
    for start in range(0, n, _PART):
        cells = [column.slice(start, _PART) for column in columns.values()]
        filled = np.stack([cell_codes(column) >= 0 for column in cells], axis=1)
        texts = pa.concat_arrays([column.drop_null().dictionary_decode() for column in cells])
        # The texts stand column by column, and are taken row by row.
        place = np.cumsum(filled.T).reshape(filled.T.shape).T[filled] - 1
        offsets = np.append(0, np.cumsum(filled.sum(axis=1))).astype(np.int32)
        keys = pa.array(names).take(pa.array(np.nonzero(filled)[1]))
        parts.append(
            pa.MapArray.from_arrays(pa.array(offsets), keys, texts.take(pa.array(place)), kind)
        )
    return pa.chunked_array(parts)


def _first_rows(codes: Codes) -> Codes:
    """For each row the first row of the same code."""
    first = np.zeros(codes.max(initial=-1) + 1, np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return first[codes]


def _occurrences(codes: Codes) -> Codes:
    """For each row how many rows before it have the same code."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], codes[order])
    number = np.empty(len(codes), np.int64)
    number[order] = np.arange(len(codes)) - starts
    return number


def _counts(codes: Codes) -> Codes:
    """For each row how many rows have the same code."""
    return np.bincount(codes)[codes]


def _any(codes: Codes, rows: Mask) -> Mask:
    """For each row whether any row of the same code is among these."""
    marked = np.zeros(codes.max(initial=-1) + 1, bool)
    marked[codes[rows]] = True
    return marked[codes]


def _contradicted(codes: Codes, values: Numbers) -> Mask:
    """Rows with a number where another row of the same code has another number."""
    there, number = has_number(values), values.data
    last = np.zeros(codes.max(initial=-1) + 1, number.dtype)
    last[codes[there]] = number[there]
    differs = (number != last[codes]) & there
    return _any(codes, differs) & there if differs.any() else differs


def reject_gold_conflicts(rows: TypedRows, key: tuple[str, ...] = COMPARISON) -> None:
    """Reject the rows of one key that give it different gold."""
    gold = rows.numbers["gold"]
    if not has_number(gold).any():
        return
    bad = _contradicted(rows.codes(key), gold)
    for i in np.flatnonzero(bad):
        reason = f"item {rows.item(i)} has different gold labels in this file; keep one of them"
        rows.reject(i, "gold", str(gold[i]), reason)
    rows.take(~bad)


def _settle_keys(rows: TypedRows) -> int:
    """Number repetitions or reject conflicts, drop duplicates, and count those."""
    if all_differ(rows.columns(rows.form.key)):
        return 0
    key = rows.codes(rows.form.key)
    first = _first_rows(key)
    again = first != np.arange(len(key))
    if not again.any():
        return 0
    content = rows.codes(rows.form.content)
    conflict = _any(key, content != content[first])
    if conflict.any() and not rows.numbered and not rows.gold_only:
        _number_runs(rows, key, again)
        return 0
    main = rows.form.content[0]
    for i in np.flatnonzero(conflict):
        partner = f"as row {rows.row[first[i]]}" if again[i] else "as a later row"
        problem = f"item {rows.item(i)} has {TWICE[rows.form.kind].format(partner)}"
        reason = f"conflict: {problem}; keep one of them, or number the repetitions in a column run"
        rows.reject(i, main, rows.value(main, i), reason)
    duplicates = int((again & ~conflict).sum())
    rows.take(~conflict & ~again)
    if duplicates and not rows.numbered:
        rows.notes.append(
            f"{rows.form.units.capitalize()} left out because they repeat an earlier one word for "
            "word: "
            f"{duplicates:,}. If the judge was asked again, number the repetitions in a column run."
        )
    return duplicates


def _number_runs(rows: TypedRows, key: Codes, again: Mask) -> None:
    """Number the rows of each key in file order."""
    run = _occurrences(key)
    rows.numbers["run"], rows.runs_by_order = np.ma.array(run), True
    rows.notes.append(
        f"There is no column run. Where a judge {_AGAIN[rows.form.kind]} "
        f"({len(np.unique(key[again])):,} times), its "
        f"{rows.form.units} were numbered as runs 0 to {run.max()}, in file order."
    )


ONE_EACH = {
    "slot": "a ranking of n candidates has the slots 0 to n - 1 (or 1 to n), one each; correct "
    "them, or add the missing candidate",
    "rank": (
        "a ranking of n candidates has the ranks 1 to n, one each; "
        "correct them, or leave them empty"
    ),
}
ANSWERS = (
    "score",
    "rank",
    "chosen",
    "calibrated_uncertainty",
    "uncertain",
    "major_error",
    "unsupported",
)
"""Columns that a failed ranking cannot have."""


class Rankings:
    """Typed rows by ranking: `code` is the ranking of each row, `refused` the rows of bad rankings.

    A ranking that breaks a rule is rejected whole; `blamed` are the rows that carry a reason of
    their own.
    """

    def __init__(self, rows: TypedRows, bad: Mask) -> None:
        self.rows, self.blamed = rows, bad.copy()
        self.code = rows.codes(RANKINGS.key)
        self.refused = _any(self.code, bad)

    def refuse(self, bad: Mask, column: str, reason: str) -> None:
        """Refuse the rankings of these rows; the first such row of each carries the reason."""
        index = np.flatnonzero(bad & ~self.refused)
        for i in np.sort(index[np.unique(self.code[index], return_index=True)[1]]):
            self.rows.reject(
                i, column, self.rows.value(column, i), f"item {self.rows.item(i)}: {reason}"
            )
            self.blamed[i] = True
        self.refused |= _any(self.code, bad)

    def drop_repeated(self) -> int:
        """Drop rows that repeat a candidate of their ranking word for word, and count such
        rankings.
        """
        first = _first_rows(self.rows.codes((*RANKINGS.key, "candidate")))
        content = self.rows.codes(RANKINGS.content)
        again = first != np.arange(len(first))
        differs = content != content[first]
        self.refuse(
            again & differs,
            "candidate",
            "this candidate is twice in the ranking, with other cells; keep one, or number the "
            "orderings in a column run",
        )
        keep = ~again | differs
        dropped = np.bincount(self.code, weights=~keep)
        size = np.maximum(np.bincount(self.code, weights=keep), 1)
        refused = np.bincount(self.code, weights=self.refused) > 0
        self.rows.take(keep)
        self.code, self.blamed, self.refused = (
            self.code[keep],
            self.blamed[keep],
            self.refused[keep],
        )
        return int(np.ceil(dropped / size)[~refused].sum())

    def refuse_beside(self, rows: NDArray[np.int64]) -> None:
        """Refuse the rankings before and after rows of the file that may belong to either."""
        self.refuse(
            np.isin(self.rows.row, np.concatenate([rows - 1, rows + 1])),
            "(whole ranking)",
            "the row beside this one cannot be used and may belong to the same ranking; correct "
            "that row",
        )

    def refuse_uneven(self) -> None:
        """Refuse rankings whose slots, ranks, scores or words do not fit together."""
        size, first = _counts(self.code), _first_rows(self.code)
        self.refuse(
            size == 1, "candidate", "a ranking needs two candidates or more; add the others"
        )
        for name in ("category", "status", "rater_type"):
            words = cell_codes(self.rows.text[name])
            self.refuse(
                words != words[first], name, f"{name} differs within the ranking; write one for all"
            )
        for name in ("rank", "score"):
            there = has_number(self.rows.numbers[name])
            reason = f"{name} is missing here and given elsewhere in the ranking; fill it"
            self.refuse(_any(self.code, there) & ~there, name, reason)
        for name, low in (("slot", 0), ("rank", 1)):
            places = self.rows.numbers[name]
            outside = (places < low) | (places >= size + low)
            twice = has_number(places) & (
                _counts(dense_codes([np.ma.array(self.code), places])) > 1
            )
            self.refuse(outside.filled(False) | twice, name, ONE_EACH[name])

    def refuse_fewer(self) -> None:
        """Refuse rankings that show fewer candidates than another of their item: rows are
        missing.
        """
        item = self.rows.codes(("dataset", "item_id"))
        size = np.where(self.refused, 0, _counts(self.code))
        most = np.zeros(item.max(initial=-1) + 1, np.int64)
        np.maximum.at(most, item, size)
        reason = "shows fewer candidates than another ranking of the item; add the missing rows"
        self.refuse(size < most[item], "(whole ranking)", reason)

    def settle_choice(self) -> None:
        """Fill `chosen` and `status`; a failed ranking keeps no answer."""
        numbers, status = self.rows.numbers, self.rows.text["status"]
        ok = is_text(status, "ok")
        failed = (cell_codes(status) >= 0) & ~ok
        rank, score, chosen = numbers["rank"], numbers["score"], numbers["chosen"]
        is_first, is_chosen = (rank == 1).filled(False), (chosen == 1).filled(False)
        picked = _any(self.code, is_chosen) & ~failed
        reason = "no candidate of the ranking is chosen; write 1 for the chosen one"
        self.refuse(has_number(chosen) & ~picked & ~failed, "chosen", reason)
        ranked, scored = _any(self.code, has_number(rank)), _any(self.code, has_number(score))
        reason = "contradicts the ranks: the candidate of rank 1 is the chosen one; correct either"
        self.refuse(picked & ranked & (is_chosen != is_first), "chosen", reason)
        top = np.full(self.code.max(initial=-1) + 1, -np.inf)
        np.maximum.at(top, self.code, score.filled(-np.inf))
        derived = np.where(ranked, is_first, (score == top[self.code]).filled(False))
        answered = (picked | ranked | scored) & ~failed
        reason = "status is ok but there is no score, rank or choice; change either"
        self.refuse(ok & ~answered, "status", reason)
        unused = failed & np.any([has_number(numbers[name]) for name in ANSWERS], axis=0)
        if unused.any():
            n = len(np.unique(self.code[unused]))
            self.rows.notes.append(
                f"Answers not used because the status is not ok: {n:,} rankings."
            )
        for name in ANSWERS:
            numbers[name] = np.ma.array(
                numbers[name], mask=np.ma.getmaskarray(numbers[name]) | failed
            )
        numbers["chosen"] = np.ma.array(
            np.where(picked, is_chosen, derived).astype(np.int64), mask=~answered
        )
        self.rows.text["status"] = fill_missing(status, coded_cells(~answered, ["ok", "unparsed"]))

    def settle_best(self) -> None:
        """Fill `is_best` beside a 1; refuse rankings that contradict each other about it."""
        best = self.rows.numbers["is_best"]
        settled = _any(self.code, (best == 1).filled(False))
        best = np.ma.array(best.filled(0), mask=~(has_number(best) | settled))
        counted = np.ma.array(best, mask=np.ma.getmaskarray(best) | self.refused)
        self.refuse(
            _contradicted(self.rows.codes(("dataset", "item_id", "candidate")), counted),
            "is_best",
            "another ranking of the item says otherwise of this candidate; correct either",
        )
        self.rows.numbers["is_best"] = best

    def take_good(self) -> None:
        """Keep only whole rankings; the other rows of a refused one are rejected for it."""
        rejected = {row for row, *_ in self.rows.rejects.found}
        for i in np.flatnonzero(self.refused & ~self.blamed):
            if self.rows.row[i] not in rejected:
                rejected.add(self.rows.row[i])
                reason = (
                    "another row of the ranking was rejected, and a ranking "
                    "loads whole; correct that row"
                )
                candidate = self.rows.value("candidate", i)
                self.rows.reject(
                    i, "(whole ranking)", candidate, f"item {self.rows.item(i)}: {reason}"
                )
        self.rows.take(~self.refused)
