"""Which answers people looked at: are they like the others, and how were they drawn?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...records import BoolArray, FloatArray, IntArray
from ...stats.intervals import dense_codes
from ..scores.table import UNDECIDED

Design = Literal[
    "all",
    "one verdict",
    "verdicts",
    "classes",
    "asked",
    "random",
    "disagreements",
    "only disagreements",
]
"""How labels were drawn: of all answers; within one verdict of the judge alone; so many of each
verdict; so many of each class; unknown, so that both readings count; at random; more, or only, of
those on which judges differ."""

LEAST_ON_A_SIDE = 5
LEAST_DIFFERENCE = 0.10
"""In standard deviations: smaller differences are no reason to doubt."""
SMALL_SHARE = 0.05
"""A verdict on this share of the answers or less may be without a label."""
NEARLY_ALL = 0.98
LEAST_FOR_CLASSES = 20
"""Labels from which as many pass as fail is no chance worth ignoring."""
LEVEL = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How labelled answers differ from the others in one column.

    p_value : two-sided.  size : in standard deviations; below 0 the labelled have less, of a
        category it has no sign.
    """

    p_value: float
    size: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """Labelled answers beside the judged answers without a label.

    n, labelled : judged answers, and those with a label.
    design : how labels were drawn, as far as the table shows it.
    differs : the column in which they are shown to differ most; None if in none.
    columns : every column that was compared.
    """

    n: int
    labelled: int
    design: Design
    differs: str | None
    columns: Mapping[str, Difference]


def compared(
    labelled: BoolArray, columns: Mapping[str, NDArray[Any]], unit: IntArray | None = None
) -> dict[str, Difference]:
    """How labelled answers differ from the others, column by column.

    Two values: pooled z of two shares; other numbers: Welch; texts: χ², categories with an
    expected label below 1 pooled, its size √(χ²·n/(n₁·n₀)). Where at most a fifth of the units are
    labelled in part, units are compared by their mean. Needs 5 answers on either side.

    Source: ours, docs/verdicts.md; Welch (1947).
    """
    from scipy.stats import t

    inside = np.asarray(labelled, dtype=bool)
    if unit is not None and len(unit):
        code = dense_codes(unit)
        share = np.bincount(code, inside) / np.bincount(code)
        if len(share) < len(code) and ((share > 0) & (share < 1)).mean() <= 0.2:
            first = np.unique(code, return_index=True)[1]
            columns = {
                name: values[first] if values.dtype.kind in "OU" else _unit_means(values, code)
                for name, values in columns.items()
            }
            inside = share > 0.5
    differences = {}
    for name, values in columns.items():
        if values.dtype.kind in "OU":
            known = values != ""
            if (of_text := _chi_squared(inside[known], values[known])) is not None:
                differences[name] = of_text
            continue
        known = ~np.isnan(values)
        yes, no = values[known & inside], values[known & ~inside]
        spread = float(np.std(values[known])) if known.any() else 0.0
        if min(len(yes), len(no)) < LEAST_ON_A_SIDE or spread < 1e-12:
            continue
        gap = float(yes.mean() - no.mean())
        freedom = math.inf
        if len(np.unique(values[known])) == 2:
            error = spread * math.sqrt(1 / len(yes) + 1 / len(no))
        else:
            of_yes, of_no = yes.var(ddof=1) / len(yes), no.var(ddof=1) / len(no)
            error = math.sqrt(of_yes + of_no)
            parts = of_yes**2 / (len(yes) - 1) + of_no**2 / (len(no) - 1)
            freedom = error**4 / parts if parts else math.inf
        p_value = float(2 * t.sf(abs(gap) / error, freedom)) if error else 0.0
        differences[name] = Difference(p_value=p_value, size=gap / spread)
    return differences


def _unit_means(values: FloatArray, code: IntArray) -> FloatArray:
    known = ~np.isnan(values)
    n = np.bincount(code, known)
    total = np.bincount(code, np.where(known, values, 0.0))
    means: FloatArray = np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)
    return means


def _chi_squared(inside: BoolArray, values: NDArray[Any]) -> Difference | None:
    from scipy.stats import chi2_contingency

    if min(int(inside.sum()), int((~inside).sum())) < LEAST_ON_A_SIDE:
        return None
    code = np.unique(values.astype(str), return_inverse=True)[1]
    size = int(code.max()) + 1
    table = np.stack([np.bincount(code[side], minlength=size) for side in (inside, ~inside)])
    rare = table.sum(axis=0) * inside.mean() < 1
    if rare.any():
        table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] < 2:
        return None
    statistic, p_value, *_ = chi2_contingency(table, correction=False)
    ends = table.sum(axis=1)
    return Difference(
        p_value=float(p_value),
        size=math.sqrt(float(statistic) * float(ends.sum()) / float(ends[0] * ends[1])),
    )


def which(
    verdict: IntArray,
    truth: IntArray,
    labelled: BoolArray,
    columns: Mapping[str, NDArray[Any]],
    *,
    unit: IntArray | None = None,
    drawn: Design | None = None,
) -> Which:
    """Whether the labelled answers are like the others, and how they were drawn.

    verdict : (n,) 1 where the judge passes, 0 where it fails, −1 without a verdict of that kind.
    truth : (n,) the same of people, −1 where they decide nothing.
    labelled : (n,) whether a person judged it.
    columns : what is known of every judged answer, by name; texts are categories.
    drawn : how labels were drawn, where somebody says it; by disagreements is of pairs alone.

    A column differs if p·K < .05 over K columns and its size is at least .10; the least p names it.
    """
    differences = {} if labelled.all() else compared(labelled, columns, unit)
    seen = design_of(verdict, truth, labelled)
    return Which(
        n=len(truth),
        labelled=int(labelled.sum()),
        design=seen if drawn in (None, "disagreements") or seen == "all" else drawn,
        differs=differing(differences),
        columns=differences,
    )


def differing(differences: Mapping[str, Difference]) -> str | None:
    """The column in which labelled answers are shown to differ most; None if in none."""
    shown = {
        name: one.p_value
        for name, one in differences.items()
        if one.p_value * len(differences) < LEVEL and abs(one.size) >= LEAST_DIFFERENCE
    }
    return min(shown, key=lambda name: shown[name]) if shown else None


def design_of(verdict: IntArray, truth: IntArray, labelled: BoolArray) -> Design:
    """How labels of pass/fail were drawn, by what they look like; the first that holds.

    All answers labelled; a verdict of more than 5 % of the answers without a label; a verdict
    labelled on 98 % or more, or as many labels of each verdict (± 1) and not of each class; as many
    labels pass as fail (± 1, of 20 or more); labels spread otherwise than verdicts (p < .05); else
    random.
    """
    if labelled.all():
        return "all"
    judged = verdict != UNDECIDED
    if not judged.any() or not labelled.any():
        return "random"
    of = [int((labelled & (verdict == said)).sum()) for said in (0, 1)]
    total = [int((verdict == said).sum()) for said in (0, 1)]
    n = len(truth)
    if any(all_ > SMALL_SHARE * n and not some for all_, some in zip(total, of, strict=True)):
        return "one verdict"
    decided = truth[labelled & (truth != UNDECIDED)]
    passed, m = int((decided == 1).sum()), len(decided)
    even_classes = m >= LEAST_FOR_CLASSES and abs(2 * passed - m) <= 1
    whole = any(some and some >= NEARLY_ALL * all_ for all_, some in zip(total, of, strict=True))
    if whole or (abs(of[0] - of[1]) <= 1 and not even_classes):
        return "verdicts"
    if even_classes:
        return "asked"
    said = compared(labelled[judged], {"verdict": verdict[judged].astype(np.float64)})
    return "asked" if "verdict" in said and said["verdict"].p_value < LEVEL else "random"
