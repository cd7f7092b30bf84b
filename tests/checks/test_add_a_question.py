"""CONTRIBUTING's "Add a question", followed to the letter in a copy: one folder, and every output has it."""

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

COPIED = ("core", "pages", "docs/verdicts.md", "data/example_first_shown.csv")
TESTS = ("places.py", "checks/evidence_of.py", "checks/test_documented_checks.py")
ROOM = "core/questions/sides"
GRADES = {"warned": "warn", "failed": "fail", "unsure": "unclear", "apart": "unknown"}
"""What is planted in `votes`."""


def example() -> tuple[str, str]:
    """The question and its test, as CONTRIBUTING prints them."""
    text = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
    part = text.partition("## Add a question")[2].partition("\n## ")[0]
    question, test = re.findall(r"```python\n(.*?)```", part, re.DOTALL)
    return question, test


def votes() -> str:
    """Gold is A on every other item. A judge says A on so many of the others, always in both orders."""
    rows = ["item_id,judge,position,vote,gold"]
    for judge, items, wrong in (("warned", 400, 70), ("failed", 400, 190), ("unsure", 40, 4)):
        for item in range(items):
            gold = 1 if item % 2 else -1
            vote = 1 if gold == 1 or item // 2 < wrong else -1
            rows += [f"q{item},{judge},{order},{vote},{gold}" for order in ("ab", "ba")]
    rows += [
        f"x{item},apart,{order},{item % 3 - 1}," for item in range(60) for order in ("ab", "ba")
    ]
    return "\n".join(rows)


def run(root: Path, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A command in the copy, which imports nothing of this tree."""
    paths = (root, root / "tests", root / "tests" / "checks")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))} | more
    return subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, timeout=300
    )


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy under git into which the folder was dropped."""
    root = tmp_path_factory.mktemp("copy")
    leave_out = shutil.ignore_patterns("__pycache__")
    for name in (*COPIED, *(f"tests/{name}" for name in TESTS)):
        source, target = REPOSITORY / name, root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=leave_out)
        else:
            shutil.copy(source, target)
    (root / ".gitignore").write_text("__pycache__/\n/out/\n/votes.csv\n/tests/\n", encoding="utf-8")
    (root / "votes.csv").write_text(votes(), encoding="utf-8")
    (root / "out").mkdir()
    if shutil.which("git") is not None:
        author = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        for command in (("init", "-q"), ("add", "."), (*author, "commit", "-qm", "before")):
            done = run(root, "git", *command)
            assert done.returncode == 0, done.stderr
    question, test = example()
    room = root / ROOM
    room.mkdir()
    (room / "__init__.py").touch()
    (room / "question.py").write_text(question, encoding="utf-8")
    (root / "tests/checks/test_sides.py").write_text(test, encoding="utf-8")
    return root


OUTPUTS = """
from datetime import date
from pathlib import Path
import core
from core.reporting.brief import brief
from core.reporting.build import to_junit, to_markdown
from core.reporting.document import to_json
from core.reporting.gates import failures, parse_gate, with_gates
from core.reporting.html import report
from core.reporting.text import to_text
from pages.sections.overview.first_screen import PAGES, SHOWN

audit = core.audit("votes.csv", splits=0)
made = {
    "text": to_text(audit),
    "json": to_json(audit),
    "junit": to_junit(audit),
    "markdown": to_markdown(audit, made=date(2026, 1, 1)),
    "gate": "\\n".join(failures(with_gates(audit, [parse_gate("sides=warn")]))),
    "html": report(audit),
    "brief": brief(audit, made=date(2026, 1, 1)),
    "frame": audit.to_frame().to_csv(),
    "notebook": audit._repr_html_(),
    "attribute": str(audit.judges["failed"].sides.value),
    "overview": f"{PAGES['sides']} {'sides' in SHOWN}",
    "cards": "\\n".join(map(str, (core.audit("votes.csv", splits=0, judge=[name]).headline
                                  for name in ("warned", "failed", "unsure", "apart")))),
}
for name, text in made.items():
    Path("out", name).write_text(text, encoding="utf-8")
"""


@pytest.fixture(scope="module")
def written(tree: Path) -> dict[str, str]:
    """What each output says."""
    done = run(tree, sys.executable, "-c", OUTPUTS)
    assert done.returncode == 0, done.stderr
    return {path.name: path.read_text(encoding="utf-8") for path in (tree / "out").iterdir()}


def test_one_path_is_new(tree: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    status = run(tree, "git", "status", "--porcelain").stdout
    assert status.splitlines() == [f"?? {ROOM}/"]


def test_its_own_test_passes(tree: Path) -> None:
    own = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/checks/test_sides.py")
    done = run(tree, sys.executable, *own)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_json_has_each_grade_its_value_and_why_there_is_none(written: dict[str, str]) -> None:
    document = json.loads(written["json"])
    graded = {each["judge"]: each for each in document["verdicts"] if each["check"] == "sides"}
    assert {judge: each["verdict"] for judge, each in graded.items()} == GRADES
    assert (graded["failed"]["caution"], graded["failed"]["failure"]) == (0.1, 0.3)
    # 190 of 400 items are said to be A where gold is B.
    assert document["judges"]["failed"]["sides"] == graded["failed"]["estimate"] == 190 / 400
    assert written["attribute"] == str(190 / 400)
    assert document["judges"]["apart"]["sides"] is None
    assert any("no sides" in note and "apart" in note for note in document["notes"])


def test_text_markdown_junit_frame_and_gate_have_it(written: dict[str, str]) -> None:
    sentence = "It says A 47.5 points more often than gold ("
    assert re.search(rf"^  FAIL  sides +{re.escape(sentence)}", written["text"], re.MULTILINE)
    assert re.search(r"^Sides: failed is farthest from gold's", written["text"], re.MULTILINE)
    heads = next(line for line in written["markdown"].splitlines() if line.startswith("|"))
    assert "sides" in [cell.strip() for cell in heads.split("|")]
    cases = [
        case
        for case in ElementTree.fromstring(written["junit"]).iter("testcase")
        if case.get("name") == "sides"
    ]
    assert len(cases) == len(GRADES)
    assert sum(case.find("failure") is not None for case in cases) == 1
    assert written["frame"].count(",sides,") == len(GRADES)
    assert "sides=warn: failed is fail" in written["gate"]
    assert "sides=warn: warned is warn" in written["gate"]


def test_report_brief_notebook_and_overview_have_it(written: dict[str, str]) -> None:
    assert ">Sides</h2>" in written["html"]
    assert "Share of A beside gold" in written["html"]
    assert "says A 47.5 points more often" in written["brief"]
    assert "sides" in written["notebook"]
    assert written["overview"] == "confusion.py True"


def test_the_headline_of_a_judge_that_it_warns_of_has_its_fault(written: dict[str, str]) -> None:
    warned, *others = written["cards"].splitlines()
    assert "says A too often" in warned
    assert len(others) == len(GRADES) - 1


@pytest.mark.thorough
def test_its_row_of_the_document_is_written(tree: Path) -> None:
    document = tree / "docs/verdicts.md"
    assert "| sides |" not in document.read_text(encoding="utf-8")
    own = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/checks/test_documented_checks.py")
    assert run(tree, sys.executable, *own).returncode == 1
    assert run(tree, sys.executable, *own, APPELLATE_WRITE_CHECKS="1").returncode == 0
    row = "| sides | Does it say A as often as gold? | ±10 points | ±30 points | 10 |\n"
    assert row in document.read_text(encoding="utf-8")
    assert run(tree, sys.executable, *own).returncode == 0


SENTENCES = {
    "warned": "It says A 17.5 points more often than gold (",
    "failed": "It says A 47.5 points more often than gold (",
    "unsure": "It says A 10.0 points more often than gold (",
    "apart": "Its share of A beside gold's is unknown: no comparison that it judged has decided gold",
}


@pytest.mark.parametrize(
    ("judge", "mark", "sign"),
    [("warned", "WARN", "!"), ("failed", "FAIL", "✗"), ("unsure", "~", "~"), ("apart", "?", "?")],
)
def test_every_grade_stands_in_every_output(
    written: dict[str, str], judge: str, mark: str, sign: str
) -> None:
    """Text, JSON, JUnit, Markdown, frame, report and notebook have each judge's grade, and why."""
    sentence, grade = SENTENCES[judge], GRADES[judge]
    assert re.search(rf"^  {re.escape(mark)} +sides +{re.escape(sentence)}", written["text"], re.M)
    (check,) = (
        each
        for each in json.loads(written["json"])["verdicts"]
        if (each["judge"], each["check"]) == (judge, "sides")
    )
    assert (check["verdict"], check["sentence"].startswith(sentence)) == (grade, True)
    suite = ElementTree.fromstring(written["junit"])
    (case,) = (
        each
        for each in suite.iter("testcase")
        if (each.get("classname"), each.get("name")) == (judge, "sides")
    )
    assert (case.findtext("system-out") or "").startswith(sentence)
    assert (case.find("failure") is not None) == (grade == "fail")
    assert (case.find("skipped") is not None) == (grade == "unknown")
    rows = [line for line in written["markdown"].splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    row = next(each for each in cells if each[0] == judge)
    assert row[cells[0].index("sides")] == sign
    assert re.search(rf"{judge},[^,]*,[^,]*,sides,{grade},", written["frame"])
    # Escaped, "gold's" is another text.
    beginning = sentence.split("'")[0]
    assert beginning in written["html"]
    assert f'grade-{grade}">{sign} {grade}</span>' in written["html"]
    assert beginning in written["notebook"]


OF_SCORES = '''
"""Does a judge of single answers pass more than people do?"""

from ...finding.check import Check, Limits, differs, points_span
from ...finding.question import Question
from ...stats.intervals import mean_interval


def more(evidence):
    table = evidence.table
    gap = table.passed - table.people_verdict
    return mean_interval(table.unit, gap, ends=(-1.0, 1.0), level=evidence.level)


def sentence(_, gap):
    return f"It passes {differs(gap.value, 'more', 'less')} often ({points_span(gap)})"


CHECK = Check(
    name="passes_more",
    title="passes more",
    subject="What it passes beside people",
    question="Does it pass more than people do?",
    page="scores",
    kind="scores",
    limits=Limits("signed", 0.05, 0.10, "As leniency.", unit="points"),
    needs="people's pass or fail",
    more_of="with people's verdicts",
    advice="Look at what it passes.",
    estimate=more,
    sentence=sentence,
    short=lambda *_: "passes more than people do",
    figure="passed beyond people",
)
QUESTION = Question(name="passes_more", place=72, title="Passes more", score_checks=(CHECK,))
'''
ASKED_OF_SCORES = """
import core
from core.reporting.build import to_junit, to_markdown
from core.reporting.document import to_json
from core.reporting.html import report
from core.reporting.text import to_text

audit = core.audit("scores.csv", splits=0)
said = ("It passes 20.0 points more often", "passes more than people do")
for made in (to_text, to_json, to_junit, to_markdown, report):
    print(any(words in made(audit) for words in said), made.__name__)
(result,) = [each for each in audit.scores[0].checks if each.check == "passes_more"]
print(result.grade, audit.scores[0].overall.verdict)
"""


def test_a_question_of_single_answers_is_one_folder_too(tree: Path, tmp_path: Path) -> None:
    root = tmp_path / "copy"
    shutil.copytree(tree / "core", root / "core", ignore=shutil.ignore_patterns("__pycache__"))
    room = root / "core/questions/passes_more"
    room.mkdir()
    (room / "__init__.py").touch()
    (room / "question.py").write_text(OF_SCORES, encoding="utf-8")
    rows = ["item_id,judge,score,gold"]
    rows += [f"q{k},j,{int(k % 2 == 0 or k % 10 in (1, 3))},{int(k % 2 == 0)}" for k in range(400)]
    (root / "scores.csv").write_text("\n".join(rows), encoding="utf-8")
    done = run(root, sys.executable, "-c", ASKED_OF_SCORES)
    assert done.returncode == 0, done.stderr
    *outputs, graded = done.stdout.splitlines()
    assert outputs == [
        f"True {name}" for name in ("to_text", "to_json", "to_junit", "to_markdown", "report")
    ]
    assert graded.split()[0] == "fail"
