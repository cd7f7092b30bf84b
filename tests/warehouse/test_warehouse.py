"""The audit of a table on another engine is that of the same rows in a file, and fails with a
remedy.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from places import REPOSITORY
from warehouses import PASSWORD, Running, absent, free_port, running

from core.__main__ import main
from core.auditing.options import AuditOptions
from core.auditing.run import audit
from core.errors import AmbiguousLabels, InvalidOption, UnreadableFile, WarehouseError
from core.importers import ReadOptions, inspect, read
from core.questions.scores import ask as score_queries
from core.reporting.document import to_json
from core.schema import Selection
from core.store import Store, browse
from core.warehouse import Warehouse, look_at
from core.warehouse.engines import Engine, connect
from core.warehouse.sample import sample_of, shares_of

NAMES = ("parquet", "postgresql", "clickhouse", "spark", "s3")
HERE = [name for name in NAMES if absent(name) is None]
SERVERS = [name for name in HERE if name not in ("parquet", "s3")]
DEMO = REPOSITORY / "data" / "demo_votes.csv.gz"
OPTIONS = AuditOptions(splits=5)
REAL = ("pba_repeat", "judgebench", "ko_arena_hard", "rewardbench2_pairs")
"""Real files; Spark, which needs seconds for each statement however few the votes, takes the first.
"""

ODD = ReadOptions(
    mapping=(("item_id", "Prompt no."), ("vote", "says"), ("judge", "who")),
    labels="A/B",
    label_refers="slot",
)
SCORED = ("passes", "raters", "metrics", "answers")
ANSWERS = DEMO.with_name("demo_answers.csv.gz")
READ_AS = {
    "odd": ODD,
    "levels": ReadOptions(confidence_scale="1-7"),
    "logits": ReadOptions(confidence_scale="logit"),
    "raters": ReadOptions(cluster="doc"),
}
"""Tables that are not read as they are."""


def confidences(name: str) -> str:
    """Votes with confidences on a scale that is no probability, a few of them outside it."""
    rng = np.random.default_rng(5)
    sure = rng.integers(1, 8, 400) if name == "levels" else rng.normal(1, 2, 400).round(2)
    sure = [*map(str, sure[:390]), *("0", "-800", "900", "7.5", "x", "", "", "", "", "")]
    rows = (
        f"q{i // 2},m0,m1,j{i % 2},ab,{rng.choice([-1, 0, 1])},{sure[i]},{'self' if i % 3 else ''},"
        f"{i // 2 % 2 * 2 - 1}"
        for i in range(400)
    )
    head = "item_id,model_a,model_b,judge,position,vote,confidence,confidence_kind,gold"
    return "\n".join([head, *rows, ""])


def providers() -> str:
    """A row per item and provider, beside a column that differs by chance."""
    rng = np.random.default_rng(6)
    rows = (
        f"q{i},m0,m1,j,{rng.choice([-1, 1])},{who},{rng.choice(['stop', 'length'])}"
        for i in range(40)
        for who in ("x", "y", "z")
    )
    return "\n".join(["item_id,model_a,model_b,judge,vote,provider,finish", *rows, ""])


def odd_votes() -> str:
    """Votes as people write them, with what cannot be read among them, and `lang` besides."""
    rng = np.random.default_rng(3)
    lines = [
        "Prompt no.,model_a,model_b,who,run,position,says,confidence,gold,status,rater_type,lang"
    ]
    for i in range(60):
        for judge in ("Jü's", "k\\2", "mensch"):
            for run in range(3):
                for place in ("ab", "ba"):
                    says = rng.choice(["A", "[[B]]", "tie", "a "])
                    sure = rng.choice(["50%", "90 %", "0.875", ""])
                    about = f" q{i},m{i % 3},m{3 + i % 2},{judge},{run},{place},{says},{sure},{'AB'[i % 2]}"
                    kind = "human" if judge == "mensch" else "llm"
                    lines.append(f"{about},,{kind},{'de' if i % 2 else 'en'}")
    first = lines[1].split(",")

    def changed(**cells: str) -> str:
        names = lines[0].split(",")
        named = zip((name.replace(" ", "_").strip(".") for name in names), first, strict=True)
        return ",".join(cells.get(name, cell) for name, cell in named)

    bad = [
        changed(run="9", says="maybe"),
        changed(run="9", confidence="140%"),
        changed(run="9", confidence="9%5"),
        changed(run="9", position=""),
        changed(run="9", position="up"),
        changed(run="nine"),
        changed(run="10", Prompt_no=""),
        changed(run="10", status="ok", says=""),
        changed(run="11", status="refused"),
        changed(run="12", says=""),
        changed(run="13", rater_type="robot"),
        changed(run="14", says="A"),
        changed(run="14", says="B"),
        lines[2],
    ]
    golds = [
        "q99,m0,m3,k\\2,0,ab,A,50%,A,,llm,de",
        "q99,m0,m3,k\\2,1,ab,A,50%,B,,llm,de",
        "q99,m0,m3,k\\2,2,ab,A,,,,llm,de",
    ]
    return "\n".join([*lines, *bad, *golds, ""])


def scored(name: str) -> str:
    """Scores of single answers as people lay them out: one row each, beside a person or gold, with a
    column per rater or per metric; some cells say nothing or cannot be read.
    """
    rng = np.random.default_rng(8)
    n = 120
    quality = rng.standard_normal(n)

    def levels() -> np.ndarray:
        seen = quality + 0.5 * rng.standard_normal(n)
        return np.clip(np.round(3 + seen), 1, 5).astype(int)

    says, people = levels(), [levels() for _ in range(2)]
    if name == "passes":
        words = np.array(["fail", "pass"], object)
        judge, person = words[(says > 2) * 1], words[(people[0] > 2) * 1]
        judge[:3] = ["N/A", "refused", ""]
        rows = (f"c{i % 100},{judge[i]},{person[i]}" for i in range(100))
        return "\n".join(["case_id,judge_passed,human_passed", *rows, ""])
    if name == "raters":
        dates = (f"2026-0{1 + i // 30}-{1 + i % 28:02}T10:00:00" for i in range(n))
        rows = (
            f'q{i},"{"so " * (i % 9)}Grüße ",t{i % 4},{date},{says[i]},{people[0][i]},'
            f"{people[1][i] if i % 5 else ''},d{i // 3},{'de' if i % 2 else 'en'}"
            for i, date in enumerate(dates)
        )
        head = "item_id,response,category,created_at,llm,annotator_1,annotator_2,doc,lang"
        return "\n".join([head, *rows, ""])
    if name == "metrics":
        rows = (
            f'{i},"Why {i}?","So.",{says[i]},"as it is",{people[0][i]},"clear"' for i in range(n)
        )
        head = "id,question,answer,clear_score,clear_reason,short_score,short_reason"
        return "\n".join([head, *rows, ""])
    rows = [
        f"q{i},m{i % 2},{judge},{kind},{metric},{run},{score[i] + (run if kind == 'llm' else 0) // 2}"
        for i in range(n)
        for judge, kind, score in (("j", "llm", says), ("Ann", "human", people[0]))
        for metric in ("clear", "true")
        for run in range(3 if kind == "llm" else 1)
    ]
    bad = ["q0,m0,j,llm,clear,9,many", "q1,m1,j,robot,clear,9,3", rows[3], ",m1,j,llm,clear,8,3"]
    return "\n".join(["item_id,model,judge,rater_type,metric,run,score", *rows, *bad, ""])


def as_text(data: bytes) -> pa.Table:
    """A file of votes as a table of text, as it would lie on an engine."""
    import pyarrow.csv as pa_csv

    names = data.partition(b"\n")[0].decode().strip().replace('"', "").split(",")
    types = dict.fromkeys(names, pa.string())
    convert = pa_csv.ConvertOptions(column_types=types, strings_can_be_null=True, null_values=[""])
    return pa_csv.read_csv(io.BytesIO(data), convert_options=convert)


def typed(table: pa.Table) -> pa.Table:
    """The same table with numbers as numbers, as most tables of an engine have them."""
    types = {"run": pa.int32(), "vote": pa.int16(), "gold": pa.int64(), "confidence": pa.float64()}
    for name, kind in types.items():
        table = table.set_column(table.column_names.index(name), name, table[name].cast(kind))
    return table


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Name of a table → the file of the same rows."""
    shared = DEMO.parent.parent.parent / "shared" / "data" / "votes"
    paths = {"demo": DEMO, "demo_answers": ANSWERS} | {
        name: shared / f"{name}.csv.gz" for name in REAL
    }
    made = {name: confidences(name).encode() for name in ("levels", "logits")}
    made["providers"] = providers().encode()
    made |= {name: scored(name).encode() for name in SCORED}
    return (
        {"odd": odd_votes().encode()}
        | made
        | {
            name: gzip.decompress(path.read_bytes())
            for name, path in paths.items()
            if path.exists()
        }
    )


@pytest.fixture(scope="module")
def tables(files: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a Parquet file for each; numbers are numbers in some."""
    import pyarrow.parquet as pq

    folder = tmp_path_factory.mktemp("tables")
    for name, data in files.items():
        table = as_text(data)
        pq.write_table(
            typed(table) if name in ("demo", "judgebench") else table, folder / f"{name}.parquet"
        )
    return folder


@pytest.fixture(scope="module")
def engines(tables: Path) -> Iterator[dict[str, Running]]:
    """Every engine, started when it is first asked for."""
    with ExitStack() as stack, warnings.catch_warnings():
        warnings.simplefilter("ignore")

        class Started(dict[str, Running]):
            def __missing__(self, name: str) -> Running:
                self[name] = stack.enter_context(running(name, tables))
                return self[name]

        yield Started()


@pytest.fixture(scope="module")
def of_files(files: dict[str, bytes]) -> dict[str, str]:
    """Table → the audit of its file, made when it is first asked for."""

    class Audited(dict[str, str]):
        def __missing__(self, name: str) -> str:
            options = replace(READ_AS.get(name, ReadOptions()), reader="old")
            readings = read([(f"{name}.csv", files[name])], options)
            with Store.open() as store:
                for reading in readings:
                    store.load(reading)
                self[name] = plain(to_json(audit(store, Selection(), OPTIONS, readings=readings)))
            return self[name]

    return Audited()


def plain(document: str) -> str:
    """An audit without what names its input."""
    found = json.loads(document)
    names = tuple(f"{file['name']}: " for file in found["input"].pop("files"))
    found["notes"] = [note for note in found["notes"] if not note.startswith(names)]
    del found["options"]
    return json.dumps(found, indent=1, ensure_ascii=False)


def without_data(document: str) -> Any:
    """An audit without what its check of the data says."""

    def rest(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: rest(of) for key, of in part.items() if key != "data"}
        if isinstance(part, list):
            of_data = [isinstance(each, dict) and each.get("check") == "data" for each in part]
            return [rest(each) for each, left in zip(part, of_data, strict=True) if not left]
        return part

    return rest(json.loads(document))


def opened(
    engine: Running, name: str, options: ReadOptions | None = None, **given: Selection
) -> Warehouse:
    return Warehouse.open(engine.url, engine.table.format(name), options, **given)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in HERE])
def test_engines_that_are_not_installed(name: str) -> None:
    pytest.skip(f"{name}: {absent(name)}")


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", HERE)
@pytest.mark.parametrize(
    "table", [*dict.fromkeys((*READ_AS, *SCORED)), "demo", "demo_answers", *REAL]
)
def test_the_audit_is_that_of_the_file(
    table: str,
    name: str,
    engines: dict[str, Running],
    files: dict[str, bytes],
    of_files: dict[str, str],
) -> None:
    if table not in files or (
        name == "spark" and table not in (REAL[0] if REAL[0] in files else "odd", "answers")
    ):
        return
    if name == "s3" and table not in ("odd", "demo", "raters"):
        # DuckDB reads the same files of a folder.
        return
    options = READ_AS.get(table, ReadOptions())
    with opened(engines[name], table, options) as warehouse:
        readings = warehouse.fetched.readings
        found = audit(warehouse, Selection(), OPTIONS, readings=readings)
        assert plain(to_json(found)) == of_files[table]


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in HERE if name != "spark"])
def test_selections_and_other_columns(
    name: str, engines: dict[str, Running], files: dict[str, bytes]
) -> None:
    for selection in (
        Selection(where=(("lang", "de"),), gold="humans"),
        Selection(
            judges=("Jü's", "k\\2"), rater_types=("llm",), where=(("run", "1"), ("model_a", "m2"))
        ),
        Selection(gold="k\\2", where=(("confidence", ""),)),
    ):
        with (
            opened(engines[name], "odd", ODD, selection=selection) as warehouse,
            Store.open() as store,
        ):
            store.load(read([("odd.csv", files["odd"])], ODD)[0])
            found, wanted = (audit(source, selection, OPTIONS) for source in (warehouse, store))
            # Rows that were not asked for are not fetched, so what could not be read of them is not
            # known.
            assert without_data(plain(to_json(found))) == without_data(plain(to_json(wanted)))
            if selection.where[0] == ("lang", "de"):
                assert warehouse.fetched.readings[0].rows < len(files["odd"].splitlines()) / 2 + 9


@pytest.mark.thorough
def test_what_cannot_be_read_is_counted_as_in_a_file(
    engines: dict[str, Running], files: dict[str, bytes]
) -> None:
    (reading,) = read([("odd.csv", files["odd"])], ODD)
    with opened(engines["parquet"], "odd", ODD) as warehouse:
        fetched = warehouse.fetched
    table = fetched.readings[0]
    assert table.n_rejected == reading.n_rejected == 11
    # Two votes without the confidence that could not be read are the same vote twice.
    assert table.duplicates == reading.duplicates == 2
    assert table.n_unread == reading.n_unread == 1
    assert table.n_read == reading.n_read
    assert "11 rejected, 2 duplicates left out, 1 kept without their conf" in fetched.sentence
    assert table.notes[-1].startswith(
        "Column 'confidence' cannot be read for 1 vote, which is kept without it. "
        "The first is '140%'"
    )


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", HERE)
def test_levels_and_logits_are_those_of_the_file(
    name: str, engines: dict[str, Running], files: dict[str, bytes]
) -> None:
    """What is asked is what is asked of a file; so are the confidences and their kinds."""
    for table in ("levels", "logits") if name != "spark" else ("levels",):
        file = (f"{table}.csv", files[table])
        with pytest.raises(AmbiguousLabels) as of_file:
            read([file])
        with pytest.raises(AmbiguousLabels) as of_engine:
            opened(engines[name], table).close()
        said, wanted = (str(raised.value).partition(": ")[2] for raised in (of_engine, of_file))
        assert said == wanted
        (reading,) = read([file], READ_AS[table])
        with opened(engines[name], table, READ_AS[table]) as warehouse, Store.open() as store:
            store.load(reading)
            lost = {"levels": 5, "logits": 1}[table]
            fetched = warehouse.fetched.readings[0]
            assert fetched.n_unread == reading.n_unread == lost
            assert fetched.n_rejected == reading.n_rejected == 0
            wanted, found = (
                audit(votes, Selection(), AuditOptions(splits=0)) for votes in (store, warehouse)
            )
            assert plain(to_json(found)) == plain(to_json(wanted))


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", HERE)
def test_rows_that_differ_in_an_unmapped_column_are_asked_about_as_in_a_file(
    name: str, engines: dict[str, Running], files: dict[str, bytes]
) -> None:
    with pytest.raises(AmbiguousLabels) as of_file:
        read([("providers.csv", files["providers"])])
    with pytest.raises(AmbiguousLabels, match="'provider'") as of_engine:
        opened(engines[name], "providers").close()
    said, wanted = (str(raised.value).partition(": ")[2] for raised in (of_engine, of_file))
    assert said == wanted
    if name not in ("parquet", "s3"):
        with pytest.raises(AmbiguousLabels, match="any order"):
            opened(engines[name], "providers", ReadOptions(mapping=(("run", ""),))).close()
    for mapping, comparisons in ((("run", ""), 40), (("dataset", "provider"), 120)):
        if mapping[0] == "run" and name not in ("parquet", "s3"):
            continue
        with opened(engines[name], "providers", ReadOptions(mapping=(mapping,))) as warehouse:
            assert browse.summary(warehouse, Selection()).comparisons == comparisons


def test_scores_are_fetched_without_texts(tables: Path) -> None:
    """What pages ask of scores is answered as by the store; no text is fetched, so none is shown."""
    url = f"parquet://{tables}"
    german = Selection(where=(("lang", "de"),))
    data = (f"{tables}/raters.parquet", Path(f"{tables}/raters.parquet"))
    (reading,) = read([data], READ_AS["raters"])
    with (
        Warehouse.open(url, "raters", READ_AS["raters"], selection=german) as warehouse,
        Store.open() as store,
    ):
        store.load(reading)
        wanted, found = (
            score_queries.score_answers(source, german, "llm", "score")
            for source in (store, warehouse)
        )
        # Items have other numbers where fewer are held.
        assert repr((wanted.judge, wanted.people)) == repr((found.judge, found.people))
        texts = warehouse.rows("select text from texts")
        read_here = warehouse.fetched.readings[0]
        assert 0 < read_here.n_read < reading.n_read == 336
        assert "Texts stay on the engine: 'response'." in read_here.notes
    assert not any("Grüße" in text for (text,) in texts)
    by_text = Selection(where=(("response", "so"),))
    with pytest.raises(InvalidOption, match="texts stay on the engine"):
        Warehouse.open(url, "raters", selection=by_text)


def test_what_is_asked_of_a_table_of_scores_is_what_is_asked_of_a_file(tmp_path: Path) -> None:
    cells = {
        "two_ways": "case_id,judge_score,judge_passed,human\n1,3,pass,2\n2,4,fail,4\n",
        "no_items": "judge_passed,human_passed\npass,fail\nfail,fail\n",
        "metrics": scored("metrics"),
    }
    for name, text in cells.items():
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    # A table of an engine is read by its names; a file of such names is asked what its columns are.
    said = ReadOptions(metrics=("clear_score", "short_score"))
    for name, options in (("two_ways", ReadOptions()), ("metrics", said)):
        found = look_at(f"csv://{tmp_path}", name, options)
        wanted = inspect(tmp_path / f"{name}.csv", f"{name}.csv", options)
        assert (found.kind, found.questions, found.metrics) == (
            wanted.kind,
            wanted.questions,
            wanted.metrics,
        )
    with pytest.raises(AmbiguousLabels, match="--map score=COLUMN"):
        Warehouse.open(f"csv://{tmp_path}", "two_ways")
    with pytest.raises(InvalidOption, match="no column names its items"):
        Warehouse.open(f"csv://{tmp_path}", "no_items")


@pytest.mark.parametrize(
    "head", ["item_id,gpt,human 1,human 2", "item_id,gpt,human", "item_id,judge,vote,human"]
)
def test_what_people_say_beside_a_judge_is_theirs_as_in_a_file(head: str, tmp_path: Path) -> None:
    says = ["gpt"] if "judge" in head else []
    columns = head.count(",") - len(says)
    rows = [
        ",".join([f"q{i}", *says, *("AB"[i * k % 5 % 2] for k in range(1, columns + 1))])
        for i in range(40)
    ]
    text = "\n".join([head, *rows, ""])
    (tmp_path / "pairs.csv").write_text(text, encoding="utf-8")
    (reading,) = read([("pairs.csv", text.encode())])
    with Store.open() as store:
        store.load(reading)
        of_file = audit(store, Selection(), OPTIONS, readings=[reading])
    with Warehouse.open(f"csv://{tmp_path}", "pairs") as session:
        of_engine = audit(session, Selection(), OPTIONS)
    assert plain(to_json(of_engine)) == plain(to_json(of_file))
    assert len(of_file.people) == (2 if "human 2" in head else 0)


@pytest.mark.thorough
def test_a_table_most_of_whose_rows_are_rejected_is_not_used(
    engines: dict[str, Running], files: dict[str, bytes]
) -> None:
    with pytest.raises(UnreadableFile, match=r"of 400 rows .* more than half.* column confidence"):
        opened(engines["parquet"], "levels", ReadOptions(confidence_scale=1))


@contextmanager
def owner_of(engine: Running) -> Iterator[Any]:
    from adbc_driver_postgresql import dbapi

    owner = f"postgresql://owner@{engine.url.rpartition('@')[2]}"
    with dbapi.connect(owner, autocommit=True) as connection, connection.cursor() as cursor:
        yield cursor


@pytest.mark.thorough
@pytest.mark.skipif("s3" not in HERE, reason="moto is not installed")
def test_an_object_store_that_fails(tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with running("s3", tables) as store:
        for table, wanted in (
            ("nowhere", "Name one with --table"),
            ("../odd", "name a file of the folder"),
        ):
            assert main(["audit", "--warehouse", store.url, "--table", table]) == 2
            assert wanted in capsys.readouterr().err
        store.kill()
        assert main(["audit", "--warehouse", store.url, "--table", "odd", *ODD_GIVEN]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert "lost or never made" in said
    assert_hidden(said)


FAILURES = {
    "no table": ("{url}", "nowhere", (), "has no table"),
    "no column": ("{url}", "odd", ("--map", "vote=nope"), "there is no column 'nope'"),
    "no label": (
        "{url}",
        "odd",
        ("--map", "vote=lang", "judge=who", "item_id=Prompt no."),
        "--labels",
    ),
    "no password": ("{wrong}", "odd", (), "refuses the login"),
    "no database": ("{elsewhere}", "odd", (), "no such database"),
    "nobody there": ("{nobody}", "odd", (), "lost or never made"),
    "no rights": ("{stranger}", "odd", ("{odd}",), "needs SELECT"),
}
ODD_GIVEN = (
    "--map",
    "item_id=Prompt no.",
    "vote=says",
    "judge=who",
    "--labels",
    "A/B",
    "--label-refers",
    "slot",
)
HAVE = {
    "postgresql": {*FAILURES},
    "clickhouse": {*FAILURES} - {"no rights"},
    "spark": {*FAILURES} - {"no database", "no rights"},
}
"""Failures that an engine has: the tests' ClickHouse lets all who sign in read, and Spark Connect
knows no databases of a URL and no roles, only a token.
"""


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "case"), [(name, case) for name in SERVERS for case in sorted(HAVE[name])]
)
def test_failures_end_with_exit_2_and_a_remedy(
    case: str, name: str, engines: dict[str, Running], capsys: pytest.CaptureFixture[str]
) -> None:
    engine = engines[name]
    place = engine.url.rpartition("@")[2].removeprefix("sc://").partition("/;")[0]
    host = place.partition("/")[0]
    scheme = engine.url.partition("://")[0]
    url, table, more, wanted = FAILURES[case]
    wrong = (
        f"sc://{host}/;token=guess1234"
        if name == "spark"
        else f"{scheme}://auditor:guess1234@{place}"
    )
    signed = engine.url.rpartition("@")[0]
    urls = {
        "url": engine.url,
        "wrong": wrong,
        "elsewhere": f"{signed}@{host}/nowhere",
        "nobody": f"{scheme}://127.0.0.1:{free_port()}",
        "stranger": f"{scheme}://stranger@{place}",
    }
    given = ["--warehouse", url.format(**urls), "--table", engine.table.format(table)]
    assert main(["audit", *given, *(ODD_GIVEN if more == ("{odd}",) else more)]) == 2
    said = capsys.readouterr().err
    assert wanted in said
    assert_hidden(said)


@pytest.mark.parametrize(
    "password", ["guess 1234", "gue/ss1 2", "gu?ess1234", "gu#ess 12", "g@es s:1"]
)
@pytest.mark.parametrize(
    "url",
    [
        "postgresql://auditor:{}@127.0.0.1:1/votes",
        "clickhouse://auditor:{}@127.0.0.1:1/votes",
        "clickhouse://auditor:{}",
        "sc://127.0.0.1:1/;token={}",
        "postgres//auditor:{}@127.0.0.1/votes",
        "mysql://auditor:{}@127.0.0.1/votes",
    ],
)
def test_a_password_with_odd_characters_is_never_shown(
    url: str, password: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither by us nor by a driver that takes a part of it for a port, a host or a path."""
    given = ["--warehouse", url.format(password), "--table", "odd"]
    assert main(["audit", *given]) == 2
    said = "".join(capsys.readouterr())
    assert said.startswith("appellate: ")
    parts = [part for part in re.split(r"[ /?#@:]", password) if len(part) > 2]
    assert not any(part in said for part in (password, *parts)), said


def test_a_url_is_shown_without_what_signs_in() -> None:
    from core.warehouse.engines import without_secrets

    assert without_secrets("postgresql://u:a b@h:5432/db?x=1") == "postgresql://h:5432/db"
    assert without_secrets("parquet:///data/a@b/c") == "parquet:///data/a@b/c"
    assert without_secrets("csv:///data/x y") == "csv:///data/x y"
    assert without_secrets("s3://bucket/folder") == "s3://bucket/folder"
    assert without_secrets("sc://h:15002/;token=x") == "sc://h:15002/"
    assert without_secrets("spark:") == "spark:"


def assert_hidden(said: str) -> None:
    """No password is in what was said."""
    assert said.count("\n") <= 3
    assert not any(
        secret in said for secret in ("guess1234", PASSWORD, PASSWORD.replace(" ", "%20"))
    )


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in SERVERS if name != "spark"])
def test_user_and_password_come_from_the_environment(
    name: str,
    engines: dict[str, Running],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    engine = engines[name]
    scheme, _, rest = engine.url.partition("://")
    monkeypatch.setenv("APPELLATE_WAREHOUSE_USER", "auditor")
    monkeypatch.setenv("APPELLATE_WAREHOUSE_PASSWORD", PASSWORD)
    url = f"{scheme}://{rest.rpartition('@')[2]}"
    given = ["--warehouse", url, "--table", "odd", *ODD_GIVEN]
    assert main(["audit", *given, "--splits", "0", "--json", "-"]) == 0
    found = capsys.readouterr()
    document = json.loads(found.out)
    assert document["input"]["files"][0]["rejected"] == 11
    assert "rows and" in found.err
    assert PASSWORD not in found.out + found.err


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    for url, table in (
        ("mysql://somebody:hidden@there/x", "votes"),
        (f"parquet://{tmp_path}", "../votes"),
        (f"parquet://{tmp_path}", "votes'; drop"),
    ):
        with pytest.raises(InvalidOption) as error:
            Warehouse.open(url, table)
        assert "hidden" not in str(error.value)
    with pytest.raises(WarehouseError, match="no parquet file"):
        Warehouse.open(f"parquet://{tmp_path}", "votes")


def test_files_beside_each_other_are_one_table(tmp_path: Path) -> None:
    rows = "item_id,model_a,model_b,judge,run,vote\n1,a,b,j,0,1\n2,a,b,j,0,-1\n"
    for part in range(2):
        (tmp_path / "votes").mkdir(exist_ok=True)
        (tmp_path / "votes" / f"{part}.csv").write_text(
            rows.replace(",0,", f",{part},"), encoding="utf-8"
        )
    with Warehouse.open(f"csv://{tmp_path}", "votes") as warehouse:
        assert warehouse.fetched.readings[0].n_read == 4
    # Nothing but the folder can be read.
    with closing(connect(f"csv://{tmp_path}", "votes")) as engine, pytest.raises(WarehouseError):
        engine.ask(f"select * from read_csv('{__file__}')")


def test_repeated_votes_without_a_run_are_numbered_and_that_is_said(tmp_path: Path) -> None:
    rows = "item_id,model_a,model_b,judge,vote\n" + "".join(
        f"{i},a,b,j,{i % 2 or -1}\n1,a,b,j,-1\n" for i in range(3)
    )
    (tmp_path / "votes.csv").write_text(rows, encoding="utf-8")
    with Warehouse.open(f"csv://{tmp_path}", "votes") as warehouse:
        reading = warehouse.fetched.readings[0]
        assert reading.n_read == 6
        assert any("numbered as runs" in note for note in reading.notes)
        found = warehouse.rows("select comparison, run from votes order by 1, 2")
    assert sorted(run for _, run in found) == [0, 0, 0, 1, 2, 3]


def test_a_table_of_gold_or_without_a_vote_is_refused(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text(
        "item_id,model_a,model_b,gold\n1,a,b,1\n2,a,b,-1\n", encoding="utf-8"
    )
    (tmp_path / "bad.csv").write_text(
        "item_id,judge,vote,run\n1,j,1,x\n2,j,-1,y\n", encoding="utf-8"
    )
    with pytest.raises(InvalidOption, match="no votes"):
        Warehouse.open(f"csv://{tmp_path}", "gold")
    with pytest.raises(UnreadableFile, match="not a whole number"):
        Warehouse.open(f"csv://{tmp_path}", "bad")


def repeated(folder: Path) -> str:
    """A table whose repetitions nothing puts in order."""
    import pyarrow.parquet as pq

    rows = [(f"q{i}", "j", (i + k) % 2 or -1) for i in range(6) for k in range(2)]
    names = ("item_id", "judge", "vote")
    columns = {name: [row[k] for row in rows] for k, name in enumerate(names)}
    pq.write_table(pa.table(columns), folder / "again.parquet")
    return "again"


@pytest.mark.thorough
@pytest.mark.skipif("postgresql" not in HERE, reason="PostgreSQL is not installed")
def test_repetitions_in_no_order_are_refused_where_rows_come_in_any(tmp_path: Path) -> None:
    name = repeated(tmp_path)
    with Warehouse.open(f"parquet://{tmp_path}", name) as warehouse:
        assert warehouse.fetched.readings[0].n_read == 12
    with (
        running("postgresql", tmp_path) as engine,
        pytest.raises(AmbiguousLabels, match=r"any order.*--map run=COLUMN"),
    ):
        Warehouse.open(engine.url, name)


@pytest.mark.thorough
@pytest.mark.skipif("postgresql" not in HERE, reason="PostgreSQL is not installed")
def test_the_right_to_select_suffices_and_nothing_is_made(engines: dict[str, Running]) -> None:
    """In a database where this role may not even make temporary tables."""
    engine = engines["postgresql"]
    given = ["--table", "odd", *ODD_GIVEN, "--splits", "0"]
    strict = engine.url.replace("/postgres", "/strict")
    before = names_of(engine)
    assert main(["audit", "--warehouse", strict, *given]) == 0
    assert names_of(engine) == before


def names_of(engine: Running) -> set[str]:
    """Every table and view of PostgreSQL, as its owner sees it."""
    with owner_of(engine) as cursor:
        cursor.execute("select concat(relnamespace, '.', relname) from pg_class")
        return {str(name) for (name,) in cursor.fetchall()}


def sampled_items(warehouse: Warehouse) -> list[tuple[str, str]]:
    """Rater and item of every vote that was fetched, each once."""
    return sorted(
        warehouse.rows(
            """select distinct j.name, i.name from votes v join judges j on j.id = v.judge
               join comparisons c on c.id = v.comparison join items i on i.id = c.item"""
        )
    )


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
def test_the_sample_is_the_same_on_every_engine_and_in_a_file(
    engines: dict[str, Running], files: dict[str, bytes]
) -> None:
    (whole,) = read([("demo.csv", files["demo"])])
    most = whole.votes.num_rows // 5
    drawn = sample_of(whole, most)
    assert drawn.sampled is not None
    assert drawn.sampled.fetched == drawn.votes.num_rows
    assert 0.7 * most < drawn.votes.num_rows < 1.3 * most
    wanted = sorted(
        set(zip(*(drawn.votes[name].to_pylist() for name in ("judge", "item_id")), strict=True))
    )
    for name in HERE:
        there = engines[name]
        table = there.table.format("demo")
        with Warehouse.open(there.url, table, most_rows=most) as warehouse:
            assert sampled_items(warehouse) == wanted, name
            (reading,) = warehouse.fetched.readings
            assert reading.sampled == drawn.sampled
            found = audit(warehouse, Selection(), OPTIONS, readings=[reading])
        document = json.loads(to_json(found))
        assert document["input"]["sampled"]["fetched"] == drawn.votes.num_rows
        assert any("rows were read: whole items" in note for note in document["notes"])


def test_a_larger_bound_gives_a_superset_and_small_raters_are_whole(
    files: dict[str, bytes],
) -> None:
    (whole,) = read([("demo.csv", files["demo"])])
    few, more = (
        set(zip(*(part.votes[name].to_pylist() for name in ("judge", "item_id")), strict=True))
        for part in (sample_of(whole, whole.votes.num_rows // n) for n in (8, 4))
    )
    assert few < more
    assert shares_of({"small": 10, "large": 1000, "other": 1000}, 510) == {
        "small": 1.0,
        "large": 0.25,
        "other": 0.25,
    }


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SERVERS)
def test_an_engine_that_dies_in_the_middle(
    name: str,
    engines: dict[str, Running],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # The last test: the engine is gone after it.
    engine, asked = engines[name], Engine.ask

    def asked_and_killed(connection: Engine, sql: str) -> pa.Table:
        answer = asked(connection, sql)
        engine.kill()
        return answer

    monkeypatch.setattr(Engine, "ask", asked_and_killed)
    given = ["--warehouse", engine.url, "--table", engine.table.format("odd"), *ODD_GIVEN]
    assert main(["audit", *given, "--splits", "0"]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert "lost or never made" in said
    assert_hidden(said)
