"""The action's steps, run as a build server runs them: gates that pass, that fail, unusable input."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from places import REPOSITORY
from wheels import Environment, closure, environment, link

from core import audit
from core.errors import InvalidOption
from core.reporting.document import to_json
from core.simulate.votes import write_demo
from core.use.testing import assert_judges

ACTION: dict[str, Any] = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))
STEPS: dict[str, dict[str, Any]] = {
    step.get("name") or step["id"]: step for step in ACTION["runs"]["steps"]
}
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def server(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Environment]:
    """The folder of a build server's temporary files, after the step *Install*."""
    temporary = tmp_path_factory.mktemp("runner")
    made = environment(temporary / "appellate-venv", wheel)
    link(
        closure([*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["report"]]),
        made.packages,
    )
    return temporary, made


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """The workspace of a job."""
    folder = tmp_path / "job"
    (folder / "votes").mkdir(parents=True)
    write_demo(folder / "votes" / "one.csv", items=6)
    return folder


def step(name: str, job: Path, temporary: Path, **inputs: str) -> tuple[int, str]:
    """Run one step; its exit code, and what it said on standard error."""
    values = {
        f"inputs.{key}": str(field.get("default", "")) for key, field in ACTION["inputs"].items()
    }
    values |= {f"inputs.{key.replace('_', '-')}": value for key, value in inputs.items()}
    values |= {
        "github.action_path": str(REPOSITORY),
        "steps.place.outputs.folder": str(job / "out"),
    }
    given = {
        key: re.sub(r"\$\{\{ (\S+) \}\}", lambda found: values[found[1]], text)
        for key, text in STEPS[name].get("env", {}).items()
    }
    done = subprocess.run(
        ["bash", "-e", "-c", STEPS[name]["run"]],
        cwd=job,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(job.parent),
            "RUNNER_TEMP": str(temporary),
            "GITHUB_STEP_SUMMARY": str(job.parent / "summary.md"),
            "GITHUB_OUTPUT": str(job.parent / "output"),
            **given,
        },
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return done.returncode, done.stderr


def summary(job: Path) -> str:
    return (job.parent / "summary.md").read_text(encoding="utf-8")


def test_no_text_of_a_workflow_becomes_a_command() -> None:
    for name, given in STEPS.items():
        assert "${{" not in given.get("run", ""), name
        for expression in re.findall(r"\$\{\{ (.*?) \}\}", json.dumps(given)):
            key = expression.removeprefix("inputs.")
            assert key == expression or key in ACTION["inputs"], expression
    asked = {re.sub(r"\W", "_", key) for key in ACTION["inputs"]}
    assert {"files", "fail_if", "strict", "options", "artifact", "python_version"} == asked


def test_the_folder_of_results_is_an_output(job: Path, tmp_path: Path) -> None:
    code, _ = step("place", job, tmp_path)
    assert code == 0
    written = (tmp_path / "output").read_text(encoding="utf-8")
    assert written == f"folder={tmp_path}/appellate-audit\n"
    assert ACTION["outputs"]["folder"]["value"] == STEPS["Keep"]["with"]["path"]


@pytest.mark.thorough
def test_gates_that_pass(server: tuple[Path, Environment], job: Path) -> None:
    code, said = step(
        "Audit",
        job,
        server[0],
        files="votes/*.csv",
        options="--splits 0\n--judge sim-judge-careful",
        fail_if="ece>0.9\noverall=do_not_trust",
    )
    assert code == 0, said
    assert (job / "out" / "report.html").read_text(encoding="utf-8").startswith("<!")
    assert summary(job).startswith((job / "out" / "summary.md").read_text(encoding="utf-8"))
    document = json.loads((job / "out" / "audit.json").read_text(encoding="utf-8"))
    assert list(document["judges"]) == ["sim-judge-careful"]
    suites = ElementTree.parse(job / "out" / "junit.xml").getroot()
    assert [suite.get("name") for suite in suites] == ["sim-judge-careful", "gates"]


def test_a_package_that_is_not_there_is_no_gate_that_failed(job: Path, tmp_path: Path) -> None:
    """Python ends with 1 where it has no such module, as the audit does where a gate fails."""
    done = subprocess.run(
        [sys._base_executable, "-I", str(REPOSITORY / ".ci" / "action.py")],
        cwd=job,
        env={"AUDIT_FILES": "votes/*.csv", "AUDIT_OUT": str(tmp_path / "out"), "PATH": ""},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 70, done.stderr


@pytest.mark.thorough
def test_copies_of_a_pattern_count_once(server: tuple[Path, Environment], job: Path) -> None:
    votes = job / "votes"
    (votes / "two.csv").write_bytes((votes / "one.csv").read_bytes())
    code, said = step("Audit", job, server[0], files="votes/*.csv", options="--splits 0")
    assert code == 0, said
    document = json.loads((job / "out" / "audit.json").read_text(encoding="utf-8"))
    for way in ([votes / "one.csv", votes / "two.csv"], [votes], [votes / "one.csv"]):
        expected = json.loads(to_json(audit(way, splits=0)))
        for name in ("schema", "overall", "judges", "scores"):
            assert document[name] == expected[name], name


@pytest.mark.thorough
def test_a_gate_that_fails(server: tuple[Path, Environment], job: Path) -> None:
    (job / "appellate.toml").write_text("splits = 0", encoding="utf-8")
    (job / "core.py").write_text("raise SystemExit(9)", encoding="utf-8")
    (job / "appellate.py").write_text("raise SystemExit(9)", encoding="utf-8")
    code, said = step("Audit", job, server[0], files="votes/one.csv", fail_if="ece>0.0001")
    assert code == 1
    assert "gate failed: ece>0.0001: sim-judge-boaster has ece" in said
    # Once, in the audit's Markdown.
    assert summary(job).replace("\\", "").count("ece&gt;0.0001: sim-judge-boaster has ece") == 1
    made = {path.name for path in (job / "out").iterdir()}
    assert made == {"audit.json", "junit.xml", "summary.md", "report.html"}


@pytest.mark.thorough
def test_unusable_input(server: tuple[Path, Environment], job: Path) -> None:
    code, said = step("Audit", job, server[0], files="votes/none*.csv")
    assert code == 2
    assert "none*.csv" in said
    assert summary(job).startswith("## Judges could not be audited")
    assert "none*.csv" in summary(job)
    assert not any((job / "out").iterdir())
    hostile = "votes/one.csv; touch owned\n$(touch owned)\n--json=owned"
    code, _ = step("Audit", job, server[0], files=hostile)
    assert code == 2
    assert not (job / "owned").exists()


def test_a_test_suite_fails_with_its_judge(job: Path) -> None:
    from core.auditing.options import AuditOptions
    from core.schema import Selection

    votes, few = job / "votes" / "one.csv", AuditOptions(splits=0)
    careful = Selection(judges=("sim-judge-careful",))
    found = assert_judges(votes, "ece>0.9", selection=careful, options=few)
    assert [judge.judge for judge in found.judges] == ["sim-judge-careful"]
    with pytest.raises(AssertionError, match=r"^ece>0\.0001: sim-judge-careful has ece 0\.\d+\.$"):
        assert_judges([str(votes)], "ece>0.0001", selection=careful, options=few)
    with pytest.raises(AssertionError, match="use!=yes: sim-judge-boaster to measure"):
        assert_judges(votes, options=few)
    with pytest.raises(InvalidOption, match="there is no check 'nothing'"):
        assert_judges(votes, "nothing=fail", options=few)


@pytest.mark.thorough
def test_the_helper_is_in_the_package(server: tuple[Path, Environment], job: Path) -> None:
    (job / "test_ours.py").write_text(
        "from appellate.testing import assert_judges\ntry: assert_judges('votes/one.csv', "
        "'ece>0.0001')\nexcept AssertionError as error: print(error)\n",
        encoding="utf-8",
    )
    python = str(server[1].scripts / "python")
    done = subprocess.run([python, "test_ours.py"], cwd=job, capture_output=True, text=True)
    assert "ece>0.0001: sim-judge-boaster has ece" in done.stdout, done.stderr
    lines = (REPOSITORY / "core" / "use" / "testing.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 50
