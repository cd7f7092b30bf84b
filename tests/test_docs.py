"""The documentation keeps up with the code: every method has its row and line, and what is shown runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from patience import LONG
from test_import_graph import CORE, METHODS
from test_import_graph import part as core_name

REPOSITORY = Path(__file__).resolve().parent.parent
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
CHANGELOG = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")

NUMBERS = [
    path.relative_to(REPOSITORY)
    for path in CORE
    if (core_name(path) in METHODS and path.stem != "__init__")
    or path.stem in ("intervals", "verdicts", "findings")
]


@pytest.mark.parametrize("module", NUMBERS, ids=str)
def test_every_method_has_a_row_in_the_readme_and_a_line_in_the_changelog(module: Path) -> None:
    assert f"`{module}`" in README
    assert f"`{module.stem}`" in CHANGELOG


def test_every_page_is_in_the_readme() -> None:
    for page in (REPOSITORY / "pages").glob("*.py"):
        if page.stem not in ("__init__", "main"):
            title = "Position bias" if page.stem == "position" else page.stem.capitalize()
            assert f"| {title} |" in README


def test_every_dependency_has_its_reason() -> None:
    table = README[README.index("## Dependencies") : README.index("## Speed")]
    for file in ("requirements.txt", "requirements-dev.txt"):
        for line in (REPOSITORY / file).read_text(encoding="utf-8").splitlines():
            if line and not line.startswith(("#", "-")):
                assert re.split(r"[<>=!~\[]", line)[0] in table


def test_every_file_that_the_readme_names_exists() -> None:
    for path in re.findall(r"`((?:core|pages|tests|data|benchmarks)/[\w/.]*)`", README):
        assert path == "data/votes.duckdb" or (REPOSITORY / path).exists(), path


def test_the_python_of_the_readme_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(code.strip().splitlines()) <= 15
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "BTDFit(" in done.stdout


def test_the_csv_and_commands_of_the_readme_run(tmp_path: Path) -> None:
    (csv,) = re.findall(r"```csv\n(.*?)```", README, flags=re.DOTALL)
    (tmp_path / "votes.csv").write_text(csv, encoding="utf-8")
    commands = re.findall(r"^\.venv/bin/python -m core (.*?)\s*(?:#.*)?$", README, flags=re.MULTILINE)
    assert len(commands) >= 4
    for command in commands:
        arguments = [part.strip('"') for part in command.split()]
        done = subprocess.run(
            [sys.executable, "-m", "core", *arguments],
            cwd=tmp_path,
            env={"PYTHONPATH": str(REPOSITORY), "PATH": ""},
            capture_output=True,
            text=True,
            timeout=LONG,
            check=False,
        )
        assert done.returncode == (1 if "--fail-if" in arguments else 0), (command, done.stderr)


def test_nothing_names_a_machine_or_a_registry() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    for name in listed.stdout.splitlines():
        path = REPOSITORY / name
        if path.suffix in (".py", ".md", ".toml", ".txt", ".lock", "") and path.is_file():
            text = path.read_text(encoding="utf-8")
            found = re.search(
                r"(/work/main|/root/|/home/\w+/|https?://[\w.]*(pypi|pythonhosted)[\w.]*)", text
            )
            assert found is None or name == "tests/test_docs.py", (name, found)
