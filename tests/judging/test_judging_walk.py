"""The loop on the command line, each command as the guide writes it and in a process of its own."""

from __future__ import annotations

import csv
import re
import subprocess
import sys

import pytest
from judging_walk import BETTER, Grader, answers
from places import REPOSITORY

pytestmark = pytest.mark.thorough

MOST_COMMANDS = 6


def guide(server):
    """The commands of the section *In six commands* of the guide, for this server."""
    text = (REPOSITORY / "docs" / "collecting.md").read_text(encoding="utf-8")
    section = text.partition("## In six commands\n")[2].partition("\n## ")[0]
    block = re.search(r"```sh\n(.*?)```", section, re.DOTALL)[1]
    lines = [line.partition("#")[0].split() for line in block.splitlines() if line.strip()]
    assert len(lines) <= MOST_COMMANDS
    swap = {"http://localhost:11434/v1": server.url}
    return [[swap.get(word, word) for word in line] for line in lines]


@pytest.mark.parametrize(
    ("word", "said", "code"),
    [
        ("carefully", BETTER, 0),
        ("kindly", "llama3@v2 is not shown to be better than llama3 on the sealed items", 1),
        ("so", "llama3@v2 is not shown to be better than llama3: they part on no sealed item", 1),
    ],
)
def test_collected_audited_changed_and_proven_in_six_commands(tmp_path, word, said, code):
    answers(tmp_path / "answers.csv", 120, labelled=120)
    (tmp_path / "prompt2.md").write_text(f"Judge {word}.\n\n{{{{prompt}}}}\n\n{{{{response}}}}\n")
    with Grader() as server:
        results = []
        for command in guide(server):
            assert command[:3] == ["python", "-m", "core"]
            results.append(
                subprocess.run(
                    [sys.executable, *command[1:]],
                    cwd=tmp_path,
                    env={"PYTHONPATH": str(REPOSITORY), "PATH": ""},
                    capture_output=True,
                    text=True,
                    stdin=subprocess.DEVNULL,
                    check=False,
                )
            )
        assert [result.returncode for result in results] == [*(0,) * (len(results) - 1), code], [
            result.stderr for result in results
        ]
        assert server.calls == 243
    assert said in results[-1].stdout
    with (tmp_path / "out.csv").open(encoding="utf-8-sig", newline="") as file:
        sheet = list(csv.DictReader(file))
    # Where judge and people differ, and 30 hidden agreements.
    assert sum(row["judge_says"] != row["people_say"] for row in sheet) >= 24
