"""What labels of single answers show of judges that pass or fail: two parts of
`python -m benchmarks.labelling`, `passing`, `rare` and `errors`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.labelling.answers import LEAST_BY_VERDICT, LEAST_OF_CLASS, AnswerRow, pass_verdict
from core.labelling.rate import anytime_rate
from core.labelling.verdict import ALPHA, LEAST_LABELS, LabelledRow, Plan, anytime_mean
from core.labelling.wealth import log_needed, row_path
from core.questions.scores.pass_rate import pass_rate
from core.questions.scores.table import ScoreTable
from core.stats.by_verdict import class_rate
from core.stats.intervals import wilson

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Judged answers with exact rates, and what becomes of a judge: pass rate, TPR, TNR."""

    n: int
    passes: float
    tpr: float
    tnr: float

    def drawn(self, rng: np.random.Generator, labels: int) -> tuple[AnswerRow, AnswerRow]:
        """In random order: some labelled, and all."""
        good, said = np.zeros(self.n), np.zeros(self.n)
        passed = round(self.n * self.passes)
        good[:passed] = 1
        said[: round(passed * self.tpr)] = 1
        said[passed : passed + round((self.n - passed) * (1 - self.tnr))] = 1
        order = rng.permutation(self.n)
        every = AnswerRow(judge=said[order], label=good[order])
        return AnswerRow(judge=every.judge, label=every.label[:labels]), every

    def wrong(self, grade: str) -> bool:
        """Whether a grade says what is not so; limits .60 and .40."""
        least = min(self.tpr, self.tnr)
        if grade == "ok":
            return least <= PASS_LIMITS[0]
        return (grade == "warn" and least >= PASS_LIMITS[0]) or (
            grade == "fail" and least >= PASS_LIMITS[1]
        )


PASS_LIMITS = (0.60, 0.40)
ANSWERS = (
    (0.5, 0.95, 0.9),
    (0.8, 0.95, 0.9),
    (0.8, 0.9, 0.7),
    (0.9, 0.95, 0.85),
    (0.8, 1.0, 0.0),
    (0.7, 0.5, 0.5),
    (0.7, 0.6, 0.6),
    (0.7, 0.6, 0.9),
    (0.85, 0.95, 0.6),
)


def passing(draws: int, rng: np.random.Generator) -> Iterator[str]:
    """Judges of pass and fail: grades after every label, and whether what is shown holds always."""
    yield (
        "| pass rate, TPR/TNR | plan | decided | mean labels | wrong | TPR held | TNR held | "
        "pass rate held, width at the end |"
    )
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    worst, least = 0.0, 1.0
    for rate, tpr, tnr in ANSWERS:
        for plan in (Plan(labels=None), Plan(labels=200)):
            answers = Answers(n=500, passes=rate, tpr=tpr, tnr=tnr)
            since, wrong, held = graded_answers(answers, plan, draws, rng)
            worst, least = max(worst, wrong.mean()), min(least, *held[:, :3].mean(axis=0))
            seen = " | ".join(f"{share:.3f}" for share in held[:, :3].mean(axis=0))
            yield (
                f"| {rate:g}, {tpr:g}/{tnr:g} | {plan.labels or 'none'} | "
                f"{np.isfinite(since).mean():.2f} | {np.minimum(since, 200).mean():.0f} | "
                f"{wrong.mean():.3f} | {seen} ({held[:, 3].mean():.2f}) |"
            )
    yield f"\nWrong at most {worst:.3f} (wanted ≤ .05); held at least {least:.3f} (wanted ≥ .95)."


def graded_answers(
    answers: Answers, plan: Plan, draws: int, rng: np.random.Generator, labels: int = 200
) -> tuple[Array, Array, Array]:
    """Label of the grade (inf without one), whether it is wrong, and (draws, 4) whether TPR, TNR
    and pass rate were held by what is shown at every stop, and the last width of the pass rate's.
    """
    since, wrong = np.full(draws, np.inf), np.zeros(draws, dtype=bool)
    held = np.zeros((draws, 4))
    for draw in range(draws):
        row, every = answers.drawn(rng, labels)
        verdict = pass_verdict(row, plan, limits=PASS_LIMITS)
        if verdict.since is not None:
            since[draw], wrong[draw] = verdict.since, answers.wrong(verdict.grade)
        for k, side in enumerate((True, False)):
            held[draw, k] = _always_held(row.of_class(side), every.of_class(side))
        shown = [anytime_rate(every.label[:n], every.judge) for n in range(20, labels + 1, 20)]
        truth = every.label.mean()
        held[draw, 2] = all(one.low <= truth <= one.high for one in shown)
        held[draw, 3] = shown[-1].high - shown[-1].low
    return since, wrong, held


def _always_held(row: LabelledRow, every: LabelledRow) -> bool:
    """Whether no bet rules out the rate of all, at any label."""
    truth = np.array([every.credit[every.decided].mean()])
    if not 0 < truth[0] < 1:
        # No bet is taken at the ends of the scale: intervals hold them or touch them.
        shown = anytime_mean(row)
        return bool(shown.low <= truth[0] <= shown.high)
    up, down = row_path(row.payoffs(truth), row.stratum[: len(row.credit)], row.sizes[0], truth)
    ruled_out = np.maximum(up, down)[LEAST_LABELS - 1 :, 0] >= log_needed(ALPHA)
    return not ruled_out.any()


@dataclass(frozen=True, slots=True, kw_only=True)
class RareFailures:
    """Answers of which a judge fails few, and how many of either verdict people fail."""

    n: int
    fails: int
    failed: tuple[int, int]
    """Of those that it fails, and of those that it passes."""

    @property
    def tnr(self) -> float:
        return self.failed[0] / sum(self.failed)

    @property
    def tpr(self) -> float:
        passed = self.n - self.fails - self.failed[1]
        return passed / (self.n - sum(self.failed))

    @property
    def items(self) -> Array:
        return np.array([self.fails, self.n - self.fails])

    def labels(
        self, count: int, share: float | None, draws: int, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """Labelled answers, and those of them that people fail, by verdict; (draws, 2) each.

        share : of the labels on what it fails; None for an order that knows no verdict.
        """
        fails, passes = self.items
        if share is None:
            of_fails = rng.hypergeometric(fails, passes, count, draws)
        else:
            of_fails = np.full(draws, min(round(count * share), fails))
        labelled = np.stack([of_fails, count - of_fails], axis=1)
        failed = rng.hypergeometric(self.failed, self.items - self.failed, labelled)
        return labelled, failed


RARE = {
    "fails 8 %, nearly all rightly": RareFailures(n=2_000, fails=160, failed=(144, 9)),
    "fails 8 %, four of five rightly": RareFailures(n=2_000, fails=160, failed=(128, 18)),
    "fails 8 %, misses more": RareFailures(n=2_000, fails=160, failed=(144, 37)),
    "fails 8 %, mostly wrongly": RareFailures(n=2_000, fails=160, failed=(64, 110)),
    "fails 8 %, hardly better than chance": RareFailures(n=2_000, fails=160, failed=(32, 147)),
    "fails 3 %, nearly all rightly": RareFailures(n=4_000, fails=120, failed=(108, 8)),
}
ORDERS: dict[str, float | None] = {"random": None, "a quarter": 0.25, "half": 0.5}
COUNTS = range(25, 1_001, 25)


def rare_failures(draws: int, rng: np.random.Generator) -> Iterator[str]:
    """Whether an order that shows more of what the judge fails needs fewer labels."""
    yield (
        "| judge | TPR | TNR | random order, TNR by its class alone | "
        + " | ".join(f"{order}, by verdict" for order in ORDERS)
        + " |"
    )
    yield "|---|--:|--:|--:|" + "--:|" * len(ORDERS)
    held: dict[str, list[Array]] = {order: [] for order in ORDERS}
    for name, answers in RARE.items():
        cells = [smallest_plan(answers, None, draws, rng, by_verdict=False)]
        cells += [smallest_plan(answers, share, draws, rng) for share in ORDERS.values()]
        yield f"| {name} | {answers.tpr:.2f} | {answers.tnr:.2f} | {' | '.join(cells)} |"
        for order, share in ORDERS.items():
            held[order] += [
                held_by_verdict(answers, count, share, draws, rng) for count in (50, 100, 200)
            ]
    yield "\nLowest coverage at 50, 100 and 200 labels (TPR and TNR at .975, pass rate at .95):\n"
    yield "| order | TPR | TNR | pass rate |"
    yield "|---|--:|--:|--:|"
    for order, cells_held in held.items():
        lowest = np.min(cells_held, axis=0)
        yield f"| {order} | {' | '.join(f'{share:.3f}' for share in lowest)} |"


def _rate(
    answers: RareFailures, of_class: Array, labelled: Array, *, passed: bool, level: float = 0.95
) -> tuple[Array, Array]:
    """Ends of TPR, or of TNR, of each session; nothing is known without a label of a verdict."""
    right_first = slice(None, None, -1 if passed else 1)
    both = (labelled > 0).all(axis=1)
    low, high = np.zeros(len(labelled)), np.ones(len(labelled))
    _, low[both], high[both] = class_rate(
        of_class[both][:, right_first],
        labelled[both][:, right_first],
        answers.items[right_first],
        level=level,
    )
    return low, high


def smallest_plan(
    answers: RareFailures,
    share: float | None,
    draws: int,
    rng: np.random.Generator,
    *,
    by_verdict: bool = True,
) -> str:
    """Smallest plan with which nine of ten sessions show each rate on one side of its limit."""
    limit = PASS_LIMITS[0]
    for count in COUNTS:
        labelled, failed = answers.labels(count, share, draws, rng)
        rates = [_rate(answers, labelled - failed, labelled, passed=True)]
        if by_verdict:
            rates.append(_rate(answers, failed, labelled, passed=False))
        else:
            rates.append(wilson(failed[:, 0], failed.sum(axis=1)))
        ok = np.all([low > limit for low, _ in rates], axis=0)
        bad = np.any([high < limit for _, high in rates], axis=0)
        enough = failed.sum(axis=1) >= (LEAST_BY_VERDICT if by_verdict else LEAST_OF_CLASS)
        if ((ok | bad) & enough).mean() >= 0.9:
            return str(count)
    return f"> {COUNTS[-1]:,}"


def held_by_verdict(
    answers: RareFailures, count: int, share: float | None, draws: int, rng: np.random.Generator
) -> Array:
    """Coverage of TPR and TNR, as at the end of a plan, and of the pass rate."""
    labelled, failed = answers.labels(count, share, draws, rng)
    held = []
    for passed, truth in ((True, answers.tpr), (False, answers.tnr)):
        of_class = labelled - failed if passed else failed
        low, high = _rate(answers, of_class, labelled, passed=passed, level=1 - ALPHA / 2)
        held.append(((low <= truth) & (truth <= high)).mean())
    truth, covered = 1 - sum(answers.failed) / answers.n, 0
    judge = np.repeat([0.0, 1.0], answers.items)
    for drawn, bad in zip(labelled, failed, strict=True):
        people = np.full(answers.n, np.nan)
        for start, n, k in zip((0, answers.fails), drawn, bad, strict=True):
            people[start : start + n] = np.arange(n) >= k
        table = ScoreTable.of(judge, people, low=0, high=1, kind="pass_fail")
        best = pass_rate(table, designed=share is not None).best
        covered += best is not None and best.low <= truth <= best.high
    return np.array([*held, covered / draws])


ERRORS = {
    "one in twenty, either way": (0.05, 0.05),
    "one in five, either way": (0.2, 0.2),
    "a tenth of failures, a twentieth of passes": (0.05, 0.1),
    "a fifth of failures, no pass": (0.0, 0.2),
    "no failure, a fifth of passes": (0.2, 0.0),
}
"""What a person gets wrong: share of the answers that pass, and of those that fail."""
TWICE = 200


def errors_of_people(draws: int, rng: np.random.Generator) -> Iterator[str]:
    """Coverage of TPR and TNR, as they are and corrected as shares of comparisons are: two people
    who err alike label 200 answers.
    """
    yield "| a person gets wrong | raw TPR | raw TNR | corrected TPR | corrected TNR |"
    yield "|---|--:|--:|--:|--:|"
    for name, errors in ERRORS.items():
        held = np.array(
            [
                np.mean([_held_twice(judge, errors, rng) for _ in range(draws)], axis=0)
                for judge in ANSWERS[:4]
            ]
        )
        yield f"| {name} | {' | '.join(f'{share:.2f}' for share in held.min(axis=0))} |"


def _held_twice(
    judge: tuple[float, float, float], errors: tuple[float, float], rng: np.random.Generator
) -> Array:
    """Whether raw TPR and TNR, then corrected ones, hold the truth in one session."""
    rate, tpr, tnr = judge
    good = rng.random(TWICE) < rate
    said = rng.random(TWICE) < np.where(good, tpr, 1 - tnr)
    people = good ^ (rng.random((2, TWICE)) < np.where(good, *errors))
    passing = rate * tpr + (1 - rate) * (1 - tnr)
    items = np.array([1 - passing, passing])
    labelled = np.array([(~said).sum(), said.sum()])
    failed = np.array([(~said & ~people[0]).sum(), (said & ~people[0]).sum()])
    raw = [
        class_rate((labelled - failed)[::-1], labelled[::-1], items[::-1])[1:],
        class_rate(failed, labelled, items)[1:],
    ]
    same = int((people[0] == people[1]).sum())
    agree = np.maximum(rng.beta(same + 0.5, TWICE - same + 0.5, 2_000), 0.525)
    error = (1 - np.sqrt(2 * agree - 1))[:, None] / 2
    share = rng.beta(failed + 0.5, labelled - failed + 0.5, (2_000, 2))
    fails = items * np.clip((share - error) / (1 - 2 * error), 0, 1)
    rates = [
        (items - fails)[:, 1] / (items - fails).sum(axis=1),
        fails[:, 0] / np.maximum(fails.sum(axis=1), 1e-12),
    ]
    corrected = [np.quantile(of_draws, (0.025, 0.975)) for of_draws in rates]
    truths = (tpr, tnr, tpr, tnr)
    return np.array(
        [
            low <= truth <= high
            for (low, high), truth in zip([*raw, *corrected], truths, strict=True)
        ]
    )
