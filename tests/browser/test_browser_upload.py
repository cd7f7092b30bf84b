"""Files dropped on the Data page in a real browser: read, answered, loaded, exported, broken,
hostile.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from visits import start_app, stop_app, visiting

HOSTILE = '<img src="http://host.invalid/p.png"> ![p](http://host.invalid/q.png) =1+1'
SPREADSHEET = (
    "prompt_id;Judge model;Winner;first shown;human label\n"
    "p1;gpt-4o;A;A;A\np1;gpt-4o;A;B;A\np2;gpt-4o;tie;A;B\np2;gpt-4o;B;B;B\n"
)


@pytest.fixture(scope="module")
def own_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An app whose store these tests may fill."""
    server, address = start_app(tmp_path_factory.mktemp("upload") / "votes.duckdb")
    yield address
    stop_app(server)


@pytest.fixture
def visitor(chromium, at_home, own_app):
    with visiting(chromium, own_app, within=at_home()) as found:
        found.open("/start")
        yield found


def drop(visitor, *files: Path) -> None:
    visitor.page.set_input_files(
        "[data-testid=stFileUploaderDropzoneInput]", [str(path) for path in files]
    )
    visitor.page.wait_for_selector("[class*=st-key-file-]")
    visitor.settle()


def says(visitor, text: str) -> None:
    visitor.page.locator("[data-testid=stText]").get_by_text(text).first.wait_for()


def selected(visitor) -> str:
    """Data set that the sidebar selects."""
    return str(
        visitor.page.locator(
            "[data-testid=stSidebar] [data-testid=stSelectbox] input"
        ).first.input_value()
    )


def load(visitor) -> None:
    visitor.page.locator(".st-key-load button").click()
    visitor.page.get_by_role("button", name="To the verdict").wait_for()
    visitor.settle()


def test_browser_spreadsheet_is_read_back_and_loaded(visitor, tmp_path):
    path = tmp_path / "ours.csv"
    path.write_text(SPREADSHEET, encoding="utf-8")
    drop(visitor, path)
    says(visitor, "Choose what is still open above")
    assert visitor.page.locator(".st-key-load").count() == 0
    visitor.page.get_by_text("the first and the second shown").click()
    says(visitor, "judge gpt-4o saw B first and said B is better; gold says A")
    load(visitor)
    says(visitor, "4 votes loaded into ours.")
    assert selected(visitor) == "ours"
    with visitor.page.expect_download() as download:
        visitor.page.get_by_role("button", name="Export CSV").click()
    exported = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert download.value.suggested_filename == "ours.csv"
    assert len(exported) == 5


def test_browser_a_text_can_be_typed_for_every_row(visitor, tmp_path):
    path = tmp_path / "typed.csv"
    path.write_text("item_id,vote\n1,1\n2,-1\n", encoding="utf-8")
    drop(visitor, path)
    says(visitor, "Choose under “Columns” which column is: Judge")
    visitor.page.locator("[class*=long-judge] input").fill("gpt-4o")
    visitor.page.keyboard.press("Enter")
    says(visitor, "item 1: judge gpt-4o said A is better")


def test_browser_columns_of_other_names_take_two_choices(visitor, tmp_path):
    """Confirm the suggested columns, and say what left is: the rest is suggested from names and
    values.
    """
    path = tmp_path / "sides.csv"
    path.write_text(
        "grader,question_no,annotator_says,certainty_pct,order_shown,left_system,right_system\n"
        "g1,q1,left,90,AB,m1,m2\ng1,q1,right,80,BA,m1,m2\ng1,q2,draw,55,AB,m1,m2\ng1,q2,left,70,BA,m1,m2\n",
        encoding="utf-8",
    )
    drop(visitor, path)
    says(visitor, "This file is not in yet")
    visitor.page.get_by_text("These columns are right").click()
    visitor.page.get_by_text("the models, whichever was shown first").click()
    says(visitor, "judge g1 saw B first and said m2 (B) is better with confidence 80%")
    load(visitor)
    says(visitor, "4 votes loaded into sides.")


def test_browser_a_label_that_is_not_understood_is_explained(visitor, tmp_path):
    path = tmp_path / "words.csv"
    path.write_text(
        "item_id,judge,winner\n1,j,model_a\n2,j,model_b\n3,j,timed out\n", encoding="utf-8"
    )
    drop(visitor, path)
    says(visitor, "These labels are not in the vocabulary above")
    visitor.pick(visitor.page.locator("[class*=means] input").first, "failed call, no verdict")
    says(visitor, "3 votes of 1 rater")
    load(visitor)
    says(visitor, "3 votes loaded into words.")


def test_browser_native_and_broken_files_of_one_drop(visitor, tmp_path, native):
    (file,) = (native / "judgebench").glob("*judge-1*")
    latin = tmp_path / "latin.csv"
    latin.write_bytes("item_id,judge,vote\n1,Jürgen,1\n".encode("latin-1") + "2,Zoë,1\n".encode())
    drop(visitor, file, latin)
    says(visitor, "is not UTF-8")
    says(visitor, "1 of 2 not ready to load")
    load(visitor)
    assert selected(visitor) == "JudgeBench"
    visitor.page.get_by_role("button", name="To the verdict").click()
    visitor.arrive("Verdict")
    assert selected(visitor) == "JudgeBench"


def test_browser_hostile_file_is_only_text(visitor, tmp_path):
    path = tmp_path / "<b>![p](q.png)=1.csv"
    quoted = HOSTILE.replace('"', '""')
    path.write_text(
        f'item_id,judge,vote,position,"{quoted}"\n"{quoted}","{quoted}",A,ab,"{quoted}"\n'
        f'2,"{quoted}",B,ba,x\n3,j,"{quoted}",ba,x\n4,"{quoted}",B,ba,x\n',
        encoding="utf-8",
    )
    drop(visitor, path)
    visitor.page.get_by_text("the models, whichever was shown first").click()
    says(visitor, "saw A first and said A is better")
    says(visitor, "1 rejected")
    visitor.page.get_by_text("Load the other 3 all the same").click()
    load(visitor)
    assert (
        visitor.page.locator("img[src*=invalid], a[href*=invalid], [data-testid=stMain] b").count()
        == 0
    )
