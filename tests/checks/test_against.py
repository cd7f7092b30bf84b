"""What moved since the last audit: whether the judge changed, or the data did."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from places import REPOSITORY

import core
import core.questions.change.files
import core.questions.change.votes
import core.reporting.build
from benchmarks.change import DRAWS, JUDGES, two_files
from core.__main__ import main
from core.errors import InvalidOption, UnreadableFile
from core.questions.change.votes import MEASURES, unpaired
from core.reporting.gates import parse_gate
from core.stats.estimate import Estimate

DEMO = REPOSITORY / "data" / "demo_votes.csv.gz"


def votes(
    right: Any, *, items: Any = None, judge: str = "j", confidence: float = 0.8, first: float = 0.0
) -> pd.DataFrame:
    """A vote in both orders on each item, right where `right` says; `first`: the share of items on
    which the response shown first wins whatever it is.
    """
    right = np.asarray(right)
    items = np.arange(len(right)) if items is None else np.asarray(items)
    rows = []
    for place, (item, fine) in enumerate(zip(items, right, strict=True)):
        gold = 1 if item % 2 else -1
        leans = place < first * len(right)
        for position in ("ab", "ba"):
            vote = (1 if position == "ab" else -1) if leans else gold if fine else -gold
            rows.append(
                {
                    "item_id": f"q{item}",
                    "judge": judge,
                    "vote": vote,
                    "position": position,
                    "confidence": confidence,
                    "gold": gold,
                    "run": 1,
                    "model_a": "m1",
                    "model_b": "m2",
                }
            )
    return pd.DataFrame(rows)


def written(frame: pd.DataFrame, path: Path) -> str:
    frame.to_csv(path, index=False)
    return str(path)


def compared(
    old: pd.DataFrame, new: pd.DataFrame, tmp_path: Path
) -> core.questions.change.files.Against:
    path = written(old, tmp_path / "old.csv")
    found = core.audit(new, splits=0, against=path).against
    assert found is not None
    return found


def measures(
    found: core.questions.change.files.Against,
) -> dict[str, core.questions.change.votes.Shift]:
    return {each.measure: each for each in found.shifts}


@pytest.mark.thorough
def test_the_demo_against_itself_says_that_nothing_moved(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "audit.json"
    gates = [
        f"{measure} {way}" for measure in ("accuracy", "position") for way in ("falls", "rises")
    ]
    arguments = ["audit", str(DEMO), "--against", str(DEMO), "--splits", "0", "--isolated"]
    assert main([*arguments, "--json", str(out), "--fail-if", *gates]) == 0
    assert "1,120 common comparisons: nothing moved; none of 20 figures" in capsys.readouterr().out
    moved = json.loads(out.read_text(encoding="utf-8"))["against"]["moved"]
    assert {each["judge_change"]["difference"] for each in moved} == {0.0}
    assert {each["data_change"] for each in moved} == {None}
    assert {each["measure"] for each in moved} == set(MEASURES)


def test_differences_are_those_of_the_items() -> None:
    """By hand: 40 items, right on 36 and then on 30 of them."""
    old, new = np.arange(40) >= 4, np.arange(40) >= 10
    sides = [
        core.read([("v.csv", votes(each).to_csv(index=False).encode())])[0] for each in (old, new)
    ]
    stores = []
    for side in sides:
        store = core.Store.open()
        store.load(side)
        stores.append((store, core.Selection()))
    accuracy = measures(core.questions.change.files.compare("old", *stores))["accuracy"]
    assert accuracy.old == pytest.approx(0.9)
    assert accuracy.new == pytest.approx(0.75)
    assert accuracy.judge_change.value == pytest.approx(-0.15)
    # Two items more, one at either end: mean -6/42, squares by hand.
    mean = -6 / 42
    squares = 6 * (-1 - mean) ** 2 + 34 * mean**2 + (-1 - mean) ** 2 + (1 - mean) ** 2
    from scipy.stats import t

    half = t.ppf(0.975, 39) * np.sqrt(squares / 42 / 41)
    assert accuracy.judge_change.low == pytest.approx(mean - half, abs=0.002)
    assert accuracy.way == "falls"
    assert accuracy.data_change is None
    for store, _ in stores:
        store.close()


def test_the_judge_changed(tmp_path: Path) -> None:
    found = compared(votes(np.arange(300) >= 30), votes(np.arange(300) >= 60), tmp_path)
    by_measure = measures(found)
    assert by_measure["accuracy"].way == "falls"
    assert by_measure["calibration"].way == "rises"
    assert by_measure["position"].way == by_measure["flips"].way == "stays"
    sentences = found.sentences()
    assert sentences[0].endswith("the judge changed (j).")
    assert sentences[1].startswith("j: accuracy falls by 10.0 points on common items")


def test_the_data_changed(tmp_path: Path) -> None:
    """The same judge on the same 150 items, and on harder ones beside them."""
    same = np.arange(150) >= 15
    old = votes(np.r_[same, np.arange(150) >= 15], items=np.arange(300))
    hard = votes(np.r_[same, np.arange(150) >= 75], items=np.r_[np.arange(150), 300:450])
    accuracy = measures(compared(old, hard, tmp_path))["accuracy"]
    assert accuracy.way == "stays"
    assert accuracy.judge_change.value == 0
    assert accuracy.data_way == "falls"
    assert accuracy.data_change.value == pytest.approx(-0.2)
    assert accuracy.data_change.n == 300
    sentences = compared(old, hard, tmp_path).sentences()
    assert "the data did (items of j that only one has)" in sentences[0]
    assert "the judge changed" not in sentences[0]


@pytest.mark.thorough
def test_position_rises_by_its_size_whatever_its_side(tmp_path: Path) -> None:
    right = np.ones(100, bool)
    first = votes(right, first=0.3)
    second = first.assign(vote=np.where(first.index < 60, -first.vote, first.vote))
    plain = votes(right)
    assert measures(compared(plain, first, tmp_path))["position"].way == "rises"
    assert measures(compared(plain, second, tmp_path))["position"].way == "rises"
    assert measures(compared(first, plain, tmp_path))["position"].way == "falls"
    turned = measures(compared(first, second, tmp_path))["position"]
    assert turned.way == "stays"
    assert turned.judge_change.value == pytest.approx(0)
    assert turned.old == turned.new == pytest.approx(0.3)


def test_agreement_is_with_people(tmp_path: Path) -> None:
    right = np.ones(60, bool)
    people = votes(right, judge="p").assign(rater_type="human")
    old = pd.concat([votes(right).assign(rater_type="llm"), people])
    new = pd.concat([votes(np.arange(60) >= 20).assign(rater_type="llm"), people])
    agreement = measures(compared(old, new, tmp_path))["agreement"]
    assert agreement.old == 1
    assert agreement.new == pytest.approx(2 / 3)
    assert agreement.way == "falls"


def test_an_order_that_one_audit_lacks_is_left_out(tmp_path: Path) -> None:
    """Wrong where shown ba: asked in that order only later, it has not changed."""
    both = votes(np.ones(80, bool))
    both["vote"] = np.where(both.position == "ba", -both.gold, both.gold)
    accuracy = measures(compared(both[both.position == "ab"], both, tmp_path))["accuracy"]
    assert (accuracy.old, accuracy.new, accuracy.way) == (1, 1, "stays")


@pytest.mark.thorough
def test_names_of_data_sets_and_of_single_judges_do_not_count(tmp_path: Path) -> None:
    old = votes(np.arange(60) >= 6, judge="v1").assign(dataset="monday")
    new = votes(np.arange(60) >= 6, judge="v2").assign(dataset="tuesday")
    found = compared(old, new, tmp_path)
    assert found.common == 60
    assert measures(found)["accuracy"].judge_change.value == 0
    assert found.alone == ()
    two = pd.concat([new, votes(np.ones(60, bool), judge="v3")])
    assert compared(old, two, tmp_path).alone == ("v1", "v2", "v3")
    assert "nothing can be compared" in compared(old, two, tmp_path).sentences()[0]


def test_a_label_that_was_put_right_is_no_change_of_the_judge(tmp_path: Path) -> None:
    new = votes(np.ones(60, bool))
    old = new.assign(gold=np.where(new.item_id.isin(["q1", "q2", "q3", "q4"]), -new.gold, new.gold))
    accuracy = measures(compared(old, new, tmp_path))["accuracy"]
    assert accuracy.judge_change.value == 0


def test_gates_of_what_moved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = written(votes(np.arange(300) >= 30), tmp_path / "old.csv")
    new = written(votes(np.arange(300) >= 60), tmp_path / "new.csv")
    arguments = ["audit", new, "--isolated", "--splits", "0"]
    assert main([*arguments, "--against", old, "--fail-if", "accuracy falls"]) == 1
    said = capsys.readouterr().err
    assert "accuracy falls: j has 0.800 after 0.900 (-13" in said
    assert (
        main([*arguments, "--against", old, "--fail-if", "accuracy rises", "position rises"]) == 0
    )
    assert main([*arguments, "--against", old, "--fail-if", "agreement falls"]) == 1
    assert "j cannot be compared: it and others have votes on 0 items" in capsys.readouterr().err
    assert main([*arguments, "--fail-if", "accuracy falls"]) == 2
    assert "--against" in capsys.readouterr().err
    with pytest.raises(InvalidOption, match="'ties' is not compared"):
        parse_gate("ties falls")


def test_an_audit_in_json_stands_for_its_votes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = written(votes(np.arange(300) >= 30), tmp_path / "old.csv")
    new = written(votes(np.arange(300) >= 90), tmp_path / "new.csv")
    kept, more = str(tmp_path / "old.json"), ["--isolated", "--splits", "0"]
    assert main(["audit", old, "--json", kept, *more]) == 0
    assert main(["audit", old, "--against", kept, *more, "--fail-if", "accuracy falls"]) == 0
    assert "by its figures alone, items not paired: nothing moved" in capsys.readouterr().out
    assert main(["audit", new, "--against", kept, *more, "--fail-if", "accuracy falls"]) == 1
    assert "its figures changed (j)" in capsys.readouterr().out
    Path(kept).write_text('{"schema": "appellate.audit/3", "verdicts": 3}', encoding="utf-8")
    assert main(["audit", new, "--against", kept, *more]) == 2
    with pytest.raises(UnreadableFile, match="no audit's JSON"):
        core.audit(new, splits=0, against=kept)


def test_unpaired_differences_add_squares() -> None:
    old, new = Estimate(0.8, 0.7, 0.86, n=90), Estimate(0.9, 0.85, 0.94, n=80)
    change = unpaired("j", "accuracy", old, new).judge_change
    assert change.low == pytest.approx(0.1 - np.hypot(0.05, 0.06))
    assert change.high == pytest.approx(0.1 + np.hypot(0.04, 0.1))
    signed = unpaired(
        "j", "position", Estimate(-0.3, -0.4, -0.2), Estimate(0.3, 0.2, 0.4), signed=True
    )
    assert signed.judge_change.value == pytest.approx(0)


def test_what_moved_is_in_text_and_markdown(tmp_path: Path) -> None:
    old = written(votes(np.arange(300) >= 30), tmp_path / "old.csv")
    found = core.audit(votes(np.arange(300) >= 60), splits=0, against=old)
    for text in (core.to_text(found), core.reporting.build.to_markdown(found), core.report(found)):
        assert "falls by 10" in text.replace("\\", "")


@pytest.mark.thorough
@pytest.mark.parametrize("kind", JUDGES)
@pytest.mark.parametrize("first", [0.0, 0.2])
def test_false_alarms_are_rare(kind: str, first: float) -> None:
    """Nominal 2.5 % on either side, with three standard errors of 300 draws."""
    ways = two_files(kind, 0.0, 11, first=(first, first))
    assert {"accuracy", "position", "flips"} <= ways.keys()
    for measure, counts in ways.items():
        assert max(counts["rises"], counts["falls"]) / DRAWS < 0.0501, (measure, counts)


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "runs"), [("steady", 1), ("wavering", 6)])
def test_a_fall_of_five_points_is_found(kind: str, runs: int) -> None:
    assert two_files(kind, 0.05, 12, runs=runs)["accuracy"]["falls"] / DRAWS >= 0.9


@pytest.mark.thorough
def test_a_rise_of_position_bias_is_found() -> None:
    ways = two_files("steady", 0.0, 13, first=(0.05, 0.15))
    assert ways["position"]["rises"] / DRAWS >= 0.9


def scored(shift: float, seed: int = 0, items: int = 150) -> pd.DataFrame:
    """A judge's levels of 1 to 5, some of them `shift` higher, beside a person's."""
    rng = np.random.default_rng(7)
    quality = rng.normal(size=items)
    human = np.clip(np.round(3 + quality + 0.4 * rng.normal(size=items)), 1, 5)
    own = np.random.default_rng(seed)
    judge = np.clip(np.round(3 + quality + shift + 0.4 * own.normal(size=items)), 1, 5)
    return pd.DataFrame(
        {"item_id": [f"q{k}" for k in range(items)], "judge_score": judge, "human_score": human}
    )


def test_a_judge_of_scores_that_grew_lenient_has_changed(tmp_path: Path) -> None:
    """The change of leniency is the paired mean, which plain pandas gives."""
    old, new = scored(0.0), scored(0.8, seed=1)
    found = compared(old, new, tmp_path)
    assert found.answers == 150
    shift = measures(found)["leniency"]
    apart = [(each.judge_score - each.human_score).mean() / 4 for each in (old, new)]
    assert shift.new == pytest.approx(abs(apart[1]))
    assert shift.judge_change is not None
    assert shift.judge_change.value == pytest.approx(
        np.sign(apart[1]) * apart[1] - np.sign(apart[0]) * apart[0]
    )
    assert shift.way == "rises"
    assert "the judge changed" in found.sentences()[0]
    assert "150 common answers" in found.sentences()[0]
    same = compared(old, scored(0.0, seed=2), tmp_path)
    assert measures(same)["leniency"].way == "stays"


def test_gates_know_what_moved_of_pass_and_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(3)
    human = np.where(rng.random(300) < 0.7, "pass", "fail")
    frames = {}
    for name, right in (("old", 0.95), ("new", 0.6)):
        other = np.where(human == "pass", "fail", "pass")
        wrong = (human == "fail") & (rng.random(300) > right)
        frames[name] = pd.DataFrame(
            {
                "case_id": range(300),
                "judge_passed": np.where(wrong, other, human),
                "human_passed": human,
            }
        )
    paths = {name: written(frame, tmp_path / f"{name}.csv") for name, frame in frames.items()}
    base = ["audit", paths["new"], "--splits", "0", "--isolated", "--against"]
    assert main([*base, paths["old"], "--fail-if", "tnr falls"]) == 1
    assert "tnr falls: judge" in capsys.readouterr().err
    assert main([*base, paths["old"], "--fail-if", "tpr falls"]) == 0
    document = tmp_path / "old.json"
    assert (
        main(["audit", paths["old"], "--splits", "0", "--isolated", "--json", str(document)]) == 0
    )
    capsys.readouterr()
    assert main([*base, str(document), "--fail-if", "tnr falls"]) == 1
    assert "by its figures alone" in capsys.readouterr().out
