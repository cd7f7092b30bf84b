"""One call audits whatever holds votes, and its result shows itself."""

import builtins
import datetime as dt
import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from levels import first_of
from places import REPOSITORY

import core
from core import AuditOptions, ReadOptions, Selection, Store, audit
from core.__main__ import main
from core.errors import (
    AmbiguousLabels,
    InvalidOption,
    MissingExtra,
    NoUsableVotes,
    UnknownName,
    UnreadableFile,
)
from core.extras import install
from core.reporting.document import to_document

DEMO = REPOSITORY / "data" / "demo_votes.csv.gz"


def rows(n: int = 40, judges: tuple[str, ...] = ("j1", "j2")) -> list[dict[str, Any]]:
    """Votes in both orders by judges who are right on most items."""
    rng = np.random.default_rng(7)
    return [
        {
            "item_id": f"q{item}",
            "judge": judge,
            "vote": int(rng.choice([1, -1], p=[0.8, 0.2])) * (1 if item % 2 else -1),
            "position": position,
            "confidence": round(float(rng.uniform(0.5, 1)), 3),
            "gold": 1 if item % 2 else -1,
            "run": 1,
            "model_a": f"m{item % 3}",
            "model_b": f"m{item % 3 + 1}",
            "response_a": f'answer, "{item}"',
        }
        for item, judge, position in itertools.product(range(n), judges, ("ab", "ba"))
    ]


def typed() -> pd.DataFrame:
    """Numbers of several widths and flags."""
    frame = pd.DataFrame(rows())
    return frame.assign(
        vote=frame.vote.astype("int8"),
        gold=frame.gold.astype("float32"),
        confidence=frame.confidence.astype("float64"),
        hard=frame.item_id.str.endswith("3"),
    )


def with_nulls() -> pd.DataFrame:
    """Missing values in every column that may miss them, whole numbers among them."""
    frame = pd.DataFrame(rows())
    holes = np.arange(len(frame))
    return frame.assign(
        vote=frame.vote.astype("Int64").mask(holes % 11 == 0),
        confidence=frame.confidence.mask(holes % 5 == 0),
        gold=frame.gold.mask(holes // 4 % 3 == 0),
        response_a=frame.response_a.mask(holes % 7 == 0),
    )


def categorical() -> pd.DataFrame:
    """Categories, of which one has no row, and times with a zone."""
    frame = pd.DataFrame(rows())
    start = pd.Timestamp("2026-01-31 23:30", tz="Europe/Berlin")
    words = frame.vote.map({1: "A", -1: "B"})
    return frame.assign(
        vote=pd.Categorical(words, ["tie", "A", "B"]),
        gold=pd.Categorical(frame.gold.map({1: "A", -1: "B"})),
        judge=pd.Categorical(frame.judge, ["nobody", "j2", "j1"]),
        at=start + pd.to_timedelta(np.arange(len(frame)), unit="min"),
    )


def polars_of(frame: pd.DataFrame) -> Any:
    polars = pytest.importorskip("polars")
    return polars.from_arrow(pa.Table.from_pandas(frame, preserve_index=False))


def duckdb_of(frame: pd.DataFrame) -> duckdb.DuckDBPyRelation:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    connection = duckdb.connect()
    connection.register("given", table)
    connection.execute("create table votes as from given")
    return connection.table("votes")


KINDS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: frame,
    "polars": polars_of,
    "arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "duckdb": duckdb_of,
}


def document(found: core.use.one_call.ShownAudit) -> dict[str, Any]:
    """All that an audit says, but for what names its file."""
    whole = to_document(found)
    whole["input"].pop("files")
    return json.loads(json.dumps(whole, default=str))


HOW: dict[str, Any] = {"splits": 3, "label_refers": "model"}


@pytest.fixture(scope="module", params=first_of(typed, with_nulls, categorical))
def frame_and_file(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A frame, and what the audit of its file says."""
    frame = request.param()
    path = tmp_path_factory.mktemp("frame") / "votes.csv"
    frame.to_csv(path, index=False)
    by_file = audit(path, **HOW)
    assert by_file.summary.votes > 100
    assert by_file.judges["j1"].accuracy.has_interval
    return frame, document(by_file)


@pytest.mark.parametrize("kind", first_of(*KINDS))
def test_a_frame_is_audited_as_its_file(
    kind: str, frame_and_file: tuple[pd.DataFrame, dict[str, Any]]
) -> None:
    frame, by_file = frame_and_file
    assert document(audit(KINDS[kind](frame), **HOW)) == by_file


def test_bytes_paths_and_stores_are_audited_alike(tmp_path: Path) -> None:
    frame = typed()
    path, kept = tmp_path / "votes.csv", tmp_path / "kept.duckdb"
    frame.to_csv(path, index=False)
    with Store.open(kept) as store:
        for reading in core.read([(path.name, path)]):
            store.load(reading)
        from_store = audit(store, Selection(), AuditOptions(splits=0))
    expected = document(audit(path, splits=0))
    assert document(audit(str(path), splits=0)) == expected
    assert document(audit(path.read_bytes(), splits=0)) == expected
    for found in (from_store, audit(kept, splits=0)):
        assert document(found)["verdicts"] == expected["verdicts"]


def test_a_connection_with_one_table_is_that_table() -> None:
    relation = duckdb_of(typed())
    connection = duckdb.connect()
    connection.register("given", relation.to_arrow_table())
    connection.execute("create table votes as from given")
    connection.unregister("given")
    assert document(audit(connection, splits=0)) == document(audit(relation, splits=0))
    connection.execute("create table other as select 1 as x")
    with pytest.raises(InvalidOption, match="2 tables \\(other, votes\\)"):
        audit(connection)


def test_votes_and_gold_in_one_list() -> None:
    frame = typed()
    gold = frame[["item_id", "model_a", "model_b", "gold"]].drop_duplicates()
    found = audit([frame.drop(columns="gold"), gold], splits=0, dataset="d")
    assert found.judges["j1"].accuracy.value == audit(frame).judges["j1"].accuracy.value


def test_a_filtered_frame_has_no_column_of_its_index() -> None:
    frame = typed()
    part = frame[frame.judge == "j1"].iloc[::-1]
    found = audit(part, splits=0)
    assert document(found) == document(audit(part.reset_index(drop=True), splits=0))
    assert not [name for name, _ in found.readings[0].mapping.items() if "index" in name]


def test_mixed_values_are_text() -> None:
    frame = typed()
    mixed = frame.assign(item_id=[i if i % 2 else f"q{i}" for i in frame.index // 4])
    with pytest.raises((pa.ArrowException, TypeError)):
        pa.table(mixed)
    expected = audit(mixed.assign(item_id=mixed.item_id.map(str)), splits=0)
    assert document(audit(mixed, splits=0)) == document(expected)


def test_no_text_is_kept_twice() -> None:
    """A long text in every row costs what it costs once."""
    from core.importers.arrow_tables import table_of_arrow

    texts = pa.array(["x" * 50_000] * 2_000, pa.large_string()).dictionary_encode()
    before = pa.total_allocated_bytes()
    cells = table_of_arrow(pa.table({"a": texts, "b": texts}), "votes").columns["a"]
    assert pa.total_allocated_bytes() - before < 2_000_000
    assert len(cells.dictionary) == 1


def test_options_have_the_names_of_their_fields_and_flags() -> None:
    frame = typed().rename(columns={"judge": "grader"})
    frame["vote"] = frame.vote.map({1: "good", -1: "bad"})
    by_flags = audit(
        frame,
        map={"judge": "grader"},
        label_map={"good": "A", "bad": "B"},
        label_refers="model",
        judge="j1",
        where={"position": "ab"},
        family={"one": "j"},
        anchor="m1",
        epsilon=[0.1],
        level=0.9,
    )
    by_objects = audit(
        frame,
        Selection(judges=("j1",), where=(("position", "ab"),)),
        AuditOptions(families={"one": ("j",)}, anchors=("m1",), epsilons=(0.1,), level=0.9),
        reading_options=ReadOptions(
            mapping=(("judge", "grader"),),
            label_map=(("good", "A"), ("bad", "B")),
            label_refers="model",
        ),
    )
    assert document(by_flags) == document(by_objects)
    assert [judge.judge for judge in by_flags.judges] == ["j1"]


@pytest.mark.parametrize(
    ("source", "given", "error", "words"),
    [
        (b"item_id,judge,vote\n1,j,1\n", {"lables": "arena"}, TypeError, "Did you mean labels"),
        (b"item_id,judge,vote\n1,j,1\n", {"level": 2}, InvalidOption, "level"),
        (b"item_id,judge,vote\n1,j,what\n", {"labels": "none"}, core.errors.AppellateError, "none"),
        (b"item_id,judge,vote\n1,j,1\n", {"map": {"referee": "x"}}, UnknownName, "referee"),
        (object(), {}, TypeError, "object holds no votes"),
        (b"item_id,judge,vote\n", {}, UnreadableFile, "no rows"),
        (pa.table({"item_id": ["a"][:0]}), {}, UnreadableFile, "no rows"),
        (pa.table([["a"], ["b"]], names=["vote", "vote "]), {}, UnreadableFile, "both named"),
        (pa.table({"x": [1]}), {"format": "mt_bench"}, InvalidOption, "no format of files"),
    ],
)
def test_what_cannot_be_read_is_said(
    source: Any, given: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        audit(source, **given)


def test_questions_are_answered_by_keyword() -> None:
    with pytest.raises(AmbiguousLabels, match="Say which with label_refers model or label_refers"):
        audit(categorical(), splits=0)


def test_a_store_takes_no_option_of_reading() -> None:
    with Store.open() as store, pytest.raises(InvalidOption, match="labels"):
        audit(store, labels="arena")
    with Store.open() as store, pytest.raises(NoUsableVotes):
        audit(store)


@pytest.fixture(scope="module")
def demo() -> core.use.one_call.ShownAudit:
    return audit(DEMO, splits=0)


def test_print_is_the_text_of_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "votes.csv"
    typed().to_csv(path, index=False)
    assert main(["audit", str(path), "--isolated"]) == 0
    text = capsys.readouterr().out
    assert str(audit(path)) + "\n" == text
    assert len(text.splitlines()) <= 60


def test_long_audits_are_shortened(demo: core.use.one_call.ShownAudit) -> None:
    lines = str(demo).splitlines()
    assert len(lines) <= 60
    whole = core.to_text(demo).splitlines()
    said = f"… {len(whole)} lines have every check and table: audit --all, or to_text(audit)."
    assert lines[-1] == said
    assert lines[:2] == whole[:2]
    assert lines[0].startswith("May decide: sim-judge-careful ")
    judges = [judge.judge for judge in demo.judges if judge.rater_type != "human"]
    start = lines.index("Judges, best first") + 1
    for line, judge in zip(lines[start:], judges, strict=False):
        assert judge in line
    assert "✓ May decide " in lines[start]
    assert "✗ Not " in lines[start + len(judges) - 1]
    failures = [one for one in demo.checks if one.grade == "fail"]
    assert failures
    assert all(f"  FAIL  {one.judge}: {one.sentence}" in lines for one in failures)


def test_repr_is_short(demo: core.use.one_call.ShownAudit) -> None:
    assert repr(demo).startswith("<Audit of 7 judges, 56,623 votes: May decide: sim-judge-careful ")
    assert len(repr(demo)) <= 500
    alone = audit(b"item_id,judge,vote\nq1,j,1\n")
    assert repr(alone).startswith("<Audit of 1 judge, 1 vote: Cannot say yet: ")
    long = audit(pd.DataFrame(rows(12, tuple(f"{'name ' * 40}{i}" for i in range(4)))), splits=0)
    assert len(repr(long)) <= 500


def test_a_notebook_shows_answer_picture_and_table(demo: core.use.one_call.ShownAudit) -> None:
    html = demo._repr_html_()
    assert len(html.encode()) < 20_000
    assert "Not to be used: sim-judge-first-slot" in html
    assert html.count("<rect ") == 7
    assert html.count("<tr>") == 8
    accuracy = demo.judges["sim-judge-careful"].accuracy.value
    assert f'width="{round(300 * accuracy, 1)}"' in html


@pytest.mark.thorough
@pytest.mark.parametrize("judges", [2, 60])
def test_names_are_escaped_and_many_judges_fit(judges: int) -> None:
    names = tuple(f"<script>alert({i})</script>&\"' {'𝄞' * 300}" for i in range(judges))
    html = audit(pd.DataFrame(rows(12, names)), splits=0)._repr_html_()
    assert len(html.encode()) < 20_000
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert ("more judges" in html) == (judges > 2)


def test_table_has_a_row_for_each_judge_and_check(
    demo: core.use.one_call.ShownAudit, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, frame = demo.to_arrow(), demo.to_frame()
    assert len(frame) == table.num_rows == len(demo.checks)
    assert len(demo.checks) == sum(len(one.checks) for one in demo.judges)
    assert list(frame.columns) == table.column_names
    row = frame.set_index(["judge", "check"]).loc[("sim-judge-careful", "accuracy")]
    assert row.value == demo.judges["sim-judge-careful"].accuracy.value
    assert row.grade == "ok"
    assert row.overall == "trust"
    absent = frame[frame.check == "own_family"]
    assert absent.value.isna().all()
    found = core.extras.find_spec
    monkeypatch.setattr(
        core.extras, "find_spec", lambda name: None if name == "pandas" else found(name)
    )
    with pytest.raises(MissingExtra, match=re.escape(install("app"))):
        demo.to_frame()
    assert demo.to_arrow().num_rows == table.num_rows


def test_judges_by_name_and_by_place(demo: core.use.one_call.ShownAudit) -> None:
    assert isinstance(demo.judges["sim-judge-boaster"].calibration.ece, float)
    assert demo.judges[demo.judges[1].judge] is demo.judges[1]
    assert len(demo.judges[1:3]) == 2
    with pytest.raises(UnknownName, match="nobody"):
        demo.judges["nobody"]


def test_report_is_a_file(demo: core.use.one_call.ShownAudit, tmp_path: Path) -> None:
    path = demo.report(tmp_path / "report.html")
    assert path.read_text(encoding="utf-8") == core.report(demo)


def test_pandas_is_not_imported_for_a_table_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.Table.from_pandas(typed(), preserve_index=False)
    before = builtins.__import__

    def refuse(name: str, *rest: Any, **more: Any) -> Any:
        assert name.split(".")[0] != "pandas", "pandas is imported"
        return before(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    found = audit(table, splits=0)
    assert found._repr_html_()
    assert str(found)


def test_time_zones_are_kept_as_moments() -> None:
    moment = dt.datetime(2026, 1, 31, 23, 30, tzinfo=dt.timezone(dt.timedelta(hours=1)))
    from core.importers.arrow_tables import table_of_arrow

    column = pa.array([moment, None], pa.timestamp("ms", "Europe/Berlin"))
    cells = table_of_arrow(pa.table({"at": column}), "votes").columns["at"].to_pylist()
    assert cells[1] is None
    assert dt.datetime.fromisoformat(cells[0]) == moment
