"""Simulated direct scores and rankings: what is planted is found, and files load as they were
written.
"""

import csv
import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from places import REPOSITORY

from core.errors import InvalidOption
from core.importers import read
from core.questions.lists.method import consensus, improvement
from core.questions.lists.orders import order_sensitivity
from core.schema import Selection
from core.simulate.answers import BOTS, GAIN, JUDGES, PEOPLE, simulate_answers, write_demo_answers
from core.simulate.fuser import FOLLOWS, MODEL, write_demo_fuser
from core.simulate.tables import write_demo_rankings, write_demo_scores
from core.simulate.votes import demo_world
from core.simulate.votes import write_demo as write_demo_votes
from core.store import Store
from core.store import vote_queries as queries

DATA = REPOSITORY / "data"


def loaded(path):
    store = Store.open(None)
    for reading in read([(path.name, path)]):
        store.load(reading)
    return store


def rows_of(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_demo_is_what_the_simulation_writes(tmp_path):
    for name, write in (
        ("demo_rankings", write_demo_rankings),
        ("demo_fuser", write_demo_fuser),
        ("demo_scores", write_demo_scores),
        ("demo_answers", write_demo_answers),
    ):
        write(tmp_path / f"{name}.csv.gz", seed=0)
        assert (tmp_path / f"{name}.csv.gz").read_bytes() == (DATA / f"{name}.csv.gz").read_bytes()


def test_planted_slot_preference_is_found_and_no_other(tmp_path):
    write_demo_rankings(tmp_path / "lists.csv", seed=3, items=200)
    with loaded(tmp_path / "lists.csv") as store:
        found = queries.list_rankings(store, Selection())
    assert set(found) == {judge.name for judge in demo_world().judges if judge.rater_type == "llm"}
    slots = {name: order_sensitivity(one).to_frame() for name, one in found.items()}
    pulled = slots["sim-judge-first-slot"]
    assert pulled.low[0] > pulled.expected[0]
    assert (np.diff(pulled.win - pulled.expected) < 0).all()
    for name in ("sim-judge-careful", "sim-judge-boaster"):
        assert abs(slots[name].win - slots[name].expected).max() < 0.05
    careful, noisy = (
        improvement(found[f"sim-judge-{name}"]).overall for name in ("careful", "boaster")
    )
    assert careful.direct.value > noisy.direct.value
    assert noisy.improved > noisy.regressed


def test_apt_caution_goes_with_the_better_answer_and_is_seen_in_most_runs(tmp_path):
    """A property of the answer: whoever shows it does so in nine of ten runs, others in none."""
    write_demo_rankings(tmp_path / "lists.csv", seed=5, items=400)
    with loaded(tmp_path / "lists.csv") as store:
        lists = queries.list_rankings(store, Selection())
    seen = []
    for one in lists.values():
        pooled = consensus(one)
        caution = pooled.uncertainty > 0
        assert pooled.uncertainty[caution].mean() == pytest.approx(0.9, abs=0.02)
        assert caution[pooled.best == 1].mean() > caution[pooled.best == 0].mean() + 0.1
        seen.append(caution)
    assert len(seen) > 1
    assert (np.stack(seen) == seen[0]).mean() > 0.99


def test_scores_follow_strength(tmp_path):
    write_demo_scores(tmp_path / "scores.csv.gz", seed=1, items=100)
    with loaded(tmp_path / "scores.csv.gz") as store:
        found = queries.direct_scores(store, Selection())
    strengths = dict(demo_world().strengths)
    one = found["sim-judge-careful"]
    means = [one.score[one.model == code].mean() for code in range(len(one.models))]
    assert np.corrcoef(means, [strengths[name] for name in one.models])[0, 1] > 0.95
    assert set(np.unique(one.score)) <= set(range(1, 11))
    assert (len(one), len(found["sim-person-1"])) == (2400, 800)


def test_the_fuser_gains_on_its_model_what_was_planted(tmp_path):
    """Right where the heaviest label is, on nine tenths, and where its model is, on the others."""
    write_demo_votes(tmp_path / "votes.csv", seed=3, items=200)
    assert write_demo_fuser(tmp_path / "fuser.csv", seed=3, items=200) == 3200
    weights, said, gold = defaultdict(Counter), {}, {}
    by_judge = defaultdict(lambda: defaultdict(list))
    for row in rows_of(tmp_path / "votes.csv"):
        key = row["item_id"], row["model_a"], row["model_b"]
        gold[key] = row["gold"]
        if row["confidence"]:
            by_judge[key, row["judge"]][row["vote"]].append(float(row["confidence"]))
    for (key, judge), labels in by_judge.items():
        label = max(labels, key=lambda vote: (len(labels[vote]), np.mean(labels[vote])))
        c = min(max(np.mean(labels[label]), 1e-9), 1 - 1e-9)
        doubt = -c * math.log(c) - (1 - c) * math.log(1 - c)
        weights[key][label] += c / (doubt + 0.05)
        if judge == MODEL:
            said[key] = label
    fused = {
        (row["item_id"], row["model_a"], row["model_b"]): row["vote"]
        for row in rows_of(tmp_path / "fuser.csv")
    }
    assert {row["judge"] for row in rows_of(tmp_path / "fuser.csv")} == {f"fuser({MODEL})"}
    heaviest = np.mean([weights[key].most_common(1)[0][0] == gold[key] for key in gold])
    alone = np.mean([said[key] == gold[key] for key in gold])
    right = np.mean([fused[key] == gold[key] for key in gold])
    assert right == pytest.approx(FOLLOWS * heaviest + (1 - FOLLOWS) * alone, abs=0.015)
    assert right > alone + 0.1


def test_bad_options_are_named(tmp_path):
    with pytest.raises(InvalidOption, match="seed"):
        write_demo_scores(tmp_path / "x.csv", seed=-1)
    with pytest.raises(InvalidOption, match=r"\.csv"):
        write_demo_rankings(tmp_path / "x.parquet", seed=0)
    for write in (write_demo_scores, write_demo_rankings, write_demo_answers, write_demo_fuser):
        with pytest.raises(InvalidOption, match="items 0"):
            write(tmp_path / "x.csv", seed=0, items=0)


def test_planted_faults_of_judges_of_single_answers_are_found():
    """Of 3,000 items: what a judge adds to the levels that people give, and to long answers."""
    table = simulate_answers(items=3000, rng=np.random.default_rng(1))
    frame = table.to_pandas()
    assert set(frame.judge) == {*JUDGES, *PEOPLE}
    frame = frame[frame.metric == "helpfulness"]
    keys = ["item_id", "model", "response"]
    people = frame[frame.judge.isin(PEOPLE)].groupby(keys).score.mean().rename("people")
    apart, slope = {}, {}
    for name in JUDGES:
        own = frame[frame.judge == name].groupby(keys).score.mean().rename("own")
        beside = own.to_frame().join(people, how="inner").reset_index()
        beside["apart"] = beside.own - beside.people
        apart[name] = beside.apart.mean()
        # Within one level of people: longer answers are better.
        held = beside[beside.people == 3]
        slope[name] = np.polyfit(held.response.str.len(), held.apart, 1)[0]
    careful, first_slot, boaster = JUDGES
    assert abs(apart[careful]) < 0.03
    assert 0.4 < apart[boaster] < 0.6
    assert 0.9 < apart[first_slot] < 1.1
    assert slope[boaster] > 2e-3 > 1e-3 > abs(slope[careful])
    means = frame[frame.judge.isin(PEOPLE)].groupby("model").score.mean()
    assert means[BOTS[1]] - means[BOTS[0]] == pytest.approx(GAIN * 1.15, abs=0.06)


def test_what_judges_of_single_answers_say_of_their_confidence_is_planted():
    """A person says the same as often as careful and first-slot state, boaster far less often."""
    frame = simulate_answers(items=3000, rng=np.random.default_rng(2)).to_pandas()
    frame = frame[frame.metric == "resolved"].set_index(["item_id", "model"])
    person = frame[frame.judge == PEOPLE[0]].score
    apart = {}
    for name in JUDGES:
        own = frame[frame.judge == name].join(person.rename("person"), how="inner")
        apart[name] = own.confidence.mean() - (own.score == own.person).mean()
    careful, first_slot, boaster = JUDGES
    assert abs(apart[careful]) < 0.02
    assert abs(apart[first_slot]) < 0.06
    assert apart[boaster] > 0.12
