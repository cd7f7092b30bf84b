"""Rules of the house: what of one question may stand outside its folder. Lists may only get shorter,
so each test asks for exactly what is left.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from places import REPOSITORY

from core.auditing.questions import all_questions

QUESTIONS = REPOSITORY / "core" / "questions"
SIZES = Path(__file__).with_name("sizes.json")
OPEN_DOORS = {"results", "method", "fields"}
"""Modules by which one question may enter another: what is made, how, and how the JSON has it."""
OTHER_DOORS = {
    "accuracy": 2,
    "agreement": 5,
    "boards": 1,
    "change": 3,
    "confidence": 1,
    "juries": 7,
    "labels": 2,
    "order": 1,
    "planning": 7,
    "reference": 6,
    "scores": 13,
    "versions": 6,
}
"""Question → modules of other questions that it imports beside these."""
READ_IN_REPORTING = {
    ("brief", "rankings"),
    ("brief", "scores"),
    ("build", "scores"),
    ("document", "alone"),
    ("document", "outside"),
    ("document", "scores"),
    ("gates", "agreement"),
    ("gates", "scores"),
    ("html", "scores"),
    ("notebook", "scores"),
    ("text", "alone"),
    ("text", "scores"),
    ("text", "th"),
}
"""Outputs, and names of results that they read as attributes: judges of single answers and of lists
are read as judges are, each with its checks; the others are an option, a figure of one of them, and
what the text says of confidence.
"""
SQL = re.compile(r"\s*(select|insert into|delete from) .*\b(from|values|where)\b", re.S)
OTHER_SQL = {
    "core/collect/by_hand.py",
    "core/collect/registry.py",
    "core/importers/objects.py",
    "core/papers/confidence.py",
    "core/questions/change/files.py",
    "core/use/stored_items.py",
    "core/warehouse/engines.py",
}
"""Files with SQL beside `ask.py` and the store: engines ask their own."""


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_a_question_enters_another_by_its_results_or_its_method() -> None:
    entered: dict[str, set[str]] = {}
    for path in QUESTIONS.glob("*/*.py"):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ImportFrom) and node.level == 2 and node.module:
                room, *module = node.module.split(".")
                if (QUESTIONS / room).is_dir() and not {*module} & OPEN_DOORS:
                    entered.setdefault(path.parent.name, set()).add(node.module)
    assert {name: len(doors) for name, doors in entered.items()} == OTHER_DOORS


def test_outputs_name_no_result_of_a_question() -> None:
    """They walk over findings."""
    names = {
        result.name
        for question in all_questions()
        for result in (*question.results, *question.of_all.results)
    }
    read = {
        (path.stem, node.attr)
        for path in (REPOSITORY / "core" / "reporting").glob("*.py")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute) and node.attr in names
    }
    assert read == READ_IN_REPORTING


def test_sql_stands_in_the_store_and_in_what_a_question_asks() -> None:
    written = {
        path.relative_to(REPOSITORY).as_posix()
        for path in (REPOSITORY / "core").rglob("*.py")
        if path.name != "ask.py" and "store" not in path.parts
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.match(node.value)
    }
    assert written == OTHER_SQL


def statements(folder: Path) -> int:
    """Statements of the syntax tree, which no formatter moves."""
    return sum(
        isinstance(node, ast.stmt)
        for path in folder.rglob("*.py")
        for node in ast.walk(tree_of(path))
    )


def test_no_folder_grows_unseen() -> None:
    """A limit is raised in a commit of its own, which says what for."""
    limits = json.loads(SIZES.read_text(encoding="utf-8"))
    sizes = {folder: statements(REPOSITORY / folder) for folder in limits}
    over = {folder: n for folder, n in sizes.items() if n > limits[folder]}
    assert not over, f"larger than in {SIZES.name}: {over}"
    folders = {f"core/{each.name}" for each in (REPOSITORY / "core").iterdir() if each.is_dir()}
    assert {*limits} == (folders - {"core/__pycache__"}) | {"pages", "tests", "benchmarks"}


def git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_limits_are_raised_in_a_commit_of_their_own() -> None:
    if shutil.which("git") is None or not (REPOSITORY / ".git").exists():
        pytest.skip("not a checkout")
    if git("rev-parse", "--is-shallow-repository") == "true":
        pytest.skip("a shallow checkout has no history")
    place = SIZES.relative_to(REPOSITORY).as_posix()
    last = git("log", "--no-merges", "-1", "--format=%H", "--", place)
    changed = git("show", "--format=", "--name-status", last).splitlines() if last else []
    assert changed in ([], [f"M\t{place}"], [f"A\t{place}"])
