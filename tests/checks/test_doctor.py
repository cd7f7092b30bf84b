"""What `doctor` says of a file leads to an audit of it; `demo` shows one without a file."""

import csv
import re
import shlex
from pathlib import Path

import pytest
from places import REPOSITORY

from core.__main__ import main

ROWS = [
    ("q1", "ab", "A", ".9", "A"),
    ("q1", "ba", "B", ".8", "A"),
    ("q2", "ab", "A", ".7", "B"),
    ("q2", "ba", "tie", ".6", "B"),
]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Votes by labels that can be read in two ways."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "my votes.csv"
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["item_id", "judge", "position", "vote", "confidence", "gold", "prompt"])
        writer.writerows([item, "j", *rest, "a secret question"] for item, *rest in ROWS)
    return path


def said(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = main(["doctor", *map(str, arguments)])
    captured = capsys.readouterr()
    assert captured.err == ""
    return code, captured.out


def follow(capsys: pytest.CaptureFixture[str], text: str) -> tuple[int, str]:
    """Run the command that was said to come next."""
    (line,) = re.findall(r"^Next: python -m core (.*)$", text, flags=re.MULTILINE)
    code = main(shlex.split(line))
    return code, capsys.readouterr().out


def test_a_question_is_asked_and_its_answer_leads_to_the_audit(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = said(capsys, file.name)
    assert code == 2
    assert "To be said: What do the labels in column vote name?" in text
    assert text.endswith("Next: python -m core doctor 'my votes.csv' --label-refers model|slot\n")
    code, text = said(capsys, file.name, "--label-refers", "slot")
    assert code == 0
    assert "Read: 4 votes of 1 judge and 2 items; 0 rejected, 0 duplicates left out." in text
    assert "labels: 'A' 2, 'B' 1, 'tie' 1" in text
    assert "secret" not in text
    code, audited = follow(capsys, text)
    assert code == 0
    assert audited.count("Judges: 1; votes: 4; ")
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_what_checks_lack_is_what_the_file_lacks(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, text = said(capsys, file.name, "--label-refers", "slot")
    assert "repeated votes (column run)" in text
    assert "people's votes on the same comparisons" in text
    assert "votes in both orders" not in text
    bare = file.with_name("bare.csv")
    bare.write_text("item_id,judge,vote\nq1,j,1\nq2,j,0\nq3,j,-1\n", encoding="utf-8")
    _, text = said(capsys, bare.name)
    assert "Position bias and stability: add votes in both orders (column position)." in text
    assert "gold labels" in text


@pytest.mark.parametrize("name", ["example_first_shown.csv", "example_overconfident.csv"])
def test_the_examples_lead_to_their_audit(capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, text = said(capsys, REPOSITORY / "data" / name)
    assert code == 0
    if "question_no" in text:
        assert "60 items ('question_no': 8 rows each)" in text
        assert "'certainty_pct': numbers, and its name says confidence." in text
        assert "Not used: none." in text
    (n,) = re.findall(r"^Read: (\d+) votes of 2 judges", text, flags=re.MULTILINE)
    code, audited = follow(capsys, text)
    assert code == 0
    assert audited.count(f"Judges: 2; votes: {n}; ")


def test_scores_are_audited_and_gold_goes_to_a_store(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = file.with_name("scores.csv")
    scores.write_text("item_id,model,judge,score\nq1,x,j,3\nq1,y,j,4\n", encoding="utf-8")
    code, text = said(capsys, scores.name)
    assert code == 0
    assert "Read: 2 scores of 1 judge and 1 item" in text
    assert "Next: python -m core audit scores.csv" in text
    file.with_name("gold.csv").write_text("item_id,gold\nq1,A\nq2,B\n", encoding="utf-8")
    code, text = said(capsys, "gold.csv")
    assert code == 0
    assert "Next: python -m core import gold.csv" in text


def test_a_log_of_two_kinds_says_who_judged_what(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = REPOSITORY / "tests" / "data" / "tools" / "promptfoo.json"
    code, text = said(capsys, str(path))
    assert code == 0
    assert "read as promptfoo" in text
    assert "Read: 5 scores of 1 judge and 3 items" in text
    assert "Read: 2 votes of 1 judge and 2 items" in text
    assert "Judges: 'openai:gpt-judge'" in text
    assert "5 with an assertion icontains" not in text
    assert "4 with an assertion icontains, which no model judges" in text


def test_hopeless_files_are_refused(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = file.with_name("bad.csv")
    rows = "".join(f"q{i},j,{label}\n" for i, label in enumerate(["1", "7", "8", "9"]))
    bad.write_text("item_id,judge,vote\n" + rows, encoding="utf-8")
    assert main(["doctor", bad.name]) == 2
    captured = capsys.readouterr()
    assert "vote" in captured.out + captured.err
    assert main(["doctor", "absent.csv"]) == 2
    assert "absent.csv" in capsys.readouterr().err
    unknown = file.with_name("unknown.csv")
    unknown.write_text("\x1b[31mred,blue\n1,2\n", encoding="utf-8")
    code, text = said(capsys, unknown.name)
    assert code == 2
    assert "\x1b" not in text
    assert "--map item_id=COLUMN" in text


@pytest.mark.thorough
def test_the_demo_is_the_audit_of_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    shown = capsys.readouterr().out
    planted, found = shown.splitlines()[:2]
    assert planted.startswith("Planted: sim-judge-first-slot prefers what stands first, ")
    assert found.startswith("Found: sim-judge-boaster ✗ confidence ✗ over-sure; ")
    votes = REPOSITORY / "data" / "demo_votes.csv.gz"
    assert main(["audit", str(votes), "--splits", "0", "--isolated"]) == 0
    audited = capsys.readouterr().out.strip()
    assert audited in shown
    assert shown.endswith("Next: python -m core doctor FILE, with votes of your own.\n")


def test_after_a_refusal_nothing_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It asked which column the item is in of a table of results."""
    path = tmp_path / "results.csv"
    rows = [f"m{k},{k},{k + 1},{k + 2},.{k}" for k in range(12)]
    path.write_text("\n".join(["system,tp,fp,fn,f1", *rows]), encoding="utf-8")
    code, text = said(capsys, path)
    assert code == 2
    assert "It is a table of results" in text
    assert "To be said" not in text
