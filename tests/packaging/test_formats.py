"""The table of native formats in `docs/formats.md` is written from their declarations.

APPELLATE_WRITE_FORMATS=1 writes it anew; its difference is then what changed for users.
"""

import os

from places import REPOSITORY

from core.importers.registry import FORMATS

DOCUMENT = REPOSITORY / "docs" / "formats.md"
BEGIN = "<!-- The table is written by tests/packaging/test_formats.py. -->\n"
END = "\n<!-- End of the table. -->"


def table() -> str:
    """A row for each native format: its name, what its records are, and what they hold."""
    rows = [
        f"| `{name}` | {native.line} | {'gold' if native.gold_only else native.form.units} |"
        for name, native in FORMATS.items()
    ]
    return "\n".join(
        ["", "| format | file, and what it is known by | holds |", "|---|---|---|", *rows, ""]
    )


def test_the_table_of_formats_is_that_of_their_declarations() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    written, after = rest.split(END)
    if os.environ.get("APPELLATE_WRITE_FORMATS"):
        DOCUMENT.write_text(f"{before}{BEGIN}{table()}{END}{after}", encoding="utf-8")
    else:
        assert written == table()
