"""What stands around the code: hooks, workflows, forms and editors' settings say what is so."""

import configparser
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from places import REPOSITORY

MAKEFILE = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
FORMS = sorted((REPOSITORY / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def read(name: str) -> Any:
    return yaml.safe_load((REPOSITORY / name).read_text(encoding="utf-8"))


def recipe(target: str) -> list[str]:
    """Commands of a target of the Makefile."""
    found = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", MAKEFILE, flags=re.MULTILINE)
    assert found, f"make {target}"
    return [line[1:] for line in found[1].splitlines()]


def steps(workflow: dict[Any, Any]) -> list[str]:
    """Commands that the jobs of a workflow run."""
    return [
        step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step
    ]


def test_hooks_run_what_make_check_runs() -> None:
    (repository,) = read(".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    targets = [hook["entry"].removeprefix("make ") for hook in repository["hooks"]]
    assert [line for target in targets for line in recipe(target)] == recipe("check")
    for hook in repository["hooks"]:
        # With file names, make would take them for targets.
        assert (hook["language"], hook["pass_filenames"]) == ("system", False)


def test_the_workflow_tests_every_python_that_is_promised() -> None:
    workflow = read(".github/workflows/test.yml")
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    promised = [
        line.rpartition(" ")[2]
        for line in project["classifiers"]
        if re.search(r"Python :: 3\.\d+$", line)
    ]
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"] == promised
    commands = steps(workflow)
    assert "make test PYTHON=python" in commands
    assert ".ci/run" in commands
    assert (REPOSITORY / ".ci" / "run").stat().st_mode & 0o111
    for target in re.findall(r"\bmake ([\w-]+)", " ".join(commands)):
        assert recipe(target)


@pytest.mark.thorough
def test_a_build_whose_time_is_up_skips_thorough_tests_alone_and_counts_them() -> None:
    assert "export APPELLATE_THOROUGH_UNTIL" in (REPOSITORY / ".ci" / "run").read_text()
    one = "tests/store/test_store.py"
    names = ("the_demo_survives_import", "write_file_names_the_endings")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", one, "-k", " or ".join(names)],
        cwd=REPOSITORY,
        env={**os.environ, "APPELLATE_THOROUGH_UNTIL": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "SKIPPED [1]" in run.stdout
    assert "left no time" in run.stdout
    assert re.search(r"^s\.", run.stdout, flags=re.MULTILINE)


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_forms_are_as_the_host_takes_them(path: Path) -> None:
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(form)
    ids = [field["id"] for field in form["body"]]
    assert len(set(ids)) == len(ids)
    for field in form["body"]:
        assert field["type"] in ("input", "textarea")
        assert field["attributes"]["label"]
        assert set(field["attributes"]) <= {"label", "description", "render", "placeholder"}
    assert any(field.get("validations", {}).get("required") for field in form["body"])


def test_files_are_as_the_editors_are_told() -> None:
    settings = configparser.ConfigParser()
    text = (REPOSITORY / ".editorconfig").read_text(encoding="utf-8")
    settings.read_string("[top]\n" + text)
    assert settings["*"]["end_of_line"] == "lf"
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    width = int(settings["*.{py,pyi}"]["max_line_length"])
    assert width == project["tool"]["ruff"]["line-length"]
    listed = subprocess.run(["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True)
    for name in listed.stdout.splitlines():
        path = REPOSITORY / name
        if name.startswith(("data/", "tests/data/")) or not path.is_file():
            continue
        content = path.read_bytes()
        if b"\0" in content:
            continue
        content.decode("utf-8")
        assert b"\r" not in content, name
        assert not content or content.endswith(b"\n"), name
        blank = re.search(rb"[ \t]+$", content, flags=re.MULTILINE)
        assert blank is None, (name, content[: blank.start()].count(b"\n") + 1)
