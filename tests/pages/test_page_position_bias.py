"""The Position page: core's numbers in the real app, its figures, order balance and verbosity."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from apps import judge_of, new_app, opened
from evidence_of import result
from places import REPOSITORY
from readings import reading
from streamlit.testing.v1 import AppTest

from core.finding.figure import rater_styles
from core.questions.leaning import words
from core.questions.leaning.preference import verbosity
from core.questions.order import figure as plots
from core.questions.order import words as sentences
from core.questions.order.balance import order_balance
from core.questions.order.method import flips_by, position_bias
from core.records import PositionCounts
from core.schema import Selection
from core.simulate.votes import DEMO_DATASET
from core.stats.estimate import Estimate
from core.store import Store
from core.store.vote_queries import length_counts, order_counts, positions
from pages.shared.cached import get_store

MAIN = REPOSITORY / "pages" / "main.py"
HOSTILE = "<img src=x onerror=alert(1)>"
COMPARISON = ["item_id", "model_a", "model_b"]
DEMO = Selection(datasets=(DEMO_DATASET,))


def test_page_shows_what_core_computes(app: AppTest) -> None:
    page = opened(app, "position_bias")
    results = {judge: position_bias(found) for judge, found in positions(get_store(), DEMO).items()}
    shown = next(
        frame.value for frame in page.dataframe if "bias decided" in frame.value
    ).set_index("judge")
    rates = [results[judge].flip_rate for judge in shown.index]
    flipped = [rate.value if rate else 0.0 for rate in rates]
    assert flipped == sorted(flipped, reverse=True)
    assert set(shown.index) == set(results)
    for judge, one in results.items():
        row = shown.loc[judge]
        assert (row["first"], row["second"], row["tie"], row["pairs"]) == (
            *(one.first, one.second, one.tie, one.pairs),
        )
        for column, name in {
            "bias decided": "bias_decided",
            "bias all": "bias_all",
            "bias in pairs": "bias_pairs",
            "flips": "flip_rate",
            "hard flips": "hard_flip_rate",
            "same order differs": "same_order_disagreement",
            "excess": "excess",
            "p": "p_value",
        }.items():
            found = getattr(one, name)
            value = found.value if isinstance(found, Estimate) else found
            assert row[column] == value if value is not None else pd.isna(row[column])
    judge = "sim-judge-first-slot"
    assert judge_of(page) == judge
    texts = [element.value for element in page.text]
    found = positions(get_store(), DEMO)
    assert f"{judge}: {order(found[judge])}" in texts
    assert texts[0].startswith(f"{judge} favours the answer it sees first")
    page.selectbox(key="judge").set_value("sim-judge-careful").run()
    other = "sim-judge-careful"
    assert f"{other}: {order(found[other])}" in [element.value for element in page.text]
    balance = order_balance(order_counts(get_store(), DEMO)[judge])
    assert sentences.order_balance(judge, balance) in texts
    lengths = length_counts(get_store(), DEMO)[judge]
    other = opened(page, "leaning", judge=judge)
    assert words.verbosity(judge, verbosity(lengths)) in [each.value for each in other.text]
    assert result("length", lengths=lengths).sentence in [each.value for each in other.text]


def order(counts: PositionCounts) -> str:
    """What the page says of a judge's order: two checks in one answer."""
    checks = (result(check, positions=counts) for check in ("position", "stability"))
    return " ".join(checked.sentence for checked in checks)


def test_marks_lead_to_flipped_votes(app: AppTest) -> None:
    judge = "sim-judge-decisive"
    page = opened(
        app,
        "position_bias",
        judge=judge,
        flip=plots.flip_key(judge, "hard"),
        flips_by_margin="0–0.2",
    )
    behind = page.dataframe[0].value
    assert set(behind["judge"]) == {judge}
    both = behind.groupby([*COMPARISON, "run"])["vote"].agg(["size", "sum"])
    assert (both[both["size"] == 2]["sum"] == 0).all()
    split = page.dataframe[2].value
    assert set(split["judge"]) == {judge}
    votes = get_store().export(DEMO).to_pandas()
    others = votes[(votes["judge"] != judge) & (votes["status"] == "ok")]
    margin = others.groupby(COMPARISON)["vote"].mean().abs()
    assert (
        margin.loc[list(split[COMPARISON].itertuples(index=False, name=None))] <= 0.2 + 1e-9
    ).all()


def test_a_person_asked_in_one_order_is_unknown_not_unbiased(app: AppTest) -> None:
    page = opened(app, "position_bias", judge="sim-person-1")
    texts = [element.value for element in page.text]
    assert any("Position bias is unknown" in text for text in texts)
    assert any("judged no comparison in both orders" in text for text in texts)


def results_for(name: str) -> dict:
    found = positions(get_store(), DEMO)
    return {
        name: position_bias(found["sim-judge-first-slot"]),
        "person": position_bias(found["sim-person-1"]),
    }


def test_figures_show_results_and_escape_names(app: AppTest) -> None:
    opened(app, "position_bias")
    results = results_for(HOSTILE)
    one = results[HOSTILE]
    styles = rater_styles(list(results))
    lean = plots.slot_biases(results, styles=styles)
    paired, _, raw, _ = lean.data
    assert list(paired.x) == [one.bias_pairs.value]
    assert list(raw.x) == [one.bias_decided.value, results["person"].bias_decided.value]
    assert paired.x[0] + paired.error_x.array[0] == pytest.approx(one.bias_pairs.high)
    assert paired.x[0] - paired.error_x.arrayminus[0] == pytest.approx(one.bias_pairs.low)
    flips = plots.flips(results, styles=styles, chosen=plots.flip_key(HOSTILE, "flip"))
    assert [list(trace.x) for trace in flips.data[::2]] == [
        [one.flip_rate.value],
        [one.hard_flip_rate.value],
        [one.same_order_disagreement.value],
    ]
    assert flips.data[0].marker.line.width == (3,)
    assert [note.text for note in flips.layout.annotations] == ["no pair of orders"]
    for fig in (lean, flips):
        drawn = str(fig.layout.yaxis.ticktext) + "".join(str(trace.hovertext) for trace in fig.data)
        assert "<img" not in drawn
        assert "&lt;img" in drawn


def test_group_figure_and_order_figure_show_results(app: AppTest) -> None:
    opened(app, "position_bias")
    style = rater_styles(["a"])["a"]
    table = flips_by(positions(get_store(), DEMO)["sim-judge-decisive"], "category")
    fig = plots.flips_by_group(table, style=style)
    assert list(fig.data[0].x) == table.rate.value.tolist()
    assert list(fig.data[2].x) == table.hard_rate.value.tolist()
    balance = order_balance(order_counts(get_store(), DEMO)["sim-judge-decisive"])
    drawn = plots.order_errors(balance, style=style)
    assert list(drawn.data[0].x) == balance.mae.value.tolist()


def test_length_of_a_text_counts_where_no_length_is_given() -> None:
    base = {"item_id": "1", "judge": "j", "vote": 1, "gold": 1}
    store = Store.open()
    store.load(
        reading(
            [
                base | {"response_a": "long enough", "response_b": "short"},
                base
                | {
                    "item_id": "2",
                    "length_a": 5,
                    "length_b": 9,
                    "response_a": "long",
                    "response_b": "s",
                },
                base | {"item_id": "3", "response_a": "alone"},
            ]
        )
    )
    found = length_counts(store, Selection())["j"]
    assert (found.longer.tolist(), found.shorter.tolist(), found.gold.tolist()) == (
        [1, 0],
        [0, 1],
        [1, -1],
    )


def test_the_planted_bias_for_length_is_found_and_no_other(app: AppTest) -> None:
    """In the demo only `sim-judge-boaster` weighs length (verbosity .8); its fuser says what it says
    on a tenth.
    """
    opened(app, "position_bias")
    found = {judge: verbosity(one) for judge, one in length_counts(get_store(), DEMO).items()}
    favours = {judge for judge, one in found.items() if one.beyond_gold and one.beyond_gold.low > 0}
    assert favours == {"sim-judge-boaster", "fuser(sim-judge-boaster)"}


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    """The app on one judge's votes in both orders, without a category."""
    import streamlit as st

    from core.importers import read

    st.cache_resource.clear()
    monkeypatch.setenv("APPELLATE_STORE", str(tmp_path / "votes.duckdb"))
    rows = "".join(
        f"{i},j,{order},{vote}\n" for i in range(4) for order, vote in (("ab", 1), ("ba", -1))
    )
    with Store.open(tmp_path / "votes.duckdb") as store:
        store.load(read([("alone.csv", f"item_id,judge,position,vote\n{rows}".encode())])[0])
    yield new_app()
    st.cache_resource.clear()


def test_without_categories_and_other_judges_there_is_no_figure_by_them(alone: AppTest) -> None:
    said = " ".join(element.value for element in opened(alone, "position_bias").text)
    assert "no comparison judged in both orders has a category" in said
    assert "no other judge voted on the comparisons judged in both orders" in said


def test_groups_without_a_pair_are_not_drawn(app: AppTest) -> None:
    counts = positions(get_store(), DEMO)["sim-judge-careful"]
    table = flips_by(counts, "margin", bins=2000)
    empty = {
        name for name, pairs in zip(table.groups, table.pairs.tolist(), strict=True) if not pairs
    }
    assert empty
    drawn = plots.flips_by_group(table, style=rater_styles(["j"])["j"]).layout.yaxis.ticktext
    assert set(drawn) == set(table.groups) - empty


@pytest.mark.thorough
def test_what_changes_of_the_items_do(own_store_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A judge that obeys an attack and ignores a sentence; a second one saw no change."""
    lines = ["item_id,model_a,model_b,judge,run,position,vote,perturbation"]
    for k in range(40):
        own, side = 1 - 2 * (k % 2), "ab"[(k // 2) % 2]
        told = 1 if side == "a" else -1
        for judge, vote, change in (
            ("obedient", own, ""),
            ("obedient", told, f"attack-own:{side}"),
            ("obedient", own, f"sentence:{side}"),
            ("other", own, ""),
        ):
            lines.append(f"q{k},m,n,{judge},0,ab,{vote},{change}")
    from core.importers import read

    (found,) = read([("changes.csv", "\n".join(lines).encode())])
    with Store.open(own_store_path) as store:
        store.load(found, dataset="changes")
        assert next(one.judges for one in store.datasets() if one.name == "changes") == 2
    monkeypatch.setenv("APPELLATE_STORE", str(own_store_path))
    app = new_app()
    shown = opened(app, "leaning", tab="Harmless edits", dataset="changes", judge="obedient")
    assert any(
        "A response with attack-own is preferred 50.0 points more often" in t.value
        for t in shown.text
    )
    (table,) = (one.value for one in shown.dataframe if "flips by it" in one.value.columns)
    assert dict(zip(table["change"], table["flips by it"], strict=True)) == {
        "attack-own": 0.5,
        "sentence": 0.0,
    }
    assert shown.selectbox(key="judge").options == ["obedient", "other"]
    shown.selectbox(key="judge").set_value("other").run()
    assert any("Robustness is unknown" in text.value for text in shown.text)
