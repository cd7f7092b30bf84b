"""The demo tells one story: what is planted in a judge is found in each of its data sets, and what is
not planted is not.
"""

import pytest
from places import REPOSITORY

from core.auditing import run
from core.auditing.options import AuditOptions
from core.importers import read
from core.schema import Selection
from core.simulate.answers import JUDGES, LEVELS, PASSES
from core.simulate.votes import DEMO_DATASET, demo_world
from core.store import Store
from core.use.story import PLANTED, story

CAREFUL = JUDGES[0]
SHOWS_IN = {
    "position_bias": {DEMO_DATASET: "position"},
    "overconfidence": {DEMO_DATASET: "overconfidence", PASSES: "score_overconfidence"},
    "leniency": {PASSES: "tnr", LEVELS: "leniency"},
    "verbosity": {LEVELS: "score_length"},
}
"""A parameter of a judge → the check that finds it, in the data sets that can show it."""
SMALL = {"sim-judge-first-slot": {"overconfidence"}}
"""Planted so mildly that no check is to find it."""
FOUND_BY = {
    DEMO_DATASET: {
        "sim-judge-first-slot": {"position"},
        "sim-judge-boaster": {"calibration", "overconfidence"},
        "sim-judge-decisive": {"ties"},
    },
    PASSES: {
        "sim-judge-first-slot": {"tnr", "leniency"},
        "sim-judge-boaster": {"tnr", "score_overconfidence"},
    },
    LEVELS: {
        "sim-judge-first-slot": {"leniency"},
        "sim-judge-boaster": {"leniency", "score_length"},
    },
}
"""The checks that find each fault."""


@pytest.fixture(scope="module")
def audits():
    with Store.open() as store:
        for kind in ("votes", "answers", "scores"):
            path = REPOSITORY / "data" / f"demo_{kind}.csv.gz"
            for reading in read([(path.name, path)]):
                store.load(reading, simulated=True)
        yield {
            name: run.audit(store, Selection(datasets=(name,)), AuditOptions(splits=0))
            for name in (DEMO_DATASET, PASSES, LEVELS)
        }


def wrong(audit, judge):
    """Checks that fail or warn."""
    results = [*audit.checks, *(one for each in audit.scores for one in each.checks)]
    return {one.check for one in results if one.judge == judge and one.grade in ("fail", "warn")}


def test_what_is_planted_is_what_the_generator_draws_with():
    judges = {one.name: one for one in demo_world().judges}
    for parameter, checks in SHOWS_IN.items():
        for dataset, check in checks.items():
            for name in JUDGES:
                said = FOUND_BY[dataset].get(name, ())
                there = getattr(judges[name], parameter) and parameter not in SMALL.get(name, ())
                assert (check in said) == bool(there), (parameter, dataset, name)


def test_what_is_planted_is_found_and_nothing_in_the_careful_judge(audits):
    for dataset, audit in audits.items():
        assert not wrong(audit, CAREFUL), dataset
        assert CAREFUL in {one.judge for one in (*audit.asked_about, *audit.scores)}
        assert PLANTED[dataset].keys() == FOUND_BY[dataset].keys()
        for judge, checks in FOUND_BY[dataset].items():
            assert checks <= wrong(audit, judge), (dataset, judge)


def test_the_careful_judge_comes_first_and_may_decide(audits):
    for dataset, audit in audits.items():
        first = (*audit.asked_about, *audit.scores)[0]
        assert first.judge == CAREFUL, dataset
    for dataset in (PASSES, LEVELS):
        of = {one.judge: one.overall.verdict for one in audits[dataset].scores}
        assert [name for name, verdict in of.items() if verdict == "trust"] == [CAREFUL]


def test_the_story_is_two_lines_of_the_demo_alone(audits):
    for audit in audits.values():
        planted, found = story(audit)
        assert planted.startswith("Planted: ")
        assert found.startswith("Found: sim-judge-")
        assert CAREFUL not in found
    with Store.open() as store:
        path = REPOSITORY / "data" / "example_first_shown.csv"
        for reading in read([(path.name, path)]):
            store.load(reading)
        (one,) = store.datasets()
        own = run.audit(store, Selection(datasets=(one.name,)), AuditOptions(splits=0))
    assert not story(own)
