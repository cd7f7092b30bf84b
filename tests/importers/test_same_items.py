"""An item of several files counts once, and so does a judgement (`core.importers.same_items`)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from core import AuditOptions, Selection, audit
from core.__main__ import main
from core.errors import UnknownName
from core.importers import ReadOptions, read
from core.reporting.document import to_json
from core.store import Store

HEADER = "item_id,judge,vote,gold"


def votes(
    seed: int,
    *,
    right: float = 0.9,
    n: int = 200,
    labels: int | None = 0,
    texts: int | None = None,
    first: int = 0,
    named: bool = True,
) -> bytes:
    """A CSV of one judge's votes.

    labels, texts : seed of the labels, and which texts there are; None for none.
    first : number of the first item.  named : items have an id.
    """
    chance, label = random.Random(seed), random.Random(labels)
    lines = [HEADER + (",prompt,response_a,response_b" if texts is not None else "")]
    golds = [label.choice([1, -1]) for _ in range(first + n)]
    for item in range(first, first + n):
        vote = golds[item] if chance.random() < right else -golds[item]
        cells = [f"q{item}" if named else "", "j", str(vote)]
        cells.append("" if labels is None else str(golds[item]))
        if texts is not None:
            cells += [f"{what} {texts} of {item}" for what in ("prompt", "one", "two")]
        lines.append(",".join(cells))
    if not named:
        lines = [line.partition(",")[2] for line in lines]
    return "\n".join(lines).encode()


def items(*files: bytes, **options: object) -> int:
    return audit(list(files), splits=0, **options).summary.items


def notes(*files: bytes, **options: object) -> str:
    given = [(f"week{number}.csv", file) for number, file in enumerate(files, 1)]
    readings = read(given, ReadOptions(**options))  # type: ignore[arg-type]
    return " ".join(str(note) for reading in readings for note in reading.notes)


CASES: dict[str, tuple[Callable[[], tuple[bytes, bytes]], int, float]] = {
    "copies": (lambda: (votes(1), votes(1)), 200, 0.905),
    "the judge again": (lambda: (votes(1), votes(2)), 200, 0.9),
    "the judge fell": (lambda: (votes(1, right=0.92), votes(2, right=0.72)), 200, 0.82),
    "ids that restart with other texts": (
        lambda: (votes(1, labels=1, texts=1), votes(2, labels=2, texts=2)),
        400,
        0.9,
    ),
    "ids that restart with other labels": (
        lambda: (votes(1, labels=1), votes(2, labels=2)),
        400,
        0.9,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_items_count_once_however_the_files_are_named(case: str, tmp_path: Path) -> None:
    made, expected, right = CASES[case]
    folder = tmp_path / "weeks"
    folder.mkdir()
    for name, file in zip(("week1.csv", "week2.csv"), made(), strict=True):
        (folder / name).write_bytes(file)
    ways: list[object] = [
        sorted(folder.iterdir()),
        [folder],
        [folder / "week*.csv"],
        [tmp_path / "**" / "*.csv"],
    ]
    documents = []
    for way in ways:
        found = audit(way, splits=20)
        assert found.summary.items == expected
        assert found.judges["j"].accuracy.value == pytest.approx(right, abs=0.03)
        document = json.loads(to_json(found))
        document.pop("input")
        documents.append(document)
    assert all(document == documents[0] for document in documents)


def test_four_copies_are_as_sure_as_one() -> None:
    one, four = (audit([votes(1)] * n, splits=0).judges["j"] for n in (1, 4))
    assert four.accuracy == one.accuracy
    assert four.overall == one.overall


def test_two_weeks_give_the_intervals_of_one_file_with_runs() -> None:
    first, second = votes(1).decode().splitlines(), votes(2).decode().splitlines()
    lines = [f"{HEADER},run"]
    lines += [f"{line},{run}" for run, file in enumerate((first, second)) for line in file[1:]]
    one = audit("\n".join(lines).encode(), splits=20)
    two = audit([votes(1), votes(2)], splits=20)
    documents = [json.loads(to_json(found)) for found in (one, two)]
    checks = [check["check"] for check in documents[1]["verdicts"]]
    assert checks == [*(check["check"] for check in documents[0]["verdicts"]), "one_judge"]
    documents[1]["verdicts"].pop()
    for document in documents:
        document.pop("input")
        document.pop("overall")
    assert documents[0] == documents[1]


def test_an_edited_prompt_is_an_item_of_its_own() -> None:
    lines = votes(2, texts=1).decode().splitlines()
    for place in range(1, 13):
        lines[place] = lines[place].replace("prompt 1", "Prompt, edited").replace("Prompt,", "P")
    edited = "\n".join(lines).encode()
    assert items(votes(1, texts=1), edited) == 212
    assert "12 items of week2.csv have other texts than in week1.csv" in notes(
        votes(1, texts=1), edited
    )
    # The third week has the edited prompts too: they are those of the second.
    third = "\n".join([lines[0], *(line.replace(",1,", ",-1,", 1) for line in lines[1:])]).encode()
    assert items(votes(1, texts=1), edited, third) == 212


def test_spaces_do_not_make_another_text() -> None:
    spaced = votes(2, texts=1).replace(b"prompt 1", b"  prompt\t 1 ")
    assert items(votes(1, texts=1), spaced) == 200


def test_answers_that_were_written_anew_are_other_items() -> None:
    anew = votes(2, texts=1).replace(b"one 1 of", b"another of")
    assert items(votes(1, texts=1), anew) == 400


def test_texts_name_items_that_nothing_else_names() -> None:
    first, second = (votes(seed, texts=1, named=False) for seed in (1, 2))
    assert items(first, second) == 200
    assert items(first, votes(2, texts=2, named=False)) == 400


def test_labels_that_were_corrected_leave_the_items_the_same() -> None:
    lines = votes(2).decode().splitlines()
    for place in range(1, 7):
        start, _, gold = lines[place].rpartition(",")
        lines[place] = f"{start},{-int(gold)}"
    corrected = "\n".join(lines).encode()
    assert items(votes(1), corrected) == 200
    said = notes(votes(1), corrected)
    assert "6 labels differ between files; those of most files stand" in said
    # Two of three files have the corrected label.
    found = audit([votes(1), corrected, corrected.replace(b",j,", b",k,")], splits=0)
    one = audit([corrected], splits=0)
    assert found.judges["k"].accuracy == pytest.approx(one.judges["j"].accuracy)


def test_ids_alone_are_the_same_items_with_a_note() -> None:
    files = votes(1, labels=None), votes(2, labels=None)
    assert items(*files) == 200
    assert "have 200 items of the same id, and neither texts nor labels say" in notes(*files)
    assert items(*files, items="apart") == 400
    assert "neither texts nor labels" not in notes(*files, items="same")
    assert items(votes(1, texts=1), votes(2, texts=2), items="same") == 200


def test_a_cumulative_export_holds_the_earlier_file_again() -> None:
    first = votes(1, n=100)
    rows = votes(2, n=150).splitlines()[1:]
    both = b"\n".join([*first.splitlines(), *rows[100:]])
    readings = read([("may.csv", first), ("june.csv", both)])
    assert [reading.votes.num_rows for reading in readings] == [100, 50]
    assert readings[1].duplicates == 100
    assert "100 judgements of j in june.csv are in may.csv too, and left out." in notes_of(readings)
    # A row that was corrected since does not make runs of the others.
    corrected = both.replace(b"q3,j,1", b"q3,j,0").replace(b"q3,j,-1", b"q3,j,0")
    readings = read([("may.csv", first), ("june.csv", corrected)])
    assert [reading.votes.num_rows for reading in readings] == [100, 50]
    assert "(1 of them differ" in notes_of(readings)


def notes_of(readings: list) -> str:  # type: ignore[type-arg]
    return " ".join(str(note) for reading in readings for note in reading.notes)


def test_a_judge_that_was_asked_again_beside_one_that_was_not() -> None:
    """What a rater said stands or is left out whole, whatever the others said."""
    people = votes(9).replace(b",j,", b",anna,").splitlines()[1:]
    first, second = (b"\n".join([*votes(seed).splitlines(), *people]) for seed in (1, 2))
    readings = read([("a.csv", first), ("b.csv", second)])
    judged = readings[1].votes["judge"].to_pylist()
    assert judged == ["j"] * 200
    assert set(readings[1].votes["run"].to_pylist()) == {1}


def test_the_other_order_of_the_same_run_is_no_further_run() -> None:
    def shown(order: str, seed: int) -> bytes:
        header, *rows = votes(seed).decode().splitlines()
        return "\n".join([f"{header},position", *(f"{row},{order}" for row in rows)]).encode()

    readings = read([("a.csv", shown("ab", 1)), ("b.csv", shown("ba", 2))])
    assert {run for reading in readings for run in reading.votes["run"].to_pylist()} == {0}
    found = audit([shown("ab", 1), shown("ba", 2)], splits=0)
    assert found.judges["j"].position.pairs == 200


def test_files_that_share_no_item_are_joined_by_one_that_has_all() -> None:
    parts = votes(1, n=100, texts=1), votes(2, n=100, first=100, texts=1), votes(3, texts=1)
    assert items(*parts) == 200


def test_a_third_file_may_be_of_the_second() -> None:
    files = votes(1, texts=1), votes(2, texts=2), votes(3, texts=2)
    assert items(*files) == 400


def test_scores_of_two_weeks() -> None:
    def scores(seed: int, gold: int) -> bytes:
        chance, label = random.Random(seed), random.Random(gold)
        lines = ["item_id,judge,score,gold,note"]
        for item in range(60):
            true = label.randint(1, 5)
            lines.append(f"q{item},j,{min(5, true + chance.randint(0, 1))},{true},n{seed}")
        return "\n".join(lines).encode()

    for gold, answers in ((0, 60), (7, 120)):
        found = audit([scores(1, 0), scores(2, gold)])
        assert [rater.n for rater in found.summary.scores] == [120]
        assert len(found.scores[0].evidence.table.judge) == answers


def test_data_sets_that_files_name_differently_are_apart() -> None:
    def of(name: str) -> bytes:
        header, *rows = votes(1, labels=None).decode().splitlines()
        return "\n".join([f"{header},dataset", *(f"{row},{name}" for row in rows)]).encode()

    assert items(of("arena"), of("bench")) == 400
    assert items(of("arena"), of("arena")) == 200


def test_rows_that_nothing_names_are_the_same_only_in_the_same_file() -> None:
    def battles(seed: int) -> bytes:
        chance = random.Random(seed)
        lines = ["judge,model_a,model_b,vote,gold"]
        lines += [f"j,m,n,{chance.choice((1, -1))},{chance.choice((1, -1))}" for _ in range(60)]
        return "\n".join(lines).encode()

    assert items(battles(1), battles(2)) == 120
    assert items(battles(1), battles(1) + b"\n") == 60


def test_data_sets_of_a_store_share_items_until_one_goes() -> None:
    readings = read([("week1.csv", votes(1)), ("week2.csv", votes(2, n=220))])
    with Store.open(None) as store:
        for reading in readings:
            store.load(reading)
        assert [(each.name, each.items, each.votes) for each in store.datasets()] == [
            ("week1", 200, 200),
            ("week2", 220, 220),
        ]
        store.check()
        assert audit(store, splits=0).summary.items == 220
        alone = audit(store, splits=0, where={"dataset": "week2"})
        assert (alone.summary.items, alone.judges["j"].accuracy.n) == (220, 220)
        store.delete_dataset("week1")
        store.check()
        assert [(each.name, each.items) for each in store.datasets()] == [("week2", 220)]
        assert audit(store, splits=0).judges["j"].accuracy == alone.judges["j"].accuracy
        store.delete_dataset("week2")
        store.check()
        assert not store.rows("select 1 from items union all select 1 from comparisons")


def test_a_data_set_of_several_files() -> None:
    readings = read([("week1.csv", votes(1)), ("week2.csv", votes(2))])
    with Store.open(None) as store:
        for reading in readings:
            store.load(reading, dataset="weeks")
        (found,) = store.datasets()
        assert (found.votes, found.items) == (400, 200)
        of_files = audit([votes(1), votes(2)], splits=0)
        assert audit(store, splits=0).judges["j"].accuracy == of_files.judges["j"].accuracy


def stored(path: Path, capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """What an import into a store says."""
    assert main(["import", *map(str, arguments), "--store", str(path)]) == 0
    return capsys.readouterr().out


def test_weeks_that_are_imported_one_after_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "s.duckdb"
    files = {
        "week1": votes(1),
        "week2": votes(2),
        "again": votes(2) + b"\n",
        "others": votes(3, labels=5),
        "unlabelled": votes(4, labels=None).replace(b",j,", b",someone,"),
    }
    said = {}
    for name, file in files.items():
        (tmp_path / f"{name}.csv").write_bytes(file)
        said[name] = stored(store, capsys, tmp_path / f"{name}.csv")
    assert "the runs of week2.csv are numbered from 1" in said["week2"]
    assert "0 votes loaded, 200 duplicates left out" in said["again"]
    # Labels of others, and ids alone of another rater, make no same items.
    both = audit([files["week1"], files["week2"]], splits=0)
    with Store.open(store, read_only=True) as held:
        store_of = {each.name: each.items for each in held.datasets()}
        assert store_of == {"week1": 200, "week2": 200, "others": 200, "unlabelled": 200}
        assert audit(held, splits=0).summary.items == 600
        weeks = audit(held, Selection(datasets=("week1", "week2")), AuditOptions(splits=0))
        assert weeks.judges["j"].accuracy == both.judges["j"].accuracy
        assert "one_judge" in {check.check for check in weeks.judges["j"].checks}
        held.check()
    # A name by hand is a data set of its own; one that is there is loaded into as before.
    assert "200 votes loaded into mine" in stored(
        store, capsys, tmp_path / "again.csv", "--dataset", "mine"
    )
    assert "loaded before as week1: nothing to do" in stored(store, capsys, tmp_path / "week1.csv")


def test_versions_of_a_judge_are_judges_of_their_own(tmp_path: Path) -> None:
    names = ("week1", "week2")
    for name, right, seed in zip(names, (0.92, 0.72), (1, 2), strict=True):
        (tmp_path / f"{name}.csv").write_bytes(votes(seed, right=right))
    fell = audit(tmp_path, splits=0)
    (said,) = [each.sentence for each in fell.judges["j"].checks if each.check == "one_judge"]
    assert said.startswith("j is two judges here: right on ")
    assert "in week1 and " in said
    assert said.endswith("Tell them apart with `--version file`.")
    assert fell.judges["j"].overall.verdict == "trust_with_limits"
    apart = audit(tmp_path, splits=0, version="file")
    assert {judge.judge for judge in apart.judges} == {"j@week1", "j@week2"}
    assert apart.summary.items == 200
    assert not [each for each in apart.checks if each.check == "one_judge"]
    for name in names:
        alone = audit(tmp_path / f"{name}.csv", splits=0)
        assert apart.judges[f"j@{name}"].accuracy == alone.judges["j"].accuracy


def test_a_column_of_versions() -> None:
    header, *rows = votes(1).decode().splitlines()
    lines = [f"{row},{('', 'v1', 'v2')[k % 3]}" for k, row in enumerate(rows)]
    file = "\n".join([f"{header},prompt_version", *lines]).encode()
    found = audit(file, splits=0, version="prompt_version")
    assert {judge.judge: judge.votes.n for judge in found.judges} == {
        "j": 67,
        "j@v1": 67,
        "j@v2": 66,
    }
    with pytest.raises(UnknownName, match="version 'nothing': no file has this column"):
        audit(file, version="nothing")
