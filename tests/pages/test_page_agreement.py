"""The Agreement page: core's numbers in the real app, its figures, its sentences."""

import numpy as np
import pytest
from apps import OPENED, opened, texts
from streamlit.testing.v1 import AppTest

from core.auditing.options import AuditOptions
from core.auditing.run import audit
from core.questions.agreement import words as sentences
from core.questions.agreement.judge_vs_human import leave_one_out
from core.questions.agreement.kappa import disagreements
from core.questions.agreement.paired import verdict_table
from core.questions.agreement.reliability import inter_rater_reliability
from core.records import VoteCounts
from core.schema import Selection
from core.simulate.votes import DEMO_DATASET
from core.store.vote_queries import vote_counts

DEMO = Selection(datasets=(DEMO_DATASET,))


def demo_counts() -> dict[str, VoteCounts]:
    from pages.shared.cached import get_store

    return vote_counts(get_store(), DEMO)


def test_page_shows_what_the_audit_says(app: AppTest) -> None:
    page = opened(app, "agreement", strong="0.95", judge="sim-judge-boaster")
    from pages.shared.cached import get_store

    found = audit(get_store(), DEMO, AuditOptions(splits=0))
    repeats = page.dataframe[0].value.set_index("judge")
    for judge in found.judges:
        if judge.repeatability is None:
            assert judge.judge not in repeats.index
            continue
        one, row = judge.repeatability, repeats.loc[judge.judge]
        assert (row["ICC(3,k)"], row["low"], row["high"]) == (
            one.icc_3_k.value,
            one.icc_3_k.low,
            one.icc_3_k.high,
        )
        assert (row["F low"], row["ICC(3,1)"]) == (one.icc_3_k_f.low, one.icc_3_1.value)
        assert row["strong"] == (one.icc_3_k.value >= 0.95)
        assert row["comparisons"] == one.n_comparisons
    pairs = page.dataframe[1].value.set_index(["rater", "against"])
    for pair in found.agreement.pairs + found.agreement.gold:
        row = pairs.loc[(pair.judge_1, pair.judge_2)]
        assert (row["κ"], row["alike"], row["comparisons"]) == (
            pair.kappa.value,
            pair.raw.value,
            pair.n,
        )
    said = next(text for text in texts(page) if text.startswith("sim-judge-boaster: "))
    for check in ("repeatability", "agreement"):
        sentence = next(
            r.sentence for r in found.checks if (r.judge, r.check) == ("sim-judge-boaster", check)
        )
        assert sentence in said
    assert any("3 of 4 reach ICC(3,k) 0.95" in text for text in texts(page))


def test_all_at_once_and_people_are_those_of_core(app: AppTest) -> None:
    page = opened(app, "agreement")
    counts = demo_counts()
    humans = [name for name in counts if "person" in name]
    for group, names in (
        ("all raters", list(counts)),
        ("judges alone", [name for name in counts if name not in humans]),
        ("people alone", humans),
    ):
        found = inter_rater_reliability(
            {name: counts[name] for name in names}, rng=np.random.default_rng(0)
        )
        row = page.dataframe[2].value.set_index("group").loc[group]
        assert (
            row["α nominal"],
            row["low"],
            row["α ordinal"],
            row["Fleiss κ"],
            row["comparisons"],
        ) == (
            *(
                found.alpha_nominal.value,
                found.alpha_nominal.low,
                found.alpha_ordinal.value,
                found.fleiss.value,
                found.n,
            ),
        )
        assert sentences.together(group.capitalize(), found) in texts(page)
    expected = leave_one_out(counts, humans, rng=np.random.default_rng(0))
    assert page.dataframe[3].value["accuracy against the others"].tolist() == [
        one.pa.value for one in expected.humans
    ]
    shown = page.dataframe[4].value
    assert shown["difference"].tolist() == [one.difference.value for one in expected.judges]
    assert shown["judge wins"].tolist() == [one.wins for one in expected.judges]


@pytest.mark.parametrize("other", ["sim-person-2", "gold"])
def test_a_cell_leads_to_the_disagreements(app: AppTest, other: str) -> None:
    judge = "sim-judge-careful"
    page = opened(app, "agreement", disagree=f"{judge} – {other}")
    counts = demo_counts()
    codes = disagreements(counts[judge], counts.get(other))
    shown = page.dataframe[0].value
    from pages.shared.cached import comparison_names

    both = {name: counts[name] for name in (judge, other) if name in counts}
    expected = verdict_table(comparison_names(DEMO), both, codes)
    assert shown.astype(object).equals(expected.head(200).astype(object))
    assert len(shown) == min(200, len(codes))
    one = counts[judge]
    label = dict(zip(one.comparison.tolist(), one.label.tolist(), strict=True))
    against = (
        dict(zip(one.comparison.tolist(), one.gold.tolist(), strict=True))
        if other == "gold"
        else dict(zip(counts[other].comparison.tolist(), counts[other].label.tolist(), strict=True))
    )
    assert set(codes.tolist()) == {
        code for code in label if code in against and label[code] != against[code]
    }


@pytest.mark.thorough
def test_gold_made_of_peoples_votes_is_not_held_against_them(app: AppTest) -> None:
    page = opened(app, "agreement", gold="humans")
    pairs = page.dataframe[1].value
    against_gold = pairs[pairs["against"] == "gold"]["rater"]
    assert len(against_gold) == 5
    assert not any("person" in name for name in against_gold)


def test_one_rater_alone_says_why_there_is_nothing(app: AppTest) -> None:
    page = opened(app, "agreement", raters="human", judges="sim-person-1")
    said = " ".join(texts(page))
    assert "no comparison was judged twice" in said
    assert "at least two raters" in said
    assert "at least two human raters" in said


def test_copied_code_gives_the_numbers_shown(
    app: AppTest, capsys: pytest.CaptureFixture[str]
) -> None:
    page = opened(app, "agreement", judge="sim-judge-boaster")
    from pages.shared.cached import get_store

    store = get_store()
    # The app holds the store's file, so the copy uses the open one.
    exec(page.code[0].value.replace(OPENED, "STORE"), {"STORE": store})  # noqa: S102
    *_, alphas, repeat = capsys.readouterr().out.splitlines()
    row = page.dataframe[2].value.set_index("group").loc["all raters"]
    assert alphas == " ".join(
        f"{row[name]} ({row[low]} to {row[high]})"
        for name, low, high in (
            ("α nominal", "low", "high"),
            ("α ordinal", "ordinal low", "ordinal high"),
            ("Fleiss κ", "Fleiss low", "Fleiss high"),
        )
    )
    row = page.dataframe[0].value.set_index("judge").loc["sim-judge-boaster"]
    assert repeat == f"{row['ICC(3,k)']} ({row['low']} to {row['high']})"
