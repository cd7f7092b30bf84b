"""What labels to a verdict cost, and how often it is wrong: `python -m benchmarks.labelling`.

    python -m benchmarks.labelling [--draws 1000] [--votes FOLDER] [--only limit plan …]

Populations have a known mean; labels are drawn in random order, and a verdict is looked at after
every one. Prints Markdown. `--votes` names a folder of vote files with real gold.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.labelled_answers import errors_of_people, passing, rare_failures
from core.errors import AppellateError
from core.importers import read
from core.labelling import wealth
from core.labelling.people import corrected_accuracy
from core.labelling.verdict import LEAST_LABELS, LabelledRow, Plan, anytime_mean, forecast, ordinary
from core.labelling.wealth import strata, wealth_path
from core.questions.accuracy.method import credit, decided
from core.questions.boards.debiased import debiased_rate
from core.records import NO_GOLD, VoteCounts
from core.schema import Selection
from core.stats.intervals import wilson
from core.store import Store, vote_queries

Array = np.ndarray[Any, Any]
LIMIT = 0.70
VOTES = Path(__file__).resolve().parents[2] / "shared" / "data" / "votes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """Labels in the order of drawing.  x, stratum : (draws, labels).  sizes : (draws, H).
    mean : of the population.
    """

    x: Array
    stratum: Array
    sizes: Array
    mean: float


def population(
    n: int, mean: float, rng: np.random.Generator, *, ties: float = 0.0, tells: float | None = 1.0
) -> tuple[Array, Array]:
    """Credits of n items whose mean is as near as can be, and strata by a noisy sign of them."""
    tied = round(n * ties)
    right = round(n * mean - tied / 2)
    x = np.zeros(n)
    x[:tied], x[tied : tied + right] = 0.5, 1.0
    if tells is None:
        return x, np.zeros(n, dtype=np.int64)
    sign = x * tells + rng.normal(size=n)
    return x, np.asarray(np.argsort(np.argsort(sign)) * 4 // n)


def sessions(
    n: int,
    mean: float,
    draws: int,
    rng: np.random.Generator,
    *,
    labels: int | None = None,
    ties: float = 0.0,
    tells: float | None = 1.0,
) -> Drawn:
    """Sessions of people who label in random order, each with strata of its own."""
    count = min(labels or n, n)
    x, stratum = np.empty((draws, count)), np.empty((draws, count), dtype=np.int64)
    sizes = np.zeros((draws, 1 if tells is None else 4), dtype=np.int64)
    exact = 0.0
    for draw in range(draws):
        credits, cells = population(n, mean, rng, ties=ties, tells=tells)
        order = rng.permutation(n)[:count]
        x[draw], stratum[draw] = credits[order], cells[order]
        sizes[draw] = np.bincount(cells, minlength=sizes.shape[1])
        exact = float(credits.mean())
    return Drawn(x=x, stratum=stratum, sizes=sizes, mean=exact)


def first_shown(drawn: Drawn, limit: float, plan: Plan) -> tuple[Array, Array]:
    """With which label a side of the limit is shown (inf: with none), and which side, 1 or −1."""
    path = wealth_path(drawn.x, drawn.stratum, drawn.sizes, np.array([limit]))
    above, below = (side[:, :, 0] >= plan.log_needed for side in (path.up, path.down))
    if plan.labels and plan.labels <= drawn.x.shape[1]:
        end = plan.labels
        for draw in range(len(drawn.x)):
            interval = ordinary(row_of(drawn, draw, end), end)
            above[draw, end - 1] |= interval.low > limit
            below[draw, end - 1] |= interval.high < limit
    above[:, : LEAST_LABELS - 1] = below[:, : LEAST_LABELS - 1] = False
    when = [np.where(s.any(axis=1), s.argmax(axis=1) + 1.0, np.inf) for s in (above, below)]
    return np.minimum(*when), np.where(when[0] <= when[1], 1, -1)


def row_of(drawn: Drawn, draw: int, labels: int) -> LabelledRow:
    """One session after some labels."""
    stratum = drawn.stratum[draw]
    if stratum.size < drawn.sizes[draw].sum():
        # Items that are never reached: their strata in any order.
        left = drawn.sizes[draw] - np.bincount(stratum, minlength=drawn.sizes.shape[1])
        stratum = np.concatenate([stratum, np.repeat(np.arange(len(left)), left)])
    return LabelledRow(
        stratum=stratum, credit=drawn.x[draw, :labels], undecided=np.zeros(labels, dtype=bool)
    )


SIZES, TIES, LIMITS = (150, 400, 1500), (0.0, 0.3), (0.5, 0.6, 0.7)


def at_the_limit(draws: int, rng: np.random.Generator, plan: Plan) -> Iterator[str]:
    """Wrong at any label where the truth sits at the limit itself: either side is wrong."""
    yield "| N | ties | strata | " + " | ".join(f"limit {limit:.2f}" for limit in LIMITS) + " |"
    yield "|--:|--:|---|" + "--:|" * len(LIMITS)
    worst = 0.0
    for n in SIZES:
        for ties in TIES:
            for tells in (None, 1.0):
                cells = []
                for limit in LIMITS:
                    drawn = sessions(n, limit, draws, rng, ties=ties, tells=tells)
                    when, _ = first_shown(drawn, drawn.mean, plan)
                    # What is shown with the last label is not of the chance of labels.
                    cells.append(float((when < n).mean()))
                worst = max(worst, *cells)
                shown = " | ".join(f"{cell:.3f}" for cell in cells)
                yield f"| {n:,} | {ties:.0%} | {'yes' if tells else 'no'} | {shown} |"
    yield f"\nWorst of all: {worst:.3f} (wanted ≤ .05)."


def labels_needed(draws: int, rng: np.random.Generator) -> Iterator[str]:
    """Mean labels to a verdict without a plan, limit .70, N = 500."""
    wanted = {0.9: 40, 0.85: 72, 0.8: 130, 0.55: 82}
    yield "| truth | mean labels | wanted ≤ | wrong |"
    yield "|--:|--:|--:|--:|"
    for truth, most in wanted.items():
        drawn = sessions(500, truth, draws, rng)
        when, side = first_shown(drawn, LIMIT, Plan(labels=None))
        wrong = np.isfinite(when) & (side != np.sign(truth - LIMIT))
        yield (
            f"| {truth:.2f} | {np.minimum(when, 500).mean():.1f} | {most} | {wrong.mean():.3f} |"
        )


ENDLESS = 1_000_000


def planned(draws: int, rng: np.random.Generator) -> Iterator[str]:
    """A plan of 200 labels from items without end."""
    wanted = {0.8: (0.82, 158), 0.85: (0.98, 90), 0.9: (0.99, 50), 0.55: (0.97, 108)}
    yield "| truth | decided by 200 | wanted ≥ | mean labels | wanted ≤ | wrong |"
    yield "|--:|--:|--:|--:|--:|--:|"
    for truth, (share, most) in wanted.items():
        drawn = _endless(truth, draws, 200, rng)
        when, side = first_shown(drawn, LIMIT, Plan(labels=200))
        wrong = np.isfinite(when) & (side != np.sign(truth - LIMIT))
        yield (
            f"| {truth:.2f} | {np.isfinite(when).mean():.3f} | {share} | "
            f"{np.minimum(when, 200).mean():.1f} | {most} | {wrong.mean():.3f} |"
        )


def _endless(truth: float, draws: int, labels: int, rng: np.random.Generator) -> Drawn:
    """Labels of strata that tell as in `population`, drawn with replacement."""
    credits, cells = population(20_000, truth, rng)
    place = rng.integers(len(credits), size=(draws, labels))
    sizes = np.repeat(np.bincount(cells)[None, :] * (ENDLESS // len(credits)), draws, axis=0)
    return Drawn(x=credits[place], stratum=cells[place], sizes=sizes, mean=float(credits.mean()))


def near_the_limit(draws: int, rng: np.random.Generator) -> Iterator[str]:
    """Plan of 200, truth .75: whether it is said before label 150 that labels will not decide."""
    drawn = _endless(0.75, draws, 200, rng)
    when, _ = first_shown(drawn, LIMIT, Plan(labels=200))
    said = []
    for draw in range(draws):
        labels = [n for n in range(20, 150, 5) if n < when[draw]]
        futile = False
        for n in labels:
            found = forecast(
                _near(drawn, draw, n), Plan(labels=200), rng=rng, futures=100, limits=(LIMIT, 0.6)
            )
            if found is not None and found.futile:
                futile = True
                break
        said.append(futile)
    yield f"Said before label 150: {np.mean(said):.2f} of {draws} sessions (goal ≥ .60)."


def _near(drawn: Drawn, draw: int, labels: int) -> LabelledRow:
    """A row with no more items than a forecast can reach."""
    near = np.concatenate([drawn.stratum[draw], np.tile(drawn.stratum[draw], 9)])
    return LabelledRow(
        stratum=near, credit=drawn.x[draw, :labels], undecided=np.zeros(labels, dtype=bool)
    )


def forecasts(draws: int, rng: np.random.Generator) -> Iterator[str]:
    """How often the 10 to 90 % forecast holds the labels that it took."""
    yield "| truth | label | forecasts | hold the truth | width, median |"
    yield "|--:|--:|--:|--:|--:|"
    held_all: list[bool] = []
    for truth in (0.9, 0.85, 0.8, 0.55):
        drawn = sessions(600, truth, draws, rng)
        when, _ = first_shown(drawn, LIMIT, Plan(labels=None))
        for label in (20, 40, 60):
            held, widths = [], []
            for draw in np.flatnonzero(when > label):
                found = forecast(
                    row_of(drawn, int(draw), label),
                    Plan(labels=None),
                    rng=rng,
                    limits=(LIMIT, 0.0101),
                    futures=100,
                )
                assert found is not None
                low = found.horizon if found.low is None else found.low
                high = math.inf if found.high is None else found.high
                held.append(low <= when[draw] - label <= high)
                widths.append(min(high, found.horizon) - low)
            if len(held) >= 12:
                held_all += held
                yield (
                    f"| {truth:.2f} | {label} | {len(held)} | {np.mean(held):.2f} | "
                    f"{np.median(widths):.0f} |"
                )
    yield f"\nAll {len(held_all)} forecasts: {np.mean(held_all):.2f} (wanted ≥ .78)."


def naive(draws: int, rng: np.random.Generator) -> Iterator[str]:
    """The ordinary interval looked at after every label: what must not be done."""
    for n in (400, 1500):
        drawn = sessions(n, LIMIT, draws, rng, tells=None)
        labels = np.arange(1, drawn.x.shape[1] + 1)
        low, high = wilson(drawn.x.cumsum(axis=1), np.broadcast_to(labels, drawn.x.shape))
        outside = ((low > drawn.mean) | (high < drawn.mean))[:, LEAST_LABELS - 1 :]
        yield (
            f"N = {n:,}: Wilson after every label is on the wrong side of the limit in "
            f"{outside.any(axis=1).mean():.2f} of sessions (the test of the test: wanted ≥ .30)."
        )


def two_people(draws: int, rng: np.random.Generator) -> Iterator[str]:
    """Coverage of the corrected accuracy: 100 labels, the second person on half of them or all."""
    yield "| error of a person | second labels | truth .65 | .75 | .85 | .95 |"
    yield "|--:|--:|--:|--:|--:|--:|"
    n, worst = 100, 1.0
    for error in (0.0, 0.05, 0.1, 0.2):
        for second in (50, 100):
            cells = []
            for truth in (0.65, 0.75, 0.85, 0.95):
                covered = 0
                for _ in range(draws):
                    right = rng.random(n) < truth
                    wrong = rng.random((2, n)) < error
                    agrees = (wrong[0] == wrong[1]).astype(float)
                    agrees[second:] = np.nan
                    found = corrected_accuracy((right ^ wrong[0]).astype(float), agrees).corrected
                    covered += found is not None and found.low <= truth <= found.high
                cells.append(covered / draws)
            worst = min(worst, *cells)
            shown = " | ".join(f"{cell:.3f}" for cell in cells)
            yield f"| {error:.0%} | {second} | {shown} |"
    yield f"\nLowest: {worst:.3f} (wanted ≥ .92)."


@dataclass(frozen=True, slots=True, kw_only=True)
class RealJudge:
    """A judge with real gold: one decided comparison of each item."""

    name: str
    credit: Array
    stratum: Array
    counts: VoteCounts


def real_judges(folder: Path, rng: np.random.Generator) -> list[RealJudge]:
    """Judges of at least 100 items with decided gold, of all files of a folder."""
    found = []
    for path in sorted(folder.glob("*.csv.gz")):
        with Store.open() as store:
            try:
                for reading in read([(path.name, path)]):
                    store.load(reading)
                votes = vote_queries.vote_counts(store, Selection(rater_types=("llm",)))
            except AppellateError:
                continue
        of_all = {name: decided(counts) for name, counts in votes.items()}
        chosen = _one_of_each_item(of_all, rng)
        for name, counts in of_all.items():
            own = counts.rows(np.isin(counts.comparison, chosen))
            if len(own) < 100:
                continue
            mean = (own.plus - own.minus) / own.n
            others = _mean_of_others(name, of_all, own.comparison)
            found.append(
                RealJudge(
                    name=f"{path.name.split('.')[0]}: {name}",
                    credit=credit(own),
                    stratum=strata(mean, others),
                    counts=own,
                )
            )
    return found


def _one_of_each_item(votes: dict[str, VoteCounts], rng: np.random.Generator) -> Array:
    """One comparison of every item, drawn at random."""
    if not votes:
        return np.empty(0, dtype=np.int64)
    comparison = np.concatenate([counts.comparison for counts in votes.values()])
    item = np.concatenate([counts.item for counts in votes.values()])
    comparison, first = np.unique(comparison, return_index=True)
    order = rng.permutation(len(comparison))
    _, place = np.unique(item[first][order], return_index=True)
    return np.asarray(comparison[order][place])


def _mean_of_others(name: str, votes: dict[str, VoteCounts], comparison: Array) -> Array:
    total, n = np.zeros(len(comparison)), np.zeros(len(comparison))
    for other, counts in votes.items():
        if other == name:
            continue
        place = {c: k for k, c in enumerate(counts.comparison.tolist())}
        at = np.array([place.get(c, -1) for c in comparison.tolist()])
        known = at >= 0
        mean = (counts.plus - counts.minus) / counts.n
        total[known] += mean[at[known]]
        n[known] += 1
    return np.asarray(np.where(n > 0, total / np.maximum(n, 1), np.nan))


def real(folder: Path, draws: int, rng: np.random.Generator) -> Iterator[str]:
    """Labels to a verdict on real gold, against the smallest planned n of Wilson by item."""
    if not folder.exists():
        yield f"{folder} is not here: left out."
        return
    yield "| judge | N | right | mean labels | planned n | ratio | wrong |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    ratios, wrongs, saved = [], [], []
    for judge in real_judges(folder, rng):
        n, truth = len(judge.credit), float(judge.credit.mean())
        order = np.stack([rng.permutation(n) for _ in range(draws)])
        sizes = np.repeat(np.bincount(judge.stratum)[None, :], draws, axis=0)
        drawn = Drawn(x=judge.credit[order], stratum=judge.stratum[order], sizes=sizes, mean=truth)
        when, side = first_shown(drawn, LIMIT, Plan(labels=None))
        wrong = float((np.isfinite(when) & (side != np.sign(truth - LIMIT))).mean())
        mean = float(np.minimum(when, n).mean())
        smallest = _planned_once(drawn.x, n)
        wrongs.append(wrong)
        plain = Drawn(
            x=drawn.x,
            stratum=np.zeros_like(drawn.stratum),
            sizes=np.full((draws, 1), n),
            mean=truth,
        )
        saved.append(
            float(np.minimum(first_shown(plain, LIMIT, Plan(labels=None))[0], n).mean()) - mean
        )
        ratios.append(mean / smallest)
        yield (
            f"| {judge.name} | {n:,} | {truth:.3f} | {mean:.1f} | {smallest} | "
            f"{mean / smallest:.2f} | {wrong:.3f} |"
        )
    yield (
        f"\nMean ratio {np.mean(ratios):.2f} (wanted ≤ .75), wrong at most {max(wrongs):.3f} "
        f"(wanted ≤ .05), over {len(ratios)} judges; strata save {np.mean(saved):.1f} labels."
    )


def nats(draws: int, rng: np.random.Generator) -> Iterator[str]:
    """What a verdict costs whatever the judge: labels times the divergence of truth and limit."""
    yield "| truth | mean labels | planned n | ratio | nats, any time | nats, planned |"
    yield "|--:|--:|--:|--:|--:|--:|"
    for truth, labels in ((0.9, 400), (0.85, 500), (0.8, 1500), (0.6, 1500), (0.55, 600)):
        x = (rng.random((draws, labels)) < truth).astype(float)
        drawn = Drawn(
            x=x,
            stratum=np.zeros(x.shape, dtype=np.int64),
            sizes=np.full((draws, 1), ENDLESS),
            mean=truth,
        )
        when, _ = first_shown(drawn, LIMIT, Plan(labels=None))
        mean, smallest = float(np.minimum(when, labels).mean()), _planned_once(x, ENDLESS)
        each = truth * math.log(truth / LIMIT) + (1 - truth) * math.log((1 - truth) / (1 - LIMIT))
        yield (
            f"| {truth:.2f} | {mean:.1f} | {smallest} | {mean / smallest:.2f} | "
            f"{mean * each:.1f} | {smallest * each:.1f} |"
        )


FEWER_STAKES = (0.2, 0.4, 0.6, 0.8)


def stakes(folder: Path, draws: int, rng: np.random.Generator) -> Iterator[str]:
    """What fewer stakes save until a verdict, and what they cost the interval."""
    seed, now = int(rng.integers(2**32)), wealth.STAKES
    yield "| stakes | mean labels at .90, .85, .80, .55 | real ratio | width at 100 | 200 | 500 |"
    yield "|---|---|--:|--:|--:|--:|"
    for tried in (now, FEWER_STAKES):
        wealth.STAKES = tried
        drawing = np.random.default_rng(seed)
        labels = [line.split("|")[2].strip() for line in labels_needed(draws, drawing)][2:]
        ratio = list(real(folder, draws, drawing))[-1].split()[2]
        widths = [_width(count, draws // 10, drawing) for count in (100, 200, 500)]
        shown = " | ".join(f"{width:.3f}" for width in widths)
        yield f"| {', '.join(f'{s:g}' for s in tried)} | {', '.join(labels)} | {ratio} | {shown} |"
    wealth.STAKES = now


def _width(count: int, draws: int, rng: np.random.Generator) -> float:
    """Mean width of the interval that holds at any time, after some labels of which .80 are 1."""
    widths = []
    for _ in range(draws):
        row = LabelledRow(
            stratum=np.zeros(ENDLESS, dtype=np.int64),
            credit=(rng.random(count) < 0.8).astype(float),
            undecided=np.zeros(count, dtype=bool),
        )
        mean = anytime_mean(row)
        widths.append(mean.high - mean.low)
    return float(np.mean(widths))


def _planned_once(x: Array, n: int) -> int:
    """Smallest n at which Wilson by item with the finite-population factor decides in 90 %; all
    labels that were drawn where none does.
    """
    labels = np.arange(1, x.shape[1] + 1)
    total, squares = x.cumsum(axis=1), (x**2).cumsum(axis=1)
    mean = total / labels
    centre = (total + 0.5) / (labels + 1)
    spread = squares - 2 * centre * total + labels * centre**2
    spread += 0.5 * centre**2 + 0.5 * (1 - centre) ** 2
    effective = np.minimum(centre * (1 - centre) * labels * (labels + 1) / spread, 4 * labels)
    factor = (n - labels) / max(n - 1, 1)
    from scipy.stats import t

    shrink = t.ppf(0.975, np.maximum(labels - 1, 1)) ** 2 / effective * factor
    half = np.sqrt(shrink * mean * (1 - mean) + shrink**2 / 4)
    low, high = ((mean + shrink / 2 + sign * half) / (1 + shrink) for sign in (-1, 1))
    decides = ((low > LIMIT) | (high < LIMIT)).mean(axis=0)
    decides[: LEAST_LABELS - 1] = 0
    enough = np.flatnonzero(decides >= 0.9)
    return int(enough[0]) + 1 if len(enough) else x.shape[1]


def win_rates(folder: Path, draws: int, rng: np.random.Generator) -> Iterator[str]:
    """Width of the win rate at 100 planned labels, with the judge's votes against labels alone."""
    if not folder.exists():
        yield f"{folder} is not here: left out."
        return
    yield "| judge | right | width / labels only | λ = 1 | holds the truth |"
    yield "|---|--:|--:|--:|--:|"
    good, every = [], []
    for judge in real_judges(folder, rng):
        counts, n = judge.counts, len(judge.counts)
        if n < 200:
            continue
        truth = float((counts.gold + 1).mean() / 2)
        gain, full, held = [], [], 0
        for _ in range(draws):
            labelled = np.zeros(n, dtype=bool)
            labelled[rng.permutation(n)[:100]] = True
            gold = np.where(labelled, counts.gold, NO_GOLD)
            some = VoteCounts(
                comparison=counts.comparison,
                item=counts.item,
                plus=counts.plus,
                tie=counts.tie,
                minus=counts.minus,
                gold=gold,
            )
            tuned = debiased_rate(some, weighting="tuned")
            gain.append(tuned.gain)
            full.append(debiased_rate(some, weighting="full").gain)
            held += tuned.low <= truth <= tuned.high
        right = float(judge.credit.mean())
        every.append(float(np.mean(gain)))
        if right >= 0.75:
            good.append(float(np.mean(gain)))
        yield (
            f"| {judge.name} | {right:.3f} | {np.mean(gain):.2f} | {np.mean(full):.2f} | "
            f"{held / draws:.3f} |"
        )
    yield (
        f"\nJudges right on .75 or more: {np.mean(good):.2f}, at most {max(good):.2f} (wanted "
        f"≤ .90); all, λ tuned: at most {max(every):.2f} (wanted ≤ 1.03)."
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.labelling",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--votes", type=Path, default=VOTES, help="folder of votes with real gold")
    parser.add_argument("--only", nargs="+", default=None)
    options = parser.parse_args(arguments)
    draws, few = options.draws, min(options.draws, 200)
    parts: dict[str, Callable[[np.random.Generator], Iterator[str]]] = {
        "limit": lambda rng: at_the_limit(draws, rng, Plan(labels=None)),
        "plan": lambda rng: at_the_limit(draws, rng, Plan(labels=100)),
        "labels": lambda rng: labels_needed(draws, rng),
        "planned": lambda rng: planned(draws, rng),
        "near": lambda rng: near_the_limit(few, rng),
        "forecast": lambda rng: forecasts(few, rng),
        "naive": lambda rng: naive(draws, rng),
        "people": lambda rng: two_people(draws, rng),
        "real": lambda rng: real(options.votes, draws, rng),
        "stakes": lambda rng: stakes(options.votes, min(draws, 400), rng),
        "nats": lambda rng: nats(draws, rng),
        "passing": lambda rng: passing(min(draws, 400), rng),
        "rare": lambda rng: rare_failures(draws, rng),
        "errors": lambda rng: errors_of_people(min(draws, 400), rng),
        "win": lambda rng: win_rates(options.votes, min(draws, 400), rng),
    }
    for name, part in parts.items():
        if options.only and name not in options.only:
            continue
        began = time.process_time()
        print(f"\n## {name}\n")
        for line in part(np.random.default_rng(options.seed)):
            print(line, flush=True)
        print(f"\n({time.process_time() - began:.0f} s of processor)", flush=True)


if __name__ == "__main__":
    main()
