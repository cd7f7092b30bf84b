"""An Excel workbook holds the votes of the same CSV, and none takes more than its text is worth."""

import gzip
import io
import re
import zipfile
from xml.sax.saxutils import escape

import pytest
from places import TESTS

from core.errors import UnreadableFile
from core.importers import containers, read
from core.importers.source import open_source

VOTES = [["item_id", "judge", "vote"], *([f"i{n}", "j", "AB"[n % 2]] for n in range(8))]
CSV = "".join(",".join(row) + "\n" for row in VOTES).encode()
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def _relations(*targets):
    each = "".join(
        f'<Relationship Id="r{n}" Type="{_RELATION}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(targets, start=1)
    )
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{package}">{each}</Relationships>'


def _row(number, cells):
    texts = (f'<c t="inlineStr"><is><t>{escape(str(cell))}</t></is></c>' for cell in cells)
    return f'<row r="{number}">{"".join(texts)}</row>'


def workbook(sheets, *, shared=(), more=()):
    """Bytes of a workbook; a sheet is its rows, or the XML of them."""
    bodies = [
        body if isinstance(body, str) else "".join(_row(n, row) for n, row in enumerate(body, 1))
        for body in sheets.values()
    ]
    names = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, 1)
    )
    files = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": _relations(("officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{_SHEETS}" xmlns:r="{_RELATION}"><sheets>{names}'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": _relations(
            *(("worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1)),
            ("sharedStrings", "texts.xml"),
        ),
        "xl/texts.xml": f'<sst xmlns="{_SHEETS}">'
        + "".join(f"<si><t>{text}</t></si>" for text in shared)
        + "</sst>",
        **{
            f"xl/worksheets/sheet{n}.xml": f'<worksheet xmlns="{_SHEETS}"><sheetData>{body}'
            "</sheetData></worksheet>"
            for n, body in enumerate(bodies, 1)
        },
        **dict(more),
    }
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return written.getvalue()


def _read(data, name="votes.xlsx"):
    (result,) = read([(name, data)])
    return result


def _votes(result):
    return result.votes.select(["item_id", "judge", "vote"]).to_pylist()


@pytest.mark.parametrize(
    ("sheets", "note"),
    [
        ({"Votes": VOTES}, "Sheet 'Votes' of the workbook is read."),
        ({"Read me": [["By hand"]], "Votes": VOTES}, "not read: 'Read me'."),
        ({"Votes": VOTES, "Sums": [["a", "b"], ["1", "2"]]}, "not read: 'Sums'."),
        ({"Votes": [["Export of 3 March"], [], *VOTES]}, "Line 3 is the header"),
        ({"Votes": [[], [], *VOTES, [], []]}, "Sheet 'Votes'"),
    ],
)
def test_a_workbook_is_read_as_its_csv(sheets, note):
    result = _read(workbook(sheets))
    assert _votes(result) == _votes(_read(CSV, "votes.csv"))
    assert any(note in each for each in result.notes)
    assert result.judged.rejected == 0


def test_a_workbook_of_another_program():
    """Made with openpyxl 3.1: notes, votes under a title, and a hidden sheet."""
    source = open_source("two_sheets.xlsx", TESTS / "data" / "two_sheets.xlsx", 10**9)
    rows = "".join(f"{n},j,{'AB'[n % 2]},0.5,2026-03-01,TRUE\n" for n in range(8))
    assert source.data.decode() == f"item_id,judge,vote,temperature,day,ok\n{rows}"
    assert source.stem == "two_sheets"
    assert source.above == 2


def test_wherever_a_file_is_taken(tmp_path):
    """By path, packed, in a folder and in an archive."""
    book, expected = workbook({"Votes": VOTES}), _votes(_read(CSV, "votes.csv"))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "votes.xlsx").write_bytes(book)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("votes.xlsx", book)
    for data in (
        tmp_path / "folder" / "votes.xlsx",
        tmp_path / "folder",
        gzip.compress(book),
        archive.getvalue(),
    ):
        assert _votes(_read(data)) == expected


def test_messages_name_the_row_of_the_sheet():
    twice = [["Export of 3 March"], [], ["item_id", "vote", "vote"], ["1", "A", "B"]]
    for name, data in (
        ("x.xlsx", workbook({"Votes": twice})),
        ("x.csv", b"Export of 3 March\n\nitem_id,judge,vote,vote\n1,j,A,B\n2,j,A,B\n"),
    ):
        with pytest.raises(UnreadableFile, match=f"{name}: line 3: columns"):
            _read(data, name)
    with pytest.raises(UnreadableFile, match=r"x.csv: line 2: columns"):
        _read(b"sep=;\nitem_id;judge;vote;vote\n1;j;A;B\n", "x.csv")
    text = b"Export\n\n" + CSV + b'i9,j,"A\ni10,j,A\n'
    with pytest.raises(UnreadableFile, match=r"line 12: a quote is opened"):
        _read(text, "x.csv")


_FAR = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="{}1048576"><v>1</v></c></row>'
_TEXT = "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(1, 3000))


@pytest.mark.parametrize(
    ("book", "said"),
    [
        (workbook({"V": _FAR.format("XFD")}), "17,179,869,184 cells between"),
        (workbook({"V": _FAR.format("&#88;FD")}), "17,179,869,184 cells between"),
        (workbook({"V": _FAR.format("Z")}), "27,262,976 cells between its first and its last"),
        (workbook({"V": _TEXT}, shared=["x" * 100_000]), "come to 299,900,000 characters"),
        (workbook({"V": " " * 80_000_000}), "unpacks to 80,000,"),
        (workbook({"V": VOTES}, more={"xl/x.xml": "<!DOCTYPE a><a/>"}), "a type of document"),
        (workbook({"V": "<row"}), "is damaged"),
        (workbook({"V": VOTES})[:-40], "cut off or damaged"),
        (workbook({"V": [["only one"]]}), "no visible sheet holds a table"),
        (workbook({"V": VOTES}, more={"xl/workbook.xml": "<a/>"}), "workbook"),
    ],
)
def test_what_is_refused_says_why(book, said):
    with pytest.raises(UnreadableFile, match=re.escape(said)):
        _read(book)


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(containers, "installed", lambda package: False)
    with pytest.raises(UnreadableFile, match=r"python-calamine.*\[app\]"):
        _read(workbook({"Votes": VOTES}))
