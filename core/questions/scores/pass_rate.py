"""How many answers are right, by few labels and all verdicts of the judge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...records import BoolArray, IntArray
from ...stats import intervals
from ...stats.estimate import Estimate, OneRow
from ..reference.weigh import rate_within_verdicts, wilson_of_units
from .passing import NO_JUDGE, NO_PEOPLE
from .table import UNDECIDED, ScoreTable

LEAST_LABELS = {True: 20, False: 50}
"""Labels below which they stand alone: drawn half from “fail”, or as they came. Simulated: with
fewer, labels that came as they did hold the truth in .90 of draws only where few answers fail."""
SMALL_SHARE = 0.05
"""A verdict on this share of the answers or less may be without a label."""
HALVING = 4
"""Times as many labels as halve an interval, whose width falls as 1/√n."""
NO_GAIN = 0.95
"""A corrected interval longer than this share of that of the labels alone saves none."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PassRate(OneRow):
    """Share of all judged answers that pass by people's standard, 0 to 1.

    judge : share that the judge passes.  labels : by the labelled answers alone; None where they
        were drawn by the judge's verdict, of which a plain mean says nothing.
    corrected : by labels within the judge's verdicts; None where `reason` says why.
    to_halve : labels in all with which the interval would be half as long.
    saves : whether the judge shortens the interval against labels alone by more than a twentieth.
    n, units : answers that the judge judged, and their units.  n_labelled, units_labelled : those
        that people judged too.
    """

    judge: Estimate | None
    labels: Estimate | None
    corrected: Estimate | None
    to_halve: int
    saves: bool
    n: int
    units: int
    n_labelled: int
    units_labelled: int
    reason: str | None

    @property
    def best(self) -> Estimate | None:
        """The corrected rate if there is one, else that of the labels."""
        return self.labels if self.corrected is None else self.corrected


def pass_rate(table: ScoreTable, *, designed: bool = False, level: float = 0.95) -> PassRate:
    """True pass rate of all judged answers, from a few that people judged too.

    The interval of labels within the judge's verdicts is `rate_within_verdicts`'.

    table : all judged answers; people are NaN where nobody judged. Of levels, `passing` must have
        been chosen on other answers.
    designed : labels were drawn at random within verdicts, half of them from “fail”, which holds
        from 20 labels on; else they must be as good as random within verdicts, from 50 on.

    Below that, or without a label in a verdict that more than 5 % of the answers have, labels
    stand alone. Raises InvalidOption for a level outside (0, 1).
    Source: docs/methods.md §11 (ours); Wilson (1927).
    """
    intervals.check_level(level)
    verdict = table.verdict
    judged = table.rows(~np.isnan(table.judge))
    said, truth = judged.verdict, judged.people_verdict
    labelled = truth != UNDECIDED
    code, units = judged.unit_codes()
    n, m = len(judged), int(labelled.sum())
    with_label = intervals.n_distinct(code[labelled])
    reason = NO_JUDGE if table.passing is None else None
    if table.people_passing is None:
        reason = NO_PEOPLE
    if reason is None and not (verdict != UNDECIDED).any():
        reason = "the judge gives no verdict"
    judge = labels = corrected = None
    if n and table.passing is not None:
        share = np.where(np.isnan(judged.passed), 0.5, judged.passed)
        judge = intervals.wilson_by_item(code, np.ones(n), share, level=level)
    if m and not designed:
        labels = intervals.wilson_by_item(
            code[labelled], np.ones(m), truth[labelled].astype(float), level=level
        )
    reason = reason or _too_few(said, labelled, with_label, designed)
    if reason is None:
        corrected = rate_within_verdicts(said, truth, code, level=level)
    alone = labels
    if corrected is not None and designed:
        alone = wilson_of_units(corrected.value, corrected.value, float(m), with_label, level)
    return PassRate(
        judge=judge,
        labels=labels,
        corrected=corrected,
        to_halve=HALVING * m,
        saves=corrected is not None
        and alone is not None
        and corrected.high - corrected.low < NO_GAIN * (alone.high - alone.low),
        n=n,
        units=units,
        n_labelled=m,
        units_labelled=with_label,
        reason=reason,
    )


def _too_few(said: IntArray, labelled: BoolArray, with_label: int, designed: bool) -> str | None:
    least = LEAST_LABELS[designed]
    if with_label < least:
        how = "drawn half from fail" if designed else "that were not drawn by the judge's verdict"
        return f"it needs {least} labels {how}; there are {with_label}"
    for verdict, word in ((0, "fails"), (1, "passes"), (UNDECIDED, "cannot decide")):
        of_verdict = said == verdict
        if of_verdict.mean() > SMALL_SHARE and not (of_verdict & labelled).any():
            return (
                f"no label is on the {100 * of_verdict.mean():.3g} % of the answers that the judge "
                f"{word}"
            )
    return None
