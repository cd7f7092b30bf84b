"""Plant faults in simulated judges on this machine, and count how often an audit finds them.

    python -m benchmarks.faults [--draws N] [--seed SEED]

Large faults, for a first look; `benchmarks.planted` measures what smaller ones take. Nothing is
read and nothing is kept.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.files import shown_progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from core.simulate.votes import World

HONEST = "no fault"
ITEMS, DRAWS, MOST_DRAWS = 60, 50, 1_000
"""Items of a draw, draws by default, and the most that can be asked for."""
ALARM = ("warn", "fail")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault, as a parameter of the simulated judge, and the check that should find it."""

    name: str
    check: str
    parameters: tuple[tuple[str, float], ...]


FAULTS = (
    Fault(
        name="answers by coin",
        check="accuracy",
        parameters=(("discrimination", 0.02), ("tie_width", 0.0)),
    ),
    Fault(name="prefers the first answer", check="position", parameters=(("position_bias", 2.0),)),
    Fault(name="is overconfident", check="overconfidence", parameters=(("overconfidence", 3.0),)),
    Fault(name="prefers the longer answer", check="length", parameters=(("verbosity", 3.0),)),
    Fault(name="never ties", check="ties", parameters=(("tie_width", 0.0),)),
    Fault(name="often fails to answer", check="data", parameters=(("failure_share", 0.15),)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """How a fault's check graded the judge that has it, and the one that has none, over draws."""

    fault: Fault
    grades: Counter[str]
    honest: Counter[str]
    draws: int

    @property
    def power(self) -> int:
        """Draws in which the fault was found: its check warned or failed."""
        return sum(self.grades[grade] for grade in ALARM)

    @property
    def false_alarms(self) -> int:
        """Draws in which the same check warned of a judge without a fault, or failed it."""
        return sum(self.honest[grade] for grade in ALARM)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__)
    parser.add_argument(
        "--draws", type=int, default=DRAWS, help=f"files that are simulated ({DRAWS})"
    )
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn (0)")
    options = parser.parse_args(arguments)
    if not 1 <= options.draws <= MOST_DRAWS:
        parser.error(f"--draws {options.draws}: use 1 to {MOST_DRAWS:,}.")
    if options.seed < 0:
        parser.error(f"--seed {options.seed}: use a whole number from 0 up.")
    for line in table(planted(options.draws, options.seed)):
        print(line)


def planted(draws: int, seed: int) -> tuple[Found, ...]:
    """What audits of `draws` simulated files said, each with a judge per fault and one without."""
    grades: Counter[tuple[str, str, str]] = Counter()
    with shown_progress() as progress:
        for number in range(draws):
            if progress is not None:
                progress(number / draws, "Planting and auditing")
            for result in _audited(seed + number):
                grades[result.judge, result.check, result.grade] += 1
    return tuple(
        Found(
            fault=fault,
            grades=_of(grades, fault.name, fault.check),
            honest=_of(grades, HONEST, fault.check),
            draws=draws,
        )
        for fault in FAULTS
    )


def _of(grades: Counter[tuple[str, str, str]], judge: str, check: str) -> Counter[str]:
    return Counter(
        {grade: n for (who, what, grade), n in grades.items() if (who, what) == (judge, check)}
    )


def table(found: Sequence[Found]) -> list[str]:
    """The lines that are printed."""
    from core.finding.wording import percent
    from core.stats.intervals import wilson

    draws = found[0].draws
    lines = [
        f"Simulated judges, {ITEMS} items each, {draws} draws. Found: the check warns or fails. "
        "Intervals: 95 %.",
        "",
        f"  {'planted fault':26} {'check':15} {'found':>22}   false alarms without it",
    ]
    for each in found:
        cells = []
        for k in (each.power, each.false_alarms):
            low, high = (float(end) for end in wilson(k, draws))
            cells.append(f"{k} of {draws} ({percent(low)} to {percent(high)})")
        lines.append(f"  {each.fault.name:26} {each.fault.check:15} {cells[0]:>22}   {cells[1]}")
    missed = [each.fault.name for each in found if 2 * each.power < draws]
    answer = "Every fault was found in most draws."
    return [*lines, "", f"Missed in most draws: {', '.join(missed)}." if missed else answer]


def _audited(seed: int) -> Any:
    """The results of every check of every judge of one draw."""
    from core.auditing.options import AuditOptions
    from core.auditing.run import audit
    from core.importers import read_arrow
    from core.schema import Selection
    from core.store import Store

    with Store.open() as store:
        store.load(read_arrow(_drawn(seed), name="simulated"), simulated=True)
        return audit(store, Selection(), AuditOptions(splits=0, anchors=())).checks


def _drawn(seed: int) -> pa.Table:
    from core.simulate.votes import seeded, simulate

    return simulate(_world(), items=ITEMS, rng=seeded(seed))


def _world() -> World:
    """Three models that meet each other, one judge without a fault and one with each."""
    from core.simulate.votes import Category, JudgeParameters, World

    kept: dict[str, Any] = {"discrimination": 6.0, "idiosyncrasy": 0.1, "runs": 2}
    judges = [JudgeParameters(name=HONEST, **kept)]
    judges += [
        JudgeParameters(name=fault.name, **kept | dict(fault.parameters)) for fault in FAULTS
    ]
    return World(
        dataset="simulated",
        strengths=(("one", 0.5), ("two", 0.0), ("three", -0.5)),
        anchors=("two",),
        judges=tuple(judges),
        categories=(Category(name="simulated", plus=0.4, tie=0.2, minus=0.4),),
    )


if __name__ == "__main__":
    main()
