"""Judges of lists are audited on the command line, in JSON, text and the report, alike."""

import json

import numpy as np
import pytest
from places import REPOSITORY
from scipy.stats import binomtest
from test_listwise import rankings

from core.__main__ import main
from core.auditing.options import AuditOptions
from core.questions.lists.method import blocks, consensus, improvement
from core.questions.lists.orders import order_sensitivity
from core.questions.lists.parts import flagged_winners, parts_alone
from core.questions.lists.results import audit_lists
from core.schema import Selection
from core.store import Store
from core.store.vote_queries import list_rankings

RANKINGS = REPOSITORY / "data" / "demo_rankings.csv.gz"


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """The command's text, JSON and report of the demo's rankings."""
    folder = tmp_path_factory.mktemp("listwise")
    assert main(["audit", str(RANKINGS), "--json", str(folder / "audit.json")]) == 0
    assert main(["report", str(RANKINGS), "--html", str(folder / "report.html")]) == 0
    return json.loads((folder / "audit.json").read_text()), (folder / "report.html").read_text()


@pytest.fixture(scope="module")
def ranked(tmp_path_factory):
    from core.importers import ReadOptions, read

    with Store.open(None) as store:
        for reading in read([(RANKINGS.name, RANKINGS)], ReadOptions()):
            store.load(reading)
        return list_rankings(store, Selection())


def test_json_and_report_have_the_methods_figures(audited, ranked):
    document, report = audited
    assert set(document["listwise"]) == set(ranked)
    for judge, rankings_of_judge in ranked.items():
        written = document["listwise"][judge]
        overall = improvement(rankings_of_judge).overall
        assert written["improvement"]["overall"]["gain"]["value"] == overall.gain.value
        changed = order_sensitivity(rankings_of_judge).changed
        assert written["order_decides"]["low"] == changed.low
        headline = audit_lists(judge, rankings_of_judge, AuditOptions()).headline
        assert headline.replace("'", "&#39;") in report or headline.replace("'", "&#x27;") in report
        assert len(headline.split()) <= 20
    overall = [improvement(each).overall for each in ranked.values()]
    improved, regressed = (
        sum(getattr(one, name) for one in overall) for name in ("improved", "regressed")
    )
    assert document["listwise_pooled"] == {
        "judges": len(ranked),
        "improved": improved,
        "regressed": regressed,
        "p_value": pytest.approx(binomtest(improved, improved + regressed).pvalue, rel=1e-9),
        "same_slot": sum(one.first_order_is_special for one in overall),
        "helped": sum(one.gain.low > 0 for one in overall),
        "hurt": sum(one.gain.high < 0 for one in overall),
    }


def test_the_command_says_it_in_words(capsys):
    assert main(["audit", str(RANKINGS)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Listwise: 4 judges, 1,680 rankings")
    assert "sim-judge-careful's winner depends on candidate order for 18 % of items" in said


def one_item(**of_runs):
    """Two orders of three candidates, of which a is the best; a value per run and candidate."""
    return rankings(
        [
            {"item": 0, "run": run, "candidate": c, "slot": c, "best": int(c == 0)}
            | {name: values[run][c] for name, values in of_runs.items()}
            for run in range(2)
            for c in range(3)
        ],
        candidates=("a", "b", "c"),
    )


def test_each_part_alone_by_hand():
    """Scores put a first (180 against 170), ranks put b first (3 against 4)."""
    judged = one_item(score=[[90, 80, 10], [90, 90, 10]], rank=[[2, 1, 3], [2, 1, 3]])
    by_part = {part.part: part for part in parts_alone(judged)}
    assert set(by_part) == {"score", "borda", "top", "all"}
    assert by_part["score"].right.value == 1
    assert by_part["borda"].right.value == 0
    assert (
        by_part["borda"].change.value == by_part["borda"].right.value - by_part["all"].right.value
    )
    assert by_part["all"].right.value == improvement(judged).overall.consensus.value


def test_flags_of_who_wins_by_hand():
    """All orders put a first, which one of two runs flags; the first order puts b first, never
    flagged.
    """
    judged = one_item(score=[[80, 90, 10], [99, 10, 10]], major_error=[[1, 0, 1], [0, 0, 1]])
    assert consensus(judged).winner.tolist() == [True, False, False]
    (flag,) = flagged_winners(judged)
    assert flag.fault == "major_error"
    assert flag.consensus.value == pytest.approx(0.5)
    assert flag.direct.value == 0
    assert flag.all == pytest.approx(0.5)
    assert not blocks(one_item(score=[[1, 2, 3], [1, 2, 3]])).flags


def test_without_a_known_best_what_order_does_is_still_said(ranked):
    from dataclasses import replace

    blind = {name: replace(r, best=np.full(len(r.best), -1)) for name, r in ranked.items()}
    audit = audit_lists("sim-judge-careful", blind["sim-judge-careful"], AuditOptions())
    assert audit.improvements is None
    assert audit.parts == ()
    assert audit.sensitivity is not None
    assert audit.headline.endswith("no item says which candidate is best.")
