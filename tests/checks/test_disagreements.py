"""Disagreements out to be looked at again and back, and the answers that go to a person."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

import core
from core.__main__ import main
from core.errors import UnreadableFile
from core.labelling.disagreements import as_csv
from core.questions.reference.second_look import SUREST, order_of_disagreements, second_look


def judged(n=300, seed=1):
    """A judge and a person who err on .10 each, and a column of what is true."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.6
    judge, person = (np.where(rng.random(n) < 0.1, ~truth, truth) for _ in range(2))
    return truth, {
        "item_id": [f"=q{k}" if k == 0 else f"q{k}" for k in range(n)],
        "judge": "llm",
        "score": judge * 1,
        "confidence": np.round(rng.uniform(0.5, 1, n), 3),
        "human": person * 1,
        "response": "=1+1",
    }


@pytest.fixture
def file(tmp_path):
    truth, columns = judged()
    path = tmp_path / "judged.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path, truth, columns


def rows_of(path):
    text = path.read_bytes()
    assert text.startswith("﻿".encode())
    return list(csv.DictReader(io.StringIO(text.decode("utf-8-sig"))))


def filled(rows, truth, columns, path, *, leave=()):
    """The table as somebody who knows the truth fills it."""
    place = {name: k for k, name in enumerate(columns["item_id"])}
    for row in rows:
        k = place[row["item_id"].lstrip("'")]
        says, people = columns["score"][k], columns["human"][k]
        if says == people:
            row["who_is_right"] = "both" if says == truth[k] else "neither"
        else:
            row["who_is_right"] = "Model" if says == truth[k] else "human"
        if row["item_id"] in leave:
            row["who_is_right"] = "?"
    with path.open("w", newline="", encoding="utf-8-sig") as out:
        writer = csv.DictWriter(out, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def test_out_and_back_by_the_command(file, tmp_path, capsys):
    path, truth, columns = file
    out = tmp_path / "d.csv"
    assert main(["audit", str(path), "--disagreements", str(out)]) == 0
    rows = rows_of(out)
    differ = columns["score"] != columns["human"]
    assert len(rows) == differ.sum() + 30
    assert all(row["answer"] == "'=1+1" for row in rows)
    first = rows[:SUREST]
    assert all(
        row["kind"] in ("passes what people failed", "fails what people passed") for row in first
    )
    sure = [float(row["sure"]) for row in first]
    assert sure == sorted(np.array(columns["confidence"])[differ], reverse=True)[:SUREST]
    back, written = tmp_path / "back.csv", tmp_path / "a.json"
    opened = next(row["item_id"] for row in first)
    filled(rows, truth, columns, back, leave=(opened,))
    capsys.readouterr()
    done = main(["audit", str(path), "--labels-from", str(back), "--json", str(written), "--all"])
    assert done == 0
    text = capsys.readouterr().out
    k = columns["item_id"].index(opened.lstrip("'"))
    known = differ.copy()
    known[k] = False
    wrong = int((np.array(columns["score"]) == truth)[known].sum())
    assert f"Of {known.sum()} disagreements looked at again {wrong} were the people's error" in text
    assert "Left out, as nobody can say who is right: 1 answer." in text
    look = json.loads(written.read_text())["scores"]["llm"]["score"]["second_look"]
    assert look["people_wrong"]["value"] == pytest.approx(wrong / known.sum())
    assert (look["looked"], look["agreements"], look["taken_out"]) == (known.sum(), 30, 1)
    assert look["right"]["low"] < 0.9 < look["right"]["high"]
    assert look["as_labelled"] == pytest.approx(1 - differ.mean())


def test_the_python_lines_give_the_same_tables(file):
    path, _, columns = file
    table = core.disagreements(path, with_agreements=0)
    assert table.num_rows == (columns["score"] != columns["human"]).sum()
    rows = table.to_pylist()
    for row in rows:
        row["who_is_right"] = "judge"
    again = core.audit(path, labels_from=as_csv(type(table).from_pylist(rows, table.schema)))
    (look,) = again.second_looks
    assert look.people_wrong.value == 1
    # Nobody looked at an agreement: what both got wrong is not seen.
    assert (look.right, look.most) == (None, 1.0)
    sent = core.to_people(path, error=0.1).to_pylist()
    (scores,) = core.audit(path, error=0.1).scores
    limit = next(one for one in scores.alone.shares if one.error == 0.1)
    unsure = [row for row in sent if row["why"] == "unsure"]
    least = np.inf if limit.threshold is None else limit.threshold
    below = np.array(columns["confidence"]) < least - 1e-9
    assert len(unsure) == below.sum()
    sure = [row["sure"] for row in unsure]
    assert sure == sorted(sure)
    checked = [row for row in sent if row["why"] == "spot check"]
    assert len(checked) == int(np.ceil(0.05 * (~below).sum()))


def test_a_word_that_is_no_answer_is_refused_by_line(file, tmp_path):
    path, *_ = file
    rows = core.disagreements(path).to_pylist()
    rows[3]["who_is_right"] = "perhaps"
    table = core.disagreements(path)
    back = tmp_path / "b.csv"
    back.write_bytes(as_csv(type(table).from_pylist(rows, table.schema)))
    with pytest.raises(UnreadableFile, match=r"row 4.*'perhaps'.*judge, person"):
        core.audit(path, labels_from=back)


def test_an_answer_without_a_verdict_goes_to_a_person(tmp_path):
    path = tmp_path / "missing.csv"
    pd.DataFrame(
        {
            "item_id": range(40),
            "judge": "llm",
            "score": ["pass", "N/A"] * 20,
            "human": ["pass"] * 40,
        }
    ).to_csv(path, index=False)
    sent = core.to_people(path).to_pylist()
    assert sum(row["why"] == "no verdict" for row in sent) == 20


@pytest.mark.thorough
@pytest.mark.parametrize("shared", [0.0, 0.05])
@pytest.mark.parametrize("n", [100, 300])
def test_the_weighed_share_covers_where_a_correction_of_disagreements_does_not(n, shared):
    """Judge and person err on .10 each, both on `shared` more; 300 draws."""
    rng, covered, corrected = np.random.default_rng(5), 0, []
    for _ in range(300):
        hard = rng.random(n) < shared
        wrong, theirs = ((rng.random(n) < 0.1) | hard for _ in range(2))
        differs, strength = wrong != theirs, rng.random(n) + 0.5 * ~wrong
        seen = order_of_disagreements(differs, strength, agreements=30, seed=0)
        right = np.full(n, -1)
        right[seen] = ~wrong[seen]
        look = second_look(
            differs, strength, right, np.arange(n), taken_out=0, judge="j", metric="m"
        )
        covered += look.right.low <= 0.9 * (1 - shared) <= look.right.high
        corrected.append(1 - (wrong & differs).mean())
    assert covered / 300 >= 0.92
    assert np.mean(corrected) - 0.9 * (1 - shared) > (0.04 if shared else 0.005)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["judgebench", "judgeconf", "pandalm", "rewardbench2_pairs"])
def test_planted_wrong_labels_come_first_on_real_votes(name, shared_data):
    """One label in ten is planted wrong: twice that share and more are among the first 20 that a
    judge which is right more often than a coin shows; 4 draws.
    """
    votes = pd.read_csv(shared_data / "votes" / f"{name}.csv.gz", low_memory=False)
    votes = votes[(votes["gold"].abs() == 1) & (votes["vote"].abs() == 1)]
    votes["key"] = votes["item_id"].astype(str) + votes["model_a"] + votes["model_b"]
    rng, first = np.random.default_rng(3), {}
    gold = (
        votes.groupby("key")["gold"]
        .first()
        .sample(min(400, votes["key"].nunique()), random_state=3)
    )
    votes = votes[votes["key"].isin(gold.index)]
    for _ in range(4):
        wrong = pd.Series(rng.random(len(gold)) < 0.1, index=gold.index)
        frame = pd.DataFrame(
            {
                "item_id": votes["key"],
                "judge": votes["judge"],
                "run": votes.groupby(["key", "judge"]).cumcount(),
                "judge_passed": (votes["vote"] > 0).astype(int),
                "human_passed": (votes["key"].map(gold.where(~wrong, -gold)) > 0).astype(int),
            }
        )
        for judge, rows in (
            core.disagreements(frame, with_agreements=0).to_pandas().groupby("judge")
        ):
            first.setdefault(judge, []).append(wrong[rows["item_id"].head(20)].mean())
    right = (votes["vote"] == votes["gold"]).groupby(votes["judge"]).mean()
    weak = {
        judge: np.mean(shares)
        for judge, shares in first.items()
        if right[judge] > 0.55 and np.mean(shares) < 0.2
    }
    assert not weak
    assert len(first) >= 2
