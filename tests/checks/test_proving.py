"""`prove`: parts of a store, tries that are counted, blind sheets, and what stays sealed."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import core
from core.__main__ import main
from core.errors import InvalidOption, UnknownName, UnreadableFile
from core.store import Store, parts
from core.store.parts import Try, later_versions
from core.use.proving import Proved, proved

N = 400

pytestmark = pytest.mark.usefixtures("one_split")


def truth(k: int) -> bool:
    return k % 3 > 0


def judged(path: Path, wrong: Callable[[int], bool], labelled: Callable[[int], bool]) -> str:
    """Pass or fail of 400 answers, of which some are labelled."""
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["item_id", "judge", "judge_passed", "human_passed", "prompt", "response"])
        for k in range(N):
            label = int(truth(k)) if labelled(k) else ""
            said = int(truth(k) != wrong(k))
            out.writerow([f"q{k}", "gpt", said, label, f"Question {k}?", f"Secret {k}."])
    return str(path)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """v1 is wrong on every fourth, v2 on every fiftieth; a fifth of the items is labelled."""
    return made(tmp_path, lambda k: k % 50 == 1)


def made(
    tmp_path: Path,
    wrong: Callable[[int], bool],
    labelled: Callable[[int], bool] = lambda k: k % 5 == 2,
) -> Path:
    files = [
        judged(tmp_path / "v1.csv", lambda k: k % 4 == 0, labelled),
        judged(tmp_path / "v2.csv", wrong, labelled),
    ]
    path = tmp_path / "s.duckdb"
    assert main(["import", *files, "--version", "file", "--store", str(path)]) == 0
    return path


def filled(
    sheet: str, right: Callable[[int], str] = lambda k: "pass" if truth(k) else "fail"
) -> bytes:
    rows = list(csv.DictReader(io.StringIO(sheet)))
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    for row in rows:
        k = int(row["prompt"].removeprefix("Question ").removesuffix("?"))
        writer.writerow(row | {"label": right(k)})
    return out.getvalue().encode()


def to_the_end(path: Path, new: str = "v2", **more: object) -> Proved:
    with Store.open(path) as store:
        found = proved(store, new)
        while found.sheet is not None:
            sheet = ("sheet.csv", filled(found.sheet, **more))  # type: ignore[arg-type]
            found = proved(store, new, labels_from=sheet)
        return found


def test_a_better_version_is_proven_by_labels_where_the_two_part(store: Path) -> None:
    found = to_the_end(store)
    assert (found.state, found.attempt) == ("better", 1)
    proof = found.proof
    assert proof is not None
    assert proof.labels <= 60
    # k % 4 == 0 or k % 50 == 1, of 400: 108 items; the two are never wrong together.
    assert proof.parted == pytest.approx(108 / 400)
    assert found.sentence.startswith(
        f"gpt@v2 is better than gpt@v1: where they part, it was right in {proof.right} of "
        f"{proof.labels} labels (first try); over these 400 items +"
    )
    assert proof.low > 0


def test_the_sheet_is_blind_and_holds_sealed_items_on_which_the_two_part(store: Path) -> None:
    with Store.open(store) as held:
        found = proved(held, "v2")
        split = parts.read(held)
    assert split is not None
    assert found.sheet is not None
    rows = list(csv.DictReader(io.StringIO(found.sheet)))
    assert list(rows[0]) == ["draw", "card", "prompt", "response", "label", "note", "person"]
    assert len(rows) == found.cards == 24
    for row in rows:
        k = int(row["prompt"].removeprefix("Question ").removesuffix("?"))
        assert k % 4 == 0 or k % 50 == 1
        assert "gpt" not in ",".join(row.values())
    assert len(split.items) < 80 * 0.75
    assert found.sentence.startswith("gpt@v2 and gpt@v1 part on 27 % of what both judged")


def test_an_edit_that_changes_nothing_ends_in_the_sentence_for_that(tmp_path: Path) -> None:
    found = to_the_end(made(tmp_path, lambda k: k % 4 == 1))
    assert found.state == "not_shown"
    assert found.sentence.startswith("gpt@v2 is not shown to be better than gpt@v1. First try, ")
    assert found.sentence.endswith(
        "Another wording will hardly help; another model, a split criterion or fixed labels may."
    )


def test_tries_are_counted_and_an_ended_try_uses_its_items_up(tmp_path: Path) -> None:
    path = made(tmp_path, lambda k: k % 4 == 1)
    first = to_the_end(path)
    with Store.open(path) as store:
        split = parts.read(store)
        assert split is not None
        assert first.proof is not None
        assert len(split.used) == first.proof.labels
        again = proved(store, "v2")
        assert again.attempt == 2
        assert "(second try)" in again.sentence
        # Goes on, and is not counted anew.
        assert proved(store, "v2").attempt == 2
        assert again.sheet is not None
        seen = {row["prompt"] for row in csv.DictReader(io.StringIO(again.sheet))}
        numbers = dict(store.rows("select name, id from items"))
    used = {name for name, number in numbers.items() if number in split.used}
    assert not used & {f"q{text.split()[1][:-1]}" for text in seen}
    notes = core.audit(path).notes
    assert any(
        note.startswith("gpt@v2: not shown to be better than gpt@v1, first try, ") for note in notes
    )
    assert "gpt@v2: not yet decided beside gpt@v1, second try." in notes


def test_a_skipped_card_is_no_evidence(store: Path) -> None:
    found = to_the_end(store, right=lambda _: "?")
    assert found.state == "not_shown"
    assert found.proof is not None
    assert (found.proof.right, found.proof.wrong) == (0, 0)


def test_a_file_of_labels_answers_one_bit(tmp_path: Path) -> None:
    better = made(tmp_path, lambda k: k % 50 == 1, lambda _: True)
    found = to_the_end(better)
    assert (found.state, found.proof) == ("better", None)
    assert "sealed labels (first try)" in found.sentence
    with Store.open(better) as store, pytest.raises(InvalidOption, match="fresh items"):
        proved(store, "v2")
    other = tmp_path / "other"
    other.mkdir()
    null = made(other, lambda k: k % 4 == 1, lambda _: True)
    for attempt, word in ((1, "first"), (2, "second")):
        found = to_the_end(null)
        assert (found.state, found.attempt) == ("not_shown", attempt)
        assert found.sentence == (
            f"gpt@v2 is not shown to be better than gpt@v1 on the sealed items ({word} try). No "
            "figure of them is told, so that the next version cannot fit them; labels where the two "
            "part, on fresh items, decide with fewer."
        )


def test_an_import_of_a_split_store_says_that_its_split_stays_behind(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(store) as held:
        proved(held, "v2")
        split = parts.read(held)
        ((items,),) = held.rows("select count(*) from items")
    assert split is not None
    assert main(["import", str(store), "--store", str(tmp_path / "other.duckdb")]) == 0
    sealed = items - len(split.items | split.used)
    said = f"{sealed} items sealed there for proofs can be read here; prove a version in that store"
    assert said in capsys.readouterr().out


def test_nothing_sealed_stands_in_a_list_a_figure_or_an_export(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = core.audit(store)
    with Store.open(store) as held:
        proved(held, "v2")
        split = parts.read(held)
        assert split is not None
        names = dict(held.rows("select name, id from items"))
    sealed = [int(name[1:]) for name, number in names.items() if split.is_sealed(number)]
    assert len(sealed) > N / 2
    after = core.audit(store)
    n = {scores.judge: len(scores.evidence.table) for scores in after.scores}
    assert n == {"gpt@v1": N, "gpt@v2": len(split.items)}
    of = {scores.judge: scores for scores in before.scores}
    first = next(scores for scores in after.scores if scores.judge == "gpt@v1")
    assert first.headline == of["gpt@v1"].headline
    out = [str(tmp_path / name) for name in ("a.json", "d.csv", "p.csv", "e.csv", "r.html")]
    assert (
        main(
            [
                "audit",
                str(store),
                "--compare",
                "--json",
                out[0],
                "--disagreements",
                out[1],
                "--to-people",
                out[2],
                "--all",
            ]
        )
        == 0
    )
    assert main(["export", out[3], "--what", "scores", "--store", str(store)]) == 0
    assert main(["report", str(store), "--html", out[4]]) == 0
    written = capsys.readouterr().out + "".join(Path(name).read_text() for name in out)
    assert not [k for k in sealed if f"Secret {k}." in written or f"Question {k}?" in written]
    document = json.loads(Path(out[0]).read_text())
    assert document["comparisons"][0]["judged"] == len(split.items)
    assert document["comparisons"][0]["seen"] == len(split.items)
    assert f"{len(sealed)} sealed items left out of gpt@v2: `prove` has them." in document["notes"]


def test_a_store_without_parts_is_as_before(store: Path) -> None:
    with Store.open(store, read_only=True) as held:
        assert parts.read(held) is None
    audit = core.audit(store)
    assert {len(scores.evidence.table) for scores in audit.scores} == {N}
    assert not [note for note in audit.notes if "sealed" in note]


def test_labels_of_another_try_or_no_word_are_refused(store: Path) -> None:
    with Store.open(store) as held:
        sheet = proved(held, "v2").sheet
        assert sheet is not None
        with pytest.raises(UnreadableFile, match="use pass, fail, or"):
            proved(held, "v2", labels_from=("s.csv", filled(sheet, lambda _: "maybe")))
        with pytest.raises(UnreadableFile, match="no sheet"):
            proved(held, "v2", labels_from=("s.csv", b"a,b\n1,2\n"))
        with pytest.raises(UnreadableFile, match="no row has a label yet"):
            proved(held, "v2", labels_from=("s.csv", filled(sheet, lambda _: "")))
        other = sheet.replace("try 1", "try 9").encode()
        with pytest.raises(UnreadableFile, match="first try of gpt@v2"):
            proved(held, "v2", labels_from=("s.csv", other))
        with pytest.raises(UnknownName, match="v7"):
            proved(held, "v7")


def test_the_command_goes_on_by_its_exit_codes(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["prove", str(store), "v2"]
    assert main(command) == 3
    assert (
        "prove.csv: 24 cards to label; go on with --labels-from prove.csv"
        in capsys.readouterr().out
    )
    for _ in range(5):
        Path("filled.csv").write_bytes(filled(Path("prove.csv").read_text()))
        code = main([*command, "--labels-from", "filled.csv"])
        if code != 3:
            break
    assert code == 0
    assert "gpt@v2 is better than gpt@v1" in capsys.readouterr().out


def test_pairs_are_proven_by_sides_that_are_drawn(tmp_path: Path) -> None:
    rows = {"v1": lambda k: k % 4 == 0, "v2": lambda k: k % 50 == 1}
    names = []
    for name, wrong in rows.items():
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            out = csv.writer(file)
            out.writerow(
                [
                    "item_id",
                    "model_a",
                    "model_b",
                    "judge",
                    "vote",
                    "prompt",
                    "response_a",
                    "response_b",
                ]
            )
            for k in range(N):
                vote = 1 if truth(k) != wrong(k) else -1
                out.writerow(
                    [f"q{k}", "x", "y", "gpt", vote, f"Question {k}?", f"A of {k}", f"B of {k}"]
                )
        names.append(str(tmp_path / f"{name}.csv"))
    path = tmp_path / "s.duckdb"
    assert main(["import", *names, "--version", "file", "--store", str(path)]) == 0
    sides = set()
    with Store.open(path) as store:
        found = proved(store, "v2")
        while found.sheet is not None:
            text = io.StringIO(newline="")
            cards = list(csv.DictReader(io.StringIO(found.sheet)))
            writer = csv.DictWriter(text, list(cards[0]))
            writer.writeheader()
            for card in cards:
                k = int(card["prompt"][9:-1])
                better = f"{'A' if truth(k) else 'B'} of {k}"
                side = "left" if card["left"] == better else "right"
                sides.add((truth(k), side))
                writer.writerow(card | {"label": side})
            found = proved(store, "v2", labels_from=("s.csv", text.getvalue().encode()))
    assert found.state == "better"
    assert len(sides) == 4


def test_later_versions_and_sentences() -> None:
    assert later_versions({"gpt": 3, "gpt@v2": 5, "other": 1, "x@v1": 2, "x@v2": 4}) == [4, 5]
    one = Try(old="a", new="a@v2", metric="tone", attempt=12, state="worse", ended="2026-11-28")
    assert one.sentence == "a@v2: worse than a on tone, 12th try, 2026-11-28."
