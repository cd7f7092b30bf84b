"""Which items and judgements of several files are the same: decided once for each pair of files,
never row by row.

Two files are about the same items by the first of these that they have: equal texts, no names of
items, people's labels that agree, names alone. What a file holds again is left out; what a judge
said anew of the same items is a further run. Source: ours; simulated in benchmarks/weekly.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..bounds import some_of
from ..finding.wording import count
from ..schema import FORMS, ImportResult, Kind
from .columns import cell_codes, coded_cells, narrow_cells
from .item_keys import (
    MODELS,
    Index,
    Part,
    cells_of,
    keys_of_cells,
    keys_of_columns,
    mixed_keys,
    numbers_of,
    places_of,
    runs_of,
)
from .source import stem_of

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    Keys = NDArray[np.uint64]
    Rows = NDArray[np.int64]

EQUAL_TEXTS = 0.5
"""Share of the common items with equal texts from which two files are about the same items."""
FEWEST_LABELS = 10
"""Common labelled items below which labels do not decide."""
LABEL_KAPPA = 0.4
"""κ of two files' labels from which they are about the same items: other items reach it in at most
10 % of pairs of files at 10 common labels and .2 % from 50; the same ones, 3 % of them corrected,
miss it in .6 % at 10 and never from 20.
"""
SAME_FILE, FEWEST_JUDGEMENTS = 0.99, 20
"""Share of equal judgements, and how many common ones it takes, for a file to hold them again."""
NEAREST = 100
"""Earlier files that a file's judgements are compared with, besides those of equal bytes."""
_LISTED = 5
"""Most names in a note."""


APART = {0: "so --items says", 1: "their texts differ", 3: "their labels do not agree"}
"""Rule → why the items of two files are not the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Files whose items have one set of names, as a store holds them.

    dataset : a data set that is about these items.  files : what it holds of each file.
    """

    dataset: str
    files: tuple[ImportResult, ...]


def as_one(
    results: Sequence[ImportResult],
    items: Literal["same", "apart"] | None = None,
    *,
    together: Iterable[str] = (),
    stored: Sequence[Stored] = (),
) -> list[ImportResult]:
    """Readings of several files in which an item has one name, and a judgement is there once.

    Of two files the first rule that applies: both have texts under common ids, which are the same
    items where at least half are equal, and a row whose text differs is an item of its own; neither
    has ids, and then equal texts are equal items; κ of at least ten common labels is .4 or more;
    else ids alone make the same items, with a note. Items of a later file that are others are named
    `week2: q0`. Of the judgements of a rater that two files hold, 20 or more of which 99 % are
    equal in every cell are left out of the later file, and counted; all others are runs, numbered
    on. Labels that differ between files become those of most files, and without a majority those
    of the first. Data sets that files name differently are apart, as within one file.

    items : `same` or `apart` decides for all files.
    together : names that data sets of files have if the files name none, besides their own.
    stored : what is there already, to which the same rules apply; only that ids alone make the same
        items there where a rater is the same too, as a store may hold anything.
    """
    from_names = {stem_of(result.name) for result in results} | {*together}
    several = len({(result.name, result.sha256) for result in results}) > 1
    twice = len({(result.name, result.sha256, result.kind) for result in results}) < len(results)
    if not (several or twice or stored):
        return [*results]
    joined = _Joined(items, from_names, alone=not (several or twice))
    for held in stored:
        joined.hold(held)
    for result in results:
        joined.add(result)
    return joined.settled()


@dataclass(slots=True, eq=False)
class _Group:
    """Files whose items have one set of names.

    prefix : before the names of its items.  known : part and unit of each key, as one number.
    edited : final names of items whose text is another than the first, by unit and texts.
    """

    dataset: str
    prefix: str
    declared: frozenset[str] | None
    several: bool
    stored: bool = False
    known: dict[Kind, Index] = field(default_factory=dict)
    runs: dict[Kind, Index] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)
    edited: dict[tuple[int, bytes], str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Decision:
    """Whether two files are about the same items, and why.

    rule : 1 texts, 3 labels, 4 names alone.  other : rows of the later file with other texts.
    """

    same: bool
    rule: int
    common: int
    other: Rows
    against: str


@dataclass(slots=True, eq=False)
class _Joined:
    """Files joined so far."""

    items: Literal["same", "apart"] | None
    from_names: set[str]
    alone: bool = False
    groups: list[_Group] = field(default_factory=list)
    results: list[ImportResult] = field(default_factory=list)
    parts: list[Part | None] = field(default_factory=list)
    seen: set[tuple[str, Kind]] = field(default_factory=set)
    of_file: dict[tuple[str, str], tuple[_Group, set[Kind]]] = field(default_factory=dict)
    prefixes: Counter[str] = field(default_factory=Counter)

    def hold(self, held: Stored) -> None:
        """Know what a store holds, as it is there."""
        group = _Group(held.dataset, "", None, several=False, stored=True)
        self.groups.append(group)
        for result in held.files:
            part = Part.of(result, several=False)
            part.low = int(np.nan_to_num(numbers_of(result.votes["run"])).min())
            part.key_judgements()
            part.kept = np.ones(result.votes.num_rows, bool)
            self._know(part, group, runs_of(result.votes), np.arange(result.votes.num_rows))

    def add(self, result: ImportResult) -> None:
        if result.gold_only or not result.votes.num_rows:
            self._keep(result, None)
            return
        content = (result.sha256, result.kind)
        if content in self.seen and self.items != "apart":
            self._keep(_again(result), None)
            return
        self.seen.add(content)
        datasets = frozenset(result.votes["dataset"].unique().to_pylist())
        declared = datasets if len(datasets) > 1 or not datasets <= self.from_names else None
        several = len(datasets) > 1 or any(
            group.several and group.declared and datasets & group.declared for group in self.groups
        )
        part = Part.of(_with_defaults(result), several=several)
        part.low = int(runs_of(part.result.votes).min()) if self.alone else 0
        group = self._group(part, _Group(min(datasets), "", declared, several))
        part.space = self.groups.index(group)
        part.result = replace(
            part.result,
            votes=_with(part.result.votes, "item_id", narrow_cells(part.final)),
            items_of=None if several or group.dataset in datasets else group.dataset,
        )
        self._take(part, group)

    def _group(self, part: Part, own: _Group) -> _Group:
        """The group of a file, whose items get the names of the group; `own` if it is none of those
        before.
        """
        name, kind = part.result.name, part.result.kind
        file = (name, part.result.sha256)
        if file in self.of_file and kind not in self.of_file[file][1]:
            # Another kind of judgement of the same file: its items are decided.
            group, kinds = self.of_file[file]
            kinds.add(kind)
            part.final = _prefixed(part.final, group.prefix)
            return group
        others = [
            group
            for group in self.groups
            if group.several == own.several
            and (not own.declared or not group.declared or own.declared & group.declared)
        ]
        decisions = [(group, self._decide(part, group)) for group in others]
        joined = next((pair for pair in decisions if pair[1] and pair[1].same), None)
        # Items of a data set are apart from those that were stored before by its name.
        apart = next((found for each, found in decisions if found and not each.stored), None)
        group = own
        if joined and joined[1]:
            group = joined[0]
            part.final = _prefixed(part.final, group.prefix)
            self._note_same(part, group, joined[1], named=bool(own.declared))
        elif apart:
            stem = stem_of(name)
            self.prefixes[stem] += 1
            n = self.prefixes[stem]
            own.prefix = f"{stem}: " if n == 1 else f"{stem} ({n}): "
            part.final = _prefixed(part.final, own.prefix)
            part.say(
                f"{name} and {apart.against} have {count(apart.common, 'item')} of the same id, "
                f"which are not the same: {APART[apart.rule]}. Those of {name} are called "
                f"`{own.prefix}…`."
            )
        elif named := [group for group in others if not group.stored]:
            # No item in common: nothing is to be decided, and no name is taken.
            group = named[0]
            part.final = _prefixed(part.final, group.prefix)
        if group is own:
            self.groups.append(own)
        self.of_file[file] = group, {kind}
        return group

    def _decide(self, part: Part, group: _Group) -> _Decision | None:
        """Whether a file is about the items of a group; None where they have none in common."""
        known = group.known.get(part.result.kind)
        if known is None or part.by_row:
            return None
        number = known.find(part.units[part.once])
        met = np.flatnonzero(number >= 0)
        if not len(met):
            return None
        rows, code = part.once[met], number[met]
        which, first = code >> 32, code & 0xFFFFFFFF
        against = group.parts[int(which[0])].result.name
        none = np.zeros(0, np.int64)
        if self.items is not None:
            return _Decision(self.items == "same", 0, len(met), none, against)
        own = part.texts(rows) if part.has_texts else None
        if own is not None:
            theirs = np.zeros_like(own)
            for number_of_part in np.unique(which):
                of_part = which == number_of_part
                theirs[of_part] = group.parts[int(number_of_part)].texts(first[of_part])
            both = (own > 0) & (theirs > 0)
            told = both.any(axis=1)
            if told.any():
                equal = ((own == theirs) | ~both).all(axis=1)
                share = equal[told].mean()
                units = part.units[rows[told & ~equal]]
                other = np.flatnonzero(np.isin(part.units, units)) if len(units) else none
                return _Decision(share >= EQUAL_TEXTS, 1, int(told.sum()), other, against)
        keys, labels = part.labels()
        pairs: list[tuple[Any, Any]] = []
        for number_of_part in np.unique(which):
            their_keys, their_labels = group.parts[int(number_of_part)].labels()
            place, here = places_of(keys, their_keys)
            pairs.append((labels[here], their_labels[place[here]]))
        x, y = (np.concatenate(side) for side in zip(*pairs, strict=True))
        if len(x) >= FEWEST_LABELS:
            return _Decision(kappa_of_labels(x, y) >= LABEL_KAPPA, 3, len(x), none, against)
        if group.stored and not self._same_rater(part, group, which):
            return _Decision(False, 4, len(met), none, against)
        return _Decision(True, 4, len(met), none, against)

    @staticmethod
    def _same_rater(part: Part, group: _Group, which: Rows) -> bool:
        """Whether a rater of a file is one of those stored files too."""
        own = {*part.result.votes["judge"].unique().to_pylist()}
        theirs = (group.parts[int(each)].result.votes["judge"] for each in np.unique(which))
        return any(own & {*names.unique().to_pylist()} for names in theirs)

    def _note_same(self, part: Part, group: _Group, decision: _Decision, *, named: bool) -> None:
        """Say what is to be said of a file about known items, and make rows with other texts items
        of their own.

        named : the files name one data set, so ids are ids in it.
        """
        name = part.result.name
        if decision.rule == 4 and not (named and group.declared):
            part.unsure = (
                f"{name} and {decision.against} have {count(decision.common, 'item')} of the same "
                "id, and neither texts nor labels say whether they are the same: they count once "
                "(`--items apart`: each file's own)."
            )
        if not len(decision.other):
            return
        own = cells_of(part.result.votes, "item_id").take(decision.other).to_pylist()
        texts = part.texts(decision.other)
        units = part.units[decision.other]
        names = {
            int(row): group.edited.setdefault(
                (int(unit), text.tobytes()), f"{stem_of(name)}: {item}"
            )
            for row, item, unit, text in zip(decision.other, own, units, texts, strict=True)
        }
        part.final = _renamed(part.final, names)
        edited = list(dict.fromkeys(own))
        has, are, their = ("has", "is", "its") if len(edited) == 1 else ("have", "are", "their")
        part.say(
            f"{count(len(edited), 'item')} of {name} {has} other texts than in {decision.against}, "
            f"and {are} counted on {their} own: {some_of(edited, _LISTED)}."
        )

    def _take(self, part: Part, group: _Group) -> None:
        """Leave out what other files of the group hold, number runs on, and remember the file."""
        kind = part.result.kind
        part.key_judgements()
        part.kept = np.ones(part.result.votes.num_rows, bool)
        if self.items != "apart":
            self._leave_out(part, group)
        result, kept = part.result, np.flatnonzero(part.kept)
        if not len(kept):
            self._keep(_again(result), None)
            return
        if part.unsure:
            part.say(part.unsure)
        keys = part.without_run(keys_of_cells(part.final, hash))[kept]
        runs = runs_of(result.votes)
        index = group.runs.setdefault(kind, Index(highest=True))
        free = index.find(keys)
        votes = result.votes
        if (free > runs[kept]).any():
            start = int(free.max())
            runs += start - int(runs[kept].min())
            votes = _with(votes, "run", runs)
            part.say(
                f"Other files judged the same, so the runs of {result.name} are numbered from "
                f"{start}."
            )
        self._know(part, group, runs, kept)
        dropped = part.count(np.flatnonzero(~part.kept))
        result = replace(part.result, votes=votes, duplicates=result.duplicates + dropped)
        if dropped:
            result = replace(result, votes=votes.take(kept))
        self._keep(result, part)

    def _know(self, part: Part, group: _Group, runs: Rows, kept: Rows) -> None:
        """Remember what a file of a group judged."""
        kind = part.result.kind
        keys = part.without_run(keys_of_cells(part.final, hash))[kept]
        group.runs.setdefault(kind, Index(highest=True)).add(keys, runs[kept] + 1)
        known = group.known.setdefault(kind, Index())
        new = part.once[known.find(part.units[part.once]) < 0]
        known.add(part.units[new], (np.int64(len(group.parts)) << 32) | new)
        group.parts.append(part)

    def _leave_out(self, part: Part, group: _Group) -> None:
        """Take out of a file the judgements of each rater that an earlier one holds too."""
        judge = keys_of_columns(part.result.votes, ["judge"])
        earlier = [each for each in group.parts if each.result.kind == part.result.kind]
        for other in earlier[-NEAREST:]:
            place, here = places_of(part.judgements, other.judgements)
            here &= part.kept[part.order]
            if here.sum() < FEWEST_JUDGEMENTS:
                continue
            rows, theirs = part.order[here], other.order[place[here]]
            equal = part.cells(rows) == other.cells(theirs)
            for code in np.unique(judge[rows]):
                own = judge[rows] == code
                n, differ = part.count(rows[own]), int((~equal[own]).sum())
                if n < FEWEST_JUDGEMENTS or equal[own].mean() < SAME_FILE:
                    continue
                part.kept[rows[own]] = False
                if part.kept.any():
                    whose = part.result.votes["judge"][int(rows[own][0])].as_py()
                    but = f" ({differ:,} of them differ, and the first stand)" if differ else ""
                    part.say(
                        f"{n:,} judgements of {whose} in {part.result.name} are in "
                        f"{other.result.name} too, and left out{but}."
                    )

    def _keep(self, result: ImportResult, part: Part | None) -> None:
        self.results.append(result)
        self.parts.append(part)

    def settled(self) -> list[ImportResult]:
        """The readings, with one label for each unit that files label differently."""
        for kind in ("votes", "scores"):
            self._settle(kind)
        return self.results

    def _settle(self, kind: Kind) -> None:
        own = {
            place: part
            for place, part in enumerate(self.parts)
            if part is not None and part.result.kind == kind
        }
        keys, labels, unlabelled = {}, {}, True
        for place, part in own.items():
            table = self.results[place].votes
            gold = numbers_of(table["gold"])
            rows = np.flatnonzero(~np.isnan(gold))
            unlabelled &= not len(rows)
            named = [*MODELS[kind], *(["metric"] if kind == "scores" else [])]
            space = np.full(len(gold), part.space, np.uint64)
            keys[place] = mixed_keys(space, keys_of_columns(table, ["item_id", *named]))
            first = np.sort(np.unique(keys[place][rows], return_index=True)[1])
            labels[place] = keys[place][rows][first], gold[rows][first]
        if len(own) < 2 or unlabelled:
            return
        every, label = (np.concatenate(side) for side in zip(*labels.values(), strict=True))
        order = np.argsort(every, kind="stable")
        every, label = every[order], label[order]
        starts = np.flatnonzero(np.diff(every, prepend=~every[:1]) != 0)
        differs = np.minimum.reduceat(label, starts) != np.maximum.reduceat(label, starts)
        ends = np.append(starts, len(every))[1:]
        settled = {
            int(every[start]): _commonest(label[start:end].tolist())
            for start, end in zip(starts[differs], ends[differs], strict=True)
        }
        if not settled:
            return
        known = np.array(sorted(settled), np.uint64)
        of_known = np.array([settled[int(key)] for key in known])
        names: dict[str, None] = {}
        for place in own:
            table = self.results[place].votes
            at, here = places_of(keys[place], known)
            gold = numbers_of(table["gold"])
            rows = np.flatnonzero(here & ~np.isnan(gold) & (gold != of_known[at]))
            names |= dict.fromkeys(
                cells_of(table, "item_id").take(np.flatnonzero(here)).to_pylist()
            )
            gold[rows] = of_known[at[rows]]
            votes = _with(table, "gold", gold)
            self.results[place] = replace(self.results[place], votes=votes)
        last = self.results[max(own)]
        differ = "differs" if len(settled) == 1 else "differ"
        note = (
            f"{count(len(settled), 'label')} {differ} between files; those of most files stand, "
            f"without a majority those of the first: {some_of(list(names), _LISTED)}."
        )
        self.results[max(own)] = replace(last, notes=(*last.notes, note))


def _again(result: ImportResult) -> ImportResult:
    """A file of which all is in another one."""
    return replace(
        result,
        votes=result.votes.slice(0, 0),
        duplicates=result.duplicates + result.units,
        notes=(*result.notes, f"{result.name} is the same file again."),
    )


def _commonest(labels: list[float]) -> float:
    """The label of more files than any other has; else that of the first."""
    (label, n), *others = Counter(labels).most_common(2)
    return labels[0] if others and others[0][1] == n else label


def kappa_of_labels(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """κ with quadratic weights; 1 where neither side has two labels and they agree."""
    by_chance = x.var() + y.var() + (x.mean() - y.mean()) ** 2
    return 1.0 if by_chance == 0 else float(1 - ((x - y) ** 2).mean() / by_chance)


def _with_defaults(result: ImportResult) -> ImportResult:
    """A reading in which missing cells are what they stand for, as a store has them."""
    import pyarrow.compute as pc

    votes = result.votes
    for column in FORMS[result.kind].columns:
        if column.default is not None and votes[column.name].null_count:
            place = votes.schema.get_field_index(column.name)
            filled = pc.fill_null(votes[column.name], column.default)
            votes = votes.set_column(place, column.name, filled)
    return replace(result, votes=votes)


def _with(table: pa.Table, name: str, values: Any) -> pa.Table:
    """A table with another column; numbers of the type that it had."""
    import pyarrow as pa

    place = table.schema.get_field_index(name)
    if isinstance(values, np.ndarray):
        numbers = pa.array(values, from_pandas=True)
        kind = pa.int64() if name == "run" else table.schema.field(name).type
        values = numbers.cast(kind)
    return table.set_column(place, name, values)


def _prefixed(names: pa.DictionaryArray, prefix: str) -> pa.DictionaryArray:
    import pyarrow as pa

    if not prefix:
        return names
    texts = [f"{prefix}{name}" for name in names.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(names.indices, pa.array(texts, pa.string()))


def _renamed(names: pa.DictionaryArray, others: Mapping[int, str]) -> pa.DictionaryArray:
    """The names with others in some rows."""
    distinct = list(dict.fromkeys(others.values()))
    texts = [*names.dictionary.to_pylist(), *distinct]
    code = {name: len(texts) - len(distinct) + place for place, name in enumerate(distinct)}
    codes = cell_codes(names)
    codes[[*others]] = [code[name] for name in others.values()]
    return coded_cells(codes, texts)
