"""What checks of scores find of what was planted: `python -m benchmarks.planted_scores`.

Judges of single answers with known faults, beside one person or three, drawn by a generator that
shares no code with the methods: false alarms, power, the overall verdicts, and the coverage of the
cut, the pass rate and two versions. `--draws` takes fewer or more than 400 of each, `--only` some
of the tables.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.checks.check import Grade, Limits, grade
from core.scores.agreement import leniency, score_agreement, spread
from core.scores.cut import best_cut
from core.scores.drift import drift
from core.scores.length import length_effect
from core.scores.pass_rate import pass_rate
from core.scores.passing import pass_fail
from core.scores.people import ceiling, people_check
from core.scores.table import ScoreTable
from core.scores.versions import compare_versions
from core.stats.estimate import Estimate

SIZES = (30, 100, 300)
DRAWS = 400

# Drawing.
# ------------------------------------------------------------------------------------------

STEPS = {"even": (-1.2, -0.4, 0.4, 1.2), "skewed": (-2.2, -1.6, -0.9, 0.1)}
"""Where quality becomes the next of five levels; skewed, most answers get 4 or 5."""
LEVEL = 0.8
"""Quality from one even level to the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A judge of single answers: quality and people's noise in SDs of quality."""

    fault: str = "none"
    noise: float = 0.5
    judge_noise: float = 0.5
    people: int = 1
    shape: str = "even"

    @property
    def name(self) -> str:
        return f"{self.fault}, noise {self.noise:g}, judge's {self.judge_noise:g}, {self.shape}"


@dataclass(frozen=True, slots=True)
class Answers:
    """One draw: scores of 1 to 5, length and category."""

    judge: np.ndarray
    people: np.ndarray
    length: np.ndarray
    category: np.ndarray


def draw(planted: Planted, n: int, rng: np.random.Generator) -> Answers:
    """n answers with their scores."""
    steps = np.array(STEPS[planted.shape])
    quality = rng.standard_normal(n)
    length = 0.4 * quality + math.sqrt(1 - 0.16) * rng.standard_normal(n)
    category = rng.integers(0, 5, n)
    seen = quality + planted.judge_noise * rng.standard_normal(n)
    fault = planted.fault
    if fault == "lenient half a level":
        seen = seen + LEVEL / 2
    elif fault == "compressed .4":
        seen = 0.4 * seen
    elif fault == "inverted":
        seen = -seen
    elif fault == "coin":
        seen = rng.permutation(seen)
    elif fault == "noisy, r .35":
        noise = 2.15
        seen = (quality + noise * rng.standard_normal(n)) * math.sqrt(1.25 / (1 + noise**2))
    elif fault == "length .11 per SD":
        # Scores end at 1 and 5: .62 of a level per SD of length moves them by .11 of the scale.
        seen = seen + 0.62 * LEVEL * length
    elif fault == "one category + 1 SD":
        seen = seen + (category == 0)
    judge = 1.0 + (seen[:, None] > steps).sum(axis=1)
    if fault == "lenient one level":
        judge = np.minimum(judge + 1, 5)
    own = quality[:, None] + planted.noise * rng.standard_normal((n, planted.people))
    people = 1.0 + (own[:, :, None] > steps).sum(axis=2)
    return Answers(judge, people, length, category)


def draw_verdicts(fault: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A judge's pass and fail beside gold, of which 85 % passes."""
    gold = (rng.random(n) < 0.85).astype(float)
    right = np.where(gold == 1, 0.95, 0.85)
    judge = np.where(rng.random(n) < right, gold, 1 - gold)
    if fault == "always passes":
        judge = np.ones(n)
    elif fault == "coin":
        judge = (rng.random(n) < 0.5).astype(float)
    return judge, gold


# Grading, by the limits of the design.
# ------------------------------------------------------------------------------------------


def _limits(shape: str, caution: float, failure: float | None, **more: object) -> Limits:
    return Limits(shape=shape, caution=caution, failure=failure, reason="", **more)  # type: ignore[arg-type]


LIMITS = {
    "association": _limits("at_least", 0.5, 0.3),
    "people": _limits("at_least", -0.1, -0.2),
    "auroc": _limits("at_least", 0.75, 0.6),
    "leniency": _limits("signed", 0.05, 0.125),
    "tpr, tnr": _limits("at_least", 0.6, 0.4),
    "tpr, tnr beside people": _limits("at_least", -0.1, -0.2),
    "length": _limits("signed", 0.03, 0.08),
    "drift": _limits("signed", 0.05, 0.125),
}
NAMES = (*LIMITS, "spread")
SHIFT = 0.02
"""A warning of leniency also needs an interval outside ± this."""
SPREAD = (0.75, 1.33)
LEAST, LEAST_ASSOCIATION = 10, 30
WORST: tuple[Grade, ...] = ("fail", "warn", "unclear", "ok")


def _graded(name: str, found: Estimate | None, least: int = LEAST) -> Grade:
    if found is None or not found.has_interval or found.n < least:
        return "unknown"
    given = grade(found, LIMITS[name]).grade
    if name == "leniency" and given == "warn" and not found.beyond(SHIFT):
        return "unclear"
    return given


def _worst(grades: Sequence[Grade]) -> Grade:
    return next((one for one in WORST if one in grades), "unknown")


def grades_of(table: ScoreTable, *, level_of_pass: bool = False) -> dict[str, Grade]:
    """Grades of one table by check; `level_of_pass`: TPR and TNR fail too."""
    found: dict[str, Grade] = {}
    agreed = score_agreement(table)
    several = table.people.shape[1] > 1
    least = LEAST_ASSOCIATION
    if several:
        found["people"] = _people(people_check(table).difference, agreed.association, least)
    else:
        found["association"] = _graded("association", agreed.association, least)
    found["auroc"] = _graded("auroc", agreed.auroc, least)
    found["leniency"] = _graded("leniency", leniency(table).bias)
    ratio = spread(table).ratio
    found["spread"] = "unknown"
    if ratio is not None and ratio.has_interval:
        beyond = ratio.high < SPREAD[0] or ratio.low > SPREAD[1]
        within = SPREAD[0] <= ratio.low and ratio.high <= SPREAD[1]
        found["spread"] = "warn" if beyond else "ok" if within else "unclear"
    rates = pass_fail(table)
    name = "tpr, tnr beside people" if several else "tpr, tnr"
    pair = (rates.tpr_gain, rates.tnr_gain) if several else (rates.tpr, rates.tnr)
    found[name] = _worst([_graded(name, one) for one in pair])
    if table.length is not None:
        found["length"] = _length(table, several)
    if table.category is not None:
        parts = [_graded("drift", one.difference) for one in drift(table).groups]
        found["drift"] = _worst(parts)
    return found


def _people(found: Estimate | None, r: Estimate | None, least: int) -> Grade:
    """The place among people; where that is open, r with their mean."""
    given = _graded("people", found, least)
    if given == "unknown" or found is None or r is None or not r.has_interval:
        return given
    if r.high < 0:
        return "fail"
    fine = found.low > -0.2 and found.value >= -0.1 and r.low > 0.5
    return "ok" if given == "unclear" and fine else given


def _length(table: ScoreTable, several: bool) -> Grade:
    effect = length_effect(table)
    least = LEAST_ASSOCIATION
    if several:
        return _graded("length", effect.instrumented, least)
    both = [_graded("length", one, least) for one in (effect.raw, effect.partial)]
    raw, partial = effect.raw, effect.partial
    if "unknown" in both or raw is None or partial is None:
        return "unknown"
    one_side = (raw.low > 0 and partial.low > 0) or (raw.high < 0 and partial.high < 0)
    if one_side:
        return "fail" if both == ["fail", "fail"] else "ok" if both == ["ok", "ok"] else "warn"
    return "ok" if both == ["ok", "ok"] else "unclear"


def overall(table: ScoreTable, grades: dict[str, Grade], *, says_pass: bool = False) -> str:
    """The verdict on one judge."""
    ignored = () if says_pass else ("tpr, tnr", "tpr, tnr beside people")
    bad = [name for name, one in grades.items() if one in ("warn", "fail") and name not in ignored]
    if says_pass:
        rates = pass_fail(table)
        shown = [
            (grades["tpr, tnr"], one.low if one is not None and one.n >= LEAST else -math.inf)
            for one in (rates.tpr, rates.tnr)
        ]
        failed = "fail" in grades.values()
        lows = [low for _, low in shown]
        below, fine = min(lows) < 0.4, min(lows) > 0.6
    else:
        several = "people" in grades
        primary = "people" if several else "association"
        estimate = people_check(table).difference if several else score_agreement(table).association
        failed = grades[primary] == "fail"
        failure = LIMITS[primary].failure or 0.0
        below = grades[primary] == "unknown" or estimate is None or estimate.low < failure
        fine = grades[primary] == "ok"
    if failed:
        return "do_not_trust"
    if below:
        return "cannot_say"
    return "trust" if fine and not bad else "trust_with_limits"


# Tables.
# ------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Found:
    """Grades and verdicts of the draws of one situation."""

    planted: Planted
    n: int
    draws: int
    grades: dict[str, Counter[str]]
    verdicts: Counter[str]
    clear: int

    def alarms(self, check: str) -> int:
        return self.grades[check]["warn"] + self.grades[check]["fail"]


def run(planted: Planted, n: int, draws: int, seed: int = 0) -> Found:
    """Draw and grade one situation."""
    key = [seed, n, *(ord(letter) for letter in planted.name), planted.people]
    rng = np.random.default_rng(key)
    grades: dict[str, Counter[str]] = defaultdict(Counter)
    verdicts: Counter[str] = Counter()
    clear = 0
    for _ in range(draws):
        one = draw(planted, n, rng)
        table = ScoreTable.of(
            one.judge,
            one.people,
            low=1,
            high=5,
            passing=4,
            same_scale=True,
            category=one.category,
            length=one.length,
        )
        found = grades_of(table)
        for name, given in found.items():
            grades[name][given] += 1
        verdicts[overall(table, found)] += 1
        shown = score_agreement(table).association
        quiet = not {"warn", "fail"} & set(found.values())
        clear += quiet and shown is not None and shown.low > 0.5
    return Found(planted, n, draws, grades, verdicts, clear)


def fair() -> list[Planted]:
    """Judges as noisy as people, or half as noisy."""
    return [
        Planted(noise=noise, judge_noise=noise * share, people=people, shape=shape)
        for people in (1, 3)
        for noise in (0.3, 0.5, 0.8)
        for share in (1.0, 0.5)
        for shape in STEPS
    ]


FAULTS = {
    "lenient one level": "leniency",
    "lenient half a level": "leniency",
    "compressed .4": "spread",
    "inverted": "",
    "coin": "",
    "noisy, r .35": "association",
    "length .11 per SD": "length",
    "one category + 1 SD": "drift",
}
"""Fault → the check that is to warn; without one the judge is not to be trusted."""


def false_alarms(draws: int) -> list[str]:
    """Pooled false alarms per check, people and size; and the verdicts."""
    pooled: dict[tuple[str, int, int], list[int]] = defaultdict(lambda: [0, 0])
    verdicts: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    usual: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    clear: dict[tuple[int, int], float] = {}
    worst: list[tuple[float, str]] = []
    for planted in fair():
        for n in SIZES:
            found = run(planted, n, draws)
            verdicts[planted.people, n] += found.verdicts
            if planted.noise == planted.judge_noise == 0.5 and planted.shape == "even":
                usual[planted.people, n] = found.verdicts
                clear[planted.people, n] = found.clear / draws
            for check in found.grades:
                pooled[check, planted.people, n][0] += found.alarms(check)
                pooled[check, planted.people, n][1] += draws
                worst.append(
                    (
                        found.alarms(check) / draws,
                        f"{check}, {planted.name}, {planted.people} people, {n}",
                    )
                )
    columns = [(people, n) for people in (1, 3) for n in SIZES]
    lines = [
        "| false alarms of fair judges | "
        + " | ".join(f"{n}, {'one person' if k == 1 else 'three'}" for k, n in columns)
        + " |",
        "|---|" + "--:|" * len(columns),
    ]
    for check in NAMES:
        cells = [
            f"{alarms / total:.3f}" if total else "–"
            for alarms, total in (pooled[check, *column] for column in columns)
        ]
        lines.append(f"| {check} | {' | '.join(cells)} |")
    for name, counted, verdict in (
        ("*do not trust*", verdicts, "do_not_trust"),
        ("*trust*, noise .5, even", usual, "trust"),
        ("*cannot say*, noise .5, even", usual, "cannot_say"),
    ):
        cells = [f"{counted[c][verdict] / counted[c].total():.3f}" for c in columns]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    cells = [f"{clear[column]:.3f}" for column in columns]
    lines.append(f"| no warning, r shown above .50, noise .5, even | {' | '.join(cells)} |")
    lines += ["", "Most alarms in one situation:", ""]
    lines += [f"- {share:.3f}: {what}" for share, what in sorted(worst)[::-1][:8]]
    return lines


def power(draws: int) -> list[str]:
    """Share of draws in which a planted fault is found."""
    columns = [(people, n) for people in (1, 3) for n in SIZES]
    lines = [
        "| planted | found by | "
        + " | ".join(f"{n}, {'one person' if k == 1 else 'three'}" for k, n in columns)
        + " |",
        "|---|---|" + "--:|" * len(columns),
    ]
    for fault, check in FAULTS.items():
        cells = []
        for people, n in columns:
            found = run(Planted(fault=fault, people=people), n, draws)
            by = "people" if check == "association" and people > 1 else check
            hits = found.alarms(by) if by else found.verdicts["do_not_trust"]
            cells.append(f"{hits / draws:.2f}")
        by = {"association": "association; three: people", "": "*do not trust*"}.get(check, check)
        lines.append(f"| {fault} | {by} | {' | '.join(cells)} |")
    return lines


def verdicts_of_pass_and_fail(draws: int) -> list[str]:
    """Overall verdicts on 300 rows of pass and fail beside gold."""
    kinds = ("trust", "trust_with_limits", "cannot_say", "do_not_trust")
    lines = [
        "| pass/fail, 300 rows, 85 % pass | " + " | ".join(kinds) + " |",
        "|---|" + "--:|" * len(kinds),
    ]
    rng = np.random.default_rng(1)
    for fault in ("fair: TPR .95, TNR .85", "always passes", "coin"):
        counted: Counter[str] = Counter()
        for _ in range(draws):
            judge, gold = draw_verdicts(fault, 300, rng)
            table = ScoreTable.of(judge, gold, low=0, high=1, kind="pass_fail")
            rates = pass_fail(table)
            given = _worst([_graded("tpr, tnr", rate) for rate in (rates.tpr, rates.tnr)])
            agreed = _graded("association", score_agreement(table).association, LEAST_ASSOCIATION)
            grades: dict[str, Grade] = {"tpr, tnr": given, "association": agreed}
            counted[overall(table, grades, says_pass=True)] += 1
        cells = " | ".join(f"{counted[kind] / draws:.3f}" for kind in kinds)
        lines.append(f"| {fault} | {cells} |")
    return lines


def cuts(draws: int) -> list[str]:
    """Coverage of the cost of the chosen cut on 100,000 other answers."""
    lines = ["| the cut: scores, noise, prices | 50 | 100 | 200 |", "|---|--:|--:|--:|"]
    rng = np.random.default_rng(2)

    def drawn(n: int, levels: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
        quality = rng.standard_normal(n)
        seen = quality + noise * rng.standard_normal(n)
        passes = quality + noise * rng.standard_normal(n) > 0
        if levels:
            seen = np.clip(np.floor((seen / 4 + 0.5) * levels), 0, levels - 1)
        return seen, passes

    every = []
    for levels in (5, 10, 0):
        for noise in (0.5, 1.0):
            far, far_passes = drawn(100_000, levels, noise)
            order = np.argsort(far)
            passed = np.concatenate([[0], far_passes[order].cumsum()])
            failed = np.concatenate([[0], (~far_passes[order]).cumsum()])
            for price in (1.0, 3.0):
                cells = []
                for n in (50, 100, 200):
                    held = 0
                    for _ in range(draws):
                        judge, passes = drawn(n, levels, noise)
                        table = ScoreTable.of(
                            judge, passes.astype(float), same_scale=False, people_passing=0.5
                        )
                        found = best_cut(table, rng=rng, price_fp=price)
                        below = int(np.searchsorted(far[order], found.cut - 1e-9))
                        truth = (passed[below] + price * (failed[-1] - failed[below])) / len(far)
                        held += found.cost.low <= truth <= found.cost.high
                    cells.append(held / draws)
                every += cells
                what = f"{levels} levels" if levels else "continuous"
                shown = " | ".join(f"{cell:.3f}" for cell in cells)
                lines.append(f"| {what}, {noise:g}, {price:g} : 1 | {shown} |")
    lines.append(f"| lowest and mean of the 36 | {min(every):.3f} | {np.mean(every):.3f} | |")
    return lines


def _labelled(judge: np.ndarray, n: int, designed: bool, rng: np.random.Generator) -> np.ndarray:
    """Rows to label: at random, or half of them among the fails."""
    if not designed:
        return rng.choice(len(judge), n, replace=False)
    fails, passes = np.flatnonzero(judge == 0), np.flatnonzero(judge == 1)
    half = min(n // 2, len(fails))
    return np.concatenate(
        [rng.choice(fails, half, replace=False), rng.choice(passes, n - half, replace=False)]
    )


def rates(draws: int) -> list[str]:
    """Coverage and mean width of the true pass rate of 1,000 judged answers; five times as many
    draws, which take little time.
    """
    draws *= 5
    lines = [
        "| pass rate, TPR/TNR | random 50 | random 100 | half on fail 20 | 50 | 100 |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    rng = np.random.default_rng(3)
    for rate in (0.5, 0.8, 0.95):
        for tpr, tnr in ((0.95, 0.9), (0.9, 0.7), (0.8, 0.6)):
            cells = []
            for n, designed in ((50, False), (100, False), (20, True), (50, True), (100, True)):
                held = width = 0.0
                for _ in range(draws):
                    truth = (rng.random(1000) < rate).astype(float)
                    right = rng.random(1000) < np.where(truth == 1, tpr, tnr)
                    judge = np.where(right, truth, 1 - truth)
                    people = np.full(1000, np.nan)
                    rows = _labelled(judge, n, designed, rng)
                    people[rows] = truth[rows]
                    table = ScoreTable.of(judge, people, low=0, high=1, kind="pass_fail")
                    best = pass_rate(table, designed=designed).best
                    if best is not None:
                        held += best.low <= rate <= best.high
                        width += best.high - best.low
                cells.append(f"{held / draws:.3f} ({width / draws:.2f})")
            lines.append(f"| {rate:g}, {tpr:g}/{tnr:g} | {' | '.join(cells)} |")
    return lines


def _clustered(units: int, size: int, runs: int, rng: np.random.Generator) -> ScoreTable:
    """Answers of units that share half of their quality's variance; the judge's runs averaged."""
    steps = np.array(STEPS["even"])
    unit = np.repeat(np.arange(units), size)
    share = 0.5 if size > 1 else 0.0
    quality = math.sqrt(share) * rng.standard_normal(units)[unit]
    quality = quality + math.sqrt(1 - share) * rng.standard_normal(len(unit))
    length = 0.4 * quality + math.sqrt(0.84) * rng.standard_normal(len(unit))
    seen = quality[:, None] + 0.5 * rng.standard_normal((len(unit), runs))
    own = quality[:, None] + 0.5 * rng.standard_normal((len(unit), 3))
    judge = 1.0 + (seen[:, :, None] > steps).sum(axis=2).mean(axis=1)
    people = 1.0 + (own[:, :, None] > steps).sum(axis=2)
    return ScoreTable.of(
        judge,
        people,
        unit=unit,
        low=1,
        high=5,
        passing=3.5,
        same_scale=True,
        category=rng.integers(0, 2, units)[unit],
        length=length,
    )


def _all_estimates(table: ScoreTable) -> dict[str, Estimate | None]:
    agreed, rates_, shape = score_agreement(table), pass_fail(table), spread(table)
    two = ceiling(table)
    groups = drift(table).groups
    return {
        "association": agreed.association,
        "weighted κ": agreed.kappa_weighted,
        "τ": agreed.tau,
        "AUROC": agreed.auroc,
        "leniency": leniency(table).bias,
        "SD ratio": shape.ratio,
        "slope without noise": shape.slope,
        "nearer than a person": people_check(table).difference,
        "r of two people": two.people_association,
        "judge's less people's r": two.association_gain,
        "TPR": rates_.tpr,
        "TNR": rates_.tnr,
        "TPR less a person's": rates_.tpr_gain,
        "κ of pass/fail": rates_.kappa,
        "length, instrumented": length_effect(table).instrumented,
        "drift": groups[0].difference if groups else None,
    }


def coverage(draws: int) -> list[str]:
    """How often each interval holds the truth, which is the estimate of 30,000 units."""
    kinds = {"1 run": (1, 1), "4 runs": (1, 4), "clusters of 3": (3, 1)}
    columns = [(kind, units) for kind in kinds for units in (30, 100)]
    lines = [
        "| interval | " + " | ".join(f"{kind}, {units}" for kind, units in columns) + " |",
        "|---|" + "--:|" * len(columns),
    ]
    rng = np.random.default_rng(5)
    held: dict[str, list[str]] = defaultdict(list)
    for kind, units in columns:
        size, runs = kinds[kind]
        truth = _all_estimates(_clustered(30_000, size, runs, rng))
        hits, seen = Counter[str](), Counter[str]()
        for _ in range(draws):
            for name, one in _all_estimates(_clustered(units, size, runs, rng)).items():
                true = truth[name]
                if one is not None and one.has_interval and true is not None:
                    seen[name] += 1
                    hits[name] += one.low <= true.value <= one.high
        for name in truth:
            held[name].append(f"{hits[name] / seen[name]:.3f}" if seen[name] else "–")
    return lines + [f"| {name} | {' | '.join(cells)} |" for name, cells in held.items()]


def two_versions(draws: int) -> list[str]:
    """How often two versions are called different, of 1,000 items judged in both."""
    sizes = (30, 50, 100, 200)
    lines = [
        "| two versions, 1,000 pairs judged | " + " | ".join(f"{n} labelled" for n in sizes) + " |",
        "|---|" + "--:|" * len(sizes),
    ]
    rng = np.random.default_rng(4)
    for gain, favour, right in (
        (0.0, 0.2, 0.9),
        (0.0, 0.2, 0.75),
        (0.1, 0.0, 0.9),
        (0.2, 0.0, 0.9),
        (0.2, 0.0, 0.75),
    ):
        by_labels, by_all, by_judge = ([0] * len(sizes) for _ in range(3))
        for place, n in enumerate(sizes):
            for _ in range(draws):
                rows = rng.choice(1000, n, replace=False)
                tables = []
                for rate, extra in ((0.6, 0.0), (0.6 + gain, favour)):
                    truth = (rng.random(1000) < rate).astype(float)
                    judge = np.where(rng.random(1000) < right, truth, 1 - truth)
                    judge = np.where((truth == 0) & (rng.random(1000) < extra), 1.0, judge)
                    people = np.full(1000, np.nan)
                    people[rows] = truth[rows]
                    tables.append(ScoreTable.of(judge, people, low=0, high=1, kind="pass_fail"))
                found = compare_versions(*tables)
                for counted, one in (
                    (by_labels, found.labels),
                    (by_all, found.difference),
                    (by_judge, found.judge),
                ):
                    counted[place] += one is not None and one.excludes(0)
        what = f"B better by {gain:g}" if gain else f"equal, judge favours B in {favour:g}"
        for who, counted in (("all", by_all), ("labels", by_labels), ("judge alone", by_judge)):
            cells = " | ".join(f"{hits / draws:.2f}" for hits in counted)
            lines.append(f"| {what}, judge right on {right:g}: by {who} | {cells} |")
    return lines


TABLES: dict[str, Callable[[int], list[str]]] = {
    "false_alarms": false_alarms,
    "power": power,
    "pass_fail": verdicts_of_pass_and_fail,
    "coverage": coverage,
    "cuts": cuts,
    "rates": rates,
    "versions": two_versions,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.planted_scores", description=__doc__
    )
    parser.add_argument("--draws", type=int, default=DRAWS, help=f"of each situation ({DRAWS})")
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    options = parser.parse_args(arguments)
    start = time.process_time()
    for name in options.only:
        print("\n".join(TABLES[name](options.draws)), end="\n\n", flush=True)
    print(
        f"{options.draws} draws of each situation; {time.process_time() - start:.0f} s of a core."
    )


if __name__ == "__main__":
    main()
