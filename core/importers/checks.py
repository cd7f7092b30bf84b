"""From typed columns to an ImportResult: defaults, repetitions, duplicates, conflicts and the Arrow table.

What must hold among the rows of one ranking; a ranking that breaks it is rejected whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..schema import RANKINGS, VOTES, Form, ImportResult
from .columns import Coded, Codes, Mask, Numbers, Rejects, group
from .source import Source

_DTYPES = {"int": np.int64, "float": np.float64}
COMPARISON = ("dataset", "item_id", "model_a", "model_b")
_TWICE = {
    "votes": "the same models, judge, run and position {} but another vote, confidence, gold or status",
    "scores": "the same model, judge and run {} but another score or status",
}


@dataclass(slots=True, eq=False, kw_only=True)
class Draft:
    """Judgements of one file, typed, in the columns of a form, before rows are held against each other.

    row : data row of the file that each comes from.
    text, numbers : canonical columns; a column in neither takes its default.
    extra : other columns of the file.
    rows : data rows in the file.
    """

    row: NDArray[np.int64]
    text: dict[str, Coded]
    numbers: dict[str, Numbers]
    rejects: Rejects
    rows: int
    extra: dict[str, Coded] = field(default_factory=dict)
    mapping: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    gold_only: bool = False
    form: Form = VOTES

    def take(self, keep: Mask) -> None:
        """Keep only these rows."""
        if keep.all():
            return
        self.row = self.row[keep]
        self.text = {name: column.take(keep) for name, column in self.text.items()}
        self.numbers = {name: Numbers(c.values[keep], c.valid[keep]) for name, c in self.numbers.items()}
        self.extra = {name: column.take(keep) for name, column in self.extra.items()}


def finish(
    draft: Draft, source: Source, format: str, *, constants: Mapping[str, str], dataset: str
) -> ImportResult:
    """Fill defaults, reject conflicts, drop duplicates, and build the table.

    A vote's key is (dataset, item, models, judge, run, position). Votes with the same key and the same vote,
    confidence, gold and status load once; with others, all of them are rejected. In a file without a run
    column a
    key that comes with different votes means repetitions: all its rows are numbered 0, 1, 2 … in file order.
    Comparisons with two different gold labels lose the rows that carry them. A direct score, whose key is
    (dataset, item, model, judge, run), is held against others in the same way. Source: methods §0 (ours).
    """
    numbered = "run" in draft.numbers
    fill(draft, constants, dataset)
    if draft.form is VOTES:
        _reject_gold_conflicts(draft)
    duplicates = _settle_keys(draft, numbered=numbered)
    return made(draft, source, format, duplicates)


def made(draft: Draft, source: Source, format: str, duplicates: int) -> ImportResult:
    """The reading of a draft in which every column of its form is filled."""
    import pyarrow as pa

    schema = draft.form.schema()
    arrays = [
        (draft.text[column.name] if column.kind == "text" else draft.numbers[column.name]).arrow()
        for column in draft.form.columns
    ]
    arrays += [_extra(draft.extra, len(draft.row), schema.field("extra").type), pa.array(draft.row)]
    votes = pa.table(
        [array.cast(kind) for array, kind in zip(arrays, schema.types, strict=True)], schema=schema
    )
    return ImportResult(
        name=source.name,
        sha256=source.sha256,
        format=format,
        rows=draft.rows,
        votes=votes,
        rejects=draft.rejects.table(),
        duplicates=duplicates,
        mapping=draft.mapping,
        notes=tuple(draft.notes),
        gold_only=draft.gold_only,
        kind=draft.form.kind,
    )


def fill(draft: Draft, constants: Mapping[str, str], dataset: str) -> None:
    """Give every column of the form its cells: the file's, the constant, the default, or missing."""
    n = len(draft.row)
    for column in draft.form.columns:
        if column.kind == "text":
            if column.name in constants:
                draft.text[column.name] = Coded.constant(constants[column.name], n)
            cells = draft.text.get(column.name, Coded.constant(None, n))
            default = dataset if column.name == "dataset" else column.default
            if draft.gold_only and column.name in ("status", "rater_type"):
                default = None
            draft.text[column.name] = cells.filled(str(default)) if default is not None else cells
        elif column.name not in draft.numbers:
            draft.numbers[column.name] = Numbers.constant(None, n, _DTYPES[column.kind])
    run = draft.numbers["run"]
    draft.numbers["run"] = Numbers(np.where(run.valid, run.values, 0), np.full(n, not draft.gold_only))


def key_codes(draft: Draft, names: tuple[str, ...]) -> Codes:
    """One code for each distinct combination of these columns."""
    columns = []
    for name in names:
        if name in draft.text:
            columns.append(draft.text[name].codes)
        else:
            numbers = draft.numbers[name]
            distinct = np.unique(numbers.values, return_inverse=True)[1].astype(np.int64)
            columns.append(np.where(numbers.valid, distinct, -1))
    return group(*columns)


def _reject_gold_conflicts(draft: Draft) -> None:
    gold = draft.numbers["gold"]
    if not gold.valid.any():
        return
    comparison = key_codes(draft, COMPARISON)
    low = np.full(comparison.max(initial=0) + 1, 2, np.int64)
    high = np.full_like(low, -2)
    np.minimum.at(low, comparison[gold.valid], gold.values[gold.valid])
    np.maximum.at(high, comparison[gold.valid], gold.values[gold.valid])
    bad = gold.valid & (low < high)[comparison]
    for i in np.flatnonzero(bad):
        draft.rejects.add(
            int(draft.row[i]),
            "gold",
            str(gold.values[i]),
            f"item {item_name(draft, i)} has different gold labels in this file; keep one of them",
        )
    draft.take(~bad)


def _settle_keys(draft: Draft, *, numbered: bool) -> int:
    """Number repetitions or reject conflicts, drop duplicates, and count those."""
    n = len(draft.row)
    if n == 0:
        return 0
    key = key_codes(draft, draft.form.key)
    repeated = np.flatnonzero((np.bincount(key) > 1)[key])
    if not len(repeated):
        return 0
    content = key_codes(draft, draft.form.content)
    sub = repeated[np.lexsort((repeated, key[repeated]))]
    starts = np.r_[True, key[sub][1:] != key[sub][:-1]]
    first = sub[np.maximum.accumulate(np.where(starts, np.arange(len(sub)), 0))]
    groups = np.cumsum(starts) - 1
    differs = np.zeros(groups[-1] + 1, bool)
    np.logical_or.at(differs, groups, content[sub] != content[first])
    keep = np.ones(n, bool)
    if differs.any() and not numbered and not draft.gold_only:
        position_in_group = np.arange(len(sub)) - np.flatnonzero(starts)[groups]
        draft.numbers["run"].values[sub] = position_in_group
        where = (
            "voted more than once on a comparison in the same order"
            if draft.form is VOTES
            else "scored a model more than once on an item"
        )
        draft.notes.append(
            f"There is no column run. Where a judge {where} "
            f"({len(differs):,} times), its {draft.form.units} were numbered as runs 0 to "
            f"{position_in_group.max()}, in file order."
        )
        return 0
    conflict = differs[groups]
    main = draft.form.content[0]
    for i, other in zip(sub[conflict], first[conflict], strict=True):
        partner = f"as row {draft.row[other]}" if i != other else "as a later row"
        draft.rejects.add(
            int(draft.row[i]),
            main,
            str(draft.numbers[main].values[i]) if draft.numbers[main].valid[i] else "",
            f"conflict: item {item_name(draft, i)} has {_TWICE[draft.form.kind].format(partner)}; "
            "keep one of them, or number the repetitions in a column run",
        )
    keep[sub[conflict]] = False
    duplicate = sub[~conflict & ~starts]
    keep[duplicate] = False
    draft.take(keep)
    if len(duplicate) and not numbered:
        draft.notes.append(
            f"{draft.form.units.capitalize()} left out because they repeat an earlier one word for word: "
            f"{len(duplicate):,}. If the judge was asked again, number the repetitions in a column run."
        )
    return len(duplicate)


def item_name(draft: Draft, i: int | np.integer[Any]) -> str:
    return repr(draft.text["item_id"].cell(i)[:80])


def _extra(columns: Mapping[str, Coded], n: int, kind: Any) -> Any:
    import pyarrow as pa

    names = list(columns)
    if not names or not n:
        offsets: Any = np.zeros(n + 1, np.int32)
        return pa.MapArray.from_arrays(offsets, pa.array([], pa.string()), pa.array([], pa.string()), kind)
    filled = np.stack([~columns[name].missing for name in names], axis=1)
    offsets = np.r_[0, np.cumsum(filled.sum(axis=1))].astype(np.int32)
    row, column = np.nonzero(filled)
    values = pa.concat_arrays([pa.array(columns[name].values, pa.string()) for name in names])
    starts = np.cumsum([0, *(len(columns[name].values) for name in names[:-1])])
    codes = np.stack([columns[name].codes for name in names], axis=1)
    items = values.take(pa.array(codes[row, column] + starts[column]))
    return pa.MapArray.from_arrays(offsets, pa.array(names, pa.string()).take(pa.array(column)), items, kind)


ONE_EACH = {
    "slot": "a ranking of n candidates has the slots 0 to n - 1 (or 1 to n), one each; correct them, or add "
    "the missing candidate",
    "rank": "a ranking of n candidates has the ranks 1 to n, one each; correct them, or leave them empty",
}
ANSWERS = ("score", "rank", "chosen", "uncertain", "major_error", "unsupported")
"""Columns that a failed ranking cannot have."""


class Lists:
    """The rows of a draft by ranking: `code` is the ranking of each row, `refused` says which are bad."""

    def __init__(self, draft: Draft, bad: Mask) -> None:
        self.draft, self.bad = draft, bad.copy()
        self.code = key_codes(draft, RANKINGS.key)
        self.n = int(self.code.max(initial=-1)) + 1
        self.refused = np.zeros(self.n, bool)
        self.refused[self.code[bad]] = True

    def refuse(self, rows: Mask, column: str, reason: str) -> None:
        """Refuse the rankings of these rows; the first such row of each carries the reason."""
        index = np.flatnonzero(rows & ~self.refused[self.code])
        _, first = np.unique(self.code[index], return_index=True)
        for i in index[np.sort(first)]:
            self.draft.rejects.add(
                int(self.draft.row[i]), column, self._cell(column, i), f"item {self._name(i)}: {reason}"
            )
            self.bad[i] = True
            self.refused[self.code[i]] = True

    def drop_repeated(self) -> int:
        """Drop rows that repeat a candidate of their ranking word for word, and count such rankings."""
        if not len(self.code):
            return 0
        member = key_codes(self.draft, (*RANKINGS.key, "candidate"))
        content = key_codes(self.draft, RANKINGS.content)
        order = np.lexsort((np.arange(len(member)), member))
        starts = np.r_[True, member[order][1:] != member[order][:-1]]
        first = np.empty(len(order), np.int64)
        first[order] = order[np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))]
        again = first != np.arange(len(order))
        differs = content != content[first]
        self.refuse(
            again & differs,
            "candidate",
            "this candidate is twice in the ranking, with other cells; keep one, or number the orderings in "
            "a column run",
        )
        keep = ~again | differs
        dropped = np.bincount(self.code[~keep], minlength=self.n)
        self.draft.take(keep)
        self.code, self.bad = self.code[keep], self.bad[keep]
        size = np.maximum(np.bincount(self.code, minlength=self.n), 1)
        return int(np.ceil(dropped / size)[~self.refused].sum())

    def refuse_beside(self, rows: NDArray[np.int64]) -> None:
        """Refuse the rankings before and after rows of the file that may belong to either."""
        near = np.isin(self.draft.row, np.concatenate([rows - 1, rows + 1]))
        self.refuse(
            near,
            "(whole ranking)",
            "the row beside this one cannot be used and may belong to the same ranking; correct that row",
        )

    def refuse_uneven(self) -> None:
        """Refuse rankings whose slots, ranks, scores or words do not fit together."""
        size = self._size()
        self.refuse(size == 1, "candidate", "a ranking needs two candidates or more; add the others")
        first = np.zeros(self.n, np.int64)
        first[self.code[::-1]] = np.arange(len(self.code))[::-1]
        for name in ("category", "status", "rater_type"):
            codes = self.draft.text[name].codes
            self.refuse(
                codes != codes[first[self.code]],
                name,
                f"{name} differs within the ranking; write one for all",
            )
        for name in ("rank", "score"):
            valid = self.draft.numbers[name].valid
            given = self._any(valid)
            self.refuse(
                given & ~valid, name, f"{name} is missing here and given elsewhere in the ranking; fill it"
            )
        for name, low in (("slot", 0), ("rank", 1)):
            values, valid = self.draft.numbers[name].values, self.draft.numbers[name].valid
            outside = valid & ((values < low) | (values >= size + low))
            place = group(self.code, np.where(valid, values - values.min(initial=0), -1))
            twice = valid & (np.bincount(place)[place] > 1) if len(place) else valid
            self.refuse(outside | twice, name, ONE_EACH[name])

    def refuse_fewer(self) -> None:
        """Refuse rankings that show fewer candidates than another of their item: rows are missing."""
        item = key_codes(self.draft, ("dataset", "item_id"))
        size = np.where(self.refused[self.code], 0, self._size())
        most = np.zeros(int(item.max(initial=-1)) + 1, np.int64)
        np.maximum.at(most, item, size)
        self.refuse(
            size < most[item],
            "(whole ranking)",
            "shows fewer candidates than another ranking of the item; add the missing rows",
        )

    def settle_choice(self) -> None:
        """Fill `chosen` and `status`; a failed ranking keeps no answer."""
        numbers, text = self.draft.numbers, self.draft.text
        status = text["status"]
        ok = np.array([word == "ok" for word in status.values] + [False], bool)[status.codes]
        failed = ~status.missing & ~ok
        rank, score, chosen = numbers["rank"], numbers["score"], numbers["chosen"]
        picked = self._any(chosen.valid & (chosen.values == 1)) & ~failed
        self.refuse(
            chosen.valid & ~picked & ~failed,
            "chosen",
            "no candidate of the ranking is chosen; write 1 for the chosen one",
        )
        is_chosen = chosen.valid & (chosen.values == 1)
        ranked = self._any(rank.valid)
        self.refuse(
            picked & ranked & (is_chosen != (rank.values == 1)),
            "chosen",
            "contradicts the ranks: the candidate of rank 1 is the chosen one; correct either",
        )
        top = np.full(self.n, -np.inf)
        np.maximum.at(top, self.code[score.valid], score.values[score.valid])
        scored = self._any(score.valid)
        derived = np.where(ranked, rank.values == 1, score.valid & (score.values == top[self.code]))
        answered = (picked | ranked | scored) & ~failed
        self.refuse(
            ok & ~answered, "status", "status is ok but there is no score, rank or choice; change either"
        )
        numbers["chosen"] = Numbers(np.where(picked, is_chosen, derived).astype(np.int64), answered)
        given = np.zeros(len(self.code), bool)
        for name in ANSWERS:
            if name != "chosen":
                given |= numbers[name].valid & failed
                numbers[name] = Numbers(numbers[name].values, numbers[name].valid & ~failed)
        given |= chosen.valid & failed
        if given.any():
            n = len(np.unique(self.code[given]))
            self.draft.notes.append(f"Answers not used because the status is not ok: {n:,} rankings.")
        words = [*status.values, "ok", "unparsed"]
        codes = np.where(status.missing, np.where(answered, len(words) - 2, len(words) - 1), status.codes)
        text["status"] = Coded(codes, words).map(str)

    def settle_best(self) -> None:
        """Fill `is_best` beside a 1; refuse rankings that contradict each other about it."""
        best = self.draft.numbers["is_best"]
        known = self._any(best.valid & (best.values == 1))
        value, valid = np.where(best.valid, best.values, 0), best.valid | known
        member = key_codes(self.draft, ("dataset", "item_id", "candidate"))
        counted = valid & ~self.refused[self.code]
        low = np.full(int(member.max(initial=-1)) + 1, 2, np.int64)
        high = np.full_like(low, -1)
        np.minimum.at(low, member[counted], value[counted])
        np.maximum.at(high, member[counted], value[counted])
        self.refuse(
            counted & (low < high)[member],
            "is_best",
            "another ranking of the item says otherwise of this candidate; correct either",
        )
        self.draft.numbers["is_best"] = Numbers(value, valid)

    def take_good(self) -> None:
        """Keep only whole rankings; the other rows of a refused one are rejected for it."""
        told = set(self.draft.rejects.row)
        for i in np.flatnonzero(self.refused[self.code] & ~self.bad):
            if int(self.draft.row[i]) not in told:
                told.add(int(self.draft.row[i]))
                self.draft.rejects.add(
                    int(self.draft.row[i]),
                    "(whole ranking)",
                    self.draft.text["candidate"].cell(i),
                    f"item {self._name(i)}: another row of the ranking was rejected, and a ranking loads "
                    "whole; correct that row",
                )
        self.draft.take(~self.refused[self.code])

    def _size(self) -> Codes:
        """Candidates in the ranking of each row."""
        return np.bincount(self.code, minlength=self.n).astype(np.int64)[self.code]

    def _any(self, rows: Mask) -> Mask:
        """For each row, whether any row of its ranking is among these."""
        found = np.zeros(self.n, bool)
        found[self.code[rows]] = True
        return found[self.code]

    def _name(self, i: int | np.integer[Any]) -> str:
        return item_name(self.draft, i)

    def _cell(self, column: str, i: int | np.integer[Any]) -> str:
        if column in self.draft.text:
            return self.draft.text[column].cell(i)
        numbers = self.draft.numbers.get(column)
        return str(numbers.values[i]) if numbers is not None and numbers.valid[i] else ""
