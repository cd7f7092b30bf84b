"""A constant at every level and coins, put in a judge's place on real annotated files: they may
neither decide nor measure, take nobody's place, and stand behind every judge that may measure.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import numpy as np
import pandas as pd
import pytest

import core
from core.auditing.checks import LIMITS
from core.auditing.overall import OVERALL_WORDS
from core.importers import ReadOptions, read
from core.questions.scores.evidence import ScoreEvidence
from core.questions.scores.overall import check_scores, overall_of_scores
from core.questions.scores.words import further

pytestmark = pytest.mark.thorough

SCORES = ("cje_arena", "rewardbench2_scores", "triviaqa_verdicts")
VOTES = (
    "native/alttest",
    "native/judgebench",
    "native/llmbar/result.json",
    "votes/faireval.csv.gz",
    "votes/pandalm.csv.gz",
    "votes/judgebench.csv.gz",
    "votes/judgeconf.csv.gz",
    "votes/pba_position.csv.gz",
    "votes/pba_repeat.csv.gz",
    "votes/rewardbench2_pairs.csv.gz",
    "native/pandalm",
)
"""Files with gold or with people; the others hold neither."""
ORDER = list(OVERALL_WORDS)


def blind_scores(judge, rng):
    """Constants at up to nine levels, and coins: even over the levels, and as often as the judge."""
    known = ~np.isnan(judge)
    seen = np.unique(judge[known])
    at = seen[np.unique(np.linspace(0, len(seen) - 1, min(len(seen), 9)).astype(int))]
    columns = [np.full(len(judge), value) for value in at]
    columns += [rng.choice(at, len(judge)), rng.permutation(judge[known])[: len(judge)]]
    for column in columns:
        yield np.where(known, np.resize(column, len(judge)), np.nan)


@pytest.mark.parametrize("name", SCORES)
def test_scores_without_reading_may_nothing(shared_data, name):
    rng = np.random.default_rng(0)
    audit = core.audit(shared_data / "scores" / f"{name}.csv.gz")
    for scores in audit.scores:
        of = scores.evidence.scores
        for own in blind_scores(of.table.judge, rng):
            table = replace(of.table, judge=own)
            blind = replace(of, table=table, runs=own[:, None], confidence=None, by_file=None)
            evidence = ScoreEvidence(blind, LIMITS)
            overall = overall_of_scores(evidence, check_scores(evidence))
            assert overall.use["decide"].answer != "yes"
            assert overall.use["measure"].answer != "yes"
            assert not any("may take a person's place" in said for said in further(evidence))
            if scores.overall.use["measure"].answer == "yes":
                assert ORDER.index(overall.verdict) > ORDER.index(scores.overall.verdict)


@pytest.mark.parametrize("place", VOTES)
def test_votes_without_reading_may_nothing(shared_data, place):
    rng, path = np.random.default_rng(0), shared_data / place
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    read_files = read([(file.name, file) for file in files], ReadOptions())
    rows = pd.concat([one.votes.to_pandas() for one in read_files], ignore_index=True)
    if path.is_dir():
        # One file has people, the other judges of the same items.
        rows["dataset"] = "together"
    judges = rows[rows["rater_type"] != "human"]
    first = judges["judge"].iloc[0]
    like = judges[judges["judge"] == first]
    raters = {f"always {vote:+d}": np.full(len(like), vote) for vote in (-1, 0, 1)}
    raters["coin"] = rng.integers(-1, 2, len(like))
    raters["coin of two"] = rng.choice([-1, 1], len(like))
    raters["shuffled"] = rng.permutation(like["vote"].to_numpy(copy=True))
    extra = [
        like.assign(judge=name, vote=votes, confidence=np.nan) for name, votes in raters.items()
    ]
    kept = rows[(rows["rater_type"] == "human") | (rows["judge"] == first)]
    audit = core.audit(pd.concat([kept, *extra], ignore_index=True), splits=0)
    names = [judge.judge for judge in audit.without_people]
    for name in raters:
        overall = audit.overall[name]
        assert overall.use["decide"].answer != "yes", (name, overall)
        assert overall.use["measure"].answer != "yes", (name, overall)
    follows = [name for name in names if audit.overall[name].use["measure"].answer == "yes"]
    assert names[: len(follows)] == follows
    assert not set(follows) & set(raters)
    assert not any(name in audit.headline for name in chain(raters)) or not follows
