"""Two judges on the Agreement page: core's numbers, the comparisons on which they part, two data
sets.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from apps import all_text, new_app, opened
from places import REPOSITORY
from readings import reading
from streamlit.testing.v1 import AppTest

from core.questions.agreement.paired import JudgeVotes, compare_judges, pool_raters
from core.questions.agreement.words import compared
from core.schema import Selection
from core.simulate.votes import DEMO_DATASET
from core.store import Store
from core.store.vote_queries import confidence_counts, positions, vote_counts

PAGES = REPOSITORY / "pages"
DEMO = Selection(datasets=(DEMO_DATASET,))
BOASTER, CAREFUL = "sim-judge-boaster", "sim-judge-careful"


def sides(path: Path, *names: str) -> list[JudgeVotes]:
    with Store.open(path) as store:
        counts, stated, placed = (
            ask(store, DEMO) for ask in (vote_counts, confidence_counts, positions)
        )
    return [
        JudgeVotes(counts=counts[name], stated=stated[name], placed=placed.get(name))
        for name in names
    ]


def test_a_link_shows_the_differences_of_core(app: AppTest, store_path: Path) -> None:
    page = opened(app, "compare", tab="Two judges", one=BOASTER, two=CAREFUL)
    found = compare_judges(*sides(store_path, BOASTER, CAREFUL))
    said = compared(BOASTER, CAREFUL, found)
    assert said.headline == f"{CAREFUL} is right more often than {BOASTER}."
    assert said.headline in all_text(page)
    assert said.figures.startswith("right +")
    assert said.figures in all_text(page)
    shown = page.dataframe[0].value
    assert shown["difference"].tolist() == [one.difference.value for one in found.measures]
    assert f"1 of {len(found.parted):,}" in all_text(page)
    assert list(page.dataframe[1].value)[3:] == [BOASTER, CAREFUL, "gold"]


def test_the_sidebars_judges_are_no_limit(app: AppTest) -> None:
    page = opened(app, "compare", tab="Two judges", one=BOASTER, two=CAREFUL, judges=BOASTER)
    assert f"{CAREFUL} is right more often" in all_text(page)


def test_people_are_one_side(app: AppTest, store_path: Path) -> None:
    page = opened(app, "compare", tab="Two judges", one=BOASTER, two="pool of people")
    boaster, *people = sides(store_path, BOASTER, *(f"sim-person-{k}" for k in (1, 2, 3)))
    found = compare_judges(boaster, pool_raters(people))
    assert compared(BOASTER, "pool of people", found).figures in all_text(page)
    assert "sim-person-2 saw" in all_text(page)


def test_the_copied_code_prints_the_differences(
    app: AppTest, store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = opened(app, "compare", tab="Two judges", one=BOASTER, two="pool of people")
    own = f"Path({str(store_path)!r})"
    code = page.code[0].value.replace("default_path(), read_only=True", own)
    exec("from pathlib import Path\n" + code.replace(", default_path", ""), {})  # noqa: S102
    shown = page.dataframe[0].value["difference"][0]
    assert f"right {shown} (" in capsys.readouterr().out


@pytest.fixture
def before_and_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """One judge under two prompts, in two data sets; the new one is right more often."""
    st.cache_resource.clear()
    monkeypatch.setenv("APPELLATE_STORE", str(tmp_path / "votes.duckdb"))
    rng = np.random.default_rng(0)
    rows = []
    for item in range(60):
        for position in ("ab", "ba"):
            row = {"item_id": f"q{item}", "model_a": "m", "model_b": "n", "gold": 1, "judge": "j"}
            right = {"old": rng.random() < 0.6, "new": rng.random() < 0.95}
            for dataset, hit in right.items():
                text = f"answer of {dataset}"
                vote = 1 if hit else -1
                rows.append(
                    row
                    | {"dataset": dataset, "vote": vote, "position": position, "response_a": text}
                )
    frame = pd.DataFrame(rows)
    with Store.open(tmp_path / "votes.duckdb") as store:
        for dataset, part in frame.groupby("dataset"):
            store.load(reading(part, name=f"{dataset}.csv"))
    yield new_app()
    st.cache_resource.clear()


def test_a_judge_before_and_after_a_new_prompt(before_and_after: AppTest) -> None:
    page = opened(
        before_and_after, "compare", tab="Two judges", dataset="new", one="j", beside="old", two="j"
    )
    assert "j is right more often than j (old).\nright +" in all_text(page)
    parted = page.dataframe[1].value
    assert list(parted)[3:] == ["j", "j (old)", "gold"]
    assert (parted["j"] != parted["j (old)"]).all()
    assert "j (old) saw A first and said" in all_text(page)
    page.selectbox(key="beside").set_value("this data set").run()
    assert "a second rater is needed" in all_text(page)
