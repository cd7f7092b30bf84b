"""What verdicts find of what was planted: `python -m benchmarks.planted`.

False alarms of every check on judges without that fault, per situation and pooled, power per fault,
and the overall verdicts. `--quick` draws a few of each situation, `--only` takes names with a text.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from core.interpretation.rules import LIMITS, Grade, grade, overall

from benchmarks.random_votes import as_reading
from core.agreement.reliability import icc
from core.interpretation import estimates
from core.records import VoteCounts
from core.schema import Selection
from core.simulate.votes import vote_table
from core.stats.estimate import Estimate
from core.store import Store
from core.store import vote_queries as queries

from .planted_votes import Situation, Table, draw, situations

DRAWS, POWER_DRAWS = 400, 100
ROWS = 150_000
"""Rows of one load, so that a large situation needs no more memory than a small one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the draws of one situation were graded. `seconds` are those of loading, counting and
    grading.
    """

    situation: Situation
    draws: int
    grades: dict[str, Counter[Grade]]
    overall: Counter[str]
    seconds: dict[str, float]

    def share(self, check: str, *wanted: Grade) -> float:
        """Share of draws that a check grades so."""
        return sum(self.grades[check][one] for one in wanted) / self.draws

    def graded(self, check: str) -> int:
        """Draws with another grade than unknown."""
        return self.draws - self.grades[check]["unknown"]

    def alarms(self, check: str) -> int:
        """Draws with a warning or a failure."""
        return self.grades[check]["warn"] + self.grades[check]["fail"]


@dataclass(slots=True)
class Clock:
    """Seconds of a core by what they went into, whatever else runs on the machine."""

    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    last: float = field(default_factory=time.process_time)

    def lap(self, what: str) -> None:
        now = time.process_time()
        self.seconds[what] += now - self.last
        self.last = now


def loaded(table: Table) -> pa.Table:
    """A drawn table as typed votes."""
    columns: dict[str, Any] = dict(table)
    if "confidence" in table:
        said = table["confidence"].astype(np.float64)
        columns["confidence"] = pa.array(said, mask=np.isnan(said))
    return vote_table(columns)


def judged(
    table: Table, *, seed: int, clock: Clock
) -> Iterator[tuple[str, dict[str, Estimate | None], float]]:
    """Every judge of a table, an estimate per check, and what noise alone shows of ECE."""
    with Store.open(None) as store:
        store.load(as_reading(loaded(table), name="planted"))
        clock.lap("load")
        everything = Selection()
        with store.snapshot() as moment:
            counts = queries.vote_counts(moment, everything)
            outcomes = queries.outcomes(moment, everything)
            positions = queries.positions(moment, everything)
            ratings = queries.ratings(moment, everything)
            lengths = queries.length_counts(moment, everything) if "length_a" in table else {}
            by_model = queries.vote_counts_by(moment, everything, "model_a")
        clock.lap("count")
    outputs = _outputs(table)
    people = defaultdict(dict)
    for name, one in counts.items():
        if name.startswith("person"):
            people[name.split("-")[1]][name] = one
    rng = np.random.default_rng(seed)
    for name in counts:
        if name.startswith("person"):
            continue
        own = counts[name]
        of_people = people.get(name.split("-")[1], {})
        found: dict[str, Estimate | None] = {
            "accuracy": estimates.direction(own),
            "ties": estimates.tie_gap(own),
            "agreement": estimates.judge_against_people(own, of_people) if of_people else None,
            "data": estimates.missing_outputs(*outputs[name]),
        }
        clock.lap("rates and means")
        found |= _of_order(positions.get(name))
        clock.lap("position")
        floor = math.nan
        if (known := outcomes.get(name)) is not None and not np.isnan(known.confidence).all():
            ece = estimates.expected_calibration_error(known, rng=rng)
            clock.lap("ece")
            assert ece is not None
            found["calibration"], floor = ece
            found["overconfidence"] = estimates.confidence_gap(known)
            found["discrimination"] = estimates.discrimination(known)
            clock.lap("gap and AUROC")
        found["repeatability"] = estimates.repeatability(
            icc(ratings[name]) if name in ratings else None
        )
        clock.lap("icc")
        if name in lengths:
            found["length"] = estimates.length_preference(lengths[name], balanced=True)
        votes, side = _sides(name, by_model)
        if len(votes):
            found["own_family"] = estimates.side_preference(votes, side, balanced=True)
        clock.lap("length and family")
        yield name, found, floor


def _of_order(position: Any) -> dict[str, Estimate | None]:
    if position is None:
        return {}
    return {
        "position": estimates.position_lean(position),
        "stability": estimates.hard_flips(position),
        "flip_excess": estimates.flip_excess(position),
    }


def _outputs(table: Table) -> dict[str, tuple[Any, Any, Any]]:
    """Of each judge: its items, outputs and outputs without a verdict."""
    names, judge = np.unique(table["judge"].astype(str), return_inverse=True)
    item = np.unique(table["item_id"].astype(str), return_inverse=True)[1]
    missing = (table["status"] != "ok").astype(np.int64)
    order = np.argsort(judge, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(judge[order])) + 1)
    return {
        str(names[judge[rows[0]]]): (item[rows], np.ones(len(rows), dtype=np.int64), missing[rows])
        for rows in parts
    }


def _sides(name: str, by_model: Mapping[str, Mapping[str, VoteCounts]]) -> tuple[VoteCounts, Any]:
    """Votes of a judge whose own family is alpha, and where response A is of it."""
    parts = [
        (counts[name], 1 if model.startswith("alpha") else -1)
        for model, counts in by_model.items()
        if name in counts
    ]
    columns = {
        column: np.concatenate([getattr(counts, column) for counts, _ in parts])
        for column in VoteCounts.__slots__
    }
    side = np.concatenate([np.full(len(counts), towards) for counts, towards in parts])
    return VoteCounts(**columns), side


def graded(
    found: Mapping[str, Estimate | None], floor: float, *, gold: bool = True
) -> tuple[dict[str, Grade], str]:
    """Grades of one judge, and its overall verdict."""
    grades = {
        check: grade(found.get(check), limits, floor_high=floor).grade
        for check, limits in LIMITS.items()
    }
    # As the verdict on stability does: what goes beyond repeats in one order makes it worse.
    if grades["flip_excess"] == "fail" or (grades["flip_excess"], grades["stability"]) == (
        "warn",
        "ok",
    ):
        grades["stability"] = grades["flip_excess"]
    direction = found.get("accuracy")
    low = None if direction is None else direction.low
    return grades, overall(grades, accuracy_low=low, gold=gold).verdict


def audit_draws(situation: Situation, draws: int, *, seed: int) -> Found:
    """Draw a situation, and grade every draw."""
    rng = np.random.default_rng(seed)
    each = max(1, ROWS // situation.rows)
    grades: dict[str, Counter[Grade]] = {check: Counter() for check in LIMITS}
    verdicts: Counter[str] = Counter()
    clock = Clock()
    for start in range(0, draws, each):
        table = draw(situation, min(each, draws - start), rng)
        clock.lap("draw")
        for _, found, floor in judged(table, seed=seed + start, clock=clock):
            given, verdict = graded(found, floor, gold=situation.gold != "none")
            verdicts[verdict] += 1
            for check, one in given.items():
                grades[check][one] += 1
    return Found(
        situation=situation,
        draws=draws,
        grades=grades,
        overall=verdicts,
        seconds=dict(clock.seconds),
    )


def audited(
    wanted: Sequence[Situation],
    *,
    draws: int,
    power_draws: int,
    workers: int,
    seed: int = 0,
    kept: Path | None = None,
) -> list[Found]:
    """Every situation, in its order, on several cores; those in the file `kept` are not drawn
    again.
    """
    jobs = [
        (situation, draws if situation.fault == "none" else power_draws, seed + 10_007 * place)
        for place, situation in enumerate(wanted)
    ]
    done = {} if kept is None or not kept.exists() else _read(kept)
    found = {}
    for one in _found([job for job in jobs if _key(job[0]) not in done], workers):
        found[_key(one.situation)] = one
        if kept is not None:
            with kept.open("a", encoding="utf-8") as file:
                print(
                    json.dumps(
                        [*_key(one.situation), one.draws, one.grades, one.overall, one.seconds]
                    ),
                    file=file,
                )
    return [
        found[key] if (key := _key(situation)) in found else Found(situation=situation, **done[key])
        for situation, _, _ in jobs
    ]


def _found(jobs: Sequence[tuple[Situation, int, int]], workers: int) -> Iterator[Found]:
    if workers < 2:
        yield from map(_job, jobs)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_job, jobs)


def _key(situation: Situation) -> tuple[str, int]:
    return situation.name, situation.items


def _read(kept: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """What was found of situations of so many names and items."""
    found = {}
    for line in kept.read_text(encoding="utf-8").splitlines():
        name, items, draws, grades, overall, seconds = json.loads(line)
        counted = {check: Counter(given) for check, given in grades.items()}
        found[name, items] = {
            "draws": draws,
            "grades": counted,
            "overall": Counter(overall),
            "seconds": seconds,
        }
    return found


def _job(job: tuple[Situation, int, int]) -> Found:
    situation, draws, seed = job
    return audit_draws(situation, draws, seed=seed)


# Tables.
# ------------------------------------------------------------------------------------------

NOMINAL = 0.05


def most_by_chance(draws: int, cells: int) -> int:
    """Alarms that a cell of `draws` may show: the binomial quantile at 1 − .05/cells."""
    from scipy.stats import binom

    return int(binom.ppf(1 - NOMINAL / max(cells, 1), draws, NOMINAL))


def checked(found: Iterable[Found]) -> Iterator[tuple[str, Found]]:
    """Cells without a fault: a check and a situation in which it was graded and has nothing to
    find.
    """
    for one in found:
        for check in LIMITS:
            if check in one.situation.clean and one.graded(check):
                yield check, one


def false_alarms(found: Sequence[Found]) -> list[str]:
    """Alarms where nothing is to be found: pooled per check and size, and the cells above
    chance.
    """
    cells = list(checked(one for one in found if one.situation.fault == "none"))
    sizes = sorted({one.situation.items for _, one in cells})
    pooled: dict[tuple[str, int], tuple[int, int]] = defaultdict(lambda: (0, 0))
    for check, one in cells:
        alarms, draws = pooled[check, one.situation.items]
        pooled[check, one.situation.items] = alarms + one.alarms(check), draws + one.draws
    lines = [
        "| check | " + " | ".join(f"{size:,} items" for size in sizes) + " |",
        "|---|" + "--:|" * len(sizes),
    ]
    for check in LIMITS:
        row = []
        for size in sizes:
            alarms, draws = pooled[check, size]
            high = draws and alarms / draws > NOMINAL + 2 * math.sqrt(
                NOMINAL * (1 - NOMINAL) / draws
            )
            row.append(f"{alarms / draws:.3f}{' !' if high else ''}" if draws else "–")
        lines.append(f"| {check} | {' | '.join(row)} |")
    worst = [
        (check, one)
        for check, one in cells
        if one.alarms(check) > most_by_chance(one.draws, len(cells))
    ]
    lines += [
        "",
        f"{len(worst)} of {len(cells)} cells above the binomial quantile at 1 − .05/{len(cells)}:",
    ]
    for check, one in sorted(worst, key=lambda cell: -cell[1].alarms(cell[0]) / cell[1].draws):
        about = one.situation
        lines.append(
            f"- {check}, {about.items:,} items, {about.name}: {one.alarms(check)} of {one.draws}"
        )
    return lines


def power(found: Sequence[Found]) -> list[str]:
    """Share of draws with a warning or a failure (and with a failure), per fault."""
    target = {
        "slot bias": ("position", "stability"),
        "slot bias, one order": ("position",),
        "flips without a lean": ("flip_excess", "stability"),
        "overconfidence": ("overconfidence", "calibration"),
        "underconfidence": ("overconfidence", "calibration"),
        "random confidence": ("calibration", "discrimination"),
        "constant confidence": ("calibration", "discrimination"),
        "inverse confidence": ("calibration", "discrimination"),
        "length": ("length",),
        "family": ("own_family",),
        "seldom right": ("accuracy",),
        "ties": ("ties",),
        "no repeatability": ("repeatability",),
        "worse than people": ("agreement",),
        "no verdict": ("data",),
    }
    sizes = sorted({one.situation.items for one in found if one.situation.fault != "none"})
    rows: dict[tuple[str, float, int, float, str], dict[int, str]] = defaultdict(dict)
    for one in found:
        about = one.situation
        for check in target.get(about.fault, ()):
            shown = "unknown"
            if one.graded(check):
                shown = f"{one.alarms(check) / one.draws:.2f} ({one.share(check, 'fail'):.2f})"
            rows[about.fault, about.effect, about.votes, about.judge.alike, check][about.items] = (
                shown
            )
    lines = [
        "| fault | effect | votes | alike | check | "
        + " | ".join(f"{size:,} items" for size in sizes)
        + " |",
        "|---|--:|--:|--:|---|" + "--:|" * len(sizes),
    ]
    for (fault, effect, votes, alike, check), shown in rows.items():
        cells = " | ".join(shown.get(size, "–") for size in sizes)
        lines.append(f"| {fault} | {effect:g} | {votes} | {alike:g} | {check} | {cells} |")
    return lines


VERDICTS = ("trust", "trust_with_limits", "cannot_say", "do_not_trust")


def verdicts(found: Sequence[Found]) -> list[str]:
    """Overall verdicts of judges without a fault, pooled by votes and size; and direction ok at 95
    %.
    """
    lines = ["| judge | items | " + " | ".join(VERDICTS) + " | draws |", "|---|--:|" + "--:|" * 5]
    pooled: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for one in found:
        if one.situation.fault == "none":
            pooled[one.situation.name, one.situation.items].update(one.overall)
    for (name, items), counted in pooled.items():
        draws = counted.total()
        shares = " | ".join(f"{counted[verdict] / draws:.3f}" for verdict in VERDICTS)
        lines.append(f"| {name} | {items:,} | {shares} | {draws:,} |")
    return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A figure that the suite must show, over the situations that it is about."""

    what: str
    fault: str
    effect: float
    items: int
    votes: tuple[int, ...]
    check: str
    least: float
    alike: float

    def shown(self, found: Sequence[Found]) -> float | None:
        """Share of alarms in the situation that has the fewest; None if none was drawn."""
        shares = [
            one.alarms(self.check) / one.draws
            for one in found
            if (one.situation.fault, one.situation.effect, one.situation.items)
            == (self.fault, self.effect, self.items)
            and one.situation.votes in self.votes
            and (one.situation.judge.alike == self.alike or one.situation.votes == 1)
        ]
        return min(shares, default=None)


def _wanted(
    fault: str,
    effect: float,
    items: int,
    votes: tuple[int, ...],
    check: str,
    least: float,
    alike: float,
) -> Wanted:
    many = f"{votes[0]} or more" if len(votes) > 1 else f"{votes[0]}"
    return Wanted(
        what=f"{fault} {effect:g}, {items} items, {many} votes per item: {check}",
        fault=fault,
        effect=effect,
        items=items,
        votes=votes,
        check=check,
        least=least,
        alike=alike,
    )


# Second votes help against a wrong confidence as far as they are new opinions; those that repeat
# the first are beside them in the table of power.
WANTED = (
    _wanted("slot bias", 0.2, 100, (2, 4, 8), "position", 0.95, 0.8),
    _wanted("overconfidence", 0.1, 100, (1,), "overconfidence", 0.65, 0.0),
    _wanted("overconfidence", 0.1, 100, (2, 8), "overconfidence", 0.90, 0.0),
    _wanted("overconfidence", 0.1, 300, (1, 2, 8), "overconfidence", 0.95, 0.0),
    _wanted("overconfidence", 0.2, 100, (1, 2, 8), "overconfidence", 0.95, 0.0),
    _wanted("random confidence", 1.0, 100, (2,), "calibration", 0.80, 0.0),
    _wanted("random confidence", 1.0, 100, (8,), "calibration", 0.95, 0.0),
    _wanted("random confidence", 1.0, 300, (2,), "discrimination", 0.75, 0.0),
    _wanted("random confidence", 1.0, 300, (8,), "discrimination", 0.95, 0.0),
    _wanted("length", 0.2, 300, (1, 2, 8), "length", 0.90, 0.8),
    _wanted("family", 0.2, 300, (1, 2, 8), "own_family", 0.90, 0.8),
)


def wanted_figures(found: Sequence[Found]) -> list[str]:
    """What the suite must show, what it shows, and whether that is enough."""
    rows: list[tuple[str, float | None, str, bool | None]] = []
    for one in WANTED:
        shown = one.shown(found)
        rows.append(
            (one.what, shown, f"≥ {one.least:.2f}", None if shown is None else shown >= one.least)
        )
    clean = [one for one in found if one.situation.fault == "none"]
    for items, least in ((100, 0.30), (300, 0.90)):
        trusted = [
            one.overall["trust"] / one.draws
            for one in clean
            if one.situation.items == items
            and one.situation.name == "no fault, balanced gold, 2 votes, alike 0.8"
        ]
        shown = min(trusted, default=None)
        met = None if shown is None else shown >= least
        rows.append(
            (f"right on 85 %, one pair, {items} items: trust", shown, f"≥ {least:.2f}", met)
        )
    surest = [
        one.share("accuracy", "ok")
        for one in clean
        if one.situation.items == 30 and one.situation.judge.accuracy == 0.95
    ]
    shown = min(surest, default=None)
    met = None if shown is None else shown >= 0.9
    rows.append(("right on 95 %, one-sided gold, 30 items: direction ok", shown, "≥ 0.90", met))
    large = [one for one in clean if one.situation.items >= 30]
    if large:
        refused = max(one.overall["do_not_trust"] / one.draws for one in large)
        rows.append(
            (
                "no fault, 30 items or more: do not trust, the worst",
                refused,
                "≤ 0.01",
                refused <= 0.01,
            )
        )
    lines = ["| wanted | shown | limit | met |", "|---|--:|--:|---|"]
    for what, value, limit, met in rows:
        said = "–" if met is None else "yes" if met else "no"
        lines.append(f"| {what} | {'–' if value is None else f'{value:.3f}'} | {limit} | {said} |")
    return lines


def report(found: Sequence[Found]) -> str:
    """All tables."""
    seconds: Counter[str] = Counter()
    for one in found:
        seconds.update(one.seconds)
    auditing = sum(spent for what, spent in seconds.items() if what != "draw")
    by_part = ", ".join(f"{what} {spent:.0f}" for what, spent in seconds.most_common())
    draws = sum(one.draws for one in found)
    parts = (
        ["## Wanted", "", *wanted_figures(found)],
        ["## False alarms (share of draws)", "", *false_alarms(found)],
        ["## Power: warn or fail (fail)", "", *power(found)],
        ["## Overall, no fault", "", *verdicts(found)],
        [
            f"{len(found)} situations, {draws:,} draws; seconds of auditing {auditing:.0f} "
            f"({by_part})."
        ],
    )
    return "\n\n".join("\n".join(lines) for lines in parts)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.planted", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="20 and 10 draws of situations up to 300 items"
    )
    parser.add_argument("--draws", type=int, help=f"of situations without a fault ({DRAWS})")
    parser.add_argument("--power-draws", type=int, help=f"of those with one ({POWER_DRAWS})")
    parser.add_argument(
        "--only", nargs="+", default=[""], help="only situations whose name has one of these"
    )
    parser.add_argument("--items", type=int, nargs="+", help="only these sizes")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kept", type=Path, help="JSON lines of what is found, to go on from")
    options = parser.parse_args(arguments)
    draws, power_draws = (20, 10) if options.quick else (DRAWS, POWER_DRAWS)
    wanted = [
        one
        for one in situations()
        if any(text in one.name for text in options.only)
        and (not options.quick or one.items <= 300)
        and (not options.items or one.items in options.items)
    ]
    print(f"{len(wanted)} situations", file=sys.stderr)
    found = audited(
        wanted,
        draws=options.draws or draws,
        power_draws=options.power_draws or power_draws,
        workers=options.workers,
        seed=options.seed,
        kept=options.kept,
    )
    print(report(found))


if __name__ == "__main__":
    main()
