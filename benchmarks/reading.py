"""How files are read beside what they hold: `python -m benchmarks.reading TRUTH.json FOLDER…
[--answers] [--law NAME…] [--commands]`.

--answers : where a question is put, it counts as right if an option that it offers gives what is
stated. --law : how CSV files are read that are changed as a law of `reading_laws` says, beside how
they are read as they are (columns, rows, bookkeeping, german, french, spanish, nonsense, or all).

TRUTH.json says of each file's name what it holds: `form`, numbers of `judges`, `people`, `items`,
`orders`, `gold`, and whatever of `FACTS` is stated. A file is *right* where every stated fact is,
*asked* where one question is put, *refused* where it is not read, and else *wrong in silence*.

With `--commands`, `doctor`, `audit` and `import` are run on each file, too, and a line says
where they do not end as reading it in Python does.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.reading_laws import SHORT, SILENT, Table, lines_of, measured
from core.__main__ import main as command
from core.errors import AmbiguousLabels, AppellateError
from core.importers import inspect, mostly_rejected, read
from core.importers.by_plan import PLAN, answered
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


def _golds(readings: list[ImportResult]) -> int:
    """Metrics with gold, one where there are no metrics."""
    metrics = set()
    for reading in readings:
        names = [n for n in ("metric", "gold") if n in reading.votes.column_names]
        rows = reading.votes.select(names).to_pylist()
        metrics |= {row.get("metric") for row in rows if row.get("gold") is not None}
    return len(metrics)


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
        # Gold of a file of both forms is that of the stated one.
        stated = [one for one in readings if one.kind == truth["form"]]
        value = fact(stated if name == "gold" and stated else readings)
        wanted = truth[name] if isinstance(truth[name], list) else [truth[name]]
        if name == "items" and truth.get("rows rejected"):
            # An item of which the only row is rejected is in the file, and not in what is read.
            wanted = [*wanted, *(n - truth["rows rejected"] for n in wanted)]
        if name in ("people", "by people") and value not in wanted:
            # One person's labels are gold of single answers and of pairs, of each metric.
            value += _golds(readings) if name == "people" else 0
            value = _gold(readings) if name == "by people" and not value else value
        if isinstance(value, list):
            if value != wanted:
                said.append(f"{name} {value} for {wanted}")
        elif value not in wanted:
            said.append(f"{name} {value} for {truth[name]}")
    return said


def outcome(name: str, data: bytes, truth: dict[str, Any], typed: str = "") -> tuple[str, str]:
    """How a file is read with some options, and what is to be said of it. Of which more than half
    is rejected, it is refused, as every command does.
    """
    try:
        readings = read([(name, data)], answered(typed))
        for refusal in map(mostly_rejected, readings):
            if refusal is not None:
                raise refusal
    except AmbiguousLabels as error:
        return "asked", str(error)
    except AppellateError as error:
        return "refused", str(error)
    faults = wrong(readings, truth)
    if "a question that matches" in truth and not typed:
        faults.append("what its words mean is to be asked")
    return ("wrong in silence", "; ".join(faults)) if faults else ("right", "")


def _options(name: str, data: bytes, typed: str) -> Iterator[str]:
    """What is to be typed for each answer that the first question of a file offers."""
    looks = inspect(data, name, answered(typed))
    for question in looks.questions[:1]:
        for option, _ in question.choices:
            if question.option == PLAN:
                yield f"{typed} {option}"
            elif question.option == "repeats":
                yield f"{typed} --map {option}"
            else:
                yield f"{typed} --{question.option.replace('_', '-')} {option}"
    if looks.vocabulary is None:
        for vocabulary in looks.vocabularies:
            yield f"{typed} --labels {vocabulary.name}"


def after_answers(
    name: str, data: bytes, truth: dict[str, Any], typed: str = "", questions: int = 2
) -> str | None:
    """Options that are offered, by at most two questions, and with which a file is read as it is
    stated; None if there are none.
    """
    for answer in _options(name, data, typed):
        try:
            found, _ = outcome(name, data, truth, answer)
        except ValueError:
            continue
        if found == "right":
            return answer.strip()
        if found == "asked" and questions > 1:
            more = after_answers(name, data, truth, answer, questions - 1)
            if more is not None:
                return more
    return None


def _table(path: Path) -> Table | None:
    """The rows of a CSV file, the header first; None if it is none."""
    rows = list(csv.reader(io.StringIO(path.read_text("utf-8"), newline="")))
    whole = rows and len(rows[0]) > 1 and len(set(map(len, rows))) == 1
    return rows if path.suffix == ".csv" and whole else None


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
    """Print how each file is read, and the sums; 1 where a law is broken in silence."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reading")
    parser.add_argument("truths", type=Path, metavar="TRUTH.json")
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--answers", action="store_true")
    parser.add_argument("--commands", action="store_true")
    parser.add_argument("--law", nargs="+", choices=("all", *SHORT), default=())
    asked = parser.parse_args(arguments)
    truths: dict[str, Any] = json.loads(asked.truths.read_text(encoding="utf-8"))
    folders = filter(Path.is_dir, asked.folders)
    paths = [path for folder in folders for path in sorted(folder.iterdir()) if path.name in truths]
    if asked.law:
        tables = {path.name: table for path in paths if (table := _table(path)) is not None}
        laws = [SHORT[name] for name in (SHORT if "all" in asked.law else asked.law)]
        outcomes, lines = measured(tables, laws)
        print("\n".join([*lines, *lines_of(outcomes)]))
        return int(any(counted[SILENT] for counted in outcomes.values()))
    sums: Counter[str] = Counter()
    apart = 0
    for path in paths:
        if asked.commands and len(set((codes := exits(path)).values())) > 1:
            apart += 1
            print(f"{path.name}: " + ", ".join(f"{name} {code}" for name, code in codes.items()))
        data = path.read_bytes()
        found, said = outcome(path.name, data, truths[path.name])
        if found == "asked" and asked.answers:
            typed = after_answers(path.name, data, truths[path.name])
            found = "asked, no right answer" if typed is None else "right after answers"
            said = typed or said
        sums[found] += 1
        if found != "right":
            print(f"{found:20} {path.name}: {said[:220]}")
    print(f"{sums.total()} files: " + ", ".join(f"{n} {found}" for found, n in sums.most_common()))
    if asked.commands:
        print(f"{apart} files that the commands do not end alike on")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
