"""What checks of scores find of what was planted: `python -m benchmarks.planted_scores`.

Judges of single answers with known faults, beside one person or three, drawn by a generator that
shares no code with the methods and graded by the checks of the audit: false alarms, power, the
overall verdicts, and the coverage of every interval, beside what is wanted of them. `--draws` takes
fewer or more than 400 of each, `--only` some of the tables.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context

import numpy as np

from core.auditing.checks import LIMITS
from core.auditing.checks import SCORE_CHECKS as CHECKS
from core.auditing.overall import OVERALL_WORDS, Overall
from core.finding.check import Grade, Unknown
from core.questions.scores.cut import best_cut
from core.questions.scores.evidence import JudgedScores, ScoreEvidence
from core.questions.scores.overall import check_scores, overall_of_scores
from core.questions.scores.pass_rate import pass_rate
from core.questions.scores.table import ScoreTable
from core.questions.scores.versions import compare_versions
from core.stats.estimate import Estimate

from .planted import most_by_chance

SIZES = (30, 100, 300)
DRAWS = 400

# Drawing.
# ------------------------------------------------------------------------------------------

STEPS = {"even": (-1.2, -0.4, 0.4, 1.2), "skewed": (-2.2, -1.6, -0.9, 0.1)}
"""Where quality becomes the next of five levels; skewed, most answers get 4 or 5."""
LEVEL = 0.8
"""Quality from one even level to the next."""
CATEGORIES = ("a", "b", "c", "d", "e")


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
    category = rng.integers(0, len(CATEGORIES), n)
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


# Grading, as an audit does.
# ------------------------------------------------------------------------------------------

VERDICTS = tuple(OVERALL_WORDS)


def graded(table: ScoreTable) -> tuple[dict[str, Grade], Overall, ScoreEvidence]:
    """Grade of every check of one judge, the overall verdict, and what they are made of."""
    scores = JudgedScores(
        judge="judge",
        metric="score",
        table=table,
        runs=table.judge[:, None],
        outputs=len(table),
        missing=0,
    )
    evidence = ScoreEvidence(scores, LIMITS)
    results = check_scores(evidence)
    grades = {result.check: result.grade for result in results}
    return grades, overall_of_scores(evidence, results), evidence


# Tables.
# ------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Found:
    """Grades, verdicts and allowed uses of the draws of one situation; `clear`: r shown above .50
    and nothing warns.
    """

    planted: Planted
    n: int
    draws: int
    grades: dict[str, Counter[Grade]]
    verdicts: Counter[str]
    may: Counter[str]
    clear: int

    def alarms(self, check: str) -> int:
        return self.grades[check]["warn"] + self.grades[check]["fail"]


def run(planted: Planted, n: int, draws: int) -> Found:
    """Draw and grade one situation; what is drawn does not depend on what else is."""
    rng = np.random.default_rng([0, n, *planted.name.encode(), planted.people])
    grades: dict[str, Counter[Grade]] = {check.name: Counter() for check in CHECKS}
    verdicts: Counter[str] = Counter()
    may: Counter[str] = Counter()
    clear = 0
    for _ in range(draws):
        one = draw(planted, n, rng)
        table = ScoreTable.of(
            one.judge,
            one.people,
            low=1,
            high=5,
            kind="levels",
            passing=4,
            same_scale=True,
            category=one.category,
            categories=CATEGORIES,
            length=one.length,
        )
        given, overall, evidence = graded(table)
        for name, grade in given.items():
            grades[name][grade] += 1
        verdicts[overall.verdict] += 1
        may.update(use for use, allowed in overall.use.items() if allowed.answer == "yes")
        r = evidence.agreement.association
        quiet = not {"warn", "fail"} & set(given.values())
        clear += quiet and r is not None and r.low > 0.5
    return Found(planted, n, draws, grades, verdicts, may, clear)


def fair() -> list[Planted]:
    """Judges as noisy as people, or half as noisy."""
    return [
        Planted(noise=noise, judge_noise=noise * share, people=people, shape=shape)
        for people in (1, 3)
        for noise in (0.3, 0.5, 0.8)
        for share in (1.0, 0.5)
        for shape in STEPS
    ]


@dataclass(frozen=True, slots=True)
class Fault:
    """A check that is to warn or fail, or without one the verdict *do not trust*, and in what share
    of draws at 30, 100 and 300 answers; beside three people another check may be asked.
    """

    check: str | None
    wanted: tuple[float | None, float, float]
    beside_three: str | None = None
    wanted_beside_three: tuple[float | None, float, float] | None = None


FAULTS = {
    "lenient one level": Fault("leniency", (0.85, 0.98, 1.0)),
    "lenient half a level": Fault("leniency", (None, 0.90, 0.98)),
    "compressed .4": Fault("spread", (0.55, 0.98, 1.0)),
    "inverted": Fault(None, (0.98, 1.0, 1.0)),
    "coin": Fault(None, (0.25, 0.78, 0.98)),
    "noisy, r .35": Fault("association", (0.08, 0.33, 0.73), "people", (0.25, 0.83, 0.95)),
    "length .11 per SD": Fault("score_length", (0.65, 0.97, 1.0)),
    "one category + 1 SD": Fault("drift", (None, 0.65, 0.97)),
}
NOMINAL, RARE = 0.05, 0.01
"""What pooled false alarms of a check, and *do not trust* of fair judges, may come to."""
TRUSTED = 0.85
"""Share of fair judges, of people's noise .5, that are to be *trust* from 100 answers on."""
MISSED = " !"
"""Stands by a figure that is not what is wanted."""


def at_most(wanted: float, share: float, draws: int) -> str:
    """A share beside its upper limit, which two standard errors of chance may pass."""
    beyond = share > wanted + 2 * math.sqrt(wanted * (1 - wanted) / draws)
    return f"{share:.3f}{MISSED if beyond else ''}"


def at_least(wanted: float | None, share: float, digits: int = 2) -> str:
    """A share beside its lower limit."""
    short = wanted is not None and share < wanted
    return f"{share:.{digits}f}{MISSED if short else ''}"


def false_alarms(draws: int) -> list[str]:
    """Pooled false alarms per check, people and size; and the verdicts."""
    pooled: dict[tuple[str, int, int], list[int]] = defaultdict(lambda: [0, 0])
    verdicts: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    usual: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    measuring: dict[tuple[int, int], float] = {}
    clear: dict[tuple[int, int], float] = {}
    cells: list[tuple[int, str]] = []
    for planted in fair():
        for n in SIZES:
            found = run(planted, n, draws)
            verdicts[planted.people, n] += found.verdicts
            if planted.noise == planted.judge_noise == 0.5 and planted.shape == "even":
                usual[planted.people, n] = found.verdicts
                measuring[planted.people, n] = found.may["measure"] / draws
                clear[planted.people, n] = found.clear / draws
            for check, given in found.grades.items():
                asked = draws - given["unknown"]
                if asked:
                    pooled[check, planted.people, n][0] += found.alarms(check)
                    pooled[check, planted.people, n][1] += draws
                    who = "one person" if planted.people == 1 else f"{planted.people} people"
                    what = f"{check}, {planted.name}, {who}, {n} answers"
                    cells.append((found.alarms(check), what))
    columns = [(people, n) for people in (1, 3) for n in SIZES]
    lines = [
        "| false alarms of fair judges | wanted | "
        + " | ".join(f"{n}, {'one person' if k == 1 else 'three'}" for k, n in columns)
        + " |",
        "|---|--:|" + "--:|" * len(columns),
    ]
    for check in (check.name for check in CHECKS):
        shares = []
        for people, n in columns:
            alarms, of = pooled[check, people, n]
            shares.append(at_most(NOMINAL, alarms / of, of) if of else "–")
        if set(shares) != {"–"}:
            lines.append(f"| {check} | ≤ {NOMINAL:g} | {' | '.join(shares)} |")
    shares = [
        at_most(RARE, verdicts[c]["do_not_trust"] / verdicts[c].total(), verdicts[c].total())
        for c in columns
    ]
    lines.append(f"| *do not trust* | ≤ {RARE:g} | {' | '.join(shares)} |")
    shares = [at_least(TRUSTED if n >= 100 else None, measuring[k, n], 3) for k, n in columns]
    wanted = f"– / {TRUSTED:g} / {TRUSTED:g}"
    lines.append(f"| *may measure*, noise .5, even | ≥ {wanted} | {' | '.join(shares)} |")
    shares = [f"{usual[column]['cannot_say'] / draws:.3f}" for column in columns]
    lines.append(f"| *cannot say*, noise .5, even | | {' | '.join(shares)} |")
    shares = [f"{clear[column]:.3f}" for column in columns]
    lines.append(f"| no warning, r shown above .50, noise .5, even | | {' | '.join(shares)} |")
    most = most_by_chance(draws, len(cells))
    above = sorted((alarms, what) for alarms, what in cells if alarms > most)[::-1]
    lines += [
        "",
        f"{len(above)} of {len(cells)} situations of a check have more alarms than {most} of "
        f"{draws}, the binomial quantile at 1 − .05/{len(cells)}; the most:",
        "",
    ]
    lines += [f"- {alarms / draws:.3f}: {what}" for alarms, what in sorted(cells)[::-1][:8]]
    return lines


def power(draws: int) -> list[str]:
    """Share of draws in which a planted fault is found."""
    columns = [(people, n) for people in (1, 3) for n in SIZES]
    lines = [
        "| planted | found by | wanted | "
        + " | ".join(f"{n}, {'one person' if k == 1 else 'three'}" for k, n in columns)
        + " |",
        "|---|---|--:|" + "--:|" * len(columns),
    ]
    for name, fault in FAULTS.items():
        cells = []
        for people, n in columns:
            found = run(Planted(fault=name, people=people), n, draws)
            check, wanted = fault.check, fault.wanted
            if people > 1 and fault.beside_three and fault.wanted_beside_three:
                check, wanted = fault.beside_three, fault.wanted_beside_three
            hits = found.alarms(check) if check else found.verdicts["do_not_trust"]
            cells.append(at_least(wanted[(30, 100, 300).index(n)], hits / draws))
        said = " / ".join("–" if share is None else f"{share:g}" for share in fault.wanted)
        by = fault.check or "*do not trust*"
        if fault.beside_three and fault.wanted_beside_three:
            by += f"; three: {fault.beside_three}"
            said += "; " + " / ".join(f"{share:g}" for share in fault.wanted_beside_three if share)
        lines.append(f"| {name} | {by} | ≥ {said} | {' | '.join(cells)} |")
    return lines


def verdicts_of_pass_and_fail(draws: int) -> list[str]:
    """Overall verdicts on 300 rows of pass and fail beside gold."""
    lines = [
        "| pass/fail, 300 rows, 85 % pass | wanted | " + " | ".join(VERDICTS) + " |",
        "|---|---|" + "--:|" * len(VERDICTS),
    ]
    rng = np.random.default_rng(1)
    for fault, wanted in (
        ("fair: TPR .95, TNR .85", "*trust*, or *with limits*"),
        ("always passes", "*do not trust*"),
        ("coin", "*do not trust*"),
    ):
        counted: Counter[str] = Counter()
        for _ in range(draws):
            judge, gold = draw_verdicts(fault, 300, rng)
            table = ScoreTable.of(judge, gold, low=0, high=1, kind="pass_fail")
            counted[graded(table)[1].verdict] += 1
        cells = " | ".join(f"{counted[verdict] / draws:.3f}" for verdict in VERDICTS)
        lines.append(f"| {fault} | {wanted} | {cells} |")
    return lines


COVERED, MEAN_COVERED = 0.93, 0.95
"""Share of draws in which an interval of 95 % is to hold the truth, in each cell and on average."""


def cuts(draws: int) -> list[str]:
    """Coverage of the cost of the chosen cut on 100,000 other answers."""
    lines = [
        f"| the cut: scores, noise, prices (wanted ≥ {COVERED:g}) | 50 | 100 | 200 |",
        "|---|--:|--:|--:|",
    ]
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
                shown = " | ".join(at_least(COVERED, cell, 3) for cell in cells)
                lines.append(f"| {what}, {noise:g}, {price:g} : 1 | {shown} |")
    mean = at_least(MEAN_COVERED, float(np.mean(every)), 3)
    lines.append(
        f"| lowest and mean (wanted ≥ {MEAN_COVERED:g}) of the 36 | {min(every):.3f} | {mean} | |"
    )
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
        "| wanted | ≥ 0.93 | ≥ 0.93 | ≥ 0.92 | ≥ 0.94 | ≥ 0.95 |",
    ]
    rng = np.random.default_rng(3)
    for rate in (0.5, 0.8, 0.95):
        for tpr, tnr in ((0.95, 0.9), (0.9, 0.7), (0.8, 0.6)):
            cells = []
            for n, designed, wanted in (
                (50, False, 0.93),
                (100, False, 0.93),
                (20, True, 0.92),
                (50, True, 0.94),
                (100, True, 0.95),
            ):
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
                cells.append(f"{at_least(wanted, held / draws, 3)} ({width / draws:.2f})")
            lines.append(f"| {rate:g}, {tpr:g}/{tnr:g} | {' | '.join(cells)} |")
    return lines


@dataclass(frozen=True, slots=True)
class Judged:
    """Answers of units that share half of their quality's variance, in two versions.

    labelled : as many units from the first on as people scored, in the intervals that take few
        labels.
    """

    table: ScoreTable
    better: ScoreTable
    runs: np.ndarray
    labelled: np.ndarray


def _clustered(units: int, size: int, runs: int, rng: np.random.Generator) -> Judged:
    """Five times as many units as have labels, so many answers of each and runs of the judge."""
    steps = np.array(STEPS["even"])
    unit = np.repeat(np.arange(UNLABELLED * units), size)
    category = rng.integers(0, 2, UNLABELLED * units)[unit]
    share = 0.5 if size > 1 else 0.0
    tables = []
    for better in (0.0, 0.3):
        quality = better + math.sqrt(share) * rng.standard_normal(UNLABELLED * units)[unit]
        quality = quality + math.sqrt(1 - share) * rng.standard_normal(len(unit))
        length = 0.4 * quality + math.sqrt(0.84) * rng.standard_normal(len(unit))
        seen = quality[:, None] + 0.5 * rng.standard_normal((len(unit), runs))
        own = quality[:, None] + 0.5 * rng.standard_normal((len(unit), 3))
        scores = 1.0 + (seen[:, :, None] > steps).sum(axis=2)
        table = ScoreTable.of(
            scores.mean(axis=1),
            1.0 + (own[:, :, None] > steps).sum(axis=2),
            unit=unit,
            low=1,
            high=5,
            kind="levels",
            passing=3.5,
            same_scale=True,
            category=category,
            categories=CATEGORIES[:2],
            length=length,
        )
        tables.append((table, scores))
    (table, scores), (other, _) = tables
    return Judged(table, other, scores, unit < units)


UNLABELLED = 5
"""Judged units to one with labels, where few labels are asked for."""
FAR = 10_000
"""So many times `UNLABELLED` units tell what is true."""
LEAST = {
    "leniency": 10,
    "leniency at people's 3": 10,
    "TPR": 10,
    "TNR": 10,
    "TPR less a person's": 10,
    "TNR less a person's": 10,
    "same score": 10,
    "AUROC": 10,
    "true pass rate": 50,
    "cut's cost, less what it costs elsewhere": 50,
}
"""Items from which an interval is graded or shown; 30 where none stand here."""


def _all_estimates(drawn: Judged, far: Judged | None = None) -> dict[str, Estimate | None]:
    """Every interval on scores of single answers; `far`: many answers that tell what a cut costs,
    or None of themselves, which are all labelled.
    """
    rows = drawn.labelled if far else np.ones(len(drawn.table), dtype=bool)
    table = drawn.table.rows(rows)
    scores = JudgedScores(
        judge="judge",
        metric="score",
        table=table,
        runs=drawn.runs[rows],
        outputs=len(table),
        missing=0,
    )
    of = ScoreEvidence(scores, LIMITS)
    alone = ScoreEvidence(replace(scores, table=replace(table, people=table.people[:, :1])), LIMITS)
    few = [
        replace(one, people=np.where(rows[:, None], one.people, np.nan))
        for one in (drawn.table, drawn.better)
    ]
    versions = compare_versions(*few)
    by_level = {one.score: one.bias for one in alone.leniency.by_level}
    single, mean = (
        one and replace(one, n=of.repeatability.n_items)
        for one in (of.repeatability.icc_3_1, of.repeatability.icc_3_k)
    )
    return {
        "association": of.agreement.association,
        "weighted κ": of.agreement.kappa_weighted,
        "τ": of.agreement.tau,
        "AUROC": of.agreement.auroc,
        "same score": of.agreement.equal,
        "leniency": of.leniency.bias,
        "leniency at people's 3": by_level.get(3.0),
        "SD ratio": of.spread.ratio,
        "slope without noise": of.spread.slope,
        "nearer than a person": of.people.difference,
        "r of two people": of.ceiling.people_association,
        "judge's less people's r": of.ceiling.association_gain,
        "TPR": of.passing.tpr,
        "TNR": of.passing.tnr,
        "TPR less a person's": of.passing.tpr_gain,
        "TNR less a person's": of.passing.tnr_gain,
        "κ of pass/fail": of.passing.kappa,
        "length, instrumented": of.length.instrumented,
        "length, one person": alone.length.raw,
        "the same at equal scores of the person": alone.length.partial,
        "drift": of.drift.groups[0].difference if of.drift.groups else None,
        "ICC(3,1) of runs": single,
        "ICC(3,k) of runs": mean,
        "true pass rate": pass_rate(few[0]).corrected if far else pass_rate(few[0]).labels,
        "two versions": versions.difference if far else versions.labels,
        "cut's cost, less what it costs elsewhere": _cut_error(alone, far),
    }


def _cut_error(evidence: ScoreEvidence, far: Judged | None) -> Estimate | None:
    if isinstance(evidence.cut, Unknown):
        return None
    if far is None:
        return replace(evidence.cut.cost, value=0.0)
    cost = evidence.cut.cost
    passed = far.table.judge >= evidence.cut.cut - 1e-9
    truth = float(np.mean(passed != (far.table.people[:, 0] >= 3.5)))
    return replace(cost, value=cost.value - truth, low=cost.low - truth, high=cost.high - truth)


def coverage(draws: int) -> list[str]:
    """How often each interval holds the truth, which is the estimate of 50,000 units, from the
    number of items on from which it is graded; five times as many draws.
    """
    draws *= 5
    kinds = {"1 run": (1, 1), "4 runs": (1, 4), "clusters of 3": (3, 1), "both": (3, 4)}
    columns = [(kind, units) for kind in kinds for units in (10, 30, 100)]
    lines = [
        f"| interval (wanted ≥ {COVERED:g}) | "
        + " | ".join(f"{kind}, {units}" for kind, units in columns)
        + " |",
        "|---|" + "--:|" * len(columns),
    ]
    rng = np.random.default_rng(5)
    held: dict[str, list[str]] = defaultdict(list)
    for size, runs in kinds.values():
        far = _clustered(FAR, size, runs, rng)
        truth = _all_estimates(far)
        for units in (10, 30, 100):
            hits, seen = Counter[str](), Counter[str]()
            for _ in range(draws):
                for name, one in _all_estimates(_clustered(units, size, runs, rng), far).items():
                    true = truth[name]
                    if one is None or true is None or not one.has_interval:
                        continue
                    if one.n >= LEAST.get(name, 30):
                        seen[name] += 1
                        hits[name] += one.low <= true.value <= one.high
            for name in truth:
                few = seen[name] < draws / 10
                share = math.nan if few else hits[name] / seen[name]
                held[name].append("–" if few else at_least(COVERED, share, 3))
    return lines + [f"| {name} | {' | '.join(cells)} |" for name, cells in held.items()]


def two_versions(draws: int) -> list[str]:
    """How often two versions are called different, of 1,000 items judged in both."""
    sizes = (30, 50, 100, 200)
    lines = [
        "| two versions, 1,000 pairs judged | wanted | "
        + " | ".join(f"{n} labelled" for n in sizes)
        + " |",
        "|---|--:|" + "--:|" * len(sizes),
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
            judged = who == "all" and not gain
            wanted = "≤ .06, from 50 .07" if judged else ""
            cells = " | ".join(
                at_most((0.06 if n == 30 else 0.07) if judged else 1, hits / draws, draws)
                for n, hits in zip(sizes, counted, strict=True)
            )
            lines.append(f"| {what}, judge right on {right:g}: by {who} | {wanted} | {cells} |")
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
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    options = parser.parse_args(arguments)
    start = sum(os.times()[:4])
    with contextlib.ExitStack() as stack:
        apart: Callable[..., Iterator[list[str]]] = map
        if options.workers > 1:
            context = get_context("spawn")
            pool = ProcessPoolExecutor(options.workers, mp_context=context)
            apart = stack.enter_context(pool).map
        for lines in apart(_table, options.only, [options.draws] * len(options.only)):
            print("\n".join(lines), end="\n\n", flush=True)
    seconds = sum(os.times()[:4]) - start
    print(f"{options.draws} draws of each situation; {seconds:.0f} s of a core.")


def _table(name: str, draws: int) -> list[str]:
    return TABLES[name](draws)


if __name__ == "__main__":
    main()
