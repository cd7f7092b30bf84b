"""What the importers say of every broken input, word for word, as `data/import_messages.json` keeps
it.

APPELLATE_WRITE_MESSAGES=1 writes the table anew, in one process: its difference is then the list of
what reads otherwise.
"""

import json
import os
import re
from pathlib import Path

import broken_files
import pytest
from places import REPOSITORY
from test_hostile_files import REFUSED, REJECTED

from core.errors import AppellateError
from core.importers import ReadOptions, inspect, read

TABLE = REPOSITORY / "tests" / "data" / "import_messages.json"
HOSTILE = {f"hostile: {name}": ([(name, row[0])], {}) for name, row in (REFUSED | REJECTED).items()}
CASES = broken_files.CASES | HOSTILE
_NUMBERS = re.compile(r"\(.*\)|[0-9][0-9,]*")


def known():
    return json.loads(TABLE.read_text(encoding="utf-8"))


def answer(name, folder):
    """Everything that reading and inspecting a case says."""
    said = _said(name, folder)
    if not name.endswith((".gz", "gzip")):
        return said
    # How many bytes a file is packed into, and what is wrong with damaged ones, depends on the
    # library.
    return {key: _NUMBERS.sub("#", value) for key, value in said.items()}


def _said(name, folder):
    given, options = CASES[name]
    files = [(file, folder / data if isinstance(data, Path) else data) for file, data in given]
    said = {"options": {key: repr(value) for key, value in options.items()}} if options else {}
    try:
        readings = read(files, ReadOptions(**options))
    except AppellateError as error:
        said |= {"error": type(error).__name__, "message": str(error)}
    else:
        rejects = [row for reading in readings for row in reading.rejects.to_pylist()]
        said["rejects"] = [
            [row["row"], row["column"], row["value"], row["reason"], *(["kept"] * row["kept"])]
            for row in rejects
        ]
        said["read"] = sum(reading.votes.num_rows for reading in readings)
        said["notes"] = [note for reading in readings for note in reading.notes]
    try:
        seen = inspect(files[0][1], files[0][0], ReadOptions(**options))
    except AppellateError as error:
        said["inspected"] = str(error)
    else:
        said["inspected"] = [*seen.notes, *(question.text for question in seen.questions)]
    return said


@pytest.mark.parametrize("name", CASES)
def test_what_is_said_of_a_broken_input_is_what_the_table_says(name, tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    said = answer(name, tmp_path)
    if os.environ.get("APPELLATE_WRITE_MESSAGES"):
        table = known() if TABLE.exists() else {}
        table = {key: value for key, value in (table | {name: said}).items() if key in CASES}
        TABLE.write_text(
            json.dumps(table, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8"
        )
    assert said == known()[name]


def test_the_table_is_of_the_cases_and_of_no_others():
    assert set(known()) == set(CASES)
