"""Confusion in figures and sentences, and labels that do not know their own gold."""

from pathlib import Path

import numpy as np
import pytest
from evidence_of import result
from sklearn.metrics import confusion_matrix as oracle

from core.errors import InvalidOption, TooFewLabels
from core.finding.figure import rater_styles
from core.questions.accuracy.confusion_matrix import commonest_error, confusion
from core.questions.agreement import words as sentences
from core.questions.agreement.figure import ORDER, accuracies, cell_key, confusion_matrix
from core.questions.labels.btd import apply, fit, held_out_labels
from core.records import NO_GOLD, VoteCounts
from core.schema import Selection
from core.stats.intervals import clustered_proportion
from core.store import Store
from core.store.vote_queries import Mark, vote_counts, votes_behind

HOSTILE = "<img src=x onerror=alert(1)>"


def make(rows: list[tuple[int, int, int, int]]) -> VoteCounts:
    """Rows of (plus, tie, minus, gold), one comparison an item."""
    plus, tie, minus, gold = np.array(rows, dtype=np.int64).T
    code = np.arange(len(rows))
    return VoteCounts(comparison=code, item=code, plus=plus, tie=tie, minus=minus, gold=gold)


def test_sentence_names_the_commonest_error() -> None:
    counts = make(
        [(1, 0, 0, 1)] * 60 + [(0, 0, 1, 1)] * 10 + [(0, 1, 0, -1)] * 20 + [(0, 0, 1, -1)] * 30
    )
    table, accuracy = confusion(counts), result("accuracy", counts)
    assert commonest_error(table) == (-1, 0, 20)
    said = sentences.confusion(accuracy, table)
    # Right on 90 of 120 items and half right on the 20 ties.
    assert said.grade == accuracy.grade
    assert said.estimate.value == pytest.approx((90 + 10) / 120)
    assert said.sentence == (
        "Of 120 votes with gold, 75 % are exactly gold's (66 % to 82 %). The commonest error: "
        f"saying a tie where gold says B better (20 of 30 errors). {accuracy.sentence}"
    )
    assert (
        "error" not in sentences.confusion(accuracy, confusion(make([(1, 0, 0, 1)] * 40))).sentence
    )
    dropped = confusion(make([(1, 0, 0, 1)] * 40 + [(1, 0, 0, -1)]), ties="drop_both")
    assert "Of 41 decided majority labels with untied gold, 98 % are exactly gold's" in (
        sentences.confusion(accuracy, dropped, noun="majority labels").sentence
    )
    unlabelled = make([(1, 0, 0, NO_GOLD)])
    unknown = result("accuracy", unlabelled)
    assert sentences.confusion(unknown, confusion(unlabelled)) == unknown
    assert unknown.grade == "unknown"


def check_o1_mini_on_judgebench(shared_data: Path) -> None:
    """accuracy .727143 (n 700), and 91 of its 191 errors say B where gold says A."""
    from core.importers import read

    store = Store.open()
    path = shared_data / "votes" / "judgebench.csv.gz"
    for reading in read([(path.name, path)]):
        store.load(reading)
    selection = Selection()
    counts = vote_counts(store, selection)["o1-mini-2024-09-12 [arena_hard]"]
    table = confusion(counts)
    assert (round(table.accuracy.value, 6), table.n, commonest_error(table)) == (
        0.727143,
        700,
        (1, -1, 91),
    )
    behind = votes_behind(
        store, selection, mark=Mark(judge="o1-mini-2024-09-12 [arena_hard]", gold=1, vote=-1)
    )
    assert behind.num_rows == 91


def test_cell_intervals_are_clustered_proportions() -> None:
    rng = np.random.default_rng(1)
    n = 300
    plus, tie, minus = rng.multinomial(4, [0.5, 0.2, 0.3], size=n).T
    counts = VoteCounts(
        comparison=np.arange(n),
        item=np.arange(n) // 3,
        plus=plus,
        tie=tie,
        minus=minus,
        gold=rng.integers(-1, 2, size=n),
    )
    table = confusion(counts)
    for gold in (-1, 0, 1):
        rows = counts.rows(counts.gold == gold)
        votes = np.stack([rows.minus, rows.tie, rows.plus], axis=1)
        for verdict in (-1, 0, 1):
            one = clustered_proportion(rows.item, votes.sum(axis=1), votes[:, verdict + 1])
            cell = gold + 1, verdict + 1
            assert table.share.value[cell] == pytest.approx(one.value, rel=1e-12)
            assert table.share.low[cell] == pytest.approx(one.low, rel=1e-9)
            assert table.share.high[cell] == pytest.approx(one.high, rel=1e-9)
    flat = [
        (g, v)
        for g, row in zip(counts.gold, np.stack([minus, tie, plus], axis=1), strict=True)
        for v in np.repeat([-1, 0, 1], row)
    ]
    gold, vote = np.array(flat).T
    assert table.counts.tolist() == oracle(gold, vote, labels=[-1, 0, 1]).tolist()
    assert table.constant == max((gold == label).mean() for label in (-1, 0, 1))


def test_matrix_shows_the_table() -> None:
    table = confusion(make([(1, 0, 0, 1)] * 6 + [(0, 0, 1, 1)] * 2 + [(0, 1, 0, -1)] * 3))
    fig = confusion_matrix(table, chosen=cell_key(1, -1))
    cells = fig.data[0]
    for place, text in enumerate(cells.text):
        gold, verdict = ORDER[int(cells.y[place])], ORDER[int(cells.x[place])]
        count = table.counts[gold + 1, verdict + 1]
        assert text.startswith(f"{count}<br>")
        assert cells.customdata[place][0] == (cell_key(gold, verdict) if count else None)
    assert sorted(cells.marker.line.width, reverse=True)[:2] == [3, 1]


def test_accuracies_show_results_and_escape_names() -> None:
    tables = {
        name: confusion(make([(1, 0, 0, 1)] * k + [(0, 0, 1, 1)] * 10))
        for name, k in ((HOSTILE, 30), ("b", 50))
    }
    fig = accuracies(tables, styles=rater_styles(list(tables)))
    marks = fig.data[0]
    assert list(marks.x) == [table.accuracy.value for table in tables.values()]
    assert marks.x[0] + marks.error_x.array[0] == pytest.approx(tables[HOSTILE].accuracy.high)
    assert marks.x[0] - marks.error_x.arrayminus[0] == pytest.approx(tables[HOSTILE].accuracy.low)
    drawn = str(fig.layout.yaxis.ticktext) + str(marks.hovertext)
    assert "<img" not in drawn
    assert "&lt;img" in drawn


def test_held_out_labels_do_not_know_their_own_gold() -> None:
    """Gold at random: labels fitted on it can look right by luck, held-out ones cannot depend on
    it.
    """
    rng = np.random.default_rng(3)
    rows = [(*rng.multinomial(6, [0.4, 0.2, 0.4]), int(rng.integers(-1, 2))) for _ in range(200)]
    counts = make(rows)
    labels = held_out_labels(counts, rng=np.random.default_rng(0), folds=200)
    for changed in (0, 57, 199):
        gold = counts.gold.copy()
        gold[changed] = {-1: 1, 0: -1, 1: 0}[int(gold[changed])]
        other = make(list(zip(counts.plus, counts.tie, counts.minus, gold, strict=True)))
        assert (
            held_out_labels(other, rng=np.random.default_rng(0), folds=200)[changed]
            == labels[changed]
        )


def test_one_item_a_fold_is_a_fit_on_all_others() -> None:
    rng = np.random.default_rng(4)
    rows = []
    for _ in range(40):
        gold = int(rng.integers(-1, 2))
        chance = np.where(np.array([1, 0, -1]) == gold, 0.6, 0.2)
        rows.append((*rng.multinomial(5, chance / chance.sum()), gold))
    counts = make(rows)
    labels = held_out_labels(counts, rng=np.random.default_rng(0), folds=40)
    for left_out in range(0, 40, 7):
        others = counts.rows(np.arange(40) != left_out)
        alone = apply(fit(others.cells()[0]), counts.rows(np.array([left_out])))
        assert labels[left_out] == alone[0]


def test_held_out_labels_need_labels() -> None:
    with pytest.raises(TooFewLabels, match="at least 20"):
        held_out_labels(make([(2, 0, 1, 1)] * 15), rng=np.random.default_rng(0))
    with pytest.raises(TooFewLabels, match="two items"):
        held_out_labels(make([(2, 0, 1, 1)]), rng=np.random.default_rng(0))
    with pytest.raises(InvalidOption, match="folds"):
        held_out_labels(make([(2, 0, 1, 1)] * 30), rng=np.random.default_rng(0), folds=1)
