"""What the store says of scores, held beside pandas on the same rows; and what methods take."""

import numpy as np
import pandas as pd
import pytest

from core.errors import NoUsableVotes, UnknownName
from core.importers import ReadOptions, read
from core.questions.scores import ask as queries
from core.questions.scores.agreement import leniency, score_agreement
from core.questions.scores.repeatability import repeatability
from core.questions.scores.table import ScoreTable
from core.schema import Selection
from core.store import Store
from core.store.browse import default_gold

ALL = Selection()


def loaded(frame, **options):
    store = Store.open()
    text = frame if isinstance(frame, str) else frame.to_csv(index=False)
    (reading,) = read([("s.csv", text.encode())], ReadOptions(**options))
    assert not reading.n_rejected
    store.load(reading)
    return store


def drawn(n=200, seed=3):
    """Scores of two judges and two people on two metrics and two models, with gaps and runs."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"q{i:03d}", f"m{m}", judge, metric, run, int(rng.integers(1, 6)),
         f"t{i // 4}" if i % 3 else "", ("x", "y", "")[i % 3], 10 * i + m if i % 5 else "",
         "human" if judge.startswith("p") else "llm", "ok")
        for i in range(n // 10)
        for m in range(2)
        for metric in ("help", "tone")
        for judge, runs in (("j", 3), ("k", 1), ("p1", 2), ("p2", 1))
        for run in range(runs)
        if rng.random() < 0.8
    ]  # fmt: skip
    columns = ["item_id", "model", "judge", "metric", "run", "score", "cluster", "category"]
    frame = pd.DataFrame(rows, columns=[*columns, "length", "rater_type", "status"])
    failed = frame.index % 11 == 0
    frame["score"] = frame["score"].astype(object)
    frame.loc[failed, ["score", "status"]] = ["", "error"]
    return frame


def by_hand(frame, judge, metric):
    good = frame[(frame.status == "ok") & (frame.metric == metric)].copy()
    good["score"] = good["score"].astype(float)
    mean = good.groupby(["judge", "item_id", "model"])["score"].mean()
    own = mean[judge]
    people = pd.DataFrame({p: mean[p].reindex(own.index) for p in ("p1", "p2")})
    return own, people, good[good.judge == judge]


@pytest.mark.parametrize("judge", ["j", "k"])
@pytest.mark.parametrize("metric", ["help", "tone"])
def test_answers_are_those_of_pandas(judge, metric):
    frame = drawn()
    with loaded(frame) as store:
        found = queries.score_answers(store, ALL, judge, metric)
        own, people, rows = by_hand(frame, judge, metric)
        np.testing.assert_allclose(found.judge, own.to_numpy())
        np.testing.assert_allclose(found.people, people.to_numpy())
        assert (found.names, found.models) == (("p1", "p2"), ("m0", "m1"))
        assert [found.models[code] for code in found.model] == own.index.get_level_values(
            1
        ).tolist()
        first = rows.drop_duplicates(["item_id", "model"]).set_index(["item_id", "model"])
        first = first.loc[own.index]
        category = [found.categories[code] if code >= 0 else "" for code in found.category]
        assert category == first["category"].tolist()
        np.testing.assert_allclose(found.length, pd.to_numeric(first["length"]).to_numpy())
        unit = first["cluster"].where(first["cluster"] != "", first.index.get_level_values(0))
        assert (
            pd.crosstab(unit.to_numpy(), found.unit).astype(bool).sum(axis=None) == unit.nunique()
        )
        assert (found.low, found.high, found.kind, found.same_scale) == (1, 5, "levels", True)
        table = ScoreTable(**found.table)
        both = people.mean(axis=1).notna().to_numpy()
        difference = own.to_numpy()[both] - people.mean(axis=1).to_numpy()[both]
        assert leniency(table).points.value == pytest.approx(difference.mean())


def test_runs_are_those_of_pandas():
    frame = drawn()
    with loaded(frame) as store:
        found = queries.score_runs(store, ALL, "j", "help")
        _, _, rows = by_hand(frame, "j", "help")
        rows = rows.sort_values("run")
        rows["place"] = rows.groupby(["item_id", "model"]).cumcount()
        wanted = rows.pivot_table(index=["item_id", "model"], columns="place", values="score")
        np.testing.assert_allclose(found, wanted.to_numpy())
        np.testing.assert_allclose(
            np.nanmean(found, axis=1), queries.score_answers(store, ALL, "j", "help").judge
        )
        unit = queries.score_answers(store, ALL, "j", "help").unit
        several = (np.isfinite(found).sum(axis=1) > 1).sum()
        steadiness = repeatability(found, unit=unit)
        assert (steadiness.k, steadiness.n_comparisons) == (2, several)


def test_runs_that_are_numbers_of_rows_take_no_room():
    rows = "".join(f"{i % 2000},j,{i},{i % 5}\n" for i in range(6000))
    many = "".join(f"one,j,{i},{i % 5}\n" for i in range(6000, 6300))
    with loaded("item_id,judge,run,score\n" + rows + many) as store:
        found = queries.score_runs(store, ALL, "j", "score")
        assert found.shape == (2001, queries.MOST_RUNS)
        assert np.isfinite(found).sum() == 6000 + queries.MOST_RUNS


def test_judges_and_metrics_are_counted():
    frame = drawn()
    with loaded(frame) as store:
        found = {(row.judge, row.metric): row for row in queries.scored_metrics(store, ALL)}
        assert list(found) == sorted({*zip(frame.judge, frame.metric, strict=True)})
        for (judge, metric), row in found.items():
            rows = frame[(frame.judge == judge) & (frame.metric == metric)]
            good = rows[rows.status == "ok"]
            assert (row.n, row.failed, row.runs, row.gold) == (
                len(good), len(rows) - len(good), good.run.nunique(), 0
            )  # fmt: skip
            assert row.answers == len(good[["item_id", "model"]].drop_duplicates())
            assert row.rater_type == ("human" if judge.startswith("p") else "llm")
            assert (row.low, row.high, row.lower_is_better) == (1, 5, False)
        only = Selection(judges=("k",), where=(("metric", "tone"),))
        assert [(r.judge, r.metric) for r in queries.scored_metrics(store, only)] == [("k", "tone")]


def test_a_selection_narrows_the_answers_and_not_the_people():
    frame = drawn()
    with loaded(frame) as store:
        chosen = Selection(judges=("j",), where=(("category", "x"),))
        found = queries.score_answers(store, chosen, "j", "help")
        kept = frame[(frame.judge != "j") | (frame.category == "x")]
        own, people, _ = by_hand(kept, "j", "help")
        np.testing.assert_allclose(found.judge, own.to_numpy())
        np.testing.assert_allclose(found.people, people.to_numpy())
        with pytest.raises(NoUsableVotes, match="'k' on 'help'"):
            queries.score_answers(store, chosen, "k", "help")
        with pytest.raises(UnknownName, match="metric named 'hlp'"):
            queries.score_answers(store, ALL, "j", "hlp")
        with pytest.raises(UnknownName, match="judge named 'q'"):
            queries.score_runs(store, ALL, "q", "help")


def test_gold_is_an_answers_own_and_comes_before_people():
    text = """item_id,judge,metric,run,score,gold,rater_type
1,j,m,0,4,5,llm
1,k,m,0,2,,llm
2,k,m,0,3,,llm
1,p,m,0,1,,human
2,p,m,0,2,,human
1,k,other,0,3,,llm
1,p,other,0,2,,human
"""
    with loaded(text) as store:
        given = queries.score_answers(store, ALL, "k", "m")
        assert given.names == ("gold",)
        np.testing.assert_array_equal(given.people, [[5], [np.nan]])
        humans = queries.score_answers(store, Selection(gold="humans"), "k", "m")
        assert (humans.names, humans.people.tolist()) == (("p",), [[1], [2]])
        judge = queries.score_answers(store, Selection(gold="j"), "k", "m")
        assert judge.names == ("j",)
        # People who scored do not take the place of the gold that answers have.
        assert default_gold(store, ALL) == "given"
        # Where no gold is given for the metric, people stand beside.
        assert queries.score_answers(store, ALL, "k", "other").names == ("p",)


@pytest.mark.parametrize(
    ("pairs", "wanted"),
    [
        ([(1, 0), (0, 0), (1, 1)], ("pass_fail", True, 0, 1, 0.5, 0.5)),
        ([(1, 0), (1, 1), (1, 1)], ("pass_fail", True, 0, 1, 0.5, 0.5)),
        ([(4, 0), (9, 1), (7, 1)], ("levels", False, 1, 10, None, 0.5)),
        ([(0.4, 0), (0.9, 1), (0.7, 1)], ("levels", False, 0, 1, None, 0.5)),
        ([(4, 1), (5, 1), (3, 1)], ("levels", True, 1, 5, None, None)),
        ([(4, 2), (5, 1), (3, 7)], ("levels", True, 1, 7, None, None)),
    ],
)
def test_the_kind_is_that_of_single_scores(pairs, wanted):
    text = "item,judge_score,human_score\n" + "".join(
        f"{i},{a},{b}\n" for i, (a, b) in enumerate(pairs)
    )
    with loaded(text) as store:
        found = queries.score_answers(store, ALL, "judge", "score")
        assert (
            found.kind, found.same_scale, found.low, found.high, found.passing, found.people_passing
        ) == wanted  # fmt: skip
        ScoreTable(**found.table)


def test_pass_and_fail_over_runs_stay_pass_and_fail():
    rows = "".join(f"{i},j,{run},{int(run < i)},1\n" for i in range(4) for run in range(3))
    with loaded("item_id,judge,run,score,gold\n" + rows) as store:
        found = queries.score_answers(store, ALL, "j", "score")
        assert found.kind == "pass_fail"
        np.testing.assert_allclose(found.judge, [0, 1 / 3, 2 / 3, 1])


def test_less_is_better_is_turned_around():
    text = "item_id,judge,metric,score,gold\n1,j,harm,1,2\n2,j,harm,5,4\n"
    with loaded(text, lower_is_better=("harm",)) as store:
        found = queries.score_answers(store, ALL, "j", "harm")
        assert (found.judge.tolist(), found.people.ravel().tolist()) == ([5, 1], [4, 2])
        assert found.turned
        assert queries.score_runs(store, ALL, "j", "harm").ravel().tolist() == [5, 1]
    wrong = "item_id,judge,metric,score,gold\n1,j,harm,1,0\n2,j,harm,5,1\n"
    with loaded(wrong, lower_is_better=("harm",)) as store:
        found = queries.score_answers(store, ALL, "j", "harm")
        assert found.people.ravel().tolist() == [1, 0]


@pytest.mark.thorough
def test_real_files_give_the_figures_of_their_source(shared_data):
    folder = shared_data / "scores"
    if not folder.is_dir():
        pytest.skip("no scores there")
    with Store.open() as store:
        for reading in read([(path.name, path) for path in sorted(folder.glob("*.gz"))]):
            store.load(reading)
        arena = queries.score_answers(store, ALL, "judge", "quality")
        found = score_agreement(ScoreTable(**arena.table))
        assert (found.n, round(found.association.value, 6)) == (630, 0.677215)
        assert round(found.kappa_weighted.value, 6) == 0.613670
        assert round(leniency(ScoreTable(**arena.table)).points.value, 6) == 0.087762
        for judge, area, n in (
            ("claude-haiku-4.5 [base]", 0.896789, 7045), ("gpt-5.4-mini [base]", 0.851391, 6920)
        ):  # fmt: skip
            scores = queries.score_answers(store, ALL, judge, "quality")
            found = score_agreement(ScoreTable(**scores.table))
            assert (len(scores.judge), round(found.auroc.value, 6)) == (n, area)
            assert queries.score_runs(store, ALL, judge, "quality").shape == (n, 8)


def test_what_is_said_of_an_answer_is_of_every_rater_with_its_texts():
    frame = drawn().assign(
        prompt=lambda f: "prompt of " + f.item_id, rationale=lambda f: "because " + f.judge
    )
    with loaded(frame) as store:
        answers = queries.score_answers(store, ALL, "j", "help")
        item, model = int(answers.item[0]), answers.models[int(answers.model[0])]
        only = Selection(judges=("j",))
        said = queries.said_of_answers(store, only, "help", [(item, model)]).to_pandas()
    one = said.item_id[0]
    own = frame[(frame.item_id == one) & (frame.model == model) & (frame.metric == "help")]
    assert len(said) == len(own)
    assert sorted(said.judge) == sorted(own.judge)
    assert set(said.prompt) == {f"prompt of {one}"}
    assert (said.rationale == "because " + said.judge).all()
    with loaded(frame) as store, pytest.raises(UnknownName):
        queries.said_of_answers(store, ALL, "none", [(1, None)])


def test_dates_of_answers_are_the_earliest_of_their_scores():
    frame = pd.DataFrame(
        {
            "item_id": ["a", "a", "b", "c"],
            "judge": "j",
            "run": [0, 1, 0, 0],
            "score": [1, 2, 3, 4],
            "created_at": ["2026-03-02", "2026-03-01", "2026-04-05", ""],
            "weather": "fine",
        }
    )
    with loaded(frame) as store:
        found = queries.score_dates(store, ALL, "j", "score")
    assert found == {"created_at": ["2026-03-01", "2026-04-05", None]}
