"""A check that is added as CONTRIBUTING says, to a copy of the tree, is shown everywhere."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from places import REPOSITORY

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
CONTRIBUTING = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
COPIED = ("core", "pages", "docs/verdicts.md", "data/example_first_shown.csv")
TESTS = ("checks/evidence_of.py", "checks/test_documented_checks.py", "places.py")


def example() -> tuple[str, list[str], str]:
    """The object, the changes of its module and the test, as they stand there."""
    section = CONTRIBUTING.partition("\n## Add a check: a worked example\n")[2]
    blocks = BLOCK.findall(section.partition("\n## ")[0])
    added, test = (body for kind, body in blocks if kind == "python")
    return added, [body for kind, body in blocks if kind == "diff"], test


def changed(text: str, diff: str) -> str:
    """Text with a diff done to it, whose old lines stand there once."""
    old = "".join(f"{line[1:]}\n" for line in diff.splitlines() if line[0] in " -")
    new = "".join(f"{line[1:]}\n" for line in diff.splitlines() if line[0] in " +")
    assert text.count(old) == 1
    return text.replace(old, new)


def run(root: Path, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A command in the copy, which imports nothing of this tree."""
    paths = (root, root / "tests", root / "tests" / "checks")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))} | more
    return subprocess.run(
        [sys.executable, *command],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy in which two files have changed: the module of the check's family, and its test."""
    root = tmp_path_factory.mktemp("copy")
    leave_out = shutil.ignore_patterns("__pycache__")
    for name in (*COPIED, *(f"tests/{name}" for name in TESTS)):
        source, target = REPOSITORY / name, root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=leave_out)
        else:
            shutil.copy(source, target)
    added, diffs, test = example()
    place = root / "core/questions/leaning/check.py"
    text = place.read_text(encoding="utf-8")
    text = text.replace("\nCHECKS: tuple", f"\n{added}\n\nCHECKS: tuple")
    for diff in diffs:
        text = changed(text, diff)
    place.write_text(text, encoding="utf-8")
    (root / "tests/checks/test_sides.py").write_text(test, encoding="utf-8")
    lines = ["item_id,judge,vote,gold"]
    lines += [f"{item},j,{1 if item < 150 else -1},{1 if item < 80 else -1}" for item in range(160)]
    (root / "votes.csv").write_text("\n".join(lines), encoding="utf-8")
    return root


def test_its_own_test_passes(tree: Path) -> None:
    done = run(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/checks/test_sides.py")
    assert "1 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.thorough
def test_text_json_markdown_junit_gates_and_limits_have_it(tree: Path) -> None:
    audited = run(
        tree,
        *("-m", "core", "audit", "votes.csv", "--splits", "0", "--json", "audit.json"),
        *("--markdown", "audit.md", "--junit", "audit.xml", "--fail-if", "sides=warn"),
    )
    assert audited.returncode == 1, audited.stderr
    assert "sides=warn: j is fail." in audited.stderr
    sentence = "It says A 43.8 points more often than gold ("
    assert re.search(rf"^  FAIL  sides +{re.escape(sentence)}", audited.stdout, flags=re.MULTILINE)
    document = json.loads((tree / "audit.json").read_text(encoding="utf-8"))
    (sides,) = [check for check in document["verdicts"] if check["check"] == "sides"]
    assert sides["sentence"].startswith(sentence)
    assert (sides["verdict"], sides["estimate"], sides["n_items"]) == ("fail", 0.4375, 160)
    assert (sides["caution"], sides["failure"]) == (0.1, 0.2)
    heads, *rows = [
        line
        for line in (tree / "audit.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    ]
    place = [cell.strip() for cell in heads.split("|")].index("sides")
    assert [cell.strip() for cell in rows[1].split("|")][place] == "✗"
    (case,) = [
        case
        for case in ElementTree.parse(tree / "audit.xml").iter("testcase")
        if case.get("name") == "sides"
    ]
    assert case.find("failure") is not None
    other = run(
        tree,
        *("-m", "core", "audit", "votes.csv", "--splits", "0"),
        *("--limit", "sides=.6,.7", "--fail-if", "sides=warn"),
    )
    assert other.returncode == 0, other.stderr


@pytest.mark.thorough
def test_the_overview_has_a_column_for_it(tree: Path) -> None:
    """The matrix is drawn of the page's own list, and a cell opens the check's page."""
    script = """
from pages.sections.overview.first_screen import PAGES, SHOWN
from core.finding.check import CheckResult
from core.auditing.figure import check_matrix
results = [CheckResult(judge="j", check=name, grade="ok", sentence="…") for name in SHOWN]
figure = check_matrix(results, ["j"], SHOWN, signs={"j": "ok"})
print("sides" in str(figure.to_dict()["layout"]), PAGES["sides"])
"""
    done = run(tree, "-c", script)
    assert done.stdout.split() == ["True", "errors.py"], done.stderr


@pytest.mark.thorough
def test_its_row_of_the_document_is_written(tree: Path) -> None:
    document = tree / "docs/verdicts.md"
    assert "| sides |" not in document.read_text(encoding="utf-8")
    own = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/checks/test_documented_checks.py")
    assert run(tree, *own).returncode == 1
    assert run(tree, *own, APPELLATE_WRITE_CHECKS="1").returncode == 0
    row = "| sides | Does it say A as often as gold? | ±10 points | ±20 points | 10 | errors |\n"
    assert row in document.read_text(encoding="utf-8")
    assert run(tree, *own).returncode == 0
