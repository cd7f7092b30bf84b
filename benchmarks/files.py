"""A real file of votes: audit it as a user would, read, load and export it. And what an import
costs.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import alternatives
from benchmarks.timing import Row, Skipped, Timing, alone, in_turns
from core.importers import ReadOptions, read
from core.store import Store
from core.store.export import write_file

REPOSITORY = Path(__file__).resolve().parent.parent
VOTES = REPOSITORY.parent / "shared" / "data" / "votes" / "rewardbench2_pairs.csv.gz"
AUDIT_MS = 5_000.0
IMPORT_RATIO, SMALL_RATIO = 4.0, 3.0
LIBRARIES = "import numpy, scipy.special, pyarrow.compute, duckdb"


def rows(path: Path = VOTES, *, repeats: int = 5) -> list[Row | Skipped]:
    """Time a file; where it is absent, say so."""
    if not path.is_file():
        return [
            Skipped(
                what="full audit, import and export of a file", reason=f"{path.name} is not here"
            )
        ]
    audited = alone(lambda: _audit(path), repeats=min(repeats, 3))
    frame = alternatives.read_csv(path)
    with tempfile.TemporaryDirectory() as folder, Store.open(None) as store:
        # A store on disk, as the app has it; each run loads into a new one.
        places = (Path(folder) / f"{turn}.duckdb" for turn in range(10_000))
        loaded = in_turns(
            lambda: _load(path, next(places)), lambda: alternatives.read_csv(path), repeats=repeats
        )
        for reading in read([(path.name, path)], ReadOptions()):
            store.load(reading)
        out = Path(folder)
        exported = in_turns(
            lambda: write_file(store.export(), out / "ours.csv.gz"),
            lambda: frame.to_csv(out / "theirs.csv.gz", index=False),
            repeats=min(repeats, 3),
        )
        parquet = in_turns(
            lambda: write_file(store.export(), out / "ours.parquet"),
            lambda: frame.to_parquet(out / "theirs.parquet"),
            repeats=repeats,
        )
    n = f"{len(frame):,}-vote file"
    return [
        Row(what=f"**full audit of the {n}, as a command**", ours=audited, goal_ms=AUDIT_MS),
        Row(
            what=f"read, check and load the {n} into a new store",
            ours=loaded[0],
            instead="pandas read_csv, unchecked",
            theirs=loaded[1],
        ),
        Row(
            what="export it as .csv.gz",
            ours=exported[0],
            instead="pandas to_csv",
            theirs=exported[1],
        ),
        Row(
            what="export it as .parquet",
            ours=parquet[0],
            instead="pandas to_parquet",
            theirs=parquet[1],
        ),
    ]


def importing(*, repeats: int = 9) -> Row:
    """Import time within a fresh process, without the interpreter's own start."""
    mine, other = [], []
    for modules, found in ((("core.auditing.run",), mine), (("numpy", "duckdb"), other)):
        _import(modules)
        found.clear()
    for _ in range(repeats):
        mine.append(_import(("core.auditing.run",)))
        other.append(_import(("numpy", "duckdb")))
    return Row(
        what="**import core.auditing.run**",
        ours=Timing(runs=tuple(mine)),
        instead="import numpy, duckdb",
        theirs=Timing(runs=tuple(other)),
        goal_ratio=IMPORT_RATIO,
    )


def small_audit(*, repeats: int = 9) -> Row:
    """A whole command on sixty votes, beside a process that only imports what it computes with."""
    votes = [
        f"q{item},x,y,{judge},{'AB'[(item + k) % 3 == 0]},0.{60 + item},A"
        for item in range(30)
        for k, judge in enumerate(("one", "two"))
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        header = "item_id,model_a,model_b,judge,vote,confidence,gold"
        path.write_text("\n".join([header, *votes, ""]), encoding="utf-8")
        ours, theirs = in_turns(
            lambda: _audit(path), lambda: _process("-c", LIBRARIES), repeats=repeats
        )
    return Row(
        what="**full audit of 60 votes, as a command**",
        ours=ours,
        instead=LIBRARIES,
        theirs=theirs,
        goal_ratio=SMALL_RATIO,
    )


def _import(modules: tuple[str, ...]) -> float:
    code = (
        f"import time; t = time.perf_counter(); import {', '.join(modules)}; "
        "print(time.perf_counter() - t)"
    )
    return float(_process("-c", code)) * 1000


def _audit(path: Path) -> None:
    _process("-m", "core", "audit", str(path), "--json", "-")


def _process(*arguments: str) -> str:
    """What a fresh interpreter writes."""
    run = [sys.executable, *arguments]
    return subprocess.run(run, cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout


def _load(path: Path, place: Path) -> None:
    with Store.open(place) as store:
        for reading in read([(path.name, path)], ReadOptions()):
            store.load(reading)
