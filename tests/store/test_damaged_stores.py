"""A damaged store is called damaged, whatever is done with it, and no command claims what is not
there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from damaged_stores import KINDS, damaged, make
from patience import LONG
from places import PYTHONPATH, REPOSITORY

from core.__main__ import main

Answers = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """What every command made of every store; the name of the last one is said if it ended the
    process.
    """
    done = subprocess.run(
        [sys.executable, "tests/store/damaged_stores.py", str(tmp_path_factory.mktemp("damaged"))],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        capture_output=True,
        text=True,
        timeout=10 * LONG,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, (lines[-1:], done.stderr[-2000:])
    return {name: found for line in lines if isinstance(line, dict) for name, found in line.items()}


@pytest.mark.thorough
def test_no_command_takes_a_damaged_store_for_a_whole_one(answers: Answers) -> None:
    sound = answers["sound"]
    assert len(answers) > 58
    assert [sound[kind][0] for kind in KINDS] == [0, 0, 0]
    assert sound["loaded"] == 3
    wrong: dict[str, object] = {}
    for name, found in answers.items():
        commands = [*KINDS, "take over", "import"]
        for command in commands:
            code, said = found[command][:2]
            named = code == 0 or "damaged" in said or command == "take over"
            if code not in (0, 2) or "another process" in said or "Traceback" in said or not named:
                wrong[f"{name}, {command}"] = code, said
        wrong |= {
            f"{name}, {kind}": "differs" for kind in KINDS if differs(name, found, sound, kind)
        }
        if found["taken"] and any(
            differs(name, found["taken"], sound["taken"], kind) for kind in KINDS
        ):
            wrong[f"{name}, taken over"] = "differs"
        if found["import"][0] == 0 and found["loaded"] != 3:
            wrong[f"{name}, loaded"] = found["loaded"]
        if found["import"][0] == 0 and any(
            differs(name, found["kept"], sound["kept"], k) for k in KINDS
        ):
            wrong[f"{name}, kept"] = "differs"
    assert not wrong, wrong


def differs(name: str, found: dict[str, Any], sound: dict[str, Any], kind: str) -> bool:
    """Whether an export that is said to have succeeded has not what is in the store."""
    if name == "a log of an earlier state" and kind == "scores":
        # They were deleted before.
        return False
    one, other = found[kind], sound[kind]
    if isinstance(one, str):
        return one != other
    return one[0] == 0 and one[2] != other[2]


@pytest.mark.thorough
def test_a_log_that_is_not_its_own_is_set_aside_and_said(answers: Answers) -> None:
    foreign = (
        "of another file",
        "of an earlier state",
        "of zeros",
        "of noise",
        "with a flipped beginning",
    )
    for name in (f"a log {each}" for each in foreign):
        (aside,) = answers[name]["beside"]
        code, said = answers[name]["import"]
        assert code == 0
        assert aside in said
    # Its own, but changed: what was loaded last would be lost without a word.
    code, said = answers["a log with a flipped byte"]["import"]
    assert (code, answers["a log with a flipped byte"]["beside"]) == (2, [])
    assert "votes.duckdb.wal, which holds the latest changes" in said


@pytest.mark.thorough
def test_what_can_still_be_read_comes_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Damage in one kind of judgements leaves the others to be exported, and the message
    says how.
    """
    path = tmp_path / "s.duckdb"
    freed: dict[str, set[str]] = {}
    for name, content, log in damaged(tmp_path):
        if log is None and name.endswith("zeroed") and name.startswith("block"):
            path.write_bytes(content)
            codes = {}
            for kind in KINDS:
                codes[kind] = main(
                    ["export", str(tmp_path / "o.csv"), "--store", str(path), "--what", kind]
                )
            freed[name] = {kind for kind, code in codes.items() if code == 0}
            if 0 < len(freed[name]) < len(KINDS):
                assert f"--store {path} --what KIND" in capsys.readouterr().err
    assert any(0 < len(kinds) < len(KINDS) for kinds in freed.values())


def test_a_table_without_a_column_is_damage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import duckdb

    path = make(tmp_path / "s.duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute("alter table details drop column cost")
    (tmp_path / "new.csv").write_text("item_id,judge,vote\n1,j,1\n")
    assert main(["import", str(tmp_path / "new.csv"), "--store", str(path)]) == 2
    said = capsys.readouterr().err
    assert "is damaged (table details has no column cost)" in said
    assert said.count("\n") == 1
