"""How files are read beside what they hold: `python -m benchmarks.reading TRUTH.json FOLDER…`.

TRUTH.json says of each file's name what it holds: `form`, numbers of `judges`, `people`, `items`,
`orders`, `gold`, and whatever of `FACTS` is stated. A file is *right* where every stated fact is,
*asked* where one question is put, *refused* where it is not read, and else *wrong in silence*.

With `--commands` first, `doctor`, `audit` and `import` are run on each file, too, and a line says
where they do not end as reading it in Python does.
"""

from __future__ import annotations

import io
import json
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from core.__main__ import main as command
from core.errors import AmbiguousLabels, AppellateError
from core.importers import read
from core.schema import ImportResult


def _values(readings: list[ImportResult], column: str, human: bool | None = None) -> list[Any]:
    found: list[Any] = []
    for reading in readings:
        votes = reading.votes
        if column not in votes.column_names:
            continue
        kinds = (
            votes["rater_type"].to_pylist()
            if "rater_type" in votes.column_names
            else ["llm"] * votes.num_rows
        )
        found += [
            value
            for value, kind in zip(votes[column].to_pylist(), kinds, strict=True)
            if value is not None and (human is None or (kind == "human") == human)
        ]
    return found


def _cast(readings: list[ImportResult], human: bool) -> int:
    return len(_values(readings, "vote", human)) + len(_values(readings, "score", human))


def _gold(readings: list[ImportResult]) -> int:
    """Items with gold."""
    items = set()
    for reading in readings:
        if "gold" in reading.votes.column_names:
            rows = reading.votes.select(["item_id", "gold"]).to_pylist()
            items |= {row["item_id"] for row in rows if row["gold"] is not None}
    return len(items)


FACTS: dict[str, Callable[[list[ImportResult]], Any]] = {
    "judges": lambda found: len(set(_values(found, "judge", False))),
    "people": lambda found: len(set(_values(found, "judge", True))),
    "items": lambda found: len(set(_values(found, "item_id"))),
    "orders": lambda found: len(set(_values(found, "position"))),
    "gold": _gold,
    "by judges": lambda found: _cast(found, False),
    "by people": lambda found: _cast(found, True),
    "number of metrics": lambda found: len(set(_values(found, "metric"))),
    "models": lambda found: sorted(
        {str(v) for name in ("model_a", "model_b", "model") for v in _values(found, name)}
    ),
    "judge names": lambda found: sorted(set(_values(found, "judge", False))),
    "rows rejected": lambda found: sum(one.rejected.num_rows for one in found),
}
"""Facts of a reading, by the names that a statement of truth gives them."""


def wrong(readings: list[ImportResult], truth: dict[str, Any]) -> list[str]:
    """What a reading says otherwise than the truth. A person's column may be gold."""
    kinds = {one.kind for one in readings}
    said = [] if truth["form"] in kinds else [f"form {sorted(kinds)} for {truth['form']}"]
    for name, fact in FACTS.items():
        if name not in truth:
            continue
        value = fact(readings)
        wanted = truth[name] if isinstance(truth[name], list) else [truth[name]]
        if name in ("people", "by people") and value not in wanted:
            # One person's labels are gold of single answers and of pairs.
            value += 1 if name == "people" and _gold(readings) else 0
            value = _gold(readings) if name == "by people" and not value else value
        if isinstance(value, list):
            if value != wanted:
                said.append(f"{name} {value} for {wanted}")
        elif value not in wanted:
            said.append(f"{name} {value} for {truth[name]}")
    return said


def outcome(name: str, data: bytes, truth: dict[str, Any]) -> tuple[str, str]:
    """How a file is read, and what is to be said of it."""
    try:
        readings = read([(name, data)])
    except AmbiguousLabels as error:
        return "asked", str(error)
    except AppellateError as error:
        return "refused", str(error)
    faults = wrong(readings, truth)
    if "a question that matches" in truth:
        faults.append("what its words mean is to be asked")
    return ("wrong in silence", "; ".join(faults)) if faults else ("right", "")


def exits(path: Path) -> dict[str, int]:
    """Exit code of each command on a file; 2 for Python where it raises."""
    with TemporaryDirectory() as folder:
        store = str(Path(folder) / "store.duckdb")
        runs = {
            "doctor": ["doctor", str(path)],
            "audit": ["audit", str(path), "--splits", "0"],
            "import": ["import", str(path), "--store", store],
        }
        codes: dict[str, int] = {}
        for name, words in runs.items():
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                codes[name] = command(words)
    try:
        read([(path.name, path)])
        codes["Python"] = 0
    except AppellateError:
        codes["Python"] = 2
    return codes


def main(arguments: list[str]) -> int:
    """Print how each file is read, and the sums."""
    commands = arguments[:1] == ["--commands"]
    arguments = arguments[commands:]
    apart = 0
    truths: dict[str, Any] = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    sums: Counter[str] = Counter()
    for folder in map(Path, arguments[1:]):
        for path in sorted(folder.iterdir()):
            if path.name not in truths:
                continue
            found, said = outcome(path.name, path.read_bytes(), truths[path.name])
            sums[found] += 1
            if commands and len(set((codes := exits(path)).values())) > 1:
                apart += 1
                print(
                    f"{path.name}: " + ", ".join(f"{name} {code}" for name, code in codes.items())
                )
            if found != "right":
                print(f"{found:16} {path.name}: {said[:220]}")
    print(f"{sums.total()} files: " + ", ".join(f"{n} {found}" for found, n in sums.most_common()))
    if commands:
        print(f"{apart} files that the commands do not end alike on")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
