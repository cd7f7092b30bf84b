"""Pass or fail: what a judge does with the answers that people pass, and with those they fail."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...records import BoolArray, FloatArray, IntArray
from ...stats.estimate import DataFrame, Estimate, data_frame, flat
from ...stats.intervals import check_level, mean_interval, wilson_by_item
from ...stats.jackknife import moments
from .agreement import LEAST_SHARED, fisher_jackknife
from .table import UNDECIDED, ScoreTable

NO_JUDGE = "the judge does not say which answers pass; declare the score from which they do"
NO_PEOPLE = "people do not say which answers pass; declare the score from which they do"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PassFail:
    """A judge's pass and fail against what most people say; None where `unknown` says why.

    tpr : share that it passes of the answers that people pass; tnr : share that it fails of those
        that they fail. Their n is the units of the class.
    tpr_gain, tnr_gain : with two people or more, the judge's minus a left-out person's, −1 to 1,
        on what the others decide.
    kappa : Cohen's.  right : share of equal verdicts; always_pass, always_fail : what always
        saying one of the two would have.
    counts : (2, 2) answers, rows people fail, pass, columns judge fails, passes.
    undecided : answers that as many people pass as fail, or half of the judge's runs.
    """

    tpr: Estimate | None
    tnr: Estimate | None
    tpr_gain: Estimate | None
    tnr_gain: Estimate | None
    kappa: Estimate | None
    right: Estimate | None
    always_pass: float | None
    always_fail: float | None
    counts: IntArray
    undecided: int
    unknown: dict[str, str] = field(default_factory=dict)

    def to_frame(self) -> DataFrame:
        """One row."""
        return data_frame([flat(self, without=("counts", "unknown"))])


def pass_fail(table: ScoreTable, *, level: float = 0.95) -> PassFail:
    """TPR, TNR, κ and share right of the judge's verdicts against most people's.

    Of pass/fail a judge counts with the share of its runs that pass, so that runs are averaged
    first; of levels with score ≥ `passing`. Intervals are `wilson_by_item` by unit. κ is that of
    verdicts, its interval as of κ_w.

    Beside a left-out person h, over all h and the answers that the others' majority decides as
    pass: tpr_gain = Σ(judge passes − h passes)/Σ1, of fail with failing for passing; a ratio of
    sums by unit with the added ends −1 and 1. A mean over answers would count people who stand
    alone more than those who agree.

    Raises InvalidOption for a level outside (0, 1). Source: docs/methods.md §11 (ours);
    Cohen (1960).

    >>> found = pass_fail(ScoreTable.of([1, 1, 1, 0, 1], [1, 1, 0, 0, 0]))
    >>> found.tpr.value, round(found.tnr.value, 3), found.always_fail
    (1.0, 0.333, 0.6)
    """
    check_level(level)
    unknown: dict[str, str] = {}
    reason = NO_JUDGE if table.passing is None else None
    if table.people_passing is None:
        reason = NO_PEOPLE
    verdict, said, passed = table.people_verdict, table.verdict, table.passed
    both = (verdict != UNDECIDED) & ~np.isnan(passed)
    if reason is None and not both.any():
        reason = "no answer has a verdict of both the judge and most people"
    if reason is not None:
        names = ("tpr", "tnr", "tpr_gain", "tnr_gain", "kappa", "right")
        return PassFail(
            tpr=None,
            tnr=None,
            tpr_gain=None,
            tnr_gain=None,
            kappa=None,
            right=None,
            always_pass=None,
            always_fail=None,
            counts=np.zeros((2, 2), dtype=np.int64),
            undecided=0,
            unknown=dict.fromkeys(names, reason),
        )
    rates: dict[str, Estimate | None] = {}
    for name, class_, share in (("tpr", 1, passed), ("tnr", 0, 1 - passed)):
        rows = both & (verdict == class_)
        rates[name] = _rate(table.unit, share, rows, level)
        if rates[name] is None:
            unknown[name] = f"people {'pass' if class_ else 'fail'} no answer that the judge judged"
    gains = gains_on_left_out(table, passed, level)
    if gains is None:
        unknown |= dict.fromkeys(("tpr_gain", "tnr_gain"), "it needs two people or more")
    else:
        for name, gain in gains.items():
            if gain is None:
                unknown[name] = "no answer is decided so by the others of a person"
    decided = both & (said != UNDECIDED)
    kappa, why = _kappa(table, decided, verdict, said, level)
    if kappa is None:
        unknown["kappa"] = why
    right = np.where(verdict == 1, passed, 1 - passed)
    cell = 2 * verdict[decided] + said[decided]
    always = float(verdict[both].mean())
    return PassFail(
        **rates,
        tpr_gain=None if gains is None else gains["tpr_gain"],
        tnr_gain=None if gains is None else gains["tnr_gain"],
        kappa=kappa,
        right=wilson_by_item(table.unit[both], np.ones(int(both.sum())), right[both], level=level),
        always_pass=always,
        always_fail=1 - always,
        counts=np.bincount(cell, minlength=4).reshape(2, 2),
        undecided=int((~np.isnan(table.judge) & (table.persons > 0) & ~decided).sum()),
        unknown=unknown,
    )


def _rate(unit: IntArray, share: FloatArray, rows: BoolArray, level: float) -> Estimate | None:
    """Mean of shares of 0 to 1 over some rows by unit, None without a row."""
    if not rows.any():
        return None
    return wilson_by_item(unit[rows], np.ones(int(rows.sum())), share[rows], level=level)


def _kappa(
    table: ScoreTable, decided: BoolArray, verdict: IntArray, said: IntArray, level: float
) -> tuple[Estimate | None, str]:
    known = table.rows(decided)
    if len(known) < LEAST_SHARED:
        return None, f"it needs {LEAST_SHARED} answers, and there are {len(known)}"
    for who, values in (("the judge gives", said), ("people give", verdict)):
        seen = np.unique(values[decided])
        if len(seen) < 2:
            return None, f"{who} one verdict to all ({'pass' if seen[0] else 'fail'})"
    code, units = known.unit_codes()
    found = moments(said[decided].astype(float), verdict[decided].astype(float), code, units)
    return fisher_jackknife(found.concordance, level=level), ""


def gains_on_left_out(
    table: ScoreTable, passed: FloatArray, level: float
) -> dict[str, Estimate | None] | None:
    """Judge minus left-out person by what the others decide; None with less than two people."""
    of_person = table.person_passed
    known = ~np.isnan(of_person)
    balance = np.where(known, 2 * of_person - 1, 0.0)
    others = balance.sum(axis=1, keepdims=True) - balance
    usable = known & (known.sum(axis=1) > 1)[:, None] & ~np.isnan(passed)[:, None]
    if not usable.any():
        return None
    gain = passed[:, None] - of_person
    unit = np.broadcast_to(table.unit[:, None], gain.shape)
    gains: dict[str, Estimate | None] = {}
    for name, sign in (("tpr_gain", 1.0), ("tnr_gain", -1.0)):
        cells = usable & (sign * others > 0)
        gains[name] = None
        if cells.any():
            gains[name] = mean_interval(
                unit[cells], sign * gain[cells], ends=(-1.0, 1.0), level=level
            )
    return gains
