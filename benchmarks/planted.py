"""What verdicts find of what was planted: `python -m benchmarks.planted`.

False alarms of every check on judges without that fault, per situation and pooled, power per fault,
what is found of judges that do not read, and the overall verdicts; the same at several levels.
`--quick` draws a few of each situation, `--only` takes names with a text; `--only reference`,
`--only alone` and `--only versions` draw what is promised of single answers and of versions.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from core.auditing.checks import CHECKS
from core.auditing.overall import overall_verdict
from core.auditing.run import check_judge
from core.finding.check import CheckResult, Grade
from core.finding.evidence import Evidence
from core.schema import RowsRead

from .planted_audit import counted_draws, options_of
from .planted_votes import Situation, Table, draw, situations

DRAWS, POWER_DRAWS, LEVEL_DRAWS = 400, 100, 100
ROWS = 150_000
"""Rows of one load, so that a large situation needs no more memory than a small one."""
NAMES = tuple(check.name for check in CHECKS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the draws of one situation were graded. `seconds` are those of drawing and of auditing.

    draws : judges, or people, that were graded.
    caught : those of whom accuracy or a check concerned is not ok, and the overall verdict is not
        *trust*.
    """

    situation: Situation
    draws: int
    grades: dict[str, Counter[Grade]]
    overall: Counter[str]
    caught: int
    seconds: dict[str, float]

    def share(self, check: str, *wanted: Grade) -> float:
        """Share of draws that a check grades so."""
        return sum(self.grades[check][grade] for grade in wanted) / self.draws

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


def audited_draws(
    situation: Situation, table: Table, *, levels: Sequence[float] = (0.95,)
) -> Iterator[tuple[Evidence, list[tuple[CheckResult, ...]]]]:
    """Every rater of a drawn table that the situation is about, with its results at each level."""
    rows = RowsRead(rows=situation.items * situation.votes, rejected=situation.n_rejected)
    by_people = situation.audited == "people"
    for counted in counted_draws(
        table,
        options_of(situation, level=levels[0]),
        gold="humans" if situation.gold == "humans" else "given",
        rows=rows if situation.rejected else None,
    ):
        for name in counted.about:
            if (name in counted.people) == by_people:
                at_levels = [counted.at_level(level) for level in levels[1:]]
                results = [check_judge(each, name) for each in (counted, *at_levels)]
                yield counted.of(name), results


def audit_draws(situation: Situation, draws: int, *, seed: int) -> Found:
    """Draw a situation, and grade every draw; what is drawn does not depend on what else is."""
    rng = np.random.default_rng([seed, situation.items, zlib.crc32(situation.name.encode())])
    each = max(1, ROWS // situation.rows)
    grades: dict[str, Counter[Grade]] = {name: Counter() for name in NAMES}
    verdicts: Counter[str] = Counter()
    caught, clock = 0, Clock()
    concerned = {"accuracy", *situation.concerns}
    for start in range(0, draws, each):
        table = draw(situation, min(each, draws - start), rng)
        clock.lap("draw")
        for evidence, (results,) in audited_draws(situation, table):
            verdict = overall_verdict(evidence, results).verdict
            verdicts[verdict] += 1
            not_ok = {result.check for result in results if result.grade != "ok"}
            caught += verdict != "trust" and not concerned.isdisjoint(not_ok)
            for result in results:
                grades[result.check][result.grade] += 1
        clock.lap("audit")
    return Found(
        situation=situation,
        draws=verdicts.total(),
        grades=grades,
        overall=verdicts,
        caught=caught,
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
        (situation, draws if situation.fault == "none" else power_draws, seed)
        for situation in wanted
    ]
    done = {} if kept is None or not kept.exists() else _read(kept)
    found = {}
    for one in _found([job for job in jobs if _key(job[0]) not in done], workers):
        found[_key(one.situation)] = one
        if kept is not None:
            with kept.open("a", encoding="utf-8") as file:
                print(
                    json.dumps(
                        [
                            *_key(one.situation),
                            one.draws,
                            one.grades,
                            one.overall,
                            one.caught,
                            one.seconds,
                        ]
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
        name, items, draws, grades, overall, caught, seconds = json.loads(line)
        counted = {check: Counter(given) for check, given in grades.items()}
        found[name, items] = {
            "draws": draws,
            "grades": counted,
            "overall": Counter(overall),
            "caught": caught,
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
        for check in NAMES:
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
    for check in NAMES:
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
        "flips without a lean": ("stability",),
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
        "coin on comparisons, in one order": ("coin_share",),
        "coin on comparisons, in both orders": ("coin_share",),
        "lean in one order": ("position",),
        "ties on swap": ("stability",),
        "rows rejected": ("data",),
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


def verdicts(found: Sequence[Found], about: str) -> list[str]:
    """Overall verdicts by situation: of judges without a fault, or of those with a fault that no
    single check is made for.
    """
    lines = ["| judge | items | " + " | ".join(VERDICTS) + " | draws |", "|---|--:|" + "--:|" * 5]
    pooled: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for one in found:
        faultless = one.situation.fault == "none"
        if faultless if about == "no fault" else one.situation.concerns:
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


COINS = (
    (300, "4 votes in one order", 0.85),
    (300, "4 votes in both orders", 0.65),
    (60, "6 votes in one order", 0.60),
)
"""Items, votes and the power against a coin on a fifth of the comparisons."""
AT_300 = ("gold is their own mode", "gold is its first vote")
"""Faults that take 300 items to see; the others take 100."""
CAUGHT = 0.9
Row = tuple[str, float | None, float, bool]
"""What, the share that is shown, its limit, and whether it is to be at least that, or at most."""


def wanted_figures(found: Sequence[Found]) -> list[str]:
    """What the suite must show, what it shows, and whether that is enough."""
    clean = [one for one in found if one.situation.fault == "none"]
    rows = [
        *((one.what, one.shown(found), one.least, True) for one in WANTED),
        *_trusted(clean),
        *_coins(found),
        *_caught(found),
        *_never_refused(clean),
    ]
    lines = ["| wanted | shown | limit | met |", "|---|--:|--:|---|"]
    for what, shown, limit, at_least in rows:
        side = "≥" if at_least else "≤"
        if shown is None:
            lines.append(f"| {what} | – | {side} {limit:.2f} | – |")
        else:
            met = shown >= limit if at_least else shown <= limit
            lines.append(
                f"| {what} | {shown:.3f} | {side} {limit:.2f} | {'yes' if met else 'no'} |"
            )
    return lines


def _least(shares: Iterable[float]) -> float | None:
    return min(shares, default=None)


def _trusted(clean: Sequence[Found]) -> Iterator[Row]:
    usual = "no fault, balanced gold, 2 votes, alike 0.8"
    for items, least in ((100, 0.30), (300, 0.90)):
        trusted = _least(
            one.overall["trust"] / one.draws
            for one in clean
            if (one.situation.items, one.situation.name) == (items, usual)
        )
        yield f"right on 85 %, one pair, {items} items: trust", trusted, least, True
    surest = _least(
        one.share("accuracy", "ok")
        for one in clean
        if one.situation.items == 30 and one.situation.judge.accuracy == 0.95
    )
    yield "right on 95 %, one-sided gold, 30 items: accuracy ok", surest, 0.90, True
    for name in ("gold prefers one model in 70%", "gold prefers the longer in 70%"):
        beyond = _least(
            one.share("accuracy", "ok")
            for one in clean
            if (one.situation.items, one.situation.name) == (300, f"no fault, {name}")
        )
        yield f"right on 85 %, {name}, 300 items: accuracy ok", beyond, 0.99, True


def _coins(found: Sequence[Found]) -> Iterator[Row]:
    for items, votes, least in COINS:
        name = f"coin on 20% of comparisons, {votes}"
        warned = _least(
            one.alarms("coin_share") / one.draws
            for one in found
            if (one.situation.items, one.situation.name) == (items, name)
        )
        yield f"{name}, {items} items: coin_share", warned, least, True


def _caught(found: Sequence[Found]) -> Iterator[Row]:
    """Every fault that no single check is made for."""
    for one in found:
        about = one.situation
        size = 300 if about.fault in AT_300 else 100
        if about.concerns and about.items == size and "coin_share" not in about.concerns:
            what = f"{about.name}, {about.items} items: found"
            yield what, one.caught / one.draws, CAUGHT, True


def _never_refused(clean: Sequence[Found]) -> Iterator[Row]:
    accused = [
        one.grades["accuracy"]["unknown"] / one.draws
        for one in clean
        if one.situation.audited == "people"
    ]
    very_good = "people right on 95 %, gold of others: taken for the makers of gold, the worst"
    yield very_good, max(accused, default=None), 0.05, False
    refused = [
        one.overall["do_not_trust"] / one.draws for one in clean if one.situation.items >= 30
    ]
    what = "no fault, 30 items or more: do not trust, the worst"
    yield what, max(refused, default=None), 0.01, False


LEVELS = (0.80, 0.90, 0.95, 0.99)
SAME_P = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class AtLevel:
    """Warnings of judges without a fault, per check and level, and how far p-values of one result
    differ between levels.
    """

    graded: Counter[str]
    warned: dict[float, Counter[str]]
    difference: float


def warnings_at_levels(draws: int, *, seed: int = 0) -> AtLevel:
    """Judges without a fault at every level of `LEVELS`: 30 to 300 items, two and four votes, with
    people beside them and with half of gold ties.
    """
    wanted = [
        one
        for one in situations()
        if one.fault == "none"
        and one.items in (30, 100, 300)
        and one.name
        in (
            "no fault, balanced gold, 2 votes, alike 0.8",
            "no fault, balanced gold, 4 votes, alike 0.8",
            "no fault, half ties gold, 2 votes, alike 0.8",
            "no fault, no gold, three people",
        )
    ]
    graded: Counter[str] = Counter()
    warned: dict[float, Counter[str]] = {level: Counter() for level in LEVELS}
    difference = 0.0
    rng = np.random.default_rng(seed)
    for situation in wanted:
        table = draw(situation, draws, rng)
        for _, at_levels in audited_draws(situation, table, levels=LEVELS):
            for of_check in zip(*at_levels, strict=True):
                name = of_check[0].check
                if name not in situation.clean or of_check[0].grade == "unknown":
                    continue
                graded[name] += 1
                for level, result in zip(LEVELS, of_check, strict=True):
                    warned[level][name] += result.grade in ("warn", "fail")
                p_values = np.array([result.p_value for result in of_check])
                known = ~np.isnan(p_values)
                if known.any() and not known.all():
                    difference = math.inf
                elif known.any():
                    difference = max(difference, float(np.ptp(p_values)))
    return AtLevel(graded=graded, warned=warned, difference=difference)


def levels_table(at_level: AtLevel) -> list[str]:
    """Share of warnings per check and level, marked where it is above the level by more than
    chance.
    """
    lines = [
        "| check | " + " | ".join(f"{level:g}" for level in LEVELS) + " | judges |",
        "|---|" + "--:|" * (len(LEVELS) + 1),
    ]
    for name, judges in at_level.graded.items():
        cells = []
        for level in LEVELS:
            share, nominal = at_level.warned[level][name] / judges, 1 - level
            most = nominal + 2 * math.sqrt(nominal * (1 - nominal) / judges)
            cells.append(f"{share:.3f}{' !' if share > most else ''}")
        lines.append(f"| {name} | {' | '.join(cells)} | {judges:,} |")
    same = "equal" if at_level.difference <= SAME_P else f"up to {at_level.difference:.3g} apart"
    return [*lines, "", f"p-values of one result at all levels: {same} (to {SAME_P:g})."]


def report(found: Sequence[Found], at_level: AtLevel | None = None) -> str:
    """All tables."""
    seconds: Counter[str] = Counter()
    for one in found:
        seconds.update(one.seconds)
    draws = sum(one.draws for one in found)
    parts = [
        ["## Wanted", "", *wanted_figures(found)],
        ["## False alarms (share of draws)", "", *false_alarms(found)],
        ["## Power: warn or fail (fail)", "", *power(found)],
        ["## Overall, no fault", "", *verdicts(found, "no fault")],
        ["## Overall, judges that do not read", "", *verdicts(found, "unread")],
    ]
    if at_level is not None:
        parts.append(
            ["## Warnings of judges without a fault by level", "", *levels_table(at_level)]
        )
    parts.append(
        [
            f"{len(found)} situations, {draws:,} raters; seconds of auditing "
            f"{seconds['audit']:.0f}, of drawing {seconds['draw']:.0f}."
        ]
    )
    return "\n\n".join("\n".join(lines) for lines in parts)


def _promises(options: argparse.Namespace) -> None:
    """Print what is promised of single answers, of versions, and of what is decided alone."""
    from . import planted_alone, planted_reference

    few, chosen = 20 if options.quick else None, [text for text in options.only if text != "alone"]
    how = {"workers": options.workers, "seed": options.seed}
    if chosen:
        planted_reference.run(chosen, draws=options.draws or few or planted_reference.DRAWS, **how)
    if "alone" in options.only:
        planted_alone.run(draws=options.draws or few or planted_alone.DRAWS, **how)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.planted", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="20 and 10 draws of situations up to 300 items"
    )
    parser.add_argument("--draws", type=int, help=f"of situations without a fault ({DRAWS})")
    parser.add_argument("--power-draws", type=int, help=f"of those with one ({POWER_DRAWS})")
    parser.add_argument(
        "--level-draws", type=int, help=f"of each situation at several levels ({LEVEL_DRAWS})"
    )
    parser.add_argument(
        "--only", nargs="+", default=[""], help="only situations whose name has one of these"
    )
    parser.add_argument("--items", type=int, nargs="+", help="only these sizes")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kept", type=Path, help="JSON lines of what is found, to go on from")
    options = parser.parse_args(arguments)
    if all(text.partition(".")[0] in ("reference", "alone", "versions") for text in options.only):
        _promises(options)
        return
    draws, power_draws, level_draws = (
        (20, 10, 5) if options.quick else (DRAWS, POWER_DRAWS, LEVEL_DRAWS)
    )
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
    at_levels = level_draws if options.level_draws is None else options.level_draws
    print(report(found, warnings_at_levels(at_levels, seed=options.seed) if at_levels else None))


if __name__ == "__main__":
    main()
