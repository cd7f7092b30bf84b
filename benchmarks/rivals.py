"""What Appellate does beside what a user would write instead: equal results first, then ratios in
one run.

    python -m benchmarks --only rivals [--large 9999936]

Each pair is timed in turns, and the ratio of a row is the median over turns, with the least and the
most.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.csv as pa_csv
from scipy.optimize import minimize
from sklearn.calibration import calibration_curve
from sklearn.metrics import cohen_kappa_score

from benchmarks import alternatives
from benchmarks.random_votes import random_votes
from benchmarks.timing import Row, machine, timed
from core.questions.agreement.kappa import agreement_matrix
from core.questions.agreement.reliability import icc
from core.questions.boards.ratings import bradley_terry
from core.questions.confidence.th_scores import th_from_rates, th_sweep
from core.questions.labels.btd import Bounds, fit_many
from core.records import FloatArray, IntArray, OutcomeCounts, PairScores, VoteCells, VoteCounts
from core.schema import Selection
from core.stats.binning import bin_index, bin_sums, by_confidence
from core.stats.intervals import t_quantile
from core.stats.splits import sign_flip_p_value
from core.store import Store
from core.store import vote_queries as queries

RESULTS = Path(__file__).parent / "results.json"
IMPORTED = ["item_id", "category", "model_a", "model_b", "judge", "run", "position"]
IMPORTED += ["vote", "confidence", "gold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """One row: how many times as fast ours is; where `wanted` is a most, how many times as long it
    takes.
    """

    work: str
    against: str
    ours_s: float
    theirs_s: float
    ratio: float
    low: float
    high: float
    wanted: str
    met: bool


def beside(
    work: str,
    against: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    *,
    least: float | None = None,
    most: float | None = None,
    turns: int = 5,
    share: float = 1.0,
) -> Rival:
    """Time both in turns after one run of each.

    least, most : the ratio that is wanted.  share : of their work that `theirs` does; the rest is
        reckoned.
    """
    ours(), theirs()
    pairs = np.array([(timed(ours), timed(theirs) / share) for _ in range(turns)]) / 1000
    return rival(work, against, pairs, least=least, most=most)


def rival(
    work: str,
    against: str,
    pairs: FloatArray,
    *,
    least: float | None = None,
    most: float | None = None,
) -> Rival:
    """The row of (turns, 2) pairs of numbers, ours and theirs."""
    ratio = pairs[:, 1] / pairs[:, 0] if least is not None else pairs[:, 0] / pairs[:, 1]
    middle = float(np.median(ratio))
    return Rival(
        work=work,
        against=against,
        ours_s=float(np.median(pairs[:, 0])),
        theirs_s=float(np.median(pairs[:, 1])),
        ratio=middle,
        low=float(ratio.min()),
        high=float(ratio.max()),
        wanted=f"≥ {least:g} ×" if least is not None else f"≤ {most:g} ×",
        met=middle >= least if least is not None else middle <= (most or 0),
    )


def fits(rng: np.random.Generator) -> Iterator[Rival]:
    """BTD on 100 calibration sets of 100,000 comparisons, and of 10 million."""
    plus, tie, minus, gold = _comparisons(100_000, rng)
    row = np.arange(len(gold))
    counts = VoteCounts(comparison=row, item=row, plus=plus, tie=tie, minus=minus, gold=gold)
    cells, cell = counts.cells()
    sets = [rng.choice(len(gold), 5_000, replace=False) for _ in range(100)]
    weights = np.stack([np.bincount(cell[own], minlength=len(cells)) for own in sets]).astype(
        np.float64
    )
    s, t = alternatives.features(cells)
    box = Bounds()
    bounds = [box.beta, tuple(np.log(box.nu)), box.gamma]

    def on_rows() -> list[float]:
        return [_row_fit(s[cell[own]], t[cell[own]], gold[own], bounds) for own in sets]

    # Both find the same minimum, or ours finds a lower one.
    assert (fit_many(cells, weights).drps <= np.array(on_rows()) + 1e-6).all()
    small = lambda: fit_many(cells, weights)  # noqa: E731
    yield beside(
        "BTD, 100 splits, 100 k comparisons",
        "scipy L-BFGS-B, numeric gradient, on rows",
        small,
        on_rows,
        least=50,
        turns=2,
    )
    chance = cells.weight / cells.weight.sum()
    large = rng.multinomial(500_000, chance, size=100).astype(np.float64)
    yield beside(
        "the same at 10 M comparisons, without counting",
        "itself at 100 k",
        lambda: fit_many(cells, large),
        small,
        most=2,
    )


def _comparisons(n: int, rng: np.random.Generator) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    gold = rng.integers(-1, 2, n)
    right = np.where(gold[:, None] == np.array([1, 0, -1]), 0.6, 0.2)
    votes = rng.multinomial(12, right)
    return votes[:, 0], votes[:, 1], votes[:, 2], gold


def _row_fit(
    s: FloatArray, t: FloatArray, gold: IntArray, bounds: list[tuple[float, float]]
) -> float:
    is_minus, is_plus = (gold == -1).astype(float), (gold == 1).astype(float)

    def loss(theta: FloatArray) -> float:
        u, eta = theta[0] * s, theta[1] + theta[2] * t
        largest = np.maximum(np.abs(u), eta)
        minus, tie, plus = np.exp(-u - largest), np.exp(eta - largest), np.exp(u - largest)
        total = minus + tie + plus
        return float(((minus / total - is_minus) ** 2 + (plus / total - is_plus) ** 2).mean())

    return float(minimize(loss, [1.0, 0.0, 1.0], method="L-BFGS-B", bounds=bounds).fun)


RULES, RESAMPLES = 10, 10_000


def permutations(rng: np.random.Generator) -> Iterator[Rival]:
    """Paired sign flips of ten rules against another, on 10,000 comparisons decided in 100
    splits.
    """
    plus, tie, minus, gold = _comparisons(10_000, rng)
    row = np.arange(len(gold))
    cells, cell = VoteCounts(
        comparison=row, item=row, plus=plus, tie=tie, minus=minus, gold=gold
    ).cells()
    # What a rule loses on a comparison depends on its votes and gold alone, and a little on the
    # split.
    lost = rng.integers(-1, 2, (RULES, len(cells), 1)) * (
        rng.random((RULES, len(cells), 100)) < 0.3
    )
    difference = lost.mean(axis=2) - np.linspace(0, 0.04, RULES)[:, None] * lost.std()
    items = cells.weight.astype(np.int64)

    def ours() -> FloatArray:
        draw = np.random.default_rng(1)
        return np.array(
            [sign_flip_p_value(one, items, resamples=RESAMPLES, rng=draw) for one in difference]
        )

    def loop(resamples: int = RESAMPLES // 10) -> FloatArray:
        draw, p = np.random.default_rng(2), []
        for one in difference[:, cell]:
            observed, reached = abs(one.mean()), 0
            for _ in range(resamples):
                reached += abs((draw.choice((-1, 1), len(one)) * one).mean()) >= observed - 1e-12
            p.append((1 + reached) / (resamples + 1))
        return np.array(p)

    one, two = ours(), loop()
    chance = np.sqrt(one * (1 - one) / (RESAMPLES / 10)) + 1 / RESAMPLES
    assert (np.abs(one - two) <= 4 * chance + 10 / RESAMPLES).all(), (one, two)
    yield beside(
        "paired permutation, 10 rules × 100 splits",
        "a loop",
        ours,
        loop,
        least=50,
        share=0.1,
        turns=2,
    )


def confidences(rng: np.random.Generator) -> Iterator[Rival]:
    """ECE, MCE and the TH sweep of a million verdicts."""
    n = 1_000_000
    stated = np.round(0.5 + 0.05 * rng.integers(11, size=n), 2)
    for name, confidence, wanted in (
        ("stated", stated, 50),
        ("continuous", 0.5 + rng.random(n) / 2, 15),
    ):
        correct = (rng.random(n) < confidence).astype(np.int64)
        known = OutcomeCounts(
            item=np.arange(n), confidence=confidence, n=np.ones(n, dtype=np.int64), correct=correct
        )
        if name == "stated":
            yield from _calibration(known, correct, confidence)
        epsilons = np.linspace(0.01, 0.49, 50)

        def masks(known: OutcomeCounts = known, epsilons: FloatArray = epsilons) -> FloatArray:
            return np.array([_masked(known, float(e)) for e in epsilons])

        sweep = lambda known=known, epsilons=epsilons: th_sweep(known, epsilons).th  # noqa: E731
        ours = sweep()
        np.testing.assert_allclose(
            np.stack([ours.value, ours.low, ours.high], axis=1), masks(), rtol=1e-9
        )
        yield beside(
            f"TH sweep with bands, 50 ε, 1 M {name} confidences",
            "a mask per ε, with the same band",
            sweep,
            masks,
            least=wanted,
            turns=2,
        )


def _masked(known: OutcomeCounts, epsilon: float) -> tuple[float, float, float]:
    """TH at one ε and its band (docs/methods.md §5), from a mask and sums by item."""
    inside = (known.confidence > 1 - epsilon + 1e-9) | (known.confidence < epsilon - 1e-9)
    size, m = np.bincount(known.item).astype(np.float64), np.bincount(known.item, inside)
    c = np.bincount(known.item, inside & (known.correct == 1))
    value = float(th_from_rates(c.sum() / m.sum() if m.any() else np.nan, m.sum() / size.sum()))
    mean = size.mean()
    n, m, c = (
        np.append(own, mean * np.array(added))
        for own, added in ((size, (1, 1, 1)), (m, (1, 1, 0)), (c, (1, 0, 0)))
    )
    right, share = c.sum() / m.sum(), m.sum() / n.sum()
    gain, slope = np.expm1(right - 0.5), np.exp(right - 0.5)
    pull = slope * (c - right * m) + gain * (m - share * n)
    error = 100 * np.sqrt(len(n) / (len(n) - 1) * (pull**2).sum()) / n.sum()
    half = t_quantile(len(size) - 1, 0.95) * error
    return value, min(100 * gain * share - half, value), max(100 * gain * share + half, value)


def _calibration(
    known: OutcomeCounts, correct: IntArray, confidence: FloatArray
) -> Iterator[Rival]:
    def ours() -> tuple[float, float]:
        used = by_confidence(known)
        n, right, total = bin_sums(used, bin_index(used.confidence, 10), 10)
        gap = np.abs(right - total)[n > 0] / n[n > 0]
        return float(gap @ n[n > 0] / n.sum()), float(gap.max())

    def sklearn() -> tuple[float, float]:
        right, mean = calibration_curve(correct, confidence, n_bins=10)
        edges = np.linspace(0, 1, 11)
        size = np.bincount(np.searchsorted(edges[1:-1], confidence), minlength=10)
        gap = np.abs(right - mean)
        return float(gap @ size[size > 0] / len(correct)), float(gap.max())

    def masks() -> tuple[float, float]:
        ece = mce = 0.0
        for low, high in zip(np.arange(10) / 10, np.arange(1, 11) / 10, strict=True):
            inside = (confidence > low + 1e-9) & (confidence <= high + 1e-9)
            if inside.any():
                gap = abs(correct[inside].mean() - confidence[inside].mean())
                ece, mce = ece + gap * inside.mean(), max(mce, gap)
        return ece, mce

    np.testing.assert_allclose(ours(), masks(), rtol=1e-9)
    yield beside(
        "ECE and MCE, 1 M verdicts", "scikit-learn calibration_curve", ours, sklearn, least=5
    )
    yield beside("ECE and MCE, 1 M verdicts", "masks per bin in NumPy", ours, masks, least=8)


def boards(rng: np.random.Generator) -> Iterator[Rival]:
    """Bradley–Terry of 72 models on 500 prompts with intervals, beside 100 bootstrap rounds."""
    import evalica

    models, prompts = 72, 500
    first = rng.integers(models, size=72 * prompts)
    second = (first + rng.integers(1, models, size=len(first))) % models
    item = np.repeat(np.arange(prompts), 72)
    key = np.unique(np.stack([np.minimum(first, second), np.maximum(first, second), item]), axis=1)
    one, two, item = key
    strength = rng.normal(size=models)
    won = rng.random(len(one)) < 1 / (1 + np.exp(strength[two] - strength[one]))
    names = tuple(f"model-{k:02d}" for k in range(models))
    pairs = PairScores(
        models=names,
        model_1=one,
        model_2=two,
        item=item,
        score=won.astype(np.float64),
        n_votes=np.ones(len(one), dtype=np.int64),
    )
    wins = evalica.Winner.X, evalica.Winner.Y

    def scores(rows: IntArray) -> pd.Series:
        winner = [wins[0] if win else wins[1] for win in won[rows].tolist()]
        xs, ys = ([names[k] for k in codes[rows].tolist()] for codes in (one, two))
        return evalica.bradley_terry(xs, ys, winner).scores

    def weighted(rows: IntArray) -> pd.Series:
        code, n = np.unique((one[rows] * models + two[rows]) * 2 + won[rows], return_counts=True)
        xs, ys = (
            [names[k] for k in codes.tolist()]
            for codes in (code // 2 // models, code // 2 % models)
        )
        winner = [wins[0] if win else wins[1] for win in (code % 2).tolist()]
        return evalica.bradley_terry(xs, ys, winner, weights=n.astype(float).tolist()).scores

    starts = np.append(np.flatnonzero(np.diff(np.sort(item), prepend=-1)), len(item))
    by_item = np.argsort(item, kind="stable")

    def resampled(draw: np.random.Generator) -> IntArray:
        drawn = draw.integers(prompts, size=prompts)
        return np.concatenate([by_item[starts[k] : starts[k + 1]] for k in drawn])

    ours = lambda: bradley_terry(pairs, names[0])  # noqa: E731
    theirs = np.log(scores(np.arange(len(one))))
    found = {name: elo.value for name, elo in ours().elos().items()}
    for name in names[1:]:
        assert abs(found[name] - 400 / np.log(10) * (theirs[name] - theirs[names[0]])) < 1
    draw = np.random.default_rng(1)
    work = "board of 72 models, 500 prompts, with intervals"
    yield beside(
        work,
        "evalica, 100 bootstrap rounds on rows",
        ours,
        lambda: [scores(resampled(draw)) for _ in range(10)],
        least=1000,
        turns=3,
        share=0.1,
    )
    yield beside(
        work,
        "evalica, 100 bootstrap rounds on weighted pairs",
        ours,
        lambda: [weighted(resampled(draw)) for _ in range(10)],
        least=100,
        turns=3,
        share=0.1,
    )


def agreements(rng: np.random.Generator) -> Iterator[Rival]:
    """ICC beside pingouin, and κ of all pairs beside scikit-learn."""
    import pingouin

    n, k = 1_000, 20
    ratings = np.clip(np.round(rng.normal(size=(n, 1)) + rng.normal(size=(n, k))), -1, 1)
    frame = pd.DataFrame(
        {
            "item": np.repeat(np.arange(n), k),
            "run": np.tile(np.arange(k), n),
            "rating": ratings.ravel(),
        }
    )

    def theirs() -> float:
        found = pingouin.intraclass_corr(frame, targets="item", raters="run", ratings="rating")
        return float(found["ICC"].iloc[5])

    estimate = icc(ratings).icc_3_k
    assert estimate is not None
    assert abs(estimate.value - theirs()) < 1e-6
    yield beside(
        "ICC(3,k), 1,000 × 20, with intervals",
        "pingouin",
        lambda: icc(ratings),
        theirs,
        least=100,
        turns=3,
    )
    for judges in (20, 500):
        size = 100_000
        truth = rng.integers(-1, 2, size)
        labels = np.where(
            rng.random((judges, size)) < 0.6,
            truth,
            rng.integers(-1, 2, (judges, size), dtype=np.int8),
        )
        row = np.arange(size)
        counts = {
            str(j): VoteCounts(
                comparison=row,
                item=row,
                gold=truth,
                **{
                    name: (own == y).astype(np.int64)
                    for name, y in (("plus", 1), ("tie", 0), ("minus", -1))
                },
            )
            for j, own in enumerate(labels)
        }
        pairs = list(combinations(range(judges), 2))
        some = pairs[:: max(len(pairs) // 50, 1)]
        ours = lambda counts=counts: agreement_matrix(counts)  # noqa: E731
        found = {(p.judge_1, p.judge_2): p.kappa for p in ours().pairs}
        for a, b in some[:5]:
            pair = found[str(a), str(b)]
            assert pair is not None
            assert abs(pair.value - cohen_kappa_score(labels[a], labels[b])) < 1e-9
        yield beside(
            f"κ of all pairs with intervals, {judges} judges × 100 k",
            f"scikit-learn, no intervals, reckoned from {len(some)} of {len(pairs):,} pairs",
            ours,
            lambda labels=labels, some=some: [
                cohen_kappa_score(labels[a], labels[b]) for a, b in some
            ],
            least=20,
            turns=2 if judges < 100 else 1,
            share=len(some) / len(pairs),
        )


CHILD = """
import sys, time
start = time.perf_counter()
{work}
taken, used = time.perf_counter() - start, time.process_time()
most = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(taken, int(most.split()[1]) / 1024, used)
"""
# The most of `resource.getrusage` begins with what the parent held when it started the child.
DUCKDB = """import duckdb
start = time.perf_counter()
with duckdb.connect({store!r}) as store:
    store.execute("set enable_progress_bar = false")
    store.execute("create table votes as select * from read_csv({file!r}, all_varchar = true)")"""
LOAD = """from pathlib import Path
from core.importers import read
from core.store import Store
start = time.perf_counter()
with Store.open({store!r}) as store:
    store.load(read([("votes.csv", Path({file!r}))])[0])"""
AUDIT = """from core.auditing.results import AuditOptions
from core.auditing.run import audit
from core.schema import Selection
from core.store import Store
with Store.open({store!r}) as store:
    audit(store, Selection(), AuditOptions(splits={splits}))"""
AUDIT_AGAIN = f"""{AUDIT}
    start = time.perf_counter()
    audit(store, Selection(), AuditOptions(splits={{splits}}))"""


def child(work: str) -> tuple[float, float, float]:
    """Seconds, most MB and processor seconds of a process of its own, imports among the last."""
    run = [sys.executable, "-c", CHILD.format(work=work)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    out = subprocess.run(run, check=True, capture_output=True, text=True, env=environment).stdout
    seconds, most, used = map(float, out.split())
    return seconds, most, used


def files(n: int, rng: np.random.Generator) -> Iterator[Rival]:
    """Counting, loading and auditing n votes of 4 judges, 12 per comparison."""
    with tempfile.TemporaryDirectory() as folder:
        places = {}
        for size in (n // 10, n):
            file, store = (str(Path(folder) / f"{size}.{ending}") for ending in ("csv", "duckdb"))
            votes = random_votes(size, judges=4, rng=rng).select(IMPORTED)
            pa_csv.write_csv(votes, file, pa_csv.WriteOptions(quoting_style="none"))
            del votes
            pairs = []
            for turn in range(2):
                place = store if not turn else store + ".again"
                alone = f"{store}.alone{turn}"
                pairs.append(
                    (
                        child(LOAD.format(file=file, store=place)),
                        child(DUCKDB.format(file=file, store=alone)),
                    )
                )
            both = np.array(pairs)
            work = f"load {size / 1e6:.0f} M votes from CSV, checked, to disk"
            against, most = "DuckDB's own read_csv of text", 2.5 if size < n else 2
            yield rival(f"{work}: time", against, both[:, :, 0], most=most)
            yield rival(f"{work}: processor time", against, both[:, :, 2], most=most)
            yield rival(f"{work}: memory (GiB)", against, both[:, :, 1] / 1024, most=most)
            places[size] = (file, store)
        for splits in (0, 100):
            alone, again = (
                np.array(
                    [
                        [
                            child(work.format(store=places[size][1], splits=splits))
                            for size in (n, n // 10)
                        ]
                        for _ in range(2)
                    ]
                )
                for work in (AUDIT, AUDIT_AGAIN)
            )
            work, against = f"audit, {n / 1e6:.0f} M votes, {splits} splits", "itself at a tenth"
            yield rival(f"{work}, a process: time", against, alone[:, :, 0], most=5)
            yield rival(f"{work}, a process: processor time", against, alone[:, :, 2], most=5)
            yield rival(f"{work}, a process: memory (GiB)", against, alone[:, :, 1] / 1024, most=5)
            yield rival(f"{work}, the second of a process: time", against, again[:, :, 0], most=5)
        yield from _counting(*places[n])


def _counting(file: str, place: str) -> Iterator[Rival]:
    frame = pd.read_csv(file)

    def theirs() -> pd.DataFrame:
        return alternatives.vote_counts(frame).value_counts(
            ["judge", "plus", "tie", "minus", "gold"]
        )

    with Store.open(place) as store:

        def ours() -> dict[str, VoteCells]:
            counts = queries.vote_counts(store, Selection())
            return {judge: one.cells()[0] for judge, one in counts.items()}

        expected = theirs().to_dict()
        for judge, cells in ours().items():
            rows = zip(cells.plus, cells.tie, cells.minus, cells.gold, cells.weight, strict=True)
            for plus, tie, minus, gold, weight in rows:
                assert expected.pop((judge, plus, tie, minus, gold)) == weight
        assert not expected
        yield beside(
            f"count cells, {len(frame) / 1e6:.0f} M votes",
            "pandas groupby",
            ours,
            theirs,
            least=7,
            turns=2,
        )


def run(n: int) -> list[Rival]:
    """Every row."""
    found: list[Rival] = []
    parts = (fits, permutations, confidences, boards, agreements, lambda rng: files(n, rng))
    for part in parts:
        try:
            for row in part(np.random.default_rng(0)):
                print(f"  {row.work}, {row.against}: {row.ratio:.3g}", file=sys.stderr)
                found.append(row)
        except ImportError as error:
            print(f"  left out: {error}. Install requirements/bench.txt.", file=sys.stderr)
    return found


def of_row(row: Row) -> Rival | None:
    """A row of the other table as one of these: how many times as long ours takes; None without a
    rival.
    """
    if row.theirs is None:
        return None
    mine, other = np.array(row.ours.runs) / 1000, np.array(row.theirs.runs) / 1000
    turns = min(len(mine), len(other))
    ratio = mine[:turns] / other[:turns]
    middle = float(np.median(mine) / np.median(other))
    return Rival(
        work=row.what.replace("*", ""),
        against=row.instead,
        ours_s=float(np.median(mine)),
        theirs_s=float(np.median(other)),
        ratio=middle,
        low=float(ratio.min()),
        high=float(ratio.max()),
        wanted="reported" if row.goal_ratio is None else f"≤ {row.goal_ratio:g} ×",
        met=row.goal_ratio is None or middle <= row.goal_ratio,
    )


def record(rows: Iterable[Rival | Mapping[str, object]], file: Path) -> None:
    """Put rows into a file of results, each in the place of an earlier one of the same work and
    rival.
    """
    there = json.loads(file.read_text(encoding="utf-8"))["rows"] if file.exists() else []
    kept = {(row["work"], row["against"]): row for row in there}
    for row in rows:
        new = asdict(row) if isinstance(row, Rival) else dict(row)
        kept[new["work"], new["against"]] = new
    results = {"rows": list(kept.values()), "machine": machine()}
    file.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def table(rows: list[Rival]) -> str:
    """Markdown."""
    lines = ["| work | against | ours, s | theirs, s | ratio (least to most) | wanted | met |"]
    lines.append("|---|---|--:|--:|--:|--:|---|")
    lines += [
        f"| {row.work} | {row.against} | {row.ours_s:.3g} | {row.theirs_s:.3g} | {row.ratio:.3g} "
        f"({row.low:.3g} to {row.high:.3g}) | {row.wanted} | {'yes' if row.met else 'no'} |"
        for row in rows
    ]
    return "\n".join(lines)
