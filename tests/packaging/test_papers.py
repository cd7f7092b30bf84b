"""The papers' items: their document is made from the records, places and fields exist, and on the demo
every table holds what its caption names, with values by code of this file.
"""

import csv
import gzip
import json
import math
import os
from collections import Counter, defaultdict

import numpy as np
import pytest
from places import REPOSITORY

from core.__main__ import main
from core.auditing.options import AuditOptions
from core.importers import read
from core.papers.asked import NOTHING, Settings
from core.papers.figure import figure
from core.papers.items import BY_NAME, ITEMS
from core.papers.made import counts, document, items_named, maker
from core.papers.planted import PLANTED
from core.schema import Selection
from core.store import Store
from core.use.papers import DEMO

DOCUMENT = REPOSITORY / "docs" / "papers.md"
NOT_IN_THE_DEMO = {"RAEE Table 15": "--outside"}


@pytest.fixture(scope="module")
def made():
    with (
        Store.holding(read([(path.name, path) for path in DEMO])) as store,
        maker(store, Selection(), AuditOptions(splits=5), Settings()) as make,
    ):
        yield make


def demo_rows(kind):
    path = REPOSITORY / "data" / f"demo_{kind}.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def ok_votes(judge=None):
    return [
        row
        for row in demo_rows("votes")
        if row["status"] == "ok" and (judge is None or row["judge"] == judge)
    ]


def test_the_document_is_made_from_the_records():
    text = DOCUMENT.read_text(encoding="utf-8")
    before, _, rest = text.partition("<!-- papers -->\n")
    made, _, after = rest.partition("<!-- /papers -->")
    if os.environ.get("APPELLATE_WRITE_PAPERS"):
        new = f"{before}<!-- papers -->\n{document()}<!-- /papers -->{after}"
        DOCUMENT.write_text(new, encoding="utf-8")
    assert made == document(), "run this test with APPELLATE_WRITE_PAPERS=1"


def test_items_that_are_not_whole_say_why():
    assert len(BY_NAME) == len(ITEMS)
    for item in ITEMS:
        assert item.on_page or item.lacks or item.ours, item.name
        assert item.told or item.lacks, item.name


def test_pages_and_tabs_exist():
    source = "\n".join(
        path.read_text(encoding="utf-8") for path in (REPOSITORY / "pages").rglob("*.py")
    )
    for item in ITEMS:
        assert not item.page or (REPOSITORY / "pages" / f"{item.page}.py").exists(), item.name
        assert not item.tab or f'"{item.tab}"' in source, item.name


@pytest.mark.parametrize("item", [item for item in ITEMS if item.table], ids=lambda item: item.name)
def test_a_table_has_the_columns_of_its_caption(made, item):
    found = made(item)
    if item.name in NOT_IN_THE_DEMO:
        assert NOT_IN_THE_DEMO[item.name] in found.lacks
        return
    assert found.table is not None, found.lacks
    assert len(found.table)
    assert not set(item.columns) - set(found.table.columns)
    for name in item.columns:
        assert found.table[name].notna().any(), name
    for name in ("p", "accuracy", "share", "coverage", "ece", "mae", "pa"):
        if name in item.columns:
            values = found.table[name].dropna().astype(float)
            # Errors of labels from -1 to 1, and of levels from 1 to 10.
            most = 9 if item.number == "§6, ordinal" else 2
            assert ((values >= 0) & (values <= most)).all(), name


def test_an_item_is_found_by_its_name_or_its_paper():
    assert [item.number for item in items_named(["raee table 2"])] == ["Table 2"]
    assert {item.paper for item in items_named(["TH"])} == {"TH"}
    assert len(items_named([])) == len(ITEMS)


def test_what_is_planted_in_the_demo_is_found(made):
    assert set(PLANTED) <= set(BY_NAME)
    change = table(made, "TH Tables 5, 7, change")["accuracy_change"]
    assert change.item() == pytest.approx(0.2, abs=0.05)
    choice = table(made, "RAEE E.1").set_index("anchor")
    assert set(choice.index[choice["serves"]]) == {"sim-anchor-one", "sim-anchor-two"}
    circle = table(made, "RAEE B.8").set_index(["a", "b", "c"])["residual"].abs()
    assert set(circle.idxmax()) == {"sim-hazel", "sim-birch", "sim-elm"}
    assert circle.max() > 2 * circle.drop(circle.idxmax()).max()
    assert table(made, "RAEE Table 2")["se_reduced_percent"].median() < 10
    assert table(made, "RAEE Table 9, Figure 4")["ratio_finite"].max() < 1
    repeats = table(made, "RAEE §2.3").set_index("judge")
    assert repeats["strong"].all()
    assert repeats["icc_3_k"].idxmin() == "sim-judge-boaster"


def test_the_count_has_parts_of_one_item_once(capsys):
    assert main(["papers", "--isolated", "--count"]) == 0
    printed = capsys.readouterr().out
    *_, total = counts()
    assert total.items == 142
    assert total.on_page >= 125
    assert total.by_command >= 115
    assert f"{total.items:7}{total.on_page:12}{total.by_command:12}" in printed
    for item in ITEMS:
        if item.part_of:
            assert f"{item.paper} {item.part_of}" in BY_NAME
        if not item.on_page:
            assert f"  {item.name}: " in printed


def test_the_command_lists_and_prints(capsys, tmp_path):
    assert main(["papers", "--isolated"]) == 0
    assert "RAEE Table 2" in capsys.readouterr().out
    out = tmp_path / "one.csv"
    assert main(["papers", "--isolated", "--item", "BTD Table 1", "--csv", str(out)]) == 0
    assert "bias_decided" in capsys.readouterr().out
    assert len(out.read_text(encoding="utf-8").splitlines()) == 5
    assert main(["papers", "--isolated", "--item", "BTD Table 99"]) == 2


def table(made, name):
    return made(BY_NAME[name]).table


def test_position_bias_by_hand(made):
    found = table(made, "BTD Table 1").set_index("judge")
    judge = "sim-judge-first-slot"
    seen = Counter()
    for row in ok_votes(judge):
        seen[int(row["vote"]) * (1 if row["position"] == "ab" else -1)] += 1
    assert list(found.loc[judge, ["first", "second", "tie"]]) == [seen[1], seen[-1], seen[0]]
    bias = (seen[1] - seen[-1]) / (seen[1] + seen[-1])
    assert found.loc[judge, "bias_decided"] == pytest.approx(bias)


def test_tie_rates_by_hand(made):
    found = table(made, "BTD Table 2").set_index("judge")
    votes = [row for row in ok_votes("sim-judge-careful") if row["category"] == "Math"]
    ties = sum(row["vote"] == "0" for row in votes) / len(votes)
    assert found.loc["sim-judge-careful", "Math"] == pytest.approx(ties)


def test_the_figure_of_votes_stands_over_numbers_of_votes(made):
    """BTD Figure 2: every rule at 1, 2, 4 … votes, not at its number of comparisons."""
    item = BY_NAME["BTD Figure 2"]
    table = made(item).table
    fig = figure(item, table)
    assert fig is not None
    for trace in fig.data:
        own = table[table["rule"] == trace.name]
        of = "mae" if trace.xaxis in (None, "x") else "pa"
        assert dict(zip(trace.x, trace.y, strict=True)) == dict(
            zip(own["votes"], own[of], strict=True)
        )
    styles = {(trace.name, trace.line.dash) for trace in fig.data}
    assert len(styles) == len(set(table["rule"]))
    assert {dash for _, dash in styles} == ({"solid", "dash"} if len(styles) > 7 else {"solid"})


def test_what_few_columns_lack_is_named(tmp_path):
    """One judge, one order, one run, no confidence: no item says only that something is missing."""
    path = tmp_path / "votes.csv"
    cells = (f"q{k},j,{k % 3 - 1},{k % 2},m{k % 4},z" for k in range(80))
    head = "item_id,judge,vote,gold,model_a,model_b"
    path.write_text("\n".join([head, *cells]), encoding="utf-8")
    with (
        Store.holding(read([(path.name, path)])) as store,
        maker(store, Selection(), AuditOptions(splits=5), Settings()) as make,
    ):
        lacking = {item.name: make(item).lacks for item in ITEMS}
    assert lacking["RAEE §2.3"] == "It needs two votes or more of a judge on the same comparisons."
    assert lacking["RAEE B.8"] == "It needs three models that met each other."
    assert not [name for name, why in lacking.items() if why == NOTHING]


def test_gold_shares_by_hand(made):
    found = table(made, "BTD Table 8, Figure 10")
    gold = {
        (row["item_id"], row["model_a"], row["model_b"]): row["gold"]
        for row in demo_rows("votes")
        if row["category"] == "Focus" and row["gold"] and row["rater_type"] == "llm"
    }
    (row,) = found[found["value"] == "Focus"].to_dict("records")
    assert row["comparisons"] == len(gold)
    assert row["tie"] == pytest.approx(sum(label == "0" for label in gold.values()) / len(gold))


def test_near_certain_verdicts_by_hand(made):
    found = table(made, "TH §4.1")
    judge = "sim-judge-boaster"
    (row,) = found[(found["judge"] == judge) & (found["epsilon"] == 0.1)].to_dict("records")
    stated = [row for row in ok_votes(judge) if row["confidence"] and row["gold"]]
    near = [row for row in stated if min(c := float(row["confidence"]), 1 - c) < 0.1 - 1e-9]
    right = sum(row["vote"] == row["gold"] for row in near) / len(near)
    assert row["th"] == pytest.approx((math.exp(right - 0.5) - 1) * 100 * len(near) / len(stated))


def test_one_item_under_its_settings_by_hand(made):
    found = table(made, "TH Figure 2")
    (judge,) = set(found["judge"])
    (share,) = found[found["setting"] == "share of votes"].to_dict("records")
    stated = found[found["setting"] != "share of votes"].set_index("verdict")
    votes = defaultdict(list)
    for row in ok_votes(judge):
        key = row["item_id"], row["model_a"], row["model_b"]
        votes[key].append((int(row["vote"]), float(row["confidence"]), row["gold"]))
    told = {
        verdict: (row["votes"], pytest.approx(row["confidence"]))
        for verdict, row in stated.iterrows()
    }
    alike = []
    for of_one in votes.values():
        each = defaultdict(list)
        for vote, confidence, _ in of_one:
            each[vote].append(confidence)
        if {vote: (len(sure), np.mean(sure)) for vote, sure in each.items()} == told:
            alike.append(of_one)
    assert alike, "no comparison of the judge has these votes"
    of_one = alike[0]
    counts = Counter(vote for vote, _, _ in of_one)
    assert share["votes"] == len(of_one)
    assert share["confidence"] == pytest.approx(max(counts.values()) / len(of_one))
    assert share["right"] == (str(share["verdict"]) == of_one[0][2])


def test_a_fuser_against_its_model_by_hand(made):
    (found,) = table(made, "TH Tables 5, 7, change").to_dict("records")
    assert (found["fuser"], found["alone"]) == ("fuser(sim-judge-boaster)", "sim-judge-boaster")
    right = {}
    for kind, judge in (("votes", found["alone"]), ("fuser", found["fuser"])):
        votes, gold = defaultdict(Counter), {}
        for row in demo_rows(kind):
            if row["judge"] == judge and row.get("status", "ok") == "ok":
                key = row["item_id"], row["model_a"], row["model_b"]
                votes[key][row["vote"]] += 1
                gold[key] = row["gold"]
        majority = {}
        for key, of_one in votes.items():
            (label, most), *others = of_one.most_common()
            majority[key] = "0" if others and others[0][1] == most else label
        right[kind] = np.mean([majority[key] == gold[key] for key in gold])
        assert len(gold) == found["n"]
    assert found["accuracy"] == pytest.approx(right["fuser"])
    assert found["accuracy_change"] == pytest.approx(right["fuser"] - right["votes"])


def test_improved_and_regressed_by_hand(made):
    found = table(made, "PCF Table 1").set_index("judge")
    ranks, best = defaultdict(dict), {}
    judge = "sim-judge-careful"
    overall = found[found["category"] == "all"]
    rows = [row for row in demo_rows("rankings") if row["judge"] == judge]
    for row in rows:
        if row["is_best"] == "1":
            best[row["item_id"]] = row["candidate"]
        if row["run"] == "0" and row["rank"] == "1":
            ranks[row["item_id"]]["direct"] = row["candidate"]
    right = np.mean([ranks[item]["direct"] == best[item] for item in best])
    assert overall.loc[judge, "direct"] == pytest.approx(right)
    total = overall["improved"].sum(), overall["regressed"].sum()
    assert tuple(found.loc["all 4", ["improved", "regressed"]]) == total


def test_direct_scores_by_hand(made):
    found = table(made, "RAEE Figure 6")
    scores = Counter(
        (row["judge"], row["model"], float(row["score"])) for row in demo_rows("scores")
    )
    drawn = {
        (row["judge"], row["model"], row["score"]): row["count"] for row in found.to_dict("records")
    }
    assert drawn == dict(scores)
    per_model = table(made, "RAEE Table 1").set_index("model")
    of = defaultdict(list)
    for row in demo_rows("scores"):
        if row["model"] == "sim-elm":
            of[row["judge"]].append(float(row["score"]))
    means = [np.mean(values) for values in of.values()]
    assert per_model.loc["sim-elm", "mean"] == pytest.approx(np.mean(means))
    everything = np.concatenate(list(of.values()))
    moved = everything - everything.mean()
    kurtosis = (moved**4).mean() / (moved**2).mean() ** 2 - 3
    assert per_model.loc["sim-elm", "kurtosis"] == pytest.approx(kurtosis)


def test_both_priors_by_hand(made):
    boards = table(made, "RAEE eq. 1–2")
    rows = boards[(boards["judge"] == "all") & (boards["anchor"] == "sim-anchor-one")]
    gaps = []
    for row in rows.to_dict("records"):
        total = row["p"] * (row["n"] + 1) - 0.5
        laplace = (total + 1) / (row["n"] + 2)
        elo = [400 * math.log10(p / (1 - p)) for p in (row["p"], laplace)]
        gaps.append(abs(elo[0] - elo[1]))
    found = table(made, "RAEE Table 13").set_index("anchor").loc["sim-anchor-one"]
    assert found["mean_abs"] == pytest.approx(np.mean(gaps))
    assert found["largest"] == pytest.approx(max(gaps))


def test_centred_elo_by_hand(made):
    boards = table(made, "RAEE eq. 1–2")
    pooled = boards[boards["judge"] == "all"]
    found = table(made, "RAEE Figure 2, right")
    anchors = [name for name in found.columns if name not in ("model", "on_all")]
    assert len(anchors) == 3
    on_all = set(found[found["on_all"]]["model"])
    elo = pooled[pooled["anchor"] == anchors[0]].set_index("model")["elo"]
    middle = elo[list(on_all)].mean()
    for row in found.dropna(subset=[anchors[0]]).to_dict("records"):
        assert row[anchors[0]] == pytest.approx(elo[row["model"]] - middle)


def field(document, path):
    """What a path such as `judges.*.position` finds; of `*`, and of a list, any."""
    found = [document]
    for part in path.split("."):
        found = [
            value
            for each in found
            for one in (each if isinstance(each, list) else [each])
            if isinstance(one, dict)
            for value in (one.values() if part == "*" else [one[part]] if part in one else [])
        ]
    return found


def test_an_audit_prints_the_tables_that_were_asked_for_and_no_others(tmp_path, capsys):
    captions = {
        "--grid": "Rules by task and judge, MAE",
        "--jury": "Members, rules and fusers",
        "--board-checks": "Triangles of models",
    }
    votes = tmp_path / "votes.csv"
    kept = [row for row in demo_rows("votes") if row["item_id"] <= "sim-0020"]
    with votes.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, kept[0])
        writer.writeheader()
        writer.writerows(kept)
    for flags in ((), *((flag,) for flag in captions), tuple(captions)):
        assert main(["audit", str(votes), "--isolated", "--splits", "5", *flags]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert {flag for flag, caption in captions.items() if caption in lines} == set(flags)


@pytest.mark.thorough
def test_the_fields_of_the_records_are_in_the_document(tmp_path):
    out, board = tmp_path / "audit.json", tmp_path / "board.csv"
    board.write_text("model,score\nsim-hazel,71\nsim-birch,64\nsim-elm,52\n", encoding="utf-8")
    words = ["audit", *map(str, DEMO), "--grid", "--jury", "--board-checks", "--splits", "5"]
    words += ["--forced-choice", "sim-judge-decisive", "sim-judge-careful"]
    assert main([*words, "--isolated", "--outside", str(board), "--json", str(out)]) == 0
    found = json.loads(out.read_text(encoding="utf-8"))
    lost = sorted({item.field for item in ITEMS if item.field and not field(found, item.field)})
    assert not lost
