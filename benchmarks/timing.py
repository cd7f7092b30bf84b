"""Time ours and the alternative in turns, so that both meet the same machine, and print
one table.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

LIBRARIES = ("numpy", "scipy", "pandas", "duckdb", "pyarrow", "plotly", "streamlit", "scikit-learn")
HEADINGS = (
    "what",
    "ours: median (min), ms",
    "alternative",
    "its median (min), ms",
    "ours ÷ alternative",
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Timing:
    """Wall-clock milliseconds of several runs."""

    runs: tuple[float, ...]

    @property
    def median(self) -> float:
        return float(np.median(self.runs))

    @property
    def least(self) -> float:
        return min(self.runs)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Row:
    """One line of the table; `goal` in milliseconds, or as a ratio to the alternative."""

    what: str
    ours: Timing
    instead: str = ""
    theirs: Timing | None = None
    goal_ms: float | None = None
    goal_ratio: float | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Skipped:
    """What could not be timed here, and why."""

    what: str
    reason: str


def timed(work: Callable[[], object]) -> float:
    """Milliseconds of one run."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def alone(work: Callable[[], object], *, repeats: int) -> Timing:
    """Warm up once, then time."""
    work()
    return Timing(runs=tuple(timed(work) for _ in range(repeats)))


def in_turns(
    ours: Callable[[], object],
    theirs: Callable[[], object],
    *,
    repeats: int,
    theirs_repeats: int | None = None,
) -> tuple[Timing, Timing]:
    """Warm both up once, then time them in turns; `theirs` less often if it takes seconds."""
    ours()
    if theirs_repeats is None:
        theirs()
    mine, other = [], []
    for turn in range(repeats):
        mine.append(timed(ours))
        if turn < (theirs_repeats or repeats):
            other.append(timed(theirs))
    return Timing(runs=tuple(mine)), Timing(runs=tuple(other))


def machine() -> str:
    """Processor, cores, memory, Python, libraries and how busy it is; never a host name or
    a path.
    """
    processor = platform.processor() or platform.machine()
    facts = Path("/proc/cpuinfo")
    if facts.exists():
        named = [
            line.split(":", 1)[1] for line in facts.read_text().splitlines() if "model name" in line
        ]
        processor = named[0].strip() if named else processor
    # Windows has neither; a benchmark there still runs.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = ""
    if hasattr(os, "sysconf"):
        memory = f", {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return (
        f"{processor}, {cores} cores{memory}, {platform.system()}, Python "
        f"{platform.python_version()}\n({libraries})."
    )


def load_now() -> float | None:
    """Processes that wanted a core over the last minute, on average; None where nobody
    counts them.
    """
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def busy(before: float | None, after: float | None) -> str:
    """A sentence about other work on the machine."""
    if before is None or after is None:
        return "How busy the machine was is unknown."
    said = f"Load was {before:.1f} before and {after:.1f} after the run."
    if before > 1:
        said += (
            " Other work was running, so times are upper bounds; the "
            "ratios and least times say more."
        )
    return said


def number(value: float) -> str:
    """Three significant digits, none of them after the point from 100 up."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def met(row: Row) -> str:
    """Whether the median meets the goal; if not, whether the least time does."""
    if row.goal_ms is not None:
        goal, median, least = row.goal_ms, row.ours.median, row.ours.least
    elif row.goal_ratio is not None and row.theirs is not None:
        goal = row.goal_ratio
        median, least = row.ours.median / row.theirs.median, row.ours.least / row.theirs.least
    else:
        return "–"
    return "yes" if median <= goal else f"no (least: {'yes' if least <= goal else 'no'})"


def table(rows: Sequence[Row | Skipped]) -> str:
    """Markdown."""
    lines = [f"| {' | '.join(HEADINGS)} | goal | met |", "|---|--:|---|--:|--:|--:|---|"]
    for row in rows:
        if isinstance(row, Skipped):
            lines.append(f"| {row.what} | skipped: {row.reason} | | | | | |")
            continue
        theirs = ratio = ""
        if row.theirs is not None:
            theirs = _both(row.theirs)
            ratio = number(row.ours.median / row.theirs.median)
        goal = "–"
        if row.goal_ms is not None:
            goal = f"≤ {number(row.goal_ms)} ms"
        elif row.goal_ratio is not None:
            goal = f"≤ {row.goal_ratio:g} ×"
        cells = (row.what, _both(row.ours), row.instead or "–", theirs, ratio, goal, met(row))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _both(timing: Timing) -> str:
    return f"{number(timing.median)} ({number(timing.least)})"
