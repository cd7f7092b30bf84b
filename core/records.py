"""Frozen inputs of the methods: votes collapsed to counts, checked once so that methods need not
check again.

Every record holds arrays of equal length, one row an entry. `item` and `comparison` are codes 0, 1,
2 … that all records of one selection share, so that judges can be matched; an item is the unit that
is independent (docs/methods.md §0): splits, bootstraps and clustered variances go by it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import cache, reduce
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from .errors import AppellateError

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

NO_GOLD = -9
"""Code of a missing gold label in integer arrays."""
NO_SIDE = -9
"""Code of an unknown longer side."""
NO_VOTE = -9
"""Code of a vote that is not there."""
DERIVED = ("fuser(", "usc(", "gsa(", "apoc(")
"""Beginnings of names of judges that read other judgements: no members of a jury, unless they are
chosen.
"""


def independent(judges: Iterable[str]) -> list[str]:
    """Judges that may be pooled: one that read the others' judgements would count these twice. All
    where every one did, as then those it read are not here.

    >>> independent(["a", "b", "fuser(a)"]), independent(["fuser(a)"])
    (['a', 'b'], ['fuser(a)'])
    """
    names = list(judges)
    return [name for name in names if not name.startswith(DERIVED)] or names


class InvalidCounts(AppellateError):
    """Counts that no set of votes can have."""


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _arrays(record: Any) -> dict[str, NDArray[Any]]:
    kind: type = type(record)
    values = {name: getattr(record, name) for name in _names(kind)}
    return {name: array for name, array in values.items() if isinstance(array, np.ndarray)}


class _Rows:
    """Arrays of equal length, of which those named in `COUNTS` are nowhere below zero."""

    __slots__ = ()
    COUNTS: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        name, arrays = type(self).__name__, _arrays(self)
        lengths = {column: len(array) for column, array in arrays.items()}
        if len(set(lengths.values())) > 1:
            raise InvalidCounts(f"{name}: arrays of one record differ in length: {lengths}")
        for column in self.COUNTS:
            least = arrays[column].min(initial=0)
            if least < 0:
                raise InvalidCounts(f"{name}.{column}: a count below zero ({least})")
        self._check()

    def _check(self) -> None:
        """Raise InvalidCounts for values that no votes can have."""

    def __len__(self) -> int:
        return len(next(iter(_arrays(self).values())))


def majority(plus: IntArray, tie: IntArray, minus: IntArray) -> IntArray:
    """Modal label of each row of counts: +1, 0 or -1; no unique mode is 0 (ours; [BTD] §5 is
    silent).
    """
    label = np.where(
        (plus > tie) & (plus > minus), 1, np.where((minus > tie) & (minus > plus), -1, 0)
    )
    return label.astype(np.int64)


def distinct(key: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Distinct values of `key` (no value below 0) in order, the place of each row among them, rows
    each.
    """
    if not len(key) or key.max() > 4 * len(key) + 1000:
        value, place, rows = np.unique(key, return_inverse=True, return_counts=True)
        return value, place.reshape(-1), rows
    # Few votes per comparison make small keys: counting them costs a tenth of sorting them.
    count = np.bincount(key)
    seen = count > 0
    place = np.cumsum(seen) - 1
    return np.flatnonzero(seen), place[key], count[seen]


def counted_by_kind(
    key: IntArray, kind: NDArray[np.uint8], kinds: int
) -> tuple[IntArray, list[IntArray]]:
    """Distinct values of `key` (none below 0) in order, and how many of each there are of kind 0,
    1 …, an array per kind.
    """
    sparse = not len(key) or int(key.max()) > 4 * len(key) + 1000
    value, place = np.unique(key, return_inverse=True) if sparse else (None, key)
    size = int(key.max()) + 1 if value is None else len(value)

    def counted(of_kind: BoolArray) -> NDArray[Any]:
        n = np.bincount(place[of_kind], minlength=size)
        # Most counts are small, and most keys of a sparse range have none.
        return n.astype(np.min_scalar_type(int(n.max(initial=0))))

    n = [counted(kind == k) for k in range(kinds)]
    if value is None:
        value = np.flatnonzero(reduce(np.bitwise_or, n))
        n = [of_kind[value] for of_kind in n]
    return value, [of_kind.astype(np.int64) for of_kind in n]


_GRID = 10_000


def value_codes(parts: Iterable[FloatArray]) -> tuple[list[NDArray[Any]], FloatArray]:
    """Codes of the numbers of each part among all distinct ones in their order, NaN last; and
    those.
    """
    # Stated confidences have few decimals: looking them up takes a tenth of the time of sorting
    # them.
    number, parts = np.full(_GRID + 2, np.nan), iter(parts)
    found: list[NDArray[np.uint16]] = []
    for values in parts:
        scaled = np.rint(np.nan_to_num(values * _GRID, nan=_GRID + 1))
        code = np.clip(scaled, 0, _GRID + 1).astype(np.uint16)
        fresh = np.isnan(number[code])
        number[code[fresh]] = values[fresh]
        if not np.array_equal(number[code], values, equal_nan=True):
            every = [*(number[one] for one in found), values, *parts]
            number, codes = np.unique(np.concatenate(every), return_inverse=True)
            return np.split(codes, np.cumsum([len(part) for part in every])[:-1]), number
        found.append(code)
    seen = np.zeros(_GRID + 2, np.bool_)
    for code in found:
        seen[code] = True
    rank = np.maximum(np.cumsum(seen), 1) - 1
    return [rank.astype(np.uint16)[code] for code in found], number[seen]


def kept_rows(record: Any, keep: BoolArray | IntArray | slice) -> dict[str, Any]:
    """The arrays of a record, by field, at some of its rows."""
    return {name: values[keep] for name, values in _arrays(record).items()}


def _check_range(what: str, values: FloatArray, most: int) -> None:
    """Raise InvalidCounts if a known value is below 0 or above `most`."""
    known = values[~np.isnan(values)]
    if len(known) and (known.min() < 0 or known.max() > most):
        raise InvalidCounts(f"{what}: {known.min()} to {known.max()} is not within 0 to {most}")


class _Votes(_Rows):
    """Records with a column for each vote: how many +1, 0 and -1."""

    __slots__ = ()
    plus: IntArray
    tie: IntArray
    minus: IntArray

    @property
    def n(self) -> IntArray:
        """Votes of each row."""
        return self.plus + self.tie + self.minus

    @property
    def label(self) -> IntArray:
        """Majority label of each row."""
        return majority(self.plus, self.tie, self.minus)

    @property
    def votes(self) -> IntArray:
        """(rows, 3) votes -1, 0, +1."""
        return np.stack([self.minus, self.tie, self.plus], axis=1)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class VoteCounts(_Votes):
    """Votes of one judge, one row per comparison: how many +1, 0 and -1, and the gold label if
    known.
    """

    comparison: IntArray
    item: IntArray
    plus: IntArray
    tie: IntArray
    minus: IntArray
    gold: IntArray

    COUNTS = ("comparison", "item", "plus", "tie", "minus")

    def _check(self) -> None:
        # Comparing takes a third of the time of `isin`.
        label = (self.gold >= -1) & (self.gold <= 1)
        if not (label | (self.gold == NO_GOLD)).all():
            raise InvalidCounts(
                f"VoteCounts.gold: {set(self.gold.tolist()) - {-1, 0, 1, NO_GOLD}} is no label"
            )
        if len(self.plus) and self.n.min() < 1:
            raise InvalidCounts("VoteCounts: a comparison without a vote")

    @property
    def n_votes(self) -> int:
        return int(self.n.sum())

    @classmethod
    def of(
        cls, votes: IntArray, *, comparison: IntArray, item: IntArray, gold: IntArray
    ) -> VoteCounts:
        """From `votes`, (rows, 3)."""
        minus, tie, plus = votes.T
        return cls(comparison=comparison, item=item, plus=plus, tie=tie, minus=minus, gold=gold)

    def rows(self, keep: BoolArray | IntArray) -> VoteCounts:
        return VoteCounts(**kept_rows(self, keep))

    def labelled(self) -> VoteCounts:
        """Only the comparisons with gold."""
        return self.rows(self.gold != NO_GOLD)

    def cells(self) -> tuple[VoteCells, IntArray]:
        """Collapse to distinct (plus, tie, minus, gold), and the cell of each row."""
        # One integer a pattern: sorting rows of a matrix takes ten times as long.
        columns = (self.plus, self.tie, self.minus, self.gold - NO_GOLD)
        sizes = [int(column.max(initial=0)) + 1 for column in columns]
        if np.prod(sizes, dtype=np.float64) >= 2**62:
            raise InvalidCounts("VoteCounts: so many votes on one comparison cannot be collapsed")
        key = np.ravel_multi_index(columns, sizes)
        pattern, cell_of_row, weight = distinct(key)
        plus, tie, minus, gold = (
            part.astype(np.int64) for part in np.unravel_index(pattern, sizes)
        )
        cells = VoteCells(
            plus=plus, tie=tie, minus=minus, gold=gold + NO_GOLD, weight=weight.astype(np.float64)
        )
        return cells, cell_of_row


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OutputCounts:
    """Outputs of one judge, one row per comparison: votes as in `VoteCounts`, and outputs without a
    verdict.

    Codes of comparisons and items are those of the store, as some comparisons have no vote.
    """

    comparison: IntArray
    item: IntArray
    plus: IntArray
    tie: IntArray
    minus: IntArray
    missing: IntArray
    gold: IntArray

    @property
    def n(self) -> IntArray:
        """Outputs of each comparison."""
        return self.plus + self.tie + self.minus + self.missing


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class VoteCells(_Votes):
    """Distinct (plus, tie, minus, gold) with the number of comparisons that have them.

    At most 3·C(n + 2, 2) cells for n votes per comparison (docs/methods.md §0), whatever the number
    of items.
    """

    plus: IntArray
    tie: IntArray
    minus: IntArray
    gold: IntArray
    weight: FloatArray

    COUNTS = ("plus", "tie", "minus", "weight")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OutcomeCounts(_Rows):
    """Right and wrong verdicts of one judge on comparisons with gold, one row a distinct (item,
    confidence).

    `confidence` is NaN where the judge gave none; `n` verdicts of which `correct` are right. Under
    the rule `both_orders` a verdict is a comparison-run judged in both orders (docs/methods.md §5),
    else a vote.

    ties : how many of the wrong ones are ties where gold decides; None: not counted.
    kind : of the confidences (`core.schema.CONFIDENCE_KINDS`), None where it is not known.
    other_kinds : kinds of which the judge has confidences too, which are NaN here.
    """

    item: IntArray
    confidence: FloatArray
    n: IntArray
    correct: IntArray
    ties: IntArray | None = None
    kind: str | None = None
    other_kinds: tuple[str | None, ...] = ()

    COUNTS = ("item", "n", "correct")

    def _check(self) -> None:
        if (self.correct > self.n).any():
            raise InvalidCounts("OutcomeCounts: more right verdicts than verdicts")
        _check_range("OutcomeCounts.confidence", self.confidence, 1)

    def with_confidence(self) -> OutcomeCounts:
        """Only the verdicts that carry a confidence."""
        known = ~np.isnan(self.confidence)
        return self if known.all() else replace(self, **kept_rows(self, known))

    def sided(self) -> OutcomeCounts:
        """Only the verdicts that are right or wrong: a tie where gold decides is neither."""
        if self.ties is None or not self.ties.any():
            return self
        sided = replace(self, n=self.n - self.ties, ties=np.zeros_like(self.ties))
        return replace(sided, **kept_rows(sided, sided.n > 0))

    def right_and_wrong(self) -> tuple[int, int]:
        """How many verdicts are right, and how many wrong without being ties."""
        ties = 0 if self.ties is None else int(self.ties.sum())
        right = int(self.correct.sum())
        return right, int(self.n.sum()) - right - ties


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PositionCounts(_Rows):
    """Votes of one judge by the slot shown first, one row per comparison that has a vote with known
    position.

    first, second, tie : votes for the response shown first, shown second, ties.
    pairs : runs of the comparison voted in both orders; `flips` of them differ in canonical
        verdict, `hard_flips` are +1 against -1.
    slot_sum : sum over complete pairs of slot votes (+1 first, 0 tie, -1 second), D of
        docs/methods.md §4.
    same_order_pairs : pairs of repeats in the same order; `same_order_disagreements` of them
        differ.
    margin : |mean vote of all other judges| on the comparison, NaN where no other judge voted.
    category : codes into `categories`.
    """

    comparison: IntArray
    item: IntArray
    category: IntArray
    categories: tuple[str, ...]
    first: IntArray
    second: IntArray
    tie: IntArray
    pairs: IntArray
    flips: IntArray
    hard_flips: IntArray
    slot_sum: IntArray
    same_order_pairs: IntArray
    same_order_disagreements: IntArray
    margin: FloatArray

    COUNTS = ("first", "second", "tie", "pairs", "flips", "hard_flips", "same_order_pairs")

    def _check(self) -> None:
        if (self.flips > self.pairs).any() or (self.hard_flips > self.flips).any():
            raise InvalidCounts(
                "PositionCounts: more flips than pairs, or more hard flips than flips"
            )

    def rows(self, keep: BoolArray | IntArray) -> PositionCounts:
        return replace(self, **kept_rows(self, keep))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OrderCounts(_Rows):
    """Votes of one judge in each shown order, one row per comparison that has a vote with known
    position.

    ab, ba : (rows, 3) votes -1, 0, +1 given when model_a, respectively model_b, was shown first.
    """

    comparison: IntArray
    item: IntArray
    ab: IntArray
    ba: IntArray
    gold: IntArray

    def _check(self) -> None:
        for votes in (self.ab, self.ba):
            if votes.ndim != 2 or votes.shape[1] != 3 or (votes < 0).any():
                raise InvalidCounts(
                    "OrderCounts: each order needs three counts from 0 up per comparison"
                )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ConfidenceCounts(_Rows):
    """Votes of one judge by the confidence that they state, one row per comparison, vote and
    confidence.

    confidence : in [0, 1], NaN where the judge gave none.  n : votes.
    """

    comparison: IntArray
    vote: IntArray
    confidence: FloatArray
    n: IntArray

    COUNTS = ("n",)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class WeighedVotes(_Rows):
    """What rules beyond counts need of votes, one row per comparison.

    n : votes.  stated : those of -1, 0, +1 with a confidence, (rows, 3), of which `lowest`, `total`
        and
    `product` are the smallest, the sum and the product.
    side : of the first vote with known lengths, `NO_SIDE` without one.
    first : vote of the first run shown ab and of that shown ba, `NO_VOTE` without one; None: not
        asked for.
    """

    comparison: IntArray
    n: IntArray
    stated: IntArray
    lowest: FloatArray
    total: FloatArray
    product: FloatArray
    side: IntArray
    first: IntArray | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FirstVotes(_Rows):
    """The first vote of one judge on each comparison: of its lowest run, there the order ab before
    ba before unknown.
    """

    comparison: IntArray
    vote: IntArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LengthCounts(_Rows):
    """Votes of one judge on responses of known, different length, one row a (comparison, longer
    side).

    longer, shorter, tie : votes for the longer response, for the shorter, ties.
    gold : +1 the longer response is better, -1 the shorter, 0 they tie, `NO_GOLD` unknown.
    """

    comparison: IntArray
    item: IntArray
    longer: IntArray
    shorter: IntArray
    tie: IntArray
    gold: IntArray

    COUNTS = ("longer", "shorter", "tie")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairScores(_Rows):
    """Scores of model pairs, one row a (pair, prompt): votes averaged within order, then across
    orders.

    `score` is that of model_1 against model_2: 1 won, ½ tied, 0 lost, or a mean of those; model_1 <
    model_2 as codes into `models`. `n_votes` votes are behind a row. `tie` is the share of ties
    among them, averaged the same way: a score of ½ can be a tie or one win and one loss. None: not
    counted. Source: docs/methods.md §6.
    """

    models: tuple[str, ...]
    model_1: IntArray
    model_2: IntArray
    item: IntArray
    score: FloatArray
    n_votes: IntArray
    tie: FloatArray | None = None

    def _check(self) -> None:
        # A tie is half a win: what is not tied must reach the score, and not pass it.
        most = 1 - np.abs(2 * self.score - 1) + 1e-9
        if self.tie is not None and ((self.tie < 0) | (self.tie > most)).any():
            raise InvalidCounts(
                "PairScores.tie: a share of ties that no votes with this score can have"
            )
        if len(self.score) and (self.score.min() < 0 or self.score.max() > 1):
            raise InvalidCounts("PairScores.score: outside 0 to 1")
        if (self.model_1 >= self.model_2).any():
            raise InvalidCounts("PairScores: model_1 must be the smaller code")


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Judges that all judged the same models against an anchor; names are in order.

    left_out : other judges that judged some model against the anchor.
    """

    anchor: str
    judges: tuple[str, ...]
    models: tuple[str, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairDoubt:
    """How sure a judge was of each row of its `pairs`, in the same order.

    run_sd : SD over runs of the row's score (0 to 1), NaN with fewer than two runs alike in orders.
    confidence : mean confidence of its votes, NaN where none has one.
    """

    pairs: PairScores
    run_sd: FloatArray
    confidence: FloatArray

    def __post_init__(self) -> None:
        lengths = {len(self.pairs), len(self.run_sd), len(self.confidence)}
        if len(lengths) > 1:
            raise InvalidCounts(
                f"PairDoubt: arrays of one record differ in length: {sorted(lengths)}"
            )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RatingTable(_Rows):
    """Repeated ratings of one judge for the ICC: a row per comparison, a column per run
    (docs/methods.md §6).

    `ratings` is (comparisons, k) without gaps, in [-1, 1]; oriented candidate against anchor if
    `oriented`, else A against B. `orders` says what a cell is: `both` orders' mean, else `ab`, `ba`
    or `unknown`.
    """

    item: IntArray
    ratings: FloatArray
    orders: str
    oriented: bool

    def _check(self) -> None:
        if self.ratings.ndim != 2 or np.isnan(self.ratings).any():
            raise InvalidCounts("RatingTable.ratings: must be a matrix without gaps")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DirectScores(_Rows):
    """Direct scores of one judge (say 1–10), one row a (item, model, run); nothing was compared.

    model : codes into `models`, which all judges of one selection share.  item : codes that they
        share too.
    category : codes into `categories`; "" where there is none.
    """

    models: tuple[str, ...]
    categories: tuple[str, ...]
    item: IntArray
    category: IntArray
    model: IntArray
    run: IntArray
    score: FloatArray

    def _check(self) -> None:
        if len(self.score) and not np.isfinite(self.score).all():
            raise InvalidCounts("DirectScores.score: a score that is no number")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ListRankings(_Rows):
    """Listwise judgements of one judge, one row a (item, run, candidate): n candidates shown in one
    order.

    item, category : codes; `categories` names the latter.  run : number of the ordering within the
        item.
    candidate : codes into `candidates`, which all judges of one selection share.
    slot : place in which the candidate was shown, from 0.
    score : 0 to 100, NaN where none was given.  rank : 1 is best, 0 where none was given.
    chosen : 1 if the run named this candidate the best, 0 if another; a run that ranks or scores
        names its best rank, or without ranks all with its top score.
    calibrated_uncertainty : the candidate itself says, where warranted, that it is not sure. It,
        major_error and unsupported are flags 0 or 1, -1 where none was given.
    best : 1 if the candidate is truly (among) the best, 0 if not, -1 unknown.
    """

    categories: tuple[str, ...]
    candidates: tuple[str, ...]
    item: IntArray
    category: IntArray
    run: IntArray
    candidate: IntArray
    slot: IntArray
    score: FloatArray
    rank: IntArray
    chosen: IntArray
    calibrated_uncertainty: IntArray
    major_error: IntArray
    unsupported: IntArray
    best: IntArray

    COUNTS = ("item", "category", "run", "candidate", "slot", "rank")

    def _check(self) -> None:
        _check_range("ListRankings.score", self.score, 100)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ByFile(_Rows):
    """What one judge said in each file of several, one row a (file, item).

    file : codes into `files`.
    right : share right of decided gold, a tie counting half; NaN without.
    said : mean vote or mean score, as `said_is` says.
    """

    files: tuple[str, ...]
    file: IntArray
    item: IntArray
    right: FloatArray
    said: FloatArray
    said_is: Literal["vote", "score"]

    COUNTS = ("file", "item")
