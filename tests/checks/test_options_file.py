"""Options of a folder: what flags say about reading and grading, and nothing else."""

import argparse
import json
import re
from pathlib import Path
from typing import Any

import pytest
from levels import first_of
from places import REPOSITORY

from core.__main__ import _parser, main
from core.errors import AppellateError
from core.simulate.votes import write_demo
from core.use import options_file

NEVER = {"json", "junit", "markdown", "html", "warehouse", "table", "store", "dataset", "against"}
NEVER |= {
    "series",
    "on_conflict",
    "files",
    "labels_from",
    "to_people",
    "disagreements",
    "with_agreements",
    "most_rows",
    "compare",
    "without_texts",
    "key",
    "brief",
    "all",
    "isolated",
    "help",
}
"""Values of flags that no file may set: outputs, stores, hosts, how much is fetched from one, and what
the command is about."""
FILE = """
splits = 7
judge = ["sim-judge-careful", "sim-judge-boaster"]
limit = {position = [0.01, 0.02], ties = 0.5}
epsilon = 0.1
level = 0.9
where = {category = "Math"}
"""
FLAGS = [
    *("--splits", "7", "--judge", "sim-judge-careful", "sim-judge-boaster", "--level", "0.9"),
    *("--limit", "position=0.01,0.02", "ties=0.5", "--epsilon", "0.1", "--where", "category=Math"),
]


@pytest.fixture(scope="module")
def votes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("votes") / "votes.csv"
    write_demo(path, items=6)
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def audited(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[dict[str, Any], str]:
    """Document of an audit, and what was said on standard error."""
    code = main(["audit", *map(str, arguments), "--json", "-"])
    captured = capsys.readouterr()
    assert code in (0, 1), captured.err
    return json.loads(captured.out), captured.err


def actions(*commands: str) -> dict[str, argparse.Action]:
    """Every flag of some commands, by the name of its value."""
    (several,) = (a for a in _parser()._actions if isinstance(a, argparse._SubParsersAction))
    return {action.dest: action for name in commands for action in several.choices[name]._actions}


def test_every_flag_is_an_option_of_a_folder_or_must_not_be() -> None:
    named = actions("audit", "report", "import")
    found = {key.replace("-", "_"): fact for key, fact in options_file.keys().items()}
    assert set(found) | NEVER == set(named)
    assert not set(found) & NEVER
    for name, key in found.items():
        action = named[name]
        assert (action.nargs == "+") == (key.several or key.pairs), name
        assert action.nargs == 0 or key.choices or (action.type or str) is key.kind, name
        assert tuple(action.choices or ()) == key.choices, name


@pytest.mark.parametrize("name", first_of("pyproject.toml", "appellate.toml"))
def test_a_folders_options_are_those_of_flags(
    votes: Path, folder: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    by_flags, said = audited(capsys, votes, *FLAGS)
    assert "options of" not in said
    head = "[tool.appellate]" if name == "pyproject.toml" else ""
    (folder / name).write_text(f"{head}\n{FILE}", encoding="utf-8")
    by_file, said = audited(capsys, votes)
    assert by_file == by_flags
    place = "pyproject.toml [tool.appellate]" if head else "appellate.toml"
    assert f"options of {place}: splits, judge, limit, epsilon, level, where" in said
    isolated, said = audited(capsys, votes, "--isolated", *FLAGS)
    assert isolated == by_flags
    assert "options of" not in said


def test_flags_win(votes: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "appellate.toml").write_text(FILE, encoding="utf-8")
    document, _ = audited(
        capsys, votes, "--splits", "100", "--judge", "sim-judge-boaster", "--epsilon", "0.2"
    )
    # 100 is the flag's default, which is given here none the less.
    assert document["options"]["splits"] == 100
    assert list(document["judges"]) == ["sim-judge-boaster"]
    assert document["options"]["epsilons"] == [0.2]
    assert document["options"]["level"] == 0.9


def test_own_file_goes_before_the_shared_one(
    votes: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "appellate.toml").write_text("splits = 3", encoding="utf-8")
    (folder / "pyproject.toml").write_text("[tool.appellate]\nlevel = 2", encoding="utf-8")
    document, _ = audited(capsys, votes)
    assert document["options"]["splits"] == 3
    assert document["options"]["level"] == 0.95


@pytest.mark.thorough
def test_gates_of_a_folder(votes: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "appellate.toml").write_text(
        'fail-if = ["ece>0.0001"]\njudge = ["sim-judge-careful"]\nsplits = 0', encoding="utf-8"
    )
    assert main(["audit", str(votes)]) == 1
    assert main(["audit", str(votes), "--fail-if", "ece>0.9999"]) == 0
    assert main(["audit", str(votes), "--isolated", "--splits", "0"]) == 0
    capsys.readouterr()


def test_reading_options_hold_for_import(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("odd.csv").write_text("q,judge,said\n1,x,left\n2,x,right\n", encoding="utf-8")
    (folder / "appellate.toml").write_text(
        'map = {item_id = "q", vote = "said"}\nlabel-map = {left = "A", right = "B"}\n'
        'label-refers = "model"\nsplits = 3',
        encoding="utf-8",
    )
    assert main(["import", "odd.csv", "--store", "own.duckdb"]) == 0
    assert "2 votes loaded" in capsys.readouterr().out
    # What reads no votes reads no options either.
    (folder / "appellate.toml").write_text("nonsense = 1", encoding="utf-8")
    assert main(["export", "out.csv", "--store", "own.duckdb"]) == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("splitz = 3", ["appellate.toml", "'splitz'", "Allowed are format, map, labels"]),
        ('json = "x"', ["'json'", "an output, a store, a warehouse or a host"]),
        ('store = "x"', ["'store'"]),
        ('warehouse = "postgresql://db"', ["'warehouse'"]),
        ('table = "x"', ["'table'"]),
        ("splits = true", ["splits = True", "a whole number"]),
        ("splits = 2.5", ["splits = 2.5", "a whole number"]),
        ('level = "high"', ["level = 'high'", "a number"]),
        ("judge = [1]", ["judge = [1]", "a list of texts"]),
        ('map = ["a=b"]', ["map = ['a=b']", "a table"]),
        ("map = {item_id = {x = 1}}", ["a table"]),
        ("strict = 1", ["strict = 1", "true or false"]),
        ('label-refers = "both"', ["label-refers = 'both'", "give model or slot"]),
        ("confidence-scale = true", ["confidence-scale = True", "give 1 or 100"]),
        ("splits = ", ["appellate.toml", "no TOML"]),
    ],
)
def test_what_a_file_may_not_say(
    votes: Path, folder: Path, capsys: pytest.CaptureFixture[str], text: str, words: list[str]
) -> None:
    (folder / "appellate.toml").write_text(text, encoding="utf-8")
    assert main(["audit", str(votes)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    for word in words:
        assert word in captured.err
    assert [path.name for path in folder.iterdir()] == ["appellate.toml"]


def test_a_projects_file_without_the_table_is_left_alone(folder: Path) -> None:
    shared = folder / "pyproject.toml"
    shared.write_text("no toml at all", encoding="utf-8")
    assert options_file.read_folder(folder) is None
    shared.write_text('[project]\ndependencies = ["appellate"]', encoding="utf-8")
    assert options_file.read_folder(folder) is None
    shared.write_text("[tool]\nappellate = 3", encoding="utf-8")
    with pytest.raises(AppellateError, match="is no table"):
        options_file.read_folder(folder)
    shared.write_bytes(b"# appellate\n" * 100_000)
    with pytest.raises(AppellateError, match="longer than"):
        options_file.read_folder(folder)


def test_the_example_of_the_documents_is_allowed(folder: Path) -> None:
    text = (REPOSITORY / "docs" / "ci.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", text, flags=re.DOTALL)
    (folder / "appellate.toml").write_text(example, encoding="utf-8")
    found = options_file.read_folder(folder)
    assert found is not None
    assert found.values["map"] == ["item_id=question_id", "judge==gpt-judge"]
    assert found.values["limit"] == ["position=0.05,0.1"]
