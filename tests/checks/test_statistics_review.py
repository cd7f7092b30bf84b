"""What an audit may say: a reason for every null, alarms that are rarely false, intervals that
cover.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evidence_of import result
from levels import first_of
from readings import reading

from core.auditing.options import AuditOptions
from core.auditing.overall import missing
from core.auditing.run import audit
from core.finding.wording import percent
from core.importers import read
from core.questions.boards.anchored import board
from core.questions.boards.standings import lead
from core.questions.boards.words import mid_region
from core.questions.confidence.calibration_error import confidence_gap
from core.questions.order.balance import order_balance
from core.questions.order.method import position_bias
from core.records import OrderCounts, OutcomeCounts, PairScores, PositionCounts
from core.reporting.document import to_json
from core.schema import ImportResult, Selection
from core.stats.intervals import wilson_by_item
from core.store import Store

REASONS = {
    ("judges", "*", "accuracy"): "no accuracy",
    ("judges", "*", "accuracy", "low"): "no interval of the accuracy",
    ("judges", "*", "accuracy", "high"): "no interval of the accuracy",
    ("judges", "*", "calibration"): "no calibration",
    ("judges", "*", "calibration", "bins", "*", "confidence"): "no confidence and accuracy in",
    ("judges", "*", "calibration", "bins", "*", "accuracy"): "no confidence and accuracy in",
    ("judges", "*", "calibration", "bins", "*", "accuracy_low"): "no confidence and accuracy in",
    ("judges", "*", "calibration", "bins", "*", "accuracy_high"): "no confidence and accuracy in",
    ("judges", "*", "calibration", "th", "*", "accuracy"): "no accuracy at ε",
    ("judges", "*", "position"): "no position figures",
    ("judges", "*", "position", "bias_decided"): "no bias of decided votes",
    ("judges", "*", "position", "flip_rate"): "no flip rates and p-value",
    ("judges", "*", "position", "hard_flip_rate"): "no flip rates and p-value",
    ("judges", "*", "position", "p_value"): "no flip rates and p-value",
    ("judges", "*", "position", "same_order_disagreement"): "no same-order disagreement",
    ("judges", "*", "confusion"): "no confusion table",
    ("judges", "*", "btd"): "no BTD fit",
    ("judges", "*", "btd", "splits"): "no splits",
    ("judges", "*", "repeatability"): "no repeatability",
    ("judges", "*", "repeatability", "icc_3_1"): "no ICC",
    ("judges", "*", "repeatability", "icc_3_k"): "no ICC",
    ("judges", "*", "repeatability", "icc_3_k_low"): "ICC",
    ("judges", "*", "repeatability", "icc_3_k_high"): "ICC",
    ("judges", "*", "direction"): "no half credit",
    ("judges", "*", "direction", "low"): "no interval of the half credit",
    ("judges", "*", "direction", "high"): "no interval of the half credit",
    **{
        ("judges", "*", "own_family", end): "no own family beyond gold"
        for end in ("difference", "low", "high")
    },
    ("judges", "*", "direction", "among_decided"): "no share right among decided votes",
    ("judges", "*", "direction", "blind_rule"): "no blind rule",
    ("judges", "*", "direction", "blind_rule", "value"): "no half credit beyond a blind rule",
    ("judges", "*", "direction", "blind_rule", "low"): "no half credit beyond a blind rule",
    ("judges", "*", "direction", "blind_rule", "high"): "no half credit beyond a blind rule",
    ("judges", "*", "alternative"): "no Alternative Annotator Test",
    ("judges", "*", "alternative", "omega"): "no Alternative Annotator Test",
    ("judges", "*", "alternative", "rho"): "no Alternative Annotator Test",
    **{
        ("judges", "*", "effective_votes", which, end): "no interval of the effective number"
        for which in ("effective", "correlation")
        for end in ("low", "high")
    },
    ("judges", "*", "effective_votes"): "no effective number of votes",
    **{
        ("judges", "*", "confidences", "*", *path): "no discrimination of every kind"
        for path in (("auroc",), ("auroc", "value"), ("auroc", "low"), ("auroc", "high"))
    },
    ("judges", "*", "confidences", "*", "th", "*", "accuracy"): "no accuracy at ε",
    ("judges", "*", "discrimination"): "no discrimination",
    ("judges", "*", "discrimination", "auroc"): "no discrimination of right and wrong",
    ("judges", "*", "discrimination", "low"): "no discrimination ",
    ("judges", "*", "discrimination", "high"): "no discrimination ",
    ("judges", "*", "length"): "no length",
    ("judges", "*", "length", "gold_longer"): "no length beyond gold",
    ("judges", "*", "length", "difference"): "no length beyond gold",
    ("judges", "*", "length", "low"): "no length beyond gold",
    ("judges", "*", "length", "high"): "no length beyond gold",
    ("judges", "*", "own_family"): "no own family",
    ("judges", "*", "robustness"): "no robustness",
    ("agreement", "*", "raw"): "no agreement",
    ("agreement", "*", "kappa"): "no ",
    ("anchors", "recommended"): " anchor",
    ("anchors", "choices", "*", "least_tau"): " anchor",
    ("anchors", "rows", "*", "sd_elo"): "no spread over judges",
    ("anchors", "rows", "*", "cv"): "no spread over judges",
    ("anchors", "rows", "*", "elo_strong"): "no Elo of strong judges",
    ("anchor_swap", "*", "kendall_tau"): "no Kendall τ",
    ("anchor_swap", "*", "mean_abs_centred_shift"): "no shift",
}
"""Words that the note on a null holds. The null `judge` of a board stands for all judges pooled."""


def nulls(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from nulls(item, (*path, key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from nulls(item, (*path, place))
    elif value is None:
        yield path


def unexplained(document: dict[str, Any]) -> list[tuple[str | int, ...]]:
    """Nulls without a note that names their judge, pair or anchors and says why."""
    found = []
    for path in nulls({key: document[key] for key in document if key != "options"}):
        if path[0] == "leaderboards" and path[-1] == "judge":
            continue
        # Each verdict says it in its sentence.
        if path[0] == "verdicts":
            continue
        # Each row of what is decided alone says it beside its null.
        if path[0] == "judges" and path[2] == "alone":
            assert document["judges"][path[1]]["alone"][path[3]]["note"], path
            continue
        # Who the people are has its reason beside it, and no column in which labels differ is none.
        if path[0] == "judges" and path[2] in ("reference", "labels"):
            of = document["judges"][path[1]]
            explained = path[-1] in ("differs", "reason") or of["reference"]["reason"]
            assert explained or of["labels"] is None, path
            continue
        # What may not be decided alone is explained by what it rests on.
        if path[0] == "overall":
            alone = document["overall"][path[1]]["use"]["decide"]["alone"]
            assert path[-1] == "alone" or (path[4] == "alone" and alone["note"]), path
            continue
        kind = tuple(
            "*" if isinstance(key, int) or (place == 1 and path[0] == "judges") else str(key)
            for place, key in enumerate(path)
        )
        if path[0] == "judges":
            names = ["Every judge", str(path[1])]
        elif path[0] == "anchors":
            names = ["nchor"]
        elif path[0] == "agreement":
            row = document["agreement"][path[1]]
            names = [f"{row['judge_1']} and {row['judge_2']}", "pairs of judges"]
        else:
            row = document["anchor_swap"][path[1]]
            names = [f"{row['anchor_1']} and {row['anchor_2']}"]
        if not any(
            REASONS[kind] in note and any(name in note for name in names)
            for note in document["notes"]
        ):
            found.append(path)
    return found


def document_of(
    readings: list[ImportResult], *, gold: str = "given", **options: Any
) -> dict[str, Any]:
    with Store.open() as store:
        for one in readings:
            store.load(one)
        found = audit(store, Selection(gold=gold), AuditOptions(**options), readings=readings)
    return dict(json.loads(to_json(found)))


@pytest.mark.parametrize(
    ("tool", "gold", "options"),
    [
        ("judgebench", "given", {}),
        ("judgebench", "given", {"correctness": "both_orders"}),
        ("judgebench", "given", {"bins": 40}),
        ("arenahard", "given", {}),
        ("alpacaeval", "given", {}),
        ("pandalm", "given", {}),
        ("pandalm", "humans", {"splits": 5}),
    ],
)
def test_every_null_of_an_audit_has_its_reason(
    native: Path, tool: str, gold: str, options: dict[str, Any]
) -> None:
    paths = sorted((native / tool).glob("*.json*"))
    readings = read([(path.name, path) for path in paths])
    assert unexplained(document_of(readings, gold=gold, **{"splits": 0, **options})) == []


@pytest.mark.thorough
def test_every_null_of_a_real_audit_has_its_reason(
    shared_data: Path, subtests: pytest.Subtests
) -> None:
    for name, gold, options in (
        ("judgebench", "given", {}),
        ("judgebench", "given", {"correctness": "both_orders"}),
        ("judgeconf", "given", {"bins": 40}),
        ("faireval", "given", {}),
        ("pandalm", "humans", {"splits": 5}),
        ("pba_repeat", "given", {}),
        ("pba_position", "given", {}),
        ("wmt23_ende_humans", "given", {}),
    ):
        path = shared_data / "votes" / f"{name}.csv.gz"
        with subtests.test(name, gold=gold, **options):
            document = document_of(read([(path.name, path)]), gold=gold, **{"splits": 0, **options})
            assert unexplained(document) == []


def rows(n: int, **columns: Any) -> list[dict[str, Any]]:
    """n votes of judge j for A, one an item, with the columns given by place or once for all."""
    usual = {"item_id": [f"i{k}" for k in range(n)], "judge": "j", "vote": 1}
    return [
        {
            name: value[k % len(value)] if isinstance(value, list) else value
            for name, value in (usual | columns).items()
        }
        for k in range(n)
    ]


MADE_UP = {
    "one vote": rows(1),
    "one vote with all that can be known": rows(1, gold=1, confidence=1.0, position="ab"),
    "all ties": rows(40, vote=0, gold=[1, 0], position=["ab", "ba"], confidence=0.5),
    "certain and wrong": rows(40, gold=-1, confidence=[0.0, 1.0], position="ab"),
    "no confidence near the edges": rows(40, gold=[1, -1], confidence=0.5),
    "repeats that never differ": rows(
        40, item_id=["a", "a", "b", "b"], run=list(range(40)), vote=[1, 1, -1, -1]
    ),
    "repeats of one comparison": rows(10, item_id="a", run=list(range(10)), vote=[1, -1]),
    "repeats that differ once": rows(
        8, item_id=list("aabbccdd"), run=[0, 1], vote=[1, 1, -1, -1, 1, 1, -1, 1]
    ),
    "failed outputs beside one vote": rows(
        3, status=["ok", "error", "refused"], vote=[1, None, None], gold=1
    ),
    "a judge with failed outputs only": rows(
        4, judge=["j", "k"], status=["ok", "error"], vote=[1, None], gold=1
    ),
    "two judges that say one thing": [*rows(30, gold=1), *rows(30, judge="k", gold=1)],
    "judges that share nothing": [*rows(3), *rows(3, judge="k", item_id=["x", "y", "z"])],
    "a gold tie for all": rows(25, gold=0, vote=[0, 1]),
    "two anchors with little in common": [
        {"item_id": "i", "judge": "j", "vote": 1, "model_a": a, "model_b": b}
        for a, b in (["am", "an", "ao", "bp", "bq", "br", "ab"][k] for k in range(7))
    ],
    "boards that tie all": [
        {"item_id": "i", "judge": "j", "vote": 0, "model_a": a, "model_b": b}
        for a in "ab"
        for b in "mno"
    ],
}


@pytest.mark.parametrize("name", MADE_UP)
@pytest.mark.parametrize("correctness", first_of("both_orders", "single"))
def test_every_null_of_an_edge_case_has_its_reason(name: str, correctness: str) -> None:
    document = document_of([reading(MADE_UP[name])], splits=5, correctness=correctness)
    assert unexplained(document) == []


# ---- alarms


def single(confidence: np.ndarray, correct: np.ndarray) -> OutcomeCounts:
    n = len(correct)
    return OutcomeCounts(
        item=np.arange(n),
        confidence=confidence,
        n=np.ones(n, np.int64),
        correct=correct.astype(np.int64),
    )


@pytest.mark.thorough
@pytest.mark.parametrize(("n", "confidence"), [(30, 0.97), (50, 0.95), (100, 0.9), (300, 0.8)])
def test_a_calibrated_judge_is_rarely_called_over_or_underconfident(
    n: int, confidence: float
) -> None:
    """A t interval without its added error calls 40 % of the first of these judges
    underconfident.
    """
    rng, alarms, held = np.random.default_rng(1), 0, 0
    for _ in range(600):
        votes = single(np.full(n, confidence), rng.random(n) < confidence)
        found = confidence_gap(votes)
        assert found is not None
        alarms += result("overconfidence", outcomes=votes).grade in ("warn", "fail")
        held += found.gap.low <= 0 <= found.gap.high
    assert alarms / 600 <= 0.10
    assert held / 600 >= 0.90


def test_a_clearly_overconfident_judge_is_found() -> None:
    rng = np.random.default_rng(2)
    found = [
        result("overconfidence", outcomes=single(np.full(100, 0.95), rng.random(100) < 0.7))
        for _ in range(200)
    ]
    assert np.mean([one.grade in ("warn", "fail") for one in found]) > 0.95


def test_one_item_shows_no_overconfidence_either_way() -> None:
    votes = OutcomeCounts(
        item=np.zeros(1, np.int64),
        confidence=np.array([0.9]),
        n=np.array([40]),
        correct=np.array([20]),
    )
    said = result("overconfidence", outcomes=votes)
    assert said.grade == "unknown"
    assert "nan" not in said.sentence


@pytest.mark.parametrize("digits", [0, 1])
def test_a_share_prints_as_none_or_all_only_if_it_is(digits: int) -> None:
    assert percent(0.0001, digits) == "under 0.1 %"
    assert percent(0.9999, digits) == "over 99.9 %"


def test_low_icc_is_not_taken_for_changing_answers() -> None:
    """A judge that says A 117 of 120 times repeats itself, though its ICC is near 0."""
    ratings = np.ones((40, 3))
    ratings[[3, 17, 29], [0, 1, 2]] = -1
    said = result("repeatability", ratings=ratings)
    assert said.grade == "fail"
    assert "changes the answer" not in said.sentence
    assert "All runs agree on 92 %" in said.sentence


def test_a_rater_is_not_graded_against_its_own_votes() -> None:
    votes = rows(60, gold=[1, -1], vote=[1, -1, 0])
    with Store.open() as store:
        store.load(reading([*votes, *rows(60, judge="k", vote=[1, -1])]))
        found = audit(store, Selection(gold="k"), AuditOptions(splits=0))
    grades = {(one.judge, one.check): one for one in found.checks}
    assert grades["k", "accuracy"].grade == "unknown"
    assert "its own votes" in grades["k", "accuracy"].sentence
    assert grades["j", "accuracy"].grade != "unknown"
    assert any(note.startswith("k: gold is made of these votes") for note in found.notes)
    assert not any("gold labels" in sentence for sentence in missing([grades["k", "accuracy"]]))


# ---- coverage


@pytest.mark.parametrize(("items", "each", "rate"), [(30, 8, 0.8), (200, 4, 0.95)])
def test_clustered_accuracy_covers(items: int, each: int, rate: float) -> None:
    rng, held = np.random.default_rng(4), 0
    for _ in range(1000):
        right = rng.binomial(each, rng.beta(rate, 1 - rate, items))
        found = wilson_by_item(np.arange(items), np.full(items, each), right)
        held += found.low <= rate <= found.high
    assert 0.92 <= held / 1000 <= 0.97


def orders_of(rng: np.random.Generator, n: int, accuracy: float, push: float) -> OrderCounts:
    """Four votes in each order: right with `accuracy`, else wrong; with chance `push` for the first
    shown.
    """
    gold = rng.choice([-1, 1], n)
    counted = []
    for shown in (1, -1):
        vote = np.where(rng.random((4, n)) < accuracy, gold, -gold)
        vote = np.where(rng.random((4, n)) < push, shown, vote)
        counted.append(np.stack([(vote == label).sum(axis=0) for label in (-1, 0, 1)], axis=1))
    place = np.arange(n)
    return OrderCounts(comparison=place, item=place, ab=counted[0], ba=counted[1], gold=gold)


@pytest.mark.thorough
@pytest.mark.parametrize(("n", "accuracy", "push"), [(60, 0.8, 0.2), (300, 0.95, 0.05)])
def test_errors_by_order_cover_even_where_few_are_wrong(
    n: int, accuracy: float, push: float
) -> None:
    """Mean ± t·SE of the second judge's error with all votes holds the truth one time in three."""
    rng = np.random.default_rng(5)
    truth = order_balance(orders_of(rng, 40_000, accuracy, push))
    assert truth is not None
    held = np.zeros(4)
    for _ in range(200):
        found = order_balance(orders_of(rng, n, accuracy, push))
        assert found is not None
        held += (found.mae.low <= truth.mae.value) & (truth.mae.value <= found.mae.high)
    assert (held / 200 >= 0.90).all()


def paired_slots(rng: np.random.Generator, n: int) -> PositionCounts:
    """One pair per comparison; a vote is pushed to the first shown one time in ten, and noise one
    in four.
    """
    better = rng.choice([-1, 1], n)
    votes = []
    for shown in (1, -1):
        vote = np.where(rng.random(n) < 0.25, rng.choice([-1, 1], n), better)
        votes.append(np.where(rng.random(n) < 0.1, shown, vote))
    ab, ba = votes
    first = (ab == 1).astype(np.int64) + (ba == -1)
    flips, nothing = (ab != ba).astype(np.int64), np.zeros(n, np.int64)
    return PositionCounts(
        comparison=np.arange(n),
        item=np.arange(n),
        category=nothing,
        categories=("",),
        first=first,
        second=2 - first,
        tie=nothing,
        pairs=nothing + 1,
        flips=flips,
        hard_flips=flips,
        slot_sum=ab - ba,
        same_order_pairs=nothing,
        same_order_disagreements=nothing,
        margin=np.full(n, np.nan),
    )


@pytest.mark.thorough
def test_bias_of_paired_orders_covers_and_no_more() -> None:
    """Quality cancels in a pair; an interval that ignores it holds the truth .996 of the time."""
    rng, held = np.random.default_rng(6), 0
    for _ in range(1000):
        found = position_bias(paired_slots(rng, 80))
        assert found.bias_decided is not None
        held += found.bias_decided.low <= 0.1 <= found.bias_decided.high
    assert 0.92 <= held / 1000 <= 0.98


def test_a_judge_that_always_takes_the_first_is_not_infinitely_sure() -> None:
    rng = np.random.default_rng(0)
    counts = replace(paired_slots(rng, 8), first=np.full(8, 10), second=np.zeros(8, np.int64))
    found = position_bias(counts)
    # As sure as eight items that were asked once each, not as eighty.
    assert found.bias_decided is not None
    assert found.bias_decided.low == pytest.approx(2 * 0.675592 - 1, abs=1e-5)


def equal_models(rng: np.random.Generator, models: int, prompts: int) -> PairScores:
    score = rng.choice([0.0, 0.25, 0.5, 0.75, 1.0], models * prompts)
    return PairScores(
        models=(*(f"m{k}" for k in range(models)), "z"),
        model_1=np.repeat(np.arange(models), prompts),
        model_2=np.full(models * prompts, models),
        item=np.tile(np.arange(prompts), models),
        score=score,
        n_votes=np.full(models * prompts, 2),
    )


@pytest.mark.parametrize(("models", "prompts"), first_of((2, 5), (2, 20), (2, 100), (8, 40)))
def test_equal_models_rarely_have_a_leader(models: int, prompts: int) -> None:
    """With 1.96 errors whatever n, a sixth of boards of five prompts would name one."""
    rng, alone = np.random.default_rng(8), 0
    for _ in range(500):
        pairs = equal_models(rng, models, prompts)
        shown = board(pairs, "z")
        first = lead(pairs, shown)
        assert first is not None
        alone += len(first.top_tier) == 1
        assert (first.difference.low > 0) == (len(first.top_tier) == 1)
    assert alone / 500 <= 0.085


def test_too_small_a_middle_does_not_read_as_enough() -> None:
    """Eighteen of nineteen models are 94.7 %, below the 95 % that are wanted."""
    prompts = 40
    pairs = equal_models(np.random.default_rng(9), 19, prompts)
    pairs.score[:prompts] = 1.0
    said = mid_region(board(pairs, "z"))
    assert said.startswith("94.7 % of 19 models")
    assert "outside that range" in said
