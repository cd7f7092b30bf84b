"""The Confusion page: core's numbers in the real app, its figures, its sentence, and labels held
out.
"""

from collections.abc import Iterator

import numpy as np
import pytest
import streamlit as st
from apps import OPENED, all_text, judge_of, new_app, opened
from levels import first_of
from readings import reading
from streamlit.testing.v1 import AppTest

from core.finding.answer import share
from core.questions.accuracy.confusion_matrix import confusion
from core.questions.agreement import words as sentences
from core.questions.agreement.figure import cell_key
from core.questions.labels.btd import held_out_labels
from core.records import VoteCounts
from core.schema import Selection
from core.simulate.votes import DEMO_DATASET
from core.stats.intervals import wilson_by_item
from core.store import Store
from core.store.vote_queries import vote_counts


def demo_counts() -> dict[str, VoteCounts]:
    from pages.shared.cached import get_store

    return vote_counts(get_store(), Selection(datasets=(DEMO_DATASET,)))


@pytest.mark.parametrize("ties", first_of("keep", "drop_votes", "drop_gold", "drop_both"))
def test_page_shows_what_core_computes(app: AppTest, ties: str) -> None:
    page = opened(app, "confusion", ties=ties)
    tables = {judge: confusion(found, ties=ties) for judge, found in demo_counts().items()}
    shown = page.dataframe[0].value.set_index("judge")
    assert set(shown.index) == set(tables)
    for judge, table in tables.items():
        row = shown.loc[judge]
        assert (row["n"], row["share right"], row["low"], row["high"], row["best constant"]) == (
            *(
                table.n,
                table.accuracy.value,
                table.accuracy.low,
                table.accuracy.high,
                table.constant,
            ),
        )
    judges = [judge for judge in tables if "person" not in judge]
    hardest = min(judges, key=lambda judge: tables[judge].accuracy.value)
    assert judge_of(page) == hardest
    from core.auditing.options import AuditOptions
    from core.auditing.run import audit
    from pages.shared.cached import get_store

    found = audit(get_store(), Selection(datasets=(DEMO_DATASET,)), AuditOptions(splits=0))
    accuracy = next(r for r in found.checks if (r.judge, r.check) == (hardest, "accuracy"))
    texts = [element.value for element in page.text]
    assert f"{hardest}: {sentences.confusion(accuracy, tables[hardest]).sentence}" in texts
    said = sentences.errors_answer(hardest, accuracy, tables[hardest], "votes")
    assert texts[:2] == [said.headline, said.figures]


@pytest.fixture
def dated(tmp_path, monkeypatch) -> Iterator[AppTest]:
    """A judge right on 38 of 40 items in January, on 24 of 40 in March, in the store and on disk."""
    rows = [
        {"item_id": f"{month}-{k}", "judge": "j", "gold": 1, "vote": 1 if k < right else -1}
        | {"created_at": f"2026-{month}-{1 + k % 20:02} 12:00:{k:02}", "daytime": "noon"}
        for month, right in (("01", 38), ("03", 24))
        for k in range(40)
    ]
    st.cache_resource.clear()
    path = tmp_path / "dated.duckdb"
    with Store.open(path) as store:
        store.load(reading(rows))
    monkeypatch.setenv("APPELLATE_STORE", str(path))
    yield new_app()
    st.cache_resource.clear()


def test_a_column_of_dates_shows_how_right_it_is_over_time(dated: AppTest) -> None:
    page = opened(dated, "compare", tab="Over time", **{"time-column": "created_at"})
    said = all_text(page)
    assert "j is right less often in 2026-03 than in 2026-01." in said
    for period, right in (("2026-01", 38), ("2026-03", 24)):
        # Bonferroni's for two periods.
        known = wilson_by_item(np.arange(40), np.ones(40), np.arange(40) < right, level=0.975)
        assert f"{period} {share(known)} right" in said
    page.selectbox(key="when").set_value("2026-03").run()
    assert "1 of 40" in all_text(page)
    page.selectbox(key="time-column").set_value("daytime").run()
    assert "daytime does not tell two periods" in all_text(page)


def test_without_dates_nothing_is_said_of_time(app: AppTest) -> None:
    said = all_text(opened(app, "compare", tab="Over time"))
    assert "no column of the file has dates" in said


@pytest.mark.parametrize("compared", ["votes", "majority", "BTD"])
def test_every_cell_leads_to_its_votes(app: AppTest, compared: str) -> None:
    judge = "sim-judge-decisive"
    page = opened(app, "confusion", compared=compared, judge=judge, cell=cell_key(0, 0))
    found = demo_counts()[judge]
    behind = page.dataframe[0].value
    assert set(behind["judge"]) == {judge}
    assert set(behind["gold"]) == {0}
    if compared == "votes":
        assert set(behind["vote"]) == {0}
        assert len(behind) == min(200, int(found.tie[found.gold == 0].sum()))
    else:
        label = (
            found.label
            if compared == "majority"
            else held_out_labels(found, rng=np.random.default_rng(0))
        )
        votes = (found.plus + found.tie + found.minus)[(found.gold == 0) & (label == 0)].sum()
        assert len(behind) == min(200, int(votes))


def test_copied_code_gives_the_number_shown(
    app: AppTest, capsys: pytest.CaptureFixture[str]
) -> None:
    page = opened(app, "confusion", compared="BTD", judge="sim-judge-boaster")
    code = page.code[0].value
    assert "held_out_labels" in code
    from pages.shared.cached import get_store

    store = get_store()
    # The app holds the store's file, so the copy uses the open one.
    exec(code.replace(OPENED, "STORE"), {"STORE": store})  # noqa: S102
    shown = page.dataframe[0].value.set_index("judge").loc["sim-judge-boaster"]
    interval = f"{shown['share right']} ({shown['low']} to {shown['high']})"
    assert capsys.readouterr().out.startswith(f"{interval} {shown['n']}\n")
