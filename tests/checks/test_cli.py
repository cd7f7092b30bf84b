"""The command line on real files: figures computed independently, exit codes, and
identical bytes.
"""

from __future__ import annotations

import csv
import gzip
import html
import io
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pytest
from places import REPOSITORY

from core.__main__ import main
from core.auditing import run as run_module
from core.auditing.checks import CHECKS
from core.auditing.options import AuditOptions, named_families
from core.auditing.results import Audit

SIX = 5e-7
"""Reference figures are printed with six digits."""


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


ASKED = [check for check in CHECKS if check.name not in ("who", "labels", "right_over_time")]
"""Checks of a file without people, with gold of all and without dates."""


def document(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    code, out, err = run(capsys, "audit", *arguments, "--json", "-")
    assert code == 0, err
    found = json.loads(out)
    assert found["schema"] == "appellate.audit/4"
    return dict(found)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small file of simulated votes, written by the command."""
    out = tmp_path_factory.mktemp("simulated") / "demo.csv.gz"
    assert main(["simulate", str(out), "--items", "8"]) == 0
    return out


@pytest.fixture(scope="module")
def audited(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("audit") / "audit.json"
    assert main(["audit", str(demo), "--splits", "20", "--json", str(out)]) == 0
    return dict(json.loads(out.read_text(encoding="utf-8")))


def judge(found: dict[str, Any], part: str) -> dict[str, Any]:
    matches = [name for name in found["judges"] if part in name]
    assert len(matches) == 1, matches
    return dict(found["judges"][matches[0]])


def check_o1_mini(judgebench: dict[str, Any]) -> None:
    found = judge(judgebench, "o1-mini")
    assert found["accuracy"]["value"] == pytest.approx(0.727143, abs=SIX)
    assert found["accuracy"]["n"] == 700
    position = found["position"]
    assert (position["first"], position["second"], position["tie"]) == (367, 289, 44)
    assert position["bias_decided"] == pytest.approx(0.118902, abs=SIX)
    assert position["bias_all"] == pytest.approx(0.111429, abs=SIX)
    assert position["pairs"] == 350
    assert position["flip_rate"] == pytest.approx(0.314286, abs=SIX)
    assert position["hard_flip_rate"] == pytest.approx(0.217143, abs=SIX)
    assert found["btd"]["drps"] <= 0.305604


def check_calibration_of_skywork(judgebench: dict[str, Any]) -> None:
    found = judge(judgebench, "Skywork-Reward-Gemma-2-27B")["calibration"]
    expected = {
        "ece": 0.294954,
        "mce": 0.330571,
        "ace": 0.294954,
        "brier": 0.311194,
        "nll": 2.408601,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=SIX)
    th = {score["epsilon"]: score for score in found["th"]}[0.10]
    assert th["th"] == pytest.approx(15.785862, abs=SIX)
    assert th["share"] == pytest.approx(0.814286, abs=SIX)


def check_both_orders(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = shared_data / "votes/judgebench.csv.gz"
    found = judge(document(capsys, file, "--correctness", "both_orders", "--splits", 0), "o1-mini")
    assert found["accuracy"]["value"] == pytest.approx(0.657143, abs=SIX)
    assert found["accuracy"]["n"] == 350


def check_native_o1_mini(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (native,) = (shared_data / "native/judgebench").glob("*o1-mini*")
    items = {
        json.loads(line)["pair_id"] for line in native.read_text(encoding="utf-8").splitlines()
    }
    with gzip.open(shared_data / "votes/judgebench.csv.gz", "rt", encoding="utf-8") as file:
        header, *rows = file.readlines()
    same = tmp_path / "JudgeBench.csv"
    same.write_text(
        header + "".join(row for row in rows if "o1-mini" in row and row.split(",")[1] in items)
    )
    from_native, from_rows = (
        document(capsys, native, "--splits", 20),
        document(capsys, same, "--splits", 20),
    )
    assert judge(from_native, "o1-mini") == judge(from_rows, "o1-mini")
    assert from_native["input"]["items"] == len(items)


def check_pandalm(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, shared_data / "votes/pandalm.csv.gz", "--splits", 0)["judges"][
        "gpt-3.5-turbo"
    ]
    assert found["accuracy"]["value"] == pytest.approx(0.715606, abs=SIX)
    assert found["accuracy"]["n"] == 974
    assert found["confusion"]["labels"] == [-1, 0, 1]
    assert found["confusion"]["counts"] == [[360, 20, 86], [45, 5, 42], [71, 13, 332]]


def check_faireval(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, shared_data / "votes/faireval.csv.gz", "--splits", 0)
    assert found["judges"]["ChatGPT [Vanilla_NoRules]"]["position"]["flip_rate"] == pytest.approx(
        0.818182, abs=SIX
    )


def check_judgeconf_is_calibrated_and_not_biased(
    shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = document(capsys, shared_data / "votes/judgeconf.csv.gz", "--splits", 0)
    mini = found["judges"]["gpt-4o-mini"]
    expected = {"ece": 0.024038, "ace": 0.024038, "brier": 0.024567, "nll": 0.112520}
    assert {name: mini["calibration"][name] for name in expected} == pytest.approx(
        expected, abs=SIX
    )
    position = mini["position"]
    assert position["bias_decided"] == pytest.approx(0.406593, abs=SIX)
    assert (position["pairs"], position["flip_rate"]) == (78, 0)
    (verdict,) = [
        v for v in found["verdicts"] if v["judge"] == "gpt-4o-mini" and v["check"] == "position"
    ]
    assert verdict["verdict"] == "ok"
    assert "biased" not in verdict["sentence"]


def test_the_document_has_every_field_of_the_contract(audited: dict[str, Any]) -> None:
    assert list(audited) == [
        *("schema", "headline", "input", "options", "judges", "scores", "listwise", "agreement"),
        "leaderboards",
        *("anchor_swap", "verdicts", "overall", "notes", "anchors"),
    ]
    found = judge(audited, "sim-judge-decisive")
    assert list(found) == [
        *("votes", "accuracy", "calibration", "position", "confusion", "btd", "repeatability"),
        *(
            "direction",
            "confidences",
            "effective_votes",
            "discrimination",
            "length",
            "own_family",
            "favours",
            "robustness",
        ),
        *("alternative", "reference", "labels"),
        "alone",
    ]
    assert judge(audited, "sim-person-1")["calibration"] is None
    assert any("sim-person-1" in note and "calibration" in note for note in audited["notes"])
    assert [v["check"] for v in audited["verdicts"] if v["judge"] == "sim-judge-decisive"] == [
        *("accuracy", "category", "position", "stability"),
        *("calibration", "overconfidence", "discrimination", "repeatability", "coin_share"),
        *("agreement", "ties", "length", "own_family", "robustness", "data"),
    ]
    assert {v["verdict"] for v in audited["verdicts"]} <= {
        "ok",
        "warn",
        "fail",
        "unclear",
        "unknown",
    }
    assert list(audited["verdicts"][0]) == [
        *("judge", "check", "metric", "verdict", "applicable", "sentence"),
        *("estimate", "low", "high", "n_items", "caution", "failure", "needed_items"),
    ]
    people = {f"sim-person-{k}" for k in (1, 2, 3)}
    assert set(audited["overall"]) == set(audited["judges"]) - people
    assert audited["input"]["people"] == len(people)
    assert list(audited["overall"]["sim-judge-decisive"]) == [
        "verdict",
        "because",
        "unchecked",
        "use",
    ]
    assert set(found["direction"]) == {
        *("value", "low", "high", "n_items", "among_decided", "decided_share", "blind_rule"),
        "gold_ties",
    }
    assert set(found["direction"]["blind_rule"]) == {"rule", "value", "low", "high"}
    assert set(found["discrimination"]) == {"auroc", "low", "high", "n_items", "constant"}
    assert set(found["length"]) == {"longer", "gold_longer", "difference", "low", "high", "n"}
    assert set(found["btd"]) == {
        *("beta", "nu", "gamma", "drps", "n_items", "at_bounds", "fit_on", "splits")
    }
    assert set(found["btd"]["splits"]) == {
        *(
            "n",
            "calibration",
            "mae_btd",
            "mae_majority",
            "pa_btd",
            "pa_majority",
            "mae_btd_low",
            "mae_btd_high",
        )
    }


def test_same_input_and_seed_same_bytes(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = run(capsys, "audit", demo, "--json", "-", "--splits", 5)
    assert first == run(capsys, "audit", demo, "--json", "-", "--splits", 5)
    other = run(capsys, "audit", demo, "--json", "-", "--splits", 5, "--seed", 1)
    assert other[1] != first[1]


def test_splits_zero_is_null(
    demo: Path, audited: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    found = document(capsys, demo, "--splits", 0)
    assert found["judges"]["sim-judge-careful"]["btd"]["splits"] is None
    assert audited["judges"]["sim-judge-careful"]["btd"]["splits"] is not None


def test_native_files_give_the_figures_of_their_rows(
    native: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file,) = (native / "judgebench").glob("*judge-1*")
    with (native / "expected.csv").open(encoding="utf-8", newline="") as made:
        header, *rows = csv.reader(made)
    same = tmp_path / "JudgeBench.csv"
    with same.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows(
            [
                header[1:-1],
                *(
                    row[1:-1]
                    for row in rows
                    if "judge-1" in row[0] and row[0].startswith("judgebench")
                ),
            ]
        )
    from_native, from_rows = document(capsys, file), document(capsys, same)
    # Only the native file has the responses, and with them their lengths.
    of_native, of_rows = judge(from_native, "judge-1"), judge(from_rows, "judge-1")
    for of_either in (of_native, of_rows):
        del of_either["length"], of_either["direction"]["blind_rule"]
    assert of_native == of_rows
    assert from_native["input"]["items"] == 8


@pytest.mark.thorough
def test_figures_of_real_files(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], subtests: pytest.Subtests
) -> None:
    judgebench = document(capsys, shared_data / "votes/judgebench.csv.gz")
    with subtests.test("o1-mini"):
        check_o1_mini(judgebench)
    with subtests.test("Skywork"):
        check_calibration_of_skywork(judgebench)
    with subtests.test("both orders"):
        check_both_orders(shared_data, capsys)
    with subtests.test("native"):
        check_native_o1_mini(shared_data, tmp_path, capsys)
    with subtests.test("PandaLM"):
        check_pandalm(shared_data, capsys)
    with subtests.test("FairEval"):
        check_faireval(shared_data, capsys)
    with subtests.test("JudgeConf"):
        check_judgeconf_is_calibrated_and_not_biased(shared_data, capsys)


SMALL = """item_id,judge,vote,confidence,gold,position
1,strict,1,0.9,1,ab
2,strict,-1,0.8,1,ab
3,strict,0,0.6,0,ba
4,plain,1,,,
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    file = tmp_path / "small.csv"
    file.write_text(SMALL, encoding="utf-8")
    return file


def test_gates(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "audit", small, "--judge", "strict", "--fail-if", "ece>0.9")[0] == 0
    code, _, err = run(capsys, "audit", small, "--judge", "strict", "--fail-if", "accuracy<0.9")
    assert code == 1
    # Right on one of the two that gold decides; exactly gold's label in two of three.
    assert "accuracy<0.9: strict has accuracy 0.5." in err
    code, _, err = run(capsys, "audit", small, "--judge", "strict", "--fail-if", "exact<0.9")
    assert code == 1
    assert "exact<0.9: strict has exact 0.666667." in err
    # A null fails too, and is named.
    code, _, err = run(capsys, "audit", small, "--fail-if", "ece>0.9")
    assert code == 1
    assert "plain has no ece" in err


def test_votes_of_a_file_are_held_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read of ten million votes lay beside the store until the audit ended: 300 MB."""
    path, rows = tmp_path / "votes.csv", 20_000
    lines = (f"{k},a,b,j,{1 if k % 3 else -1},1" for k in range(rows))
    path.write_text("\n".join(["item_id,model_a,model_b,judge,vote,gold", *lines]))
    before, beside = pa.total_allocated_bytes(), []
    really = run_module.audit

    def watched(*args: Any, **options: Any) -> Audit:
        beside.append(pa.total_allocated_bytes() - before)
        return really(*args, **options)

    monkeypatch.setattr(run_module, "audit", watched)
    assert run(capsys, "audit", path, "--splits", 0)[0] == 0
    assert beside[0] < 8 * rows


def test_every_gate_is_in_every_output(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A gate that failed was exit 1 and a line on standard error: JUnit said `failures="0"`, and
    neither Markdown, text nor JSON had a word of it.
    """
    junit, markdown, document = (small.with_suffix(f".{kind}") for kind in ("xml", "md", "json"))
    outputs = ("--junit", junit, "--markdown", markdown, "--json", document)
    gates = ("ece>0.9", "accuracy<0.9", "position=fail")
    audit = ("audit", small, "--splits", 0, "--judge", "strict", "--fail-if", *gates)
    for more in ((), ("--all",)):
        code, out, _ = run(capsys, *audit, *outputs, *more)
        assert code == 1
        assert "Gates: 1 of 3 failed" in out
        assert "  FAIL  accuracy<0.9: strict has accuracy 0.5." in out
        assert "  ok    ece>0.9\n" in out
    suite = ElementTree.parse(junit).getroot()[-1]
    assert suite.attrib == {
        "name": "gates",
        "tests": "3",
        "failures": "1",
        "errors": "0",
        "skipped": "0",
    }
    (failure,) = suite.iter("failure")
    assert failure.get("message") == "accuracy<0.9: strict has accuracy 0.5."
    assert [case.get("name") for case in suite] == list(gates)
    text = markdown.read_text("utf-8").replace("\\", "")
    assert "**Gates: 1 of 3 failed**" in text
    assert "- ✗ accuracy<0.9: strict has accuracy 0.5.".replace("<", "&lt;") in text
    assert "- ✓ ece>0.9".replace(">", "&gt;") in text
    found = json.loads(document.read_text("utf-8"))
    assert [(each["gate"], each["passed"]) for each in found["gates"]] == [
        ("ece>0.9", True),
        ("accuracy<0.9", False),
        ("position=fail", True),
    ]
    failed = found["gates"][1]
    assert failed["reasons"] == ["accuracy<0.9: strict has accuracy 0.5."]
    (tested,) = failed["values"]
    direction = found["judges"]["strict"]["direction"]
    assert tested == {"judge": "strict", "passed": False} | {
        name: direction[name] for name in ("value", "low", "high")
    }
    graded = {check["check"]: check["verdict"] for check in found["verdicts"]}
    assert found["gates"][2]["values"][0]["value"] == graded["position"]
    # Without gates nothing is said of them.
    run(capsys, *audit[:-4], *outputs)
    assert "gates" not in json.loads(document.read_text("utf-8"))
    assert [suite.get("name") for suite in ElementTree.parse(junit).getroot()] == ["strict"]
    assert "Gates" not in markdown.read_text("utf-8")


def test_people_beside_judges_pass_no_gate_and_fail_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A person states no confidence, so that a gate on it failed in every file with people."""
    file = tmp_path / "votes.csv"
    kinds = (("j", "llm", "0.9"), ("ann", "human", ""))
    rows = [
        f"i{i},{judge},{kind},1,1,{confidence}"
        for i in range(40)
        for judge, kind, confidence in kinds
    ]
    header = "item_id,judge,rater_type,vote,gold,confidence"
    file.write_text("\n".join([header, *rows]), encoding="utf-8")
    junit = tmp_path / "checks.xml"
    gates = ("--fail-if", "ece>0.5", "--junit", junit)
    assert run(capsys, "audit", file, "--splits", 0, *gates)[0] == 0
    assert [suite.get("name") for suite in ElementTree.parse(junit).getroot()] == ["j", "gates"]
    # Where only people voted they are what is asked about.
    code, _, err = run(capsys, "audit", file, "--splits", 0, "--judge", "ann", *gates)
    assert code == 1
    assert "ece>0.5: ann has no ece." in err


def test_several_values_together_or_one_by_one(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    together = document(capsys, small, "--judge", "strict", "plain", "--splits", 0)
    one_by_one = document(capsys, small, "--judge", "strict", "--judge", "plain", "--splits", 0)
    assert together == one_by_one
    assert set(together["judges"]) == {"plain", "strict"}


def test_a_file_after_such_an_option_is_told_where_it_belongs(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "audit", "--judge", "strict", small)
    assert code == 2
    assert "Files come first" in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--judge", "nobody"), "nobody"),
        (("--anchor", "nobody"), "nobody"),
        (("--where", "category=none"), "category"),
        (("--where", "category"), "NAME=VALUE"),
        (("--fail-if", "beauty>1"), "choose from ece"),
        (("--fail-if", "ece>much"), "not a number"),
        (("--level", "1.5"), "1.5"),
        (("--bins", "0"), "bins"),
        (("--epsilon", "0.7"), "0.7"),
        (("--alpha", "0"), "alpha"),
        (("--calibration-share", "1.5"), "calibration share"),
        (("--splits", "-1"), "splits"),
        (("--seed", "-1"), "seed"),
        (("--format", "nonsense"), "nonsense"),
    ],
)
def test_unusable_options_exit_2_and_say_what_is_allowed(
    small: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], told: str
) -> None:
    code, out, err = run(capsys, "audit", small, *arguments)
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1


def test_a_file_without_a_usable_vote_exits_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.csv"
    file.write_text("item_id,judge,vote,status\n1,a,1,lost\n", encoding="utf-8")
    code, _, err = run(capsys, "audit", file)
    assert code == 2
    assert "row 1" in err
    assert "status" in err
    assert "lost" in err


def test_import_export_round_trip(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, copy = tmp_path / "a.duckdb", tmp_path / "b.duckdb"
    assert run(capsys, "import", small, "--store", store)[0] == 0
    once, twice = tmp_path / "once.csv", tmp_path / "twice.csv"
    assert run(capsys, "export", once, "--store", store)[0] == 0
    assert run(capsys, "import", once, "--store", copy)[0] == 0
    assert run(capsys, "export", twice, "--store", copy)[0] == 0
    assert once.read_bytes() == twice.read_bytes()
    code, out, _ = run(capsys, "import", small, "--store", store)
    assert code == 0
    assert "loaded before" in out
    assert "nothing to do" in out


def test_export_without_a_store_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "export", tmp_path / "out.csv", "--store", tmp_path / "none.duckdb")
    assert code == 2
    assert "no store here" in err
    assert not (tmp_path / "none.duckdb").exists()


def test_simulate_then_audit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "demo.csv"
    assert run(capsys, "simulate", out, "--items", 20, "--seed", 3)[0] == 0
    found = document(capsys, out, "--splits", 5)
    assert found["leaderboards"]
    assert found["anchor_swap"]


@pytest.mark.thorough
def test_the_summary_shows_the_pooled_board(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "demo.csv"
    assert run(capsys, "simulate", out, "--items", 20)[0] == 0
    code, _, said = run(
        capsys, "audit", out, "--splits", 0, "--json", "-", "--all", "--anchor", "sim-anchor-one"
    )
    assert code == 0
    found = document(capsys, out, "--splits", 0, "--anchor", "sim-anchor-one")
    pooled, *of_judges = found["leaderboards"]["sim-anchor-one"]
    assert pooled["judge"] is None
    assert [board["judge"] for board in of_judges] == sorted(found["judges"])
    best = pooled["rows"][0]
    (line,) = [line for line in said.splitlines() if best["model"] in line.split()[1:2]]
    assert f"{best['p']:.3f}" in line


def test_hostile_names_do_not_reach_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hostile.csv"
    file.write_text("item_id,judge,vote\n1,\x1b[31mred,1\n", encoding="utf-8")
    code, out, _ = run(capsys, "audit", file)
    assert code == 0
    assert "\x1b" not in out


def test_gates_on_magnitudes_and_verdicts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bias of -.26 passed `bias_decided>0.1`, and no gate could be set on a verdict."""
    with gzip.open(REPOSITORY / "data" / "demo_votes.csv.gz", "rt", encoding="utf-8") as made:
        header, *lines = made
    judges = ("sim-judge-first-slot", "sim-judge-careful")
    demo = tmp_path / "demo.csv"
    demo.write_text(
        "".join([header, *(line for line in lines if any(name in line for name in judges))]),
        encoding="utf-8",
    )
    slot = ("audit", demo, "--splits", 0, "--judge", "sim-judge-first-slot", "--fail-if")
    gates = ("abs(bias_decided)>0.1", "position=fail", "overall=do_not_trust")
    code, _, err = run(capsys, *slot, *gates)
    assert code == 1
    assert "position=fail: sim-judge-first-slot is fail." in err
    assert all(f"{gate}: sim-judge-first-slot " in err for gate in gates)
    turned = tmp_path / "turned.csv"
    with demo.open(encoding="utf-8", newline="") as made:
        rows = list(csv.DictReader(made))
    with turned.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, rows[0])
        writer.writeheader()
        writer.writerows(
            row | {"position": {"ab": "ba", "ba": "ab"}.get(row["position"], "")} for row in rows
        )
    backwards = ("audit", turned, *slot[2:])
    code, _, err = run(capsys, *backwards, "bias_decided>0.1", "abs(bias_decided)>0.1")
    assert code == 1
    assert "abs(bias_decided)>0.1: sim-judge-first-slot has abs(bias_decided) 0." in err
    assert err.count("sim-judge-first-slot has") == 1
    careful = ("audit", demo, "--splits", 0, "--judge", "sim-judge-careful")
    assert (
        run(
            capsys, *careful, "--fail-if", "position=warn", "accuracy=fail", "overall=do_not_trust"
        )[0]
        == 0
    )
    assert (
        run(capsys, *careful, "--limit", "position=.0001,.0002", "--fail-if", "position=unclear")[0]
        == 1
    )


def test_strict_lets_unclear_and_cannot_say_fail(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loose = ("audit", small, "--splits", 0, "--fail-if", "overall=do_not_trust")
    assert run(capsys, *loose)[0] == 0
    code, _, err = run(capsys, *loose, "--strict")
    assert (code, "overall=do_not_trust: strict is cannot_say." in err) == (1, True)


def votes_file(path: Path, votes: list[int], gold: str) -> Path:
    """Votes of one judge in both orders."""
    lines = ["item_id,judge,vote,gold,position"]
    for item, vote in enumerate(votes):
        lines += [f"{item},j,{vote},{gold},{position}" for position in ("ab", "ba")]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_strict_fails_where_nothing_shows_what_a_judge_may_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody knows how often it is right: a build that asked for certainty passed."""
    file = votes_file(tmp_path / "no_gold.csv", [1, -1] * 50, "")
    assert run(capsys, "audit", file, "--splits", 0)[0] == 0
    junit = tmp_path / "checks.xml"
    code, _, err = run(capsys, "audit", file, "--splits", 0, "--strict", "--junit", junit)
    assert code == 1
    assert "use!=yes: j to measure: not shown. Accuracy is unknown" in err
    suites = {suite.get("name"): suite for suite in ElementTree.parse(junit).getroot()}
    failed = {case.get("name") for case in suites["gates"] if case.find("failure") is not None}
    assert failed == {"use!=yes"}


def test_strict_asks_for_the_use_and_lets_warnings_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Right on 65 % of 800 items: shown to be below 70 %, and fit to measure by."""
    gold = [1, -1] * 400
    votes = [g if k % 20 < 13 else -g for k, g in enumerate(gold)]
    lines = ["item_id,judge,vote,gold,position"]
    for item, (vote, label) in enumerate(zip(votes, gold, strict=True)):
        lines += [f"{item},j,{vote},{label},{order}" for order in ("ab", "ba")]
    file = tmp_path / "weak.csv"
    file.write_text("\n".join(lines), encoding="utf-8")
    found = document(capsys, file, "--splits", 0)
    (accuracy,) = [c for c in found["verdicts"] if c["check"] == "accuracy"]
    assert accuracy["verdict"] == "warn"
    code, _, err = run(capsys, "audit", file, "--splits", 0, "--strict")
    assert (code, err) == (0, "")
    assert run(capsys, "audit", file, "--splits", 0, "--strict", "--use", "decide")[0] == 1
    code, _, err = run(capsys, "audit", file, "--splits", 0, "--fail-if", "accuracy=warn")
    assert (code, err.count("accuracy=")) == (1, 1)


def test_a_judge_of_pass_and_fail_has_to_decide_unless_measuring_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It passes 95 % of what is good, and 40 % of what is not."""
    lines = ["item_id,judge_passed,human_passed"]
    for item in range(600):
        good, k = item % 10 < 7, item // 10
        passes = k % 20 != 0 if good else k % 25 < 8
        lines.append(f"{item},{'pass' if passes else 'fail'},{'pass' if good else 'fail'}")
    file = tmp_path / "leaky.csv"
    file.write_text("\n".join(lines), encoding="utf-8")
    assert run(capsys, "audit", file, "--strict")[0] == 1
    assert run(capsys, "audit", file, "--strict", "--use", "measure")[0] == 0
    code, _, err = run(capsys, "audit", file, "--fail-if", "use!=yes")
    assert code == 1
    assert "use!=yes: judge to decide: no. It fails 60 % of the answers that people failed" in err


def test_a_judge_that_fails_in_one_category_is_not_simply_trusted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Right on 95 % of easy questions and on 30 % of hard ones: 84 % over all."""
    lines = ["item_id,judge,vote,gold,position,category"]
    for item in range(500):
        hard = item >= 420
        right = item % 20 > 0 if not hard else item % 10 < 3
        for position in ("ab", "ba"):
            category = "hard" if hard else "easy"
            lines.append(f"{item},j,{1 if right else -1},1,{position},{category}")
    file = tmp_path / "categories.csv"
    file.write_text("\n".join(lines), encoding="utf-8")
    found = document(capsys, file, "--splits", 0)
    grades = {check["check"]: check for check in found["verdicts"]}
    assert grades["accuracy"]["verdict"] == "ok"
    category = grades["category"]
    assert (category["verdict"], category["n_items"]) == ("fail", 80)
    assert category["estimate"] == pytest.approx(0.3)
    assert "hard, right on 30 %" in category["sentence"]
    assert "are its labels swapped there?" in category["sentence"]
    assert found["overall"]["j"]["verdict"] == "trust_with_limits"
    assert found["overall"]["j"]["because"] == ["category"]
    assert run(capsys, "audit", file, "--splits", 0, "--fail-if", "category=fail")[0] == 1
    limits = ("--limit", "category=.2,.1", "--fail-if", "category=fail")
    assert run(capsys, "audit", file, "--splits", 0, *limits)[0] == 0


@pytest.mark.parametrize(
    ("option", "wanted"),
    [
        (("--fail-if", "beauty=fail"), "choose from overall"),
        (("--fail-if", "position=terrible"), "none of unclear, unknown, warn, fail"),
        (("--fail-if", "abs(ece>1"), "abs(bias_decided)>0.1"),
        (("--limit", "beauty=1,2"), "there is no such check"),
        (("--limit", "position=.2,.1"), "at least caution"),
        (("--limit", "accuracy=.6,.7"), "at most caution"),
        (("--limit", "position=.2"), "give CAUTION,FAILURE"),
        (("--limit", "position=a,b"), "not two numbers"),
        (("--limit", "position=nan,nan"), "finite"),
        (("--limit", "ties=.1,.2"), "never fails"),
        (("--family", "gpt="), "FAMILY=PREFIX"),
    ],
)
def test_options_of_verdicts_are_checked(
    small: Path, option: tuple[str, str], wanted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "audit", small, *option)
    assert code == 2
    assert wanted in err


def test_junit_and_markdown_of_hostile_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = tmp_path / "hostile.csv"
    name = "<b>|`x`@team & [y](z)"
    hostile.write_text(
        "item_id,judge,vote,gold\n" + "".join(f'{i},"{name}",1,1\n' for i in range(40)),
        encoding="utf-8",
    )
    junit, markdown = tmp_path / "checks.xml", tmp_path / "audit.md"
    code, _, _ = run(
        capsys, "audit", hostile, "--splits", 0, "--junit", junit, "--markdown", markdown
    )
    assert code == 0
    (suite,) = ElementTree.parse(junit).getroot()
    assert suite.get("name") == name
    assert int(suite.get("tests", 0)) == len(suite.findall("testcase")) == len(ASKED)
    assert int(suite.get("skipped", 0)) == len(suite.findall("testcase/skipped"))
    text = markdown.read_text(encoding="utf-8")
    assert "&lt;b&gt;" in text
    for raw in ("<b>", "@team", "`x`", "[y](z)"):
        assert raw not in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({re.sub(r"\\.", "", row).count("|") for row in rows}) == 1


RENDERED = (
    # What GitHub and GitLab make links of, in the text of a page: mentions, issues, addresses,
    # hashes. From their documents on references.
    r"(?<![\w])@[A-Za-z0-9][\w-]*",
    r"[\w/.-]*[#!$&%~]\d+",
    r"\bGH-\d+",
    r"https?://[\w.]+",
    r"\bwww\.\w",
    r"\b[0-9a-f]{7,40}\b",
)


def test_names_in_markdown_are_no_mentions_issues_or_links(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["@octocat", "org/repo#12", "#1", "GH-26", "!7 &8 %9 ~3 $4", "a\\@b", "&#64;team"]
    names += [
        "http://evil.example/x",
        "HTTPS://evil.example",
        "www.evil.example",
        "WWW.evil.example",
    ]
    names += [
        "3e1f9a0c7d5b2e4f6a8c0b1d3e5f7a9c1b2d4e6f",
        "deadbee1",
        "repo@deadbee1",
        "me@host.example",
    ]
    votes = tmp_path / "votes.csv"
    with votes.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["item_id", "judge", "vote", "gold"])
        writer.writerows([i, name, 1, 1 if i % 3 else -1] for name in names for i in range(40))
    markdown = tmp_path / "audit.md"
    assert run(capsys, "audit", votes, "--splits", 0, "--markdown", markdown)[0] == 0
    # As a page has it: without escapes, entities resolved.
    text = html.unescape(re.sub(r"\\([^\w\s])", r"\1", markdown.read_text(encoding="utf-8")))
    assert sum(text.replace("\u200b", "").count(name) for name in names) >= len(names)
    for pattern in RENDERED:
        assert not re.search(pattern, text, re.IGNORECASE), pattern
        # The pattern would find them.
        assert re.search(pattern, text.replace("\u200b", ""), re.IGNORECASE), pattern


def test_own_family_by_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A judge that gives half of its votes to its own family, with gold and with other judges
    beside it.
    """
    rng = np.random.default_rng(0)
    lines = ["item_id,judge,vote,gold,model_a,model_b"]
    for item in range(400):
        gold = rng.choice([-1, 1])
        a, b = rng.permutation(["gpt-model", "other-model"])
        own = 1 if a == "gpt-model" else -1
        vote = own if rng.random() < 0.5 else gold
        lines += [f"{item},gpt-judge,{vote},{gold},{a},{b}", f"{item},fair,{gold},{gold},{a},{b}"]
    file = tmp_path / "family.csv"
    file.write_text("\n".join(lines), encoding="utf-8")
    found = document(capsys, file, "--splits", 0, "--family", "OpenAI=gpt-")
    grade = {v["judge"]: v["verdict"] for v in found["verdicts"] if v["check"] == "own_family"}
    assert grade == {"gpt-judge": "fail", "fair": "unknown"}
    own = found["judges"]["gpt-judge"]["own_family"]
    assert own["against"] == "gold"
    assert own["low"] < 0.25 < own["high"]
    no_gold = [
        ",".join([*cells[:3], "", *cells[4:]]) for cells in (line.split(",") for line in lines[1:])
    ]
    file.write_text("\n".join([lines[0], *no_gold]), encoding="utf-8")
    found = document(capsys, file, "--splits", 0, "--family", "OpenAI=gpt-")
    own = found["judges"]["gpt-judge"]["own_family"]
    assert own["against"] == "judges"
    assert own["low"] < 0.25 < own["high"]


@pytest.mark.parametrize(
    ("judge", "with_gold"),
    [("gpt-4o", True), ("gpt-4o", False), ("GPT-4o", False), ("openai/gpt-4o", True)],
)
def test_a_judge_of_its_namesake_needs_no_named_family(
    judge: str, with_gold: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half of its votes go to the model of its own name; gpt-4o-mini is not it."""
    rng = np.random.default_rng(0)
    lines = ["item_id,judge,vote,gold,model_a,model_b"]
    for item in range(600):
        gold = rng.choice([-1, 1])
        a, b = rng.permutation(["gpt-4o", "gpt-4o-mini"])
        own = 1 if a == "gpt-4o" else -1
        vote, told = (own if rng.random() < 0.5 else gold), gold if with_gold else ""
        lines += [f"{item},{judge},{vote},{told},{a},{b}", f"{item},fair,{gold},{told},{a},{b}"]
    file = tmp_path / "namesake.csv"
    file.write_text("\n".join(lines), encoding="utf-8")
    result = document(capsys, file, "--splits", 0)
    grade = {v["judge"]: v["verdict"] for v in result["verdicts"] if v["check"] == "own_family"}
    assert grade == {judge: "fail", "fair": "unknown"}
    own_family = result["judges"][judge]["own_family"]
    assert own_family["against"] == ("gold" if with_gold else "judges")
    assert own_family["low"] < 0.25 < own_family["high"]
    assert any(f"{judge} judged gpt-4o, which bears its name" in note for note in result["notes"])
    # A family that is named is taken at its word.
    result = document(capsys, file, "--splits", 0, "--family", "Mine=gpt,GPT,openai")
    assert result["judges"][judge]["own_family"]["difference"] is None
    assert not any("bears its name" in note for note in result["notes"])


def test_the_longest_beginning_of_a_name_is_its_family() -> None:
    families = named_families(["OpenAI=gpt", "Eleuther=gpt-j", "Other=gpt-neo,x"])
    for options in (families, dict(reversed(families.items()))):
        family = AuditOptions(families=options).family
        assert [*map(family, ("gpt-4", "gpt-j-6b", "gpt-neox", "xgpt", "llama"))] == [
            "OpenAI", "Eleuther", "Other", "Other", None,
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("judge", "models", "namesakes"),
    [
        ("A", ("A", "B"), ()),  # models without names
        ("org/", ("org/", "org"), ("org/",)),
        ("o1", ("o1-mini", "x/O1", "o1"), ("x/O1", "o1")),
    ],
)
def test_who_bears_a_judges_name(
    judge: str, models: tuple[str, ...], namesakes: tuple[str, ...]
) -> None:
    assert AuditOptions().namesakes([judge], models).get(judge, ()) == namesakes


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_how_far_an_import_is(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    assert main(["import", str(small), "--store", str(tmp_path / "votes.duckdb")]) == 0
    lines = re.findall(r"\x1b\[K *(\d+)%  ([^\r]+)", screen.getvalue())
    shares = [int(share) for share, _ in lines]
    assert shares == sorted(shares)
    assert shares[0] == 0 < shares[-1] < 100
    doing = " ".join(said for _, said in lines)
    assert re.search(r"Reading.*Checking \d+ rows.*Storing \d+ rows.*Counting", doing)
    # The line is gone afterwards.
    assert re.search(r"\r\x1b\[K(?!\s*\d+%)", screen.getvalue())


def test_a_pipe_sees_no_progress(
    small: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", str(small), "--store", str(tmp_path / "votes.duckdb")]) == 0
    assert "%" not in capfd.readouterr().err


def test_one_of_a_thing_is_written_as_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "three.csv"
    rows = ("q1,m1,m2,j1,ab,1,1,.9", "q1,m1,m2,j1,ba,-1,1,.8", "q1,m1,m2,j2,ab,,1,.9")
    file.write_text(
        "\n".join(["item_id,model_a,model_b,judge,position,vote,gold,confidence", *rows]) + "\n"
    )
    assert main(["audit", str(file)]) == 0
    said = capsys.readouterr().out
    assert not re.search(r"\b1 (items|votes|comparisons|prompts|judges|outputs|rejects)\b", said)
