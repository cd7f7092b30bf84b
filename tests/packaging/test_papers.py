"""docs/papers.md: every row names a page and a command, pages exist, and commands run on the demo."""

import json
import re
import shlex

import pytest
from places import REPOSITORY

from core.__main__ import main

TEXT = (REPOSITORY / "docs" / "papers.md").read_text(encoding="utf-8")
TABLE = re.search(r"<!-- papers -->\n(.*?)<!-- /papers -->", TEXT, flags=re.DOTALL)
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in (TABLE[1] if TABLE else "").splitlines()
    if line.startswith("| ") and not line.startswith("| item ")
]
FILES = {
    name: str(REPOSITORY / "data" / f"demo_{file}.csv.gz")
    for name, file in (("VOTES", "votes"), ("RANKINGS", "rankings"), ("SCORES", "scores"))
}
EMPTY_IN_THE_DEMO = {
    "listwise.*.flagged": "no faults flagged",
    "anchors.recommended": "none serves",
}
PUBLISHED = "model,score\nsim-hazel,71\nsim-birch,64\nsim-elm,52\nsim-alder,40\n"
COMMANDS = sorted({row[3].strip("`") for row in ROWS if row[3] != "–"})


def field(document, path):
    """What a path such as `judges.*.position` finds; of `*` any."""
    found = [document]
    for part in path.split("."):
        found = [
            value
            for each in found
            if isinstance(each, dict)
            for value in (each.values() if part == "*" else [each[part]] if part in each else [])
        ]
    return found


def test_no_row_is_empty_but_those_that_say_why():
    assert len(ROWS) >= 30
    for item, _, page, command, path, ours in ROWS:
        if "–" in (page, command, path):
            assert "not a computation" in ours or "cannot be known from votes" in ours, item


def test_pages_and_tabs_exist():
    source = "\n".join(
        path.read_text(encoding="utf-8") for path in (REPOSITORY / "pages").rglob("*.py")
    )
    for item, _, page, *_ in ROWS:
        for part in page.split(" · ") if page != "–" else ():
            assert f'"{part}"' in source, (item, part)


@pytest.mark.thorough
@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_writes_the_fields_that_its_rows_name(command, tmp_path):
    out = tmp_path / "audit.json"
    board = tmp_path / "board.csv"
    board.write_text(PUBLISHED, encoding="utf-8")
    files = FILES | {"BOARD": str(board)}
    words = [files.get(word, word) for word in shlex.split(command)]
    # Fewer splits than by default write the same fields.
    assert main([*words, "--splits", "10", "--json", str(out)]) == 0
    document = json.loads(out.read_text(encoding="utf-8"))
    for row in ROWS:
        if row[3].strip("`") == command:
            for path in re.findall(r"`([^`]+)`", row[4]):
                found = field(document, path)
                assert found, (row[0], path)
                empty = all(value in (None, [], {}) for value in found)
                assert empty == (path in EMPTY_IN_THE_DEMO), (row[0], path)
