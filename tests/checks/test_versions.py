"""Two versions of a judge: which is better, on what both judged, in every output."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import core
from core.__main__ import main
from core.errors import AmbiguousLabels, InvalidOption, UnknownName
from core.questions.versions.audit import pairs_to_compare
from core.reporting.gates import parse_gate
from core.stats.intervals import mean_interval

N = 120


def right(k: int) -> np.ndarray:
    """Right on all of 120 items but the first k."""
    return np.arange(N) >= k


def passes(fine: Any, *, judge: str = "gpt") -> pd.DataFrame:
    truth = np.arange(N) % 3 > 0
    return pd.DataFrame(
        {
            "item_id": [f"q{k}" for k in range(N)],
            "judge": judge,
            "judge_passed": np.where(fine, truth, ~truth).astype(int),
            "human_passed": truth.astype(int),
        }
    )


def votes(fine: Any, *, judge: str = "gpt", first: int = 0) -> pd.DataFrame:
    """A vote in both orders on each item; the response shown first wins on the last `first`."""
    gold = np.where(np.arange(N) % 2, 1, -1)
    rows = []
    for k in range(N):
        for position, slot in (("ab", 1), ("ba", -1)):
            vote = slot if k >= N - first else gold[k] if fine[k] else -gold[k]
            rows.append((f"q{k}", "x", "y", judge, position, vote, gold[k]))
    names = ["item_id", "model_a", "model_b", "judge", "position", "vote", "gold"]
    return pd.DataFrame(rows, columns=names)


def levels(error: Any, *, judge: str = "gpt") -> pd.DataFrame:
    said = 1 + np.arange(N) % 5
    return pd.DataFrame(
        {
            "item_id": [f"q{k}" for k in range(N)],
            "judge": judge,
            "score": np.where(said > 3, said - error, said + error),
            "gold": said,
        }
    )


def of(old: pd.DataFrame, new: pd.DataFrame, **more: Any) -> Any:
    (found,) = core.audit([old, new], compare=[], **more).comparisons
    return found


def test_the_gain_of_pass_and_fail_is_the_paired_difference() -> None:
    found = of(passes(right(30)), passes(right(10)))
    d = (~right(30)).astype(float) - (~right(10)).astype(float)
    expected = mean_interval(np.arange(N), d, ends=(-1.0, 1.0))
    assert found.gain == expected
    assert (found.decision, found.kind) == ("better", "pass_fail")
    assert (found.n, found.judged, found.parted) == (N, N, 20)
    assert (found.fixed, found.broken) == (20, 0)
    low, high = 100 * expected.low, 100 * expected.high
    assert found.sentences()[0] == (
        "gpt@votes 2 is better than gpt@votes 1: right on 92 % against 75 % of the same 120 items "
        f"(+16.7 points, +{low:.1f} to +{high:.1f})."
    )
    figures = {each.figure: each for each in found.figures}
    # Of the first 30 items 10 fail and 20 pass; of the first 10 four and six.
    assert figures["tnr"].old == pytest.approx(30 / 40)
    assert figures["tnr"].new == pytest.approx(36 / 40)
    assert figures["tpr"].new == pytest.approx(74 / 80)


def test_a_judge_is_not_better_than_itself_and_worse_the_other_way_round() -> None:
    same = of(passes(right(20)), passes(right(20))[::-1])
    assert (same.decision, same.parted) == ("not_shown", 0)
    assert "They part on 0 of 120" in same.sentences()[0]
    worse = of(passes(right(10)), passes(right(40)))
    assert worse.decision == "worse"
    assert worse.sentences()[0].startswith("gpt@votes 2 is worse than gpt@votes 1: right on 67 %")


def test_a_small_gain_says_how_many_labels_would_decide() -> None:
    found = of(passes(right(14)), passes(right(11)))
    assert found.decision == "not_shown"
    # p = 4/5: (ln 1/.0304 + .7)/(.8 ln 1.6 + .2 ln .4) = 21.8
    assert found.labels_wanted == 22
    assert found.sentences()[0].endswith(
        "They part on 3 of 120; about 22 labels there would decide a gain of this size: `prove`."
    )


def test_without_labels_nobody_is_called_right() -> None:
    old, new = (passes(right(k)).drop(columns="human_passed") for k in (30, 10))
    found = of(old, new)
    assert (found.gain, found.decision) == (None, "no_labels")
    assert found.sentences()[0] == (
        "gpt@votes 2 and gpt@votes 1 part on 20 of 120 answers; no label says who is right. "
        "`prove` asks about those only."
    )


def test_pairs_have_position_flips_and_ties_beside() -> None:
    found = of(votes(right(30)), votes(right(10), first=24))
    figures = {each.figure: each for each in found.figures}
    assert found.kind == "pairs"
    # Of the 24 items on which the first one wins, half of the votes are right.
    assert figures["right"].new == pytest.approx((86 + 12) / N)
    assert figures["flips"].new == pytest.approx(24 / N)
    assert figures["flips"].difference.value == pytest.approx(24 / N)
    assert figures["position"].new == pytest.approx(24 / N)
    assert figures["ties"].difference.value == 0
    assert found.parted == 20 + 24


def test_levels_are_compared_by_distance_and_carry_the_pass_mark() -> None:
    found = of(levels(np.where(right(40), 0, 2)), levels(np.where(right(40), 0, 1)))
    assert found.kind == "levels"
    assert found.gain.value == pytest.approx(40 / N / 4)
    assert found.sentences()[0].startswith(
        "gpt@votes 2 is better than gpt@votes 1: 8 % of the scale from people against 17 % on"
    )
    old, new = levels(np.zeros(N)), levels(np.zeros(N)).assign(score=lambda t: t["score"] + 1)
    new["score"] = new["score"].clip(upper=5)
    mark = of(old, new, pass_from={"score": 4}).mark
    # Of 4 and 5, two fifths pass; the newer gives those 5, and to what had 4 as well.
    assert (mark.old, mark.new) == (4.0, 5.0)
    assert mark.passed == pytest.approx(0.4)
    assert "Pass from 5 on" in mark.sentence(("a", "b"))


def test_a_version_that_fails_one_class_is_said_to() -> None:
    truth = np.arange(N) % 3 > 0
    old, new = ~(truth & (np.arange(N) < 75)), ~(~truth & (np.arange(N) < 30))
    said = " ".join(of(passes(old), passes(new)).sentences())
    assert "Better overall, but it passes more of what people fail (TNR −25.0 points" in said


def test_pairs_to_compare() -> None:
    judges = ["gpt@v1", "gpt@v2", "gpt@v10", "other"]
    assert pairs_to_compare(judges, []) == [("gpt@v1", "gpt@v2"), ("gpt@v1", "gpt@v10")]
    assert pairs_to_compare(judges, ["gpt"]) == pairs_to_compare(judges, [])
    assert pairs_to_compare(judges, ["v2", "v10"]) == [("gpt@v2", "gpt@v10")]
    assert pairs_to_compare(judges, ["other", "gpt@v2"]) == [("other", "gpt@v2")]
    assert pairs_to_compare(["gpt", "gpt@v2"], ["v1", "v2"]) == [("gpt", "gpt@v2")]
    with pytest.raises(UnknownName, match="v3"):
        pairs_to_compare(judges, ["v2", "v3"])
    with pytest.raises(InvalidOption, match="no judge has two versions"):
        pairs_to_compare(["a", "b", "c"], [])
    with pytest.raises(InvalidOption, match="name two judges"):
        pairs_to_compare(judges, ["v2"])


@pytest.fixture
def weeks(tmp_path: Path) -> list[str]:
    names = []
    for name, k in (("week1", 30), ("week2", 10)):
        passes(right(k)).to_csv(tmp_path / f"{name}.csv", index=False)
        names.append(str(tmp_path / f"{name}.csv"))
    return names


def test_one_difference_in_every_output(
    weeks: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = {name: str(tmp_path / name) for name in ("a.json", "a.md", "a.xml", "a.html")}
    gates = ["gain<0.02", "better:gpt@week2!=yes", "gain<0.5"]
    code = main(
        [
            *("audit", *weeks, "--compare", "week1", "week2", "--json", out["a.json"]),
            *("--markdown", out["a.md"], "--junit", out["a.xml"], "--fail-if", *gates),
        ]
    )
    assert code == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("gpt@week2 is better than gpt@week1: right on 92 % against 75 %")
    document = json.loads(Path(out["a.json"]).read_text())
    (found,) = document["comparisons"]
    assert found["sentences"][0] == first
    assert found["gain"]["value"] == pytest.approx(20 / N)
    assert (found["decision"], found["gain"]["n_items"], found["gain"]["level"]) == (
        *("better", N),
        0.95,
    )
    assert [gate["passed"] for gate in document["gates"]] == [True, True, False]
    assert document["gates"][0]["values"][0]["low"] == found["gain"]["low"]
    assert document["gates"][1]["values"][0]["value"] == "yes"
    (suite,) = (
        each for each in ElementTree.parse(out["a.xml"]).getroot() if each.get("name") == "gates"
    )
    assert [case.get("name") for case in suite] == gates
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    markdown = Path(out["a.md"]).read_text()
    assert "is better than" in markdown.splitlines()[2]
    assert main(["report", *weeks, "--compare", "--html", out["a.html"]]) == 0
    page = Path(out["a.html"]).read_text()
    assert "Versions compared" in page
    assert first.partition("(")[0] in page


def test_gates_read_like_the_others(weeks: list[str], tmp_path: Path) -> None:
    """A gate that fails, one that passes and one that is unclear: three cases, three lines."""
    old = passes(right(14))
    new = passes(right(11))
    for name, frame in (("a", old), ("b", new)):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    out = tmp_path / "gates.json"
    gates = ["gain<0", "gain<0.1", "better!=yes"]
    files = [str(tmp_path / f"{name}.csv") for name in "ab"]
    assert main(["audit", *files, "--compare", "--json", str(out), "--fail-if", *gates]) == 1
    passed, failed, unclear = json.loads(out.read_text())["gates"]
    assert passed["passed"]
    assert failed["reasons"] == ["gain<0.1: gpt@b gains 0.025 over gpt@a."]
    assert unclear["values"][0]["value"] == "not shown"
    assert unclear["reasons"][0].startswith(
        "better!=yes: not shown. gpt@b is not shown to be better than gpt@a (+2.5 points, "
    )


def test_gates_need_a_comparison(weeks: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for gate in ("gain<0.02", "better!=yes"):
        assert main(["audit", weeks[0], "--fail-if", gate]) == 2
        assert "name the versions with --compare" in capsys.readouterr().err
    assert str(parse_gate("better: gpt@v2 != yes")) == "better:gpt@v2!=yes"
    audit = core.audit(weeks, compare=[])
    tested = parse_gate("better:nobody!=yes").tested(audit)
    assert tested.reasons == ("better:nobody!=yes: nobody is not compared with an older version.",)


def test_a_store_is_compared_as_its_files_are(weeks: list[str], tmp_path: Path) -> None:
    store = str(tmp_path / "s.duckdb")
    assert main(["import", *weeks, "--version", "file", "--store", store]) == 0
    of_store = core.audit(store, compare=["week1", "week2"]).comparisons
    of_files = core.audit(weeks, compare=[]).comparisons
    assert [each.sentences() for each in of_store] == [each.sentences() for each in of_files]
    assert of_store[0].gain == of_files[0].gain


FORMS = {"pairs": votes, "pass_fail": passes, "levels": lambda fine: levels((~fine) * 1.0)}


@pytest.mark.parametrize("kind", FORMS)
@pytest.mark.parametrize("column", ["version", "judge_version", "prompt_version", "rubric_version"])
def test_a_column_of_versions_is_compared_as_two_files_are(
    kind: str, column: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weeks = {f"v{k + 1}": FORMS[kind](right(n)) for k, n in enumerate((30, 10))}
    for name, table in weeks.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    both = pd.concat([table.assign(**{column: name}) for name, table in weeks.items()])
    (tmp_path / "both.csv").write_text(both.to_csv(index=False))
    files = [str(tmp_path / f"{name}.csv") for name in weeks]
    (of_files,) = core.audit(files, compare=[]).comparisons
    for source in (both, tmp_path / "both.csv"):
        (found,) = core.audit(source, compare=[]).comparisons
        assert (found.old, found.new) == ("gpt@v1", "gpt@v2")
        assert found.sentences() == of_files.sentences()
        assert found.gain == of_files.gain
    assert main(["audit", str(tmp_path / "both.csv"), "--compare", "v1", "v2"]) == 0
    assert of_files.sentences()[0] in capsys.readouterr().out
    store = str(tmp_path / "s.duckdb")
    assert main(["import", str(tmp_path / "both.csv"), "--store", store]) == 0
    (of_store,) = core.audit(store, compare=[]).comparisons
    assert (of_store.sentences(), of_store.gain) == (of_files.sentences(), of_files.gain)


def test_versions_of_what_is_judged_are_none_of_the_judge() -> None:
    """Where each version has answers of its own, it is the product that was changed."""
    texts = [
        passes(right(k)).assign(
            prompt=lambda t: "What of " + t["item_id"],
            response=lambda t, k=k: f"Answer {k} to " + t["item_id"],
            prompt_version=f"v{k}",
        )
        for k in (30, 10)
    ]
    with pytest.raises(InvalidOption, match="no judge has two versions"):
        core.audit(pd.concat(texts), compare=[])


def test_versions_that_may_be_runs_are_asked_about(tmp_path: Path) -> None:
    """Two rows of each pair and version: labels that agree do not make them runs."""
    rows = pd.concat([votes(right(k)).assign(prompt_version=f"v{k}") for k in (30, 10)])
    rows = rows.drop(columns="position").rename(
        columns={"item_id": "question_id", "gold": "human", "vote": "winner"}
    )
    rows[["winner", "human"]] = rows[["winner", "human"]].replace({1: "A", -1: "B"})
    file = tmp_path / "votes.csv"
    file.write_text(rows.to_csv(index=False))
    with pytest.raises(AmbiguousLabels, match="a version of the judge"):
        core.audit(file)
    named = core.audit(file, version="prompt_version", compare=[])
    assert [(each.old, each.new) for each in named.comparisons] == [("gpt@v10", "gpt@v30")]


def test_none_leaves_a_column_of_versions_alone() -> None:
    rows = pd.concat([passes(right(k)).assign(version=f"v{k}") for k in (30, 10)])
    assert [each.judge for each in core.audit(rows, version="none").scores] == ["gpt"]
