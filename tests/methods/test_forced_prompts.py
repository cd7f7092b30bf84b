"""Forced choice against ties allowed: planted prompts, an own calculation, the page and the command."""

import json

import numpy as np
import pandas as pd
import pytest
from apps import opened
from places import REPOSITORY

from core.__main__ import main
from core.errors import InvalidOption, NoUsableVotes, UnknownName
from core.finding.answer import words
from core.importers import read
from core.questions.labels.forced_prompts import forced_choice, likely_prompts
from core.questions.labels.forced_words import forced_answer, not_forced
from core.schema import Selection
from core.store import Store
from core.store import vote_queries as queries

DEMO = REPOSITORY / "data" / "demo_votes.csv.gz"
ITEMS = 120


def planted(rng):
    """The same judge twice, in both orders: where gold is a tie the forced one takes the first slot in
    three of four comparisons and an answer by chance in the others, the other says tie; where gold
    decides both are right in nine of ten.
    """
    rows = []
    for item in range(ITEMS):
        gold = (item % 3) - 1
        right = gold if rng.random() < 0.9 else -gold
        slot, chance = rng.random() < 0.75, int(rng.choice([-1, 1]))
        for position, first in (("ab", 1), ("ba", -1)):
            forced = right if gold else first if slot else chance
            for judge, vote in (("judge forced", forced), ("judge free", right)):
                rows.append(
                    {"item_id": f"q{item}", "judge": judge, "vote": vote, "position": position}
                    | {"gold": gold}
                )
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    table = planted(np.random.default_rng(3))
    with Store.open(tmp_path_factory.mktemp("forced") / "votes.duckdb") as store:
        store.load(read([("v.csv", table.to_csv(index=False).encode())])[0])
        selection = Selection()
        yield (table, queries.vote_counts(store, selection), queries.positions(store, selection))


def test_bias_is_that_of_the_slots_and_grows_where_gold_is_a_tie(counted):
    table, votes, positions = counted
    assert likely_prompts(votes) == ("judge forced", "judge free")
    found = forced_choice(
        votes, positions, "judge forced", "judge free", rng=np.random.default_rng(0), n_splits=20
    )
    slot = table.vote * np.where(table.position == "ab", 1, -1)
    for where, kept in (("all", table.gold < 9), ("gold ties", table.gold == 0)):
        for judge in ("judge forced", "judge free"):
            own = slot[kept & (table.judge == judge)].mean()
            row = found.row(judge, where)
            assert row.bias.value == pytest.approx(own)
            ties = (table.vote == 0)[kept & (table.judge == judge)].mean()
            assert row.ties.value == pytest.approx(ties)
    forced, free = found.row("judge forced", "gold ties"), found.row("judge free", "gold ties")
    assert found.bias_near.value == pytest.approx(free.bias.value - forced.bias.value)
    assert found.bias_near.high < -0.5
    assert (found.n, found.near) == (ITEMS, ITEMS // 3)
    assert forced.right.value == 0
    assert free.right.value == 1
    btd = found.labels[0]
    assert (btd.rule, btd.candidate, btd.baseline) == ("btd", "judge free", "judge forced")
    assert btd.delta.high < 0
    said = forced_answer(found)
    assert words(said.headline, ["judge forced", "judge free"]) <= 20
    assert said.headline.startswith("judge free, which may call ties, follows the slot by 0 points")
    assert not not_forced(found)


def test_two_prompts_without_a_common_pair_have_no_change_of_bias(counted):
    table, _, _ = counted
    one_order = table[table.position == "ab"]
    with Store.open() as store:
        store.load(read([("v.csv", one_order.to_csv(index=False).encode())])[0])
        votes = queries.vote_counts(store, Selection())
        positions = queries.positions(store, Selection())
    judges = ("judge forced", "judge free")
    rng = np.random.default_rng(0)
    found = forced_choice(votes, positions, *judges, rng=rng, n_splits=5)
    assert (found.bias, found.bias_near, found.row("judge free").bias) == (None, None, None)
    assert "no pair of orders in common" in forced_answer(found).headline
    apart = {
        name: counts.rows(counts.item % 2 == k) for k, (name, counts) in enumerate(votes.items())
    }
    with pytest.raises(NoUsableVotes, match="no comparison in common"):
        forced_choice(apart, positions, *judges, rng=rng)
    with pytest.raises(UnknownName, match="no judge 'other'"):
        forced_choice(votes, positions, "other", "judge free", rng=rng)
    with pytest.raises(InvalidOption, match="twice"):
        forced_choice(votes, positions, "judge free", "judge free", rng=rng)
    with pytest.raises(NoUsableVotes, match="there is one"):
        likely_prompts({"judge free": votes["judge free"]})


@pytest.mark.thorough
def test_page_and_command_say_the_same(app, tmp_path, capsys):
    out = tmp_path / "a.json"
    judges = ["sim-judge-decisive", "sim-judge-careful"]
    how = ["--judge", *judges, "--splits", "100", "--all"]
    assert main(["audit", str(DEMO), *how, "--forced-choice", *judges, "--json", str(out)]) == 0
    assert "Forced choice: Allowing ties" in capsys.readouterr().out
    written = json.loads(out.read_text())["forced_choice"]
    page = opened(app, "votes_to_labels", tab="Forced choice", judges=judges, forced=judges[0])
    assert page.selectbox(key="forced").value == judges[0]
    frame = next(table.value for table in page.dataframe if "slot within pairs" in table.value)
    for row, (_, shown) in zip(written["rows"], frame.iterrows(), strict=True):
        assert (row["judge"], row["where"]) == (shown["judge"], shown["comparisons"])
        for key, column in (("ties", "ties"), ("right", "right"), ("bias", "slot within pairs")):
            assert shown[column] == pytest.approx(row[key]["value"], abs=1e-9)
    assert main(["audit", str(DEMO), "--forced-choice", judges[0]]) == 2
    assert "name two judges" in capsys.readouterr().err
