"""What is sent on: text of a screen, Markdown without empty columns, a report of two pages."""

import re
from dataclasses import replace
from datetime import date

import pytest
from places import REPOSITORY

from core.__main__ import main
from core.auditing import run
from core.auditing.answers import overview_answer
from core.auditing.options import AuditOptions
from core.auditing.results import Audit
from core.importers import read
from core.reporting.brief import Examples, brief, examples
from core.reporting.build import to_markdown
from core.reporting.text import shortened, to_text
from core.schema import Selection
from core.store import Store
from core.use.one_call import audit


@pytest.fixture(scope="module")
def demo() -> Audit:
    return audit(REPOSITORY / "data" / "demo_votes.csv.gz", splits=0)


def many(judges: int, items: int = 40) -> Audit:
    rows = [
        f"q{item},judge {k},{1 if (item * 7 + k * item) % 10 else -1},1"
        for k in range(judges)
        for item in range(items)
    ]
    return audit(b"item_id,judge,vote,gold\n" + "\n".join(rows).encode(), splits=0)


def test_the_text_names_the_judge_to_use_first_and_ends_within_a_screen(demo):
    lines = shortened(demo).splitlines()
    said = overview_answer(demo)
    assert lines[:2] == [said.headline, said.figures]
    assert len(lines) <= 60 < len(to_text(demo).splitlines())


def test_the_command_prints_a_screen_and_all_where_that_is_asked(tmp_path, capsys):
    file = tmp_path / "votes.csv"
    rows = [f"q{k},j{k % 9},{1 if k % 4 else -1},1" for k in range(360)]
    file.write_text("item_id,judge,vote,gold\n" + "\n".join(rows), encoding="utf-8")
    assert main(["audit", str(file), "--splits", "0"]) == 0
    short = capsys.readouterr().out.rstrip("\n").splitlines()
    assert main(["audit", str(file), "--splits", "0", "--all"]) == 0
    whole = capsys.readouterr().out.rstrip("\n").splitlines()
    assert len(short) <= 60 < len(whole)
    assert short[0] == overview_answer(audit(file, splits=0)).headline


def test_of_many_judges_the_best_and_the_worst_stand_in_the_text():
    found = many(40)
    lines = shortened(found).splitlines()
    assert len(lines) <= 60
    names = [judge.judge for judge in found.judges]
    start = lines.index("Judges, best first") + 1
    listed = [line for line in lines[start:] if "  judge " in line][:15]
    assert [next(n for n in names if f"  {n} " in f"{line} ") for line in listed] == [
        *names[:12],
        *names[-3:],
    ]
    assert "  … 25 more between them" in lines


def test_markdown_has_n_date_signs_and_no_column_that_nobody_has(demo):
    text = to_markdown(demo, made=date(2026, 1, 2))
    head = next(line for line in text.splitlines() if line.startswith("| judge |"))
    assert head.startswith("| judge | verdict | n | accuracy |")
    unknown = {one.check for one in demo.checks} - {
        one.check for one in demo.checks if one.grade != "unknown"
    }
    assert "robustness" in unknown
    assert not [check for check in unknown if check.replace("_", " ") in head]
    assert " · 2026-01-02 · " in text
    rows = [line for line in text.splitlines() if line.startswith("| sim")]
    assert rows[0].startswith("| sim\\-judge\\-careful | ✓ trust | 13,415 |")
    assert "| ✗ do not trust | 13,370 |" in rows[3]


def test_the_brief_report_has_card_strip_rows_failures_and_errors(demo):
    errors = {
        "surest": _Table(
            [
                {
                    "item_id": "q<1>",
                    "judge": "j",
                    "vote": 1,
                    "gold": -1,
                    "confidence": 0.9,
                    "position": "ab",
                    "prompt": "x" * 500,
                    "response_a": "<b>bold</b>",
                    "response_b": None,
                    "model_a": "m1",
                    "model_b": "m2",
                }
            ]
        )
    }
    errors |= dict.fromkeys(("flipped", "against people"), errors["surest"])
    page = brief(
        demo, shown=Examples(errors=errors), made=date(2026, 1, 2), command="appellate <votes>"
    )
    assert overview_answer(demo).headline in page
    assert "2026-01-02" in page
    judges = [judge.judge for judge in demo.judges if judge.rater_type != "human"]
    answer = page.partition('<section id="first">')[2].partition("</section>")[0]
    places = [answer.index(f">{judge}</th>") for judge in judges]
    assert places == sorted(places)
    assert not [judge.judge for judge in demo.judges if f">{judge.judge}</th>" in answer][4:]
    failed = page.partition('<section id="failed">')[2].partition("</section>")[0]
    assert failed.count("<figure>") == 3
    warned = "Simulated: these judges and models do not exist"
    invented = replace(demo, summary=replace(demo.summary, simulated=True))
    assert (warned in page, warned in brief(invented)) == (False, True)
    assert page.count("&lt;b&gt;bold") == 3
    assert "<b>bold" not in page
    assert "x" * 300 not in page
    assert "Command: appellate &lt;votes&gt;" in page
    assert re.search("SHA-256 of the audit as JSON: [0-9a-f]{64}<", page)
    assert "&lt;b&gt;bold" not in brief(demo, shown=Examples(errors=errors), texts=False)


@pytest.mark.parametrize(
    ("kind", "heading"),
    [
        ("votes", "The answer"),
        ("answers", "Judges of single answers"),
        ("scores", "Judges of single answers"),
        ("rankings", "Judges of lists"),
    ],
)
def test_each_kind_of_data_is_one_small_file_without_a_script(kind, heading):
    page = brief(audit(REPOSITORY / "data" / f"demo_{kind}.csv.gz", splits=0))
    assert f"<h2>{heading}</h2>" in page
    assert page.count("<figure>") >= 2
    assert "0 votes" not in page
    assert "<script" not in page
    assert len(page.encode()) <= 500_000


def test_single_answers_on_which_people_differ_are_shown_with_and_without_texts():
    file = REPOSITORY / "data" / "demo_answers.csv.gz"
    with Store.open() as store:
        for reading in read([(file.name, file)]):
            store.load(reading)
        found = run.audit(store, Selection(), AuditOptions(splits=0))
        shown = examples(store, found)
    first = shown.answers[0]
    whole, bare = brief(found, shown=shown), brief(found, shown=shown, texts=False)
    for page in (whole, bare):
        assert f"{first['judge']} says {first['judge_says']}" in page
    assert first["answer"] in whole
    assert first["answer"] not in bare


class _Table:
    """Votes as a query gives them."""

    def __init__(self, rows: list[dict]) -> None:
        self.rows = rows

    def to_pylist(self) -> list[dict]:
        return self.rows
