import copy
import io
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from levels import first_of
from patience import LONG
from places import REPOSITORY
from readings import reading

from core.errors import InvalidOption, NoUsableVotes, StoreInUse, UnknownName, UnreadableFile
from core.importers import read
from core.schema import COLUMN_NAMES, Selection
from core.store import Store, default_path
from core.store import vote_queries as queries
from core.store.export import write_csv, write_file, write_parquet

VOTE = {
    "dataset": "d",
    "item_id": "i1",
    "model_a": "x",
    "model_b": "y",
    "judge": "j",
    "run": 0,
    "vote": 1,
}
VOTES = [
    VOTE | {"gold": 1, "category": "c"},
    VOTE | {"run": 1, "vote": 0, "gold": 1, "category": "c"},
    VOTE | {"item_id": "i2", "vote": -1, "position": "ab", "confidence": 0.7},
    VOTE
    | {
        "item_id": "i2",
        "vote": None,
        "position": "ba",
        "status": "unparsed",
        "rationale": "no idea",
    },
]
FULL = [
    {
        "dataset": "texts",
        "item_id": "=1+1",
        "category": "'quoted'",
        "model_a": "@model",
        "model_b": "-model",
        "judge": 'a "judge"; drop table votes; --',
        "run": 3,
        "position": "ba",
        "vote": -1,
        "confidence": 0.1 + 0.2,
        "confidence_kind": "logprob",
        "gold": 0,
        "rater_type": "human",
        "status": "ok",
        "prompt": 'line\nbreak, comma and "quotes"',
        "response_a": "'=already guarded",
        "response_b": "<script>alert(1)</script>![x](y)",
        "length_a": 12,
        "length_b": 3,
        "rationale": "\U0001f600 é",
        "prompt_hash": "+abc",
        "temperature": 0.7,
        "cost": 1e-7,
        "cluster": "=talk",
        "source": "-5",
        "wild 'name\"; --": "plain",
    },
    VOTE | {"dataset": "texts", "status": "refused", "vote": None, "source": "''=x"},
]


def contents(store: Store) -> list[dict]:
    """All votes, in an order that does not depend on the loading."""
    table = store.export()
    columns = [c for c in table.column_names if table[c].null_count < table.num_rows]
    return sorted(table.select(columns).to_pylist(), key=repr)


def test_a_second_load_of_the_same_votes_changes_nothing_and_says_so():
    with Store.open() as store:
        first = store.load(reading(VOTES))
        before = contents(store)
        again = store.load(reading(VOTES))
        other_bytes = store.load(reading(VOTES[::-1]))
        assert (first.loaded, first.duplicates, first.conflicts, first.already_loaded) == (
            4,
            0,
            0,
            False,
        )
        assert (again.loaded, again.duplicates, again.already_loaded, again.datasets) == (
            0,
            4,
            True,
            ("d",),
        )
        assert (other_bytes.loaded, other_bytes.duplicates, other_bytes.already_loaded) == (
            0,
            4,
            False,
        )
        assert contents(store) == before
        assert first.sentence == "4 votes loaded into d"
        assert again.sentence == "loaded before as d: nothing to do"


def test_the_same_file_can_go_into_another_data_set():
    with Store.open() as store:
        store.load(reading(VOTES))
        assert store.load(reading(VOTES), dataset="e").loaded == 4
        assert store.load(reading(VOTES), dataset="e").already_loaded
        assert [(info.name, info.votes, info.comparisons) for info in store.datasets()] == [
            ("d", 4, 2),
            ("e", 4, 2),
        ]


def test_a_file_without_a_data_set_column_is_named_by_its_stem():
    rows = [{key: value for key, value in row.items() if key != "dataset"} for row in VOTES]
    with Store.open() as store:
        assert store.load(reading(rows, name="folder/my votes.csv.gz")).datasets == ("my votes",)


@pytest.mark.parametrize(
    "changed",
    first_of(
        {"vote": -1}, {"tag": "t"}, {"status": "error", "vote": None}, {"rationale": "why"}, n=2
    ),
)
def test_other_content_under_a_taken_key_is_a_conflict(changed):
    with Store.open() as store:
        store.load(reading(VOTES))
        before = contents(store)
        other = reading([VOTES[0] | changed, VOTES[1], VOTE | {"item_id": "i3"}])
        kept = store.load(other)
        assert (kept.loaded, kept.duplicates, kept.conflicts, kept.replaced) == (1, 1, 1, 0)
        assert [row for row in contents(store) if row["item_id"] != "i3"] == before
        replaced = store.load(other, on_conflict="replace")
        assert (replaced.loaded, replaced.duplicates, replaced.conflicts, replaced.replaced) == (
            0,
            2,
            1,
            1,
        )
        assert not replaced.already_loaded
        first = next(row for row in contents(store) if row["item_id"] == "i1" and row["run"] == 0)
        assert {key: first.get(key) for key in changed} == changed
        assert store.load(other, on_conflict="replace").already_loaded


def test_one_key_twice_in_a_reading_is_a_duplicate_or_a_conflict():
    rows = [VOTE | {"dataset": "a"}, VOTE | {"dataset": "b"}, VOTE | {"dataset": "c", "vote": 0}]
    with Store.open() as store:
        report = store.load(reading(rows), dataset="all")
        assert (report.loaded, report.duplicates, report.conflicts) == (1, 1, 1)
        assert contents(store)[0]["vote"] == 1


def test_gold_can_come_later():
    gold = [{"item_id": "i1", "model_a": "x", "model_b": "y", "gold": -1}]
    gold += [gold[0] | {"item_id": "i2", "gold": 0}, gold[0] | {"item_id": "i3", "gold": 0}]
    with Store.open() as store:
        store.load(reading(VOTES))
        report = store.load(reading(gold, name="gold.csv", gold_only=True))
        assert (report.loaded, report.gold_filled, report.conflicts, report.rejected) == (
            0,
            1,
            1,
            1,
        )
        assert report.sentence == (
            "0 votes loaded into d, 1 comparison given gold, 1 conflict "
            "(kept as stored), 1 rejected"
        )
        assert {row["item_id"]: row["gold"] for row in contents(store)} == {"i1": 1, "i2": 0}
        again = store.load(reading(gold, name="gold.csv", gold_only=True), on_conflict="replace")
        assert (again.gold_filled, again.replaced) == (0, 1)
        assert {row["item_id"]: row["gold"] for row in contents(store)} == {"i1": -1, "i2": 0}
        assert store.datasets()[0].votes == 4
        store.load(reading([VOTE | {"item_id": "i3"}]))
        assert store.load(reading(gold, name="gold.csv", gold_only=True)).gold_filled == 1
        assert store.load(reading(gold, name="gold.csv", gold_only=True)).already_loaded


def test_gold_that_meets_nothing_or_too_much_is_an_error_and_changes_nothing():
    gold = reading(
        [{"item_id": "i1", "model_a": "x", "model_b": "y", "gold": 1}], name="g.csv", gold_only=True
    )
    with Store.open() as store:
        with pytest.raises(UnknownName, match="none yet"):
            store.load(gold)
        store.load(reading(VOTES), dataset="d")
        store.load(reading(VOTES), dataset="e")
        version = store.version
        with pytest.raises(UnknownName, match="say which is meant: d, e"):
            store.load(gold)
        with pytest.raises(NoUsableVotes, match="item_id, model_a and model_b"):
            store.load(
                reading(
                    [{"item_id": "zz", "model_a": "x", "model_b": "y", "gold": 1}], gold_only=True
                ),
                dataset="d",
            )
        assert store.version == version
        assert store.load(gold, dataset="e").datasets == ("e",)


def test_votes_that_come_with_gold_fill_a_comparison_that_had_none():
    with Store.open() as store:
        store.load(reading([VOTE]))
        report = store.load(reading([VOTE | {"judge": "k", "gold": 0}]))
        assert (report.loaded, report.gold_filled) == (1, 1)
        assert {row["gold"] for row in contents(store)} == {0}


def test_delete_leaves_no_trace_and_lets_the_file_in_again():
    with Store.open() as store:
        store.load(reading([VOTE | {"dataset": "other", "judge": "k"}]))
        before = contents(store)
        store.load(reading(FULL))
        store.delete_dataset("texts")
        assert contents(store) == before
        for table in ("datasets", "items", "judges", "comparisons", "votes", "files"):
            assert store.query(f"select * from {table}").num_rows == 1, table
        for table in ("categories", "texts", "details"):
            assert store.query(f"select * from {table}").num_rows == 0, table
        assert store.query("select * from models").num_rows == 2
        assert store.load(reading(FULL)).loaded == 2
        with pytest.raises(UnknownName, match="there are: other, texts"):
            store.delete_dataset("Texts")


def test_rename_keeps_the_ledger():
    with Store.open() as store:
        store.load(reading(VOTES))
        store.load(reading(VOTES), dataset="e")
        with pytest.raises(InvalidOption, match="already a data set named 'e'"):
            store.rename_dataset("d", "e")
        with pytest.raises(InvalidOption, match="must not be empty"):
            store.rename_dataset("d", " ")
        store.rename_dataset("d", "new")
        assert [info.name for info in store.datasets()] == ["e", "new"]
        again = store.load(reading(VOTES))
        assert (again.loaded, again.already_loaded, again.datasets) == (0, True, ("new",))


def test_every_change_raises_the_version_and_a_refused_one_does_not():
    with Store.open() as store:
        versions = [store.version]
        for change in (
            lambda: store.load(reading(VOTES)),
            lambda: store.rename_dataset("d", "e"),
            lambda: store.set_flag("demo", "deleted"),
            lambda: store.delete_dataset("e"),
        ):
            change()
            versions.append(store.version)
        assert versions == sorted(set(versions))
        with pytest.raises(InvalidOption):
            store.load(reading(VOTES), on_conflict="merge")
        with pytest.raises(UnknownName):
            store.rename_dataset("e", "f")
        assert store.version == versions[-1]


def test_a_load_that_fails_half_way_leaves_the_store_as_it_was():
    with Store.open() as store:
        store.load(reading(VOTES))
        before, version = contents(store), store.version
        broken = reading(
            [VOTE | {"item_id": "new", "gold": 1}, VOTE | {"item_id": "newer", "vote": 1000}]
        )
        with pytest.raises(duckdb.Error):
            store.load(broken)
        assert contents(store) == before
        assert store.version == version
        assert store.query("select * from items").num_rows == 2


def test_the_file_keeps_votes_flags_and_version(tmp_path):
    path = tmp_path / "new folder" / "votes.duckdb"
    with Store.open(path) as store:
        store.load(reading(FULL), simulated=True)
        store.set_flag("demo", "deleted")
        store.set_flag("gone", "x")
        store.set_flag("gone", None)
        before, version, info = contents(store), store.version, store.datasets()
    with Store.open(path) as store:
        assert contents(store) == before
        assert (store.version, store.flag("demo"), store.flag("gone")) == (version, "deleted", None)
        assert store.datasets() == info
        assert info[0].simulated
        assert store.load(reading(FULL)).already_loaded


def test_two_stores_of_one_process_may_share_a_file(tmp_path):
    with Store.open(tmp_path / "s.duckdb") as one, Store.open(tmp_path / "s.duckdb") as two:
        one.load(reading(VOTES))
        assert two.datasets()[0].votes == 4
        assert two.version == one.version


@contextmanager
def held_by_another_process(path, then="pass"):
    """The store is open elsewhere, after `then` was done to it as `s`."""
    hold = f"import sys; from core.store import Store; s = Store.open(sys.argv[1]); {then}"
    process = subprocess.Popen(
        [sys.executable, "-c", f"{hold}; print('open', flush=True); input()", str(path)],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "open\n"
        yield
    finally:
        process.communicate("\n", timeout=LONG)


def test_a_store_open_in_another_process_says_so(tmp_path):
    path = tmp_path / "s.duckdb"
    with held_by_another_process(path), pytest.raises(StoreInUse, match="open in another process"):
        Store.open(path)
    with Store.open(path) as store:
        assert store.datasets() == []


def test_a_store_open_in_another_process_is_read_from_a_copy(tmp_path):
    """What the other wrote is there, though it stands in its write-ahead log alone."""
    path = tmp_path / "s.duckdb"
    with Store.open(path) as store:
        store.load(reading(VOTES))
        (before,) = store.datasets()
    renamed = f"s.rename_dataset({before.name!r}, 'named elsewhere')"
    with held_by_another_process(path, renamed):
        with Store.open(path, read_only=True) as moment:
            assert [one.name for one in moment.datasets()] == ["named elsewhere"]
            assert moment.datasets()[0].votes == 4
            (said,) = moment.notes
            assert "is open in another process, and was read from a copy of now" in said
            folder = Path(moment._folder.name)
            assert folder.exists()
        assert not folder.exists()
    with Store.open(path) as store:
        assert [one.name for one in store.datasets()] == ["named elsewhere"]


def test_a_store_that_changes_all_the_time_is_not_copied(tmp_path, monkeypatch):
    path = tmp_path / "s.duckdb"
    Store.open(path).close()

    def changed_meanwhile(source, target):
        Path(source).touch()
        Path(target).write_bytes(Path(source).read_bytes())

    monkeypatch.setattr("core.store.connection.shutil.copyfile", changed_meanwhile)
    with held_by_another_process(path), pytest.raises(StoreInUse, match="changes all the time"):
        Store.open(path, read_only=True)


@pytest.mark.parametrize("content", [b"", b"no database" * 1000])
def test_a_damaged_file_is_refused_and_kept(tmp_path, content):
    path = tmp_path / "s.duckdb"
    path.write_bytes(content)
    with pytest.raises(UnreadableFile, match="is damaged"):
        Store.open(path)
    assert path.read_bytes() == content


def test_a_database_of_another_program_is_refused(tmp_path):
    path = tmp_path / "s.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("create table mine (a integer)")
    with pytest.raises(UnreadableFile, match="no store of Appellate"):
        Store.open(path)
    with Store.open(tmp_path / "t.duckdb"):
        pass
    with duckdb.connect(tmp_path / "t.duckdb") as connection:
        connection.execute("update settings set value = '99' where key = 'schema'")
    with pytest.raises(UnreadableFile, match="layout 99"):
        Store.open(tmp_path / "t.duckdb")


def test_the_store_reaches_no_file_and_no_setting(tmp_path):
    (tmp_path / "secret.csv").write_text("a\n1\n")
    with Store.open() as store:
        for statement in (
            f"select * from read_csv('{tmp_path}/secret.csv')",
            f"copy votes to '{tmp_path}/out.csv'",
            f"attach '{tmp_path}/other.duckdb'",
            "set enable_external_access = true",
        ):
            with pytest.raises(duckdb.Error):
                store.query(statement)


def test_tests_and_what_they_start_never_see_the_default_store(tmp_path_factory):
    code = "from core.store import default_path; print(default_path())"
    started = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    for path in (default_path(), Path(started.stdout.strip())):
        assert path.is_relative_to(tmp_path_factory.getbasetemp())
        assert not path.exists()
    own = REPOSITORY / "data" / "of_a_visitor.duckdb"
    with pytest.raises(AssertionError, match="a test opens"):
        Store.open(own)
    assert not own.exists()


def test_default_path(monkeypatch, tmp_path):
    monkeypatch.delenv("APPELLATE_STORE", raising=False)
    monkeypatch.chdir(tmp_path)
    assert default_path() == REPOSITORY / "data" / "votes.duckdb"
    monkeypatch.setenv("APPELLATE_STORE", str(tmp_path / "mine.duckdb"))
    assert default_path() == tmp_path / "mine.duckdb"


@pytest.mark.thorough
def test_threads_see_one_state_of_the_store_while_another_loads():
    with Store.open() as store:
        store.load(reading(VOTES))
        wrong: list[object] = []

        def look() -> None:
            try:
                for _ in range(15):
                    counts = queries.vote_counts(store, Selection())["j"]
                    # Each load adds an item with two votes: seeing half of one would not add up.
                    if counts.n_votes - 3 != 2 * (len(np.unique(counts.item)) - 2):
                        wrong.append(counts)
            except Exception as error:
                wrong.append(error)

        threads = [threading.Thread(target=look) for _ in range(4)]
        for thread in threads:
            thread.start()
        for number in range(15):
            new = VOTE | {"dataset": f"d{number}"}
            store.load(reading([new, new | {"run": 1}]))
        for thread in threads:
            thread.join()
        assert not wrong
        assert len(store.datasets()) == 16


def test_a_store_waits_for_another_thread_that_writes_before_it_closes():
    store = Store.open()
    inside, closing = threading.Event(), threading.Event()
    committed = []

    def write() -> None:
        with store.change() as cursor:
            inside.set()
            closing.wait()
            for k in range(200):
                cursor.execute("insert into settings values (?, 'x')", [f"k{k}"])
        committed.append(True)

    thread = threading.Thread(target=write)
    thread.start()
    inside.wait()
    closing.set()
    store.close()
    thread.join()
    assert committed == [True]


def test_export_has_every_column_and_failed_votes_too():
    with Store.open() as store:
        store.load(reading(FULL))
        table = store.export()
        assert table.column_names == [*COLUMN_NAMES, "source", "wild 'name\"; --"]
        rows = table.to_pylist()
        assert rows[0] == FULL[0]
        assert (rows[1]["status"], rows[1]["vote"], rows[1]["source"]) == ("refused", None, "''=x")
        with pytest.raises(NoUsableVotes):
            store.export(Selection(where=(("source", "none such"),)))


def test_csv_cells_and_headings_cannot_run_as_formulas():
    table = pa.table(
        {
            "=cmd": ["=1", "+1", "-1", "@a", "\tx", "\rx", "'=1", "''+", "plain", "a=b", "", None],
            "number": [-1.5, *[0.0] * 11],
        }
    )
    target = io.BytesIO()
    write_csv(table, target)
    lines = target.getvalue().decode().replace("\rx", "<CR>x").split("\n")
    cells = [line.rsplit(",", 1)[0].strip('"') for line in lines if line]
    assert cells == [
        "'=cmd",
        "'=1",
        "'+1",
        "'-1",
        "'@a",
        "'\tx",
        "'<CR>x",
        "''=1",
        "'''+",
        "plain",
        "a=b",
        "",
        "",
    ]
    assert lines[1].endswith(",-1.5")


@pytest.mark.parametrize("kind", first_of("csv", "csv.gz", "parquet"))
def test_an_export_reads_back_to_an_identical_store(tmp_path, kind):
    with Store.open() as store, Store.open() as other:
        store.load(reading(FULL))
        store.load(reading(VOTES))
        write_file(store.export(), tmp_path / f"out.{kind}")
        for part in read([(f"out.{kind}", (tmp_path / f"out.{kind}").read_bytes())]):
            assert part.rejects.num_rows == 0
            other.load(part)
        assert contents(other) == contents(store)
        assert other.export().equals(store.export())


@pytest.mark.thorough
def test_votes_survive_import_export_and_import(native):
    for path in (*native.glob("judgebench/*"), *native.glob("alpacaeval/*")):
        check_survival(path)


@pytest.mark.thorough
def test_the_demo_survives_import_export_and_import():
    check_survival(REPOSITORY / "data" / "demo_votes.csv.gz")


@pytest.mark.thorough
def test_real_votes_survive_import_export_and_import(shared_data, subtests):
    for name in (
        "judgebench",
        "judgeconf",
        "faireval",
        "pandalm",
        "pba_repeat",
        "wmt23_ende_humans",
    ):
        with subtests.test(name):
            check_survival(shared_data / "votes" / f"{name}.csv.gz")


def check_survival(path):
    with Store.open() as store, Store.open() as other:
        for part in read([(path.name, path)]):
            store.load(part)
        target = io.BytesIO()
        write_csv(store.export(), target)
        for part in read([("back.csv", target.getvalue())]):
            other.load(part)
        assert other.export().equals(store.export())
        parquet = io.BytesIO()
        write_parquet(store.export(), parquet)
        back = read([("back.parquet", parquet.getvalue())])
        assert [other.load(part).loaded for part in back] == [0]


def test_write_file_names_the_endings_it_knows(tmp_path):
    with pytest.raises(InvalidOption, match=r"\.csv, \.csv\.gz or \.parquet"):
        write_file(pa.table({"a": [1]}), tmp_path / "out.xlsx")
    with pytest.raises(InvalidOption, match="cannot be written"):
        write_file(pa.table({"a": [1]}), tmp_path / "missing" / "out.csv")


def held(monkeypatch, tmp_path, most: int):
    """Readings of all and the place of a store that holds them, where it may take so many."""
    monkeypatch.setattr("core.store.store.MANY", most)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    readings = [reading(VOTES), reading(FULL)]
    with Store.holding(readings) as store:
        return readings, store.path, store.export()


def test_what_was_read_lies_in_memory_or_of_many_rows_in_a_folder_that_goes(monkeypatch, tmp_path):
    few, nowhere, exported = held(monkeypatch, tmp_path, 1000)
    assert nowhere is None
    many, place, the_same = held(monkeypatch, tmp_path, 2)
    assert place.is_relative_to(tmp_path)
    assert not list(tmp_path.iterdir())
    assert the_same.equals(exported)
    for told in (few, many):
        assert [each.n_read for each in told] == [len(VOTES), len(FULL)]
        assert [each.judged.rows for each in told] == [len(VOTES), len(FULL)]
        assert not sum(each.votes.nbytes for each in told)
        assert [copy.deepcopy(each).n_read for each in told] == [len(VOTES), len(FULL)]


def test_many_rows_lie_in_memory_where_no_folder_takes_them(monkeypatch, tmp_path):
    def nowhere(**_) -> None:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr("tempfile.TemporaryDirectory", nowhere)
    _, place, exported = held(monkeypatch, tmp_path, 2)
    assert place is None
    assert exported.num_rows == len(VOTES) + len(FULL)


def test_a_folder_of_many_rows_goes_when_a_question_fails(monkeypatch, tmp_path):
    monkeypatch.setattr("core.store.store.MANY", 2)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Store.holding([reading(VOTES)]) as store:
        assert list(tmp_path.iterdir())
        with pytest.raises(UnknownName):
            queries.vote_counts(store, Selection(judges=("nobody",)))
    with pytest.raises(ZeroDivisionError), Store.holding([reading(VOTES)]):
        1 / 0  # noqa: B018
    assert not list(tmp_path.iterdir())
