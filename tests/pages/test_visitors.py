"""What a visitor sees when the store changes under them, and when it is empty."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from apps import all_text, calm, new_app, opened
from make_examples import FIRST_SHOWN, OVERCONFIDENT, make
from places import REPOSITORY

from core.auditing.run import audit
from core.importers import ReadOptions, inspect, read
from core.schema import Selection
from core.store import Store

PAGES = REPOSITORY / "pages"
DATA = PAGES.parent / "data"
PLAIN = "item_id,judge,vote,gold\n1,j,1,1\n2,j,-1,1\n3,j,0,-1\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty store whose demo was deleted."""
    st.cache_resource.clear()
    monkeypatch.setenv("APPELLATE_STORE", str(tmp_path / "votes.duckdb"))
    with Store.open(tmp_path / "votes.duckdb") as store:
        store.set_flag("demo deleted", "yes")
    yield tmp_path / "votes.duckdb"
    st.cache_resource.clear()


def store() -> Store:
    from pages.shared.cached import get_store

    return get_store()


def fill(place: Path, *names: str) -> None:
    with Store.open(place) as opened_store:
        for name in names:
            opened_store.load(read([(f"{name}.csv", PLAIN.encode())])[0])


def test_the_data_set_is_in_the_address_from_the_first_run_on(place: Path) -> None:
    fill(place, "one", "two")
    app = opened(new_app(), "confusion")
    assert app.query_params["dataset"] in ("two", ["two"])
    app.selectbox(key="dataset").set_value("one").run()
    assert app.session_state["selection"].datasets == ("one",)


def test_a_renaming_by_another_visitor_is_followed_and_said(place: Path) -> None:
    fill(place, "one", "two", "three")
    app = opened(new_app(), "confusion", dataset="two")
    store().rename_dataset("two", "zwei")
    app.run()
    assert "The data set two is now named zwei by another visitor." in all_text(app)
    assert app.session_state["selection"].datasets == ("zwei",)
    assert "zwei by another" in all_text(app.run())
    app.selectbox(key="dataset").set_value("one").run()
    assert "another visitor" not in all_text(app)


@pytest.mark.thorough
def test_a_deletion_by_another_visitor_is_said_with_what_is_shown_instead(place: Path) -> None:
    fill(place, "one", "two", "three")
    app = opened(new_app(), "confusion", dataset="two")
    store().delete_dataset("two")
    app.run()
    assert "The data set two was deleted by another visitor. This is three." in all_text(app)
    app.selectbox(key="dataset").set_value("one").run()
    assert "another visitor" not in all_text(app)


def test_ones_own_changes_are_no_other_visitors(place: Path) -> None:
    fill(place, "one", "two")
    app = opened(new_app(), "start", dataset="two")
    app.text_input(key="new-name").set_value("zwei").run()
    app.button(key="rename").click().run()
    assert "two is now named zwei." in all_text(app)
    app.button(key="delete").click().run()
    assert "Deleted zwei" in all_text(app)
    assert "another visitor" not in all_text(app)


@pytest.mark.thorough
def test_an_empty_store_shows_three_steps_and_gives_the_demo_back(place: Path) -> None:
    app = calm(new_app().run())
    assert [title.value for title in app.title] == ["Can I trust this judge?"]
    assert [
        head for head in ("1.", "2.", "3.") if any(head in each.value for each in app.markdown)
    ] == ["1.", "2.", "3."]
    app.button(key="load-demo").click().run()
    assert [title.value for title in app.title] == ["Verdict"]
    assert app.session_state["selection"].datasets == ("demo (simulated)",)


@pytest.mark.parametrize("page", ["calibration.py", "leaderboard.py"])
def test_every_page_that_needs_votes_shows_the_steps(place: Path, page: str) -> None:
    assert [title.value for title in new_app().switch_page(page).run().title] == [
        "Can I trust this judge?"
    ]


def test_a_session_begun_in_an_empty_store_follows_the_first_file(place: Path) -> None:
    app = opened(new_app(), "start")
    assert "There are no data sets" in all_text(app)
    app.file_uploader(key="files").set_value([("one.csv", PLAIN.encode(), "text/csv")])
    app.run()
    app.button(key="load").click().run()
    assert "3 votes loaded into one." in all_text(app)
    assert app.session_state["selection"].datasets == ("one",)


@pytest.mark.thorough
def test_the_examples_are_those_that_the_recipe_makes(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    make(tmp_path, tmp_path / "scratch")
    for name in (FIRST_SHOWN, OVERCONFIDENT):
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes(), name
    shutil.rmtree(tmp_path / "scratch")


@pytest.mark.parametrize(
    ("name", "judge", "check"),
    [
        (FIRST_SHOWN, "sim-judge-first-slot", "position"),
        (OVERCONFIDENT, "sim-judge-boaster", "overconfidence"),
    ],
)
def test_the_planted_fault_of_an_example_is_found_and_the_honest_judge_has_none(
    name: str, judge: str, check: str
) -> None:
    data = (DATA / name).read_bytes()
    looks = inspect(data, name)
    mapping = tuple((dict(looks.mapping) | dict(looks.suggested)).items())
    (found,) = read([(name, data)], ReadOptions(mapping=mapping))
    assert found.rejects.num_rows == 0
    with Store.open(None) as opened_store:
        opened_store.load(found)
        graded = {(v.judge, v.check): v.grade for v in audit(opened_store, Selection()).checks}
    assert graded[judge, check] in ("warn", "fail")
    assert graded["sim-judge-careful", check] == "ok"
