"""Files are read by what their columns hold where names mislead: right, or one question is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from places import REPOSITORY

from benchmarks.reading import after_answers, exits, outcome
from core import importers
from core.__main__ import main
from core.errors import AmbiguousLabels, UnreadableFile
from core.importers import ReadOptions, by_plan, inspect, read
from core.importers.by_plan import PLAN, answered

N = 40
SIDES = ["A" if k % 3 else "B" for k in range(N)]
OTHER = ["A" if k % 4 else "B" for k in range(N)]


def sheet(**columns: Any) -> bytes:
    """A CSV file: a list per column, or one cell for all rows."""
    every = [c if isinstance(c, list) else [c] * N for c in columns.values()]
    rows = [",".join(map(str, row)) for row in zip(*every, strict=True)]
    return "\n".join([",".join(columns), *rows]).encode()


IDS = [f"q{k}" for k in range(N)]
LEVELS = [k % 5 + 1 for k in range(N)]
MARKS = ["✅" if k % 3 else "❌" for k in range(N)]
CANONICAL = {"item_id": IDS, "judge": "gpt", "vote": SIDES, "gold": OTHER}
VOTES = {"form": "votes", "judges": 1, "people": 0, "items": N, "by judges": N, "gold": N}
SCORES = {"form": "scores", "judges": 1, "people": 1, "items": N, "by judges": N}

READ: dict[str, tuple[bytes, dict[str, Any]]] = {
    "a price in dollars": (sheet(**CANONICAL, cost="$0.0021"), VOTES),
    "None is no gold": (
        sheet(**{**CANONICAL, "gold": ["None" if k % 4 == 0 else "A" for k in range(N)]}),
        {**VOTES, "gold": 30},
    ),
    "success is a status": (sheet(**CANONICAL, status="success"), VOTES),
    "what was expected is gold": (
        sheet(id=IDS, question=IDS, expected_winner=OTHER, winner=SIDES),
        VOTES,
    ),
    "a judge called model": (
        sheet(
            item_id=[f"q{k // 2}" for k in range(N)],
            judge=["gpt" if k % 2 else "ann" for k in range(N)],
            vote=SIDES,
            rater_type=["model" if k % 2 else "human" for k in range(N)],
        ),
        {"form": "votes", "judges": 1, "people": 1, "items": 20, "by judges": 20},
    ),
    "two judges of the same texts": (
        sheet(
            prompt=[f"What is the capital of country number {k // 2}?" for k in range(N)],
            response=[f"The capital of it is the city {k // 2} and none else" for k in range(N)],
            judge=["gpt" if k % 2 else "claude" for k in range(N)],
            score=LEVELS,
        ),
        {"form": "scores", "judges": 2, "people": 0, "items": N // 2, "by judges": N},
    ),
    "two judges, each of answers of its own": (
        sheet(
            prompt=[f"What is the capital of country number {k // 2}?" for k in range(N)],
            response=[f"The capital of it is the city {k} and none else" for k in range(N)],
            judge=["gpt" if k % 2 else "claude" for k in range(N)],
            score=LEVELS,
        ),
        {"form": "scores", "judges": 2, "people": 0, "items": N, "by judges": N},
    ),
    "texts under names that say nothing": (
        sheet(
            q=[f"What is the capital of country number {k // 2}?" for k in range(N)],
            t1=[f"The capital of it is the city {k // 2} and none else" for k in range(N)],
            t2=[f"It may well be that it is the town {k // 2} or so" for k in range(N)],
            judge=["gpt" if k % 2 else "claude" for k in range(N)],
            winner=SIDES,
        ),
        {"form": "votes", "judges": 2, "people": 0, "items": N // 2, "by judges": N},
    ),
    "check marks": (sheet(case_id=IDS, judge_passed=MARKS, human_passed=MARKS[::-1]), SCORES),
    "n of 5": (
        sheet(case_id=IDS, judge_score=[f"{x}/5" for x in LEVELS], human_score=LEVELS),
        SCORES,
    ),
    "an id under another name with runs": (
        sheet(
            task_id=[f"t{k // 5}" for k in range(N)],
            judge="gpt",
            score=LEVELS,
            human_score=[k // 5 % 5 + 1 for k in range(N)],
        ),
        {**SCORES, "items": 8},
    ),
    "winners by name": (
        sheet(
            id=IDS,
            fw_a=[("alpha", "beta", "alpha")[k % 3] for k in range(N)],
            fw_b=[("beta", "gamma", "gamma")[k % 3] for k in range(N)],
            winner=[("beta", "beta", "alpha", "alpha", "gamma", "gamma")[k % 6] for k in range(N)],
            judge="gpt",
        ),
        {**VOTES, "gold": 0, "models": ["alpha", "beta", "gamma"]},
    ),
    "columns keyed by row": (
        json.dumps(
            {
                name: dict(enumerate(c if isinstance(c, list) else [c] * N))
                for name, c in CANONICAL.items()
            }
        ).encode(),
        VOTES,
    ),
    "a judge above its results": (
        json.dumps(
            {
                "judge": {"name": "gpt"},
                "results": [{"id": k, "winner": side} for k, side in enumerate(SIDES)],
            }
        ).encode(),
        {**VOTES, "gold": 0, "judge names": ["gpt"]},
    ),
    "runs by their index": (
        sheet(
            case=[f"c{k // 4}" for k in range(N)],
            judge="gpt",
            run_index=[k % 4 for k in range(N)],
            verdict=SIDES,
        ),
        {**VOTES, "items": 10, "gold": 0},
    ),
    "statistics of texts beside a judge and a person": (
        sheet(
            **{name: [k / 41 for k in range(N)] for name in ("BLEU_score", "ROUGE_recall", "F1")},
            Judge="gpt-4",
            LLM_Correctness=[x / 4 for x in LEVELS],
            Human_QE=[x / 4 for x in LEVELS[::-1]],
        ),
        {**SCORES, "number of metrics": [0, 1]},
    ),
    "gold of the variants of an item": (
        sheet(
            item_id=[f"q{k // 2}" for k in range(N)],
            variant_id=IDS,
            judge_model="gpt",
            perturbation=["identity", "order_swap"] * 20,
            parsed_label=SIDES,
            gold_label=["A", "B"] * 20,
        ),
        {"form": "votes", "items": N, "by judges": N, "gold": N},
    ),
    "the sum of other scores is none": (
        sheet(
            question=IDS,
            judge_clear=LEVELS,
            judge_polite=LEVELS[::-1],
            judge_final=[(x + y) / 2 for x, y in zip(LEVELS, LEVELS[::-1], strict=True)],
        ),
        {**SCORES, "people": 0, "number of metrics": 2, "by judges": 2 * N},
    ),
    "both orders with the turned verdict beside": (
        sheet(
            user_id=IDS,
            fwd_verdict=SIDES,
            rev_verdict=OTHER,
            rev_mapped=["BA"["AB".index(side)] for side in OTHER],
        ),
        {**VOTES, "gold": 0, "orders": 2, "by judges": 2 * N},
    ),
    "how many people rated is no score": (
        sheet(
            document=IDS,
            judge="gpt",
            clarity=[10 * x for x in LEVELS],
            depth=[10 * x for x in LEVELS[::-1]],
            human_clarity=[10 * x for x in LEVELS],
            human_depth=[10 * x for x in LEVELS],
            n_ratings=[9 + x for x in LEVELS],
        ),
        {"form": "scores", "judges": 1, "by judges": 2 * N, "number of metrics": 2},
    ),
    "sides of columns that change with the order": (
        sheet(
            scenario=[f"s{k // 2}" for k in range(N)],
            orientation=["fwd", "swap"] * 20,
            judge_model="gpt",
            author_left=["haiku", "mini"] * 20,
            author_right=["mini", "haiku"] * 20,
            preferred_side=["A", "B", "B", "A"] * 10,
            preferred_author=["haiku", "haiku", "mini", "mini"] * 10,
            syllables_correct_left=[0, 1] * 20,
            syllables_correct_right=[1, 0] * 20,
        ),
        {**VOTES, "items": [20, N], "orders": [0, 1], "gold": 0, "models": ["haiku", "mini"]},
    ),
    "free objects within a few records": (
        json.dumps(
            [
                {"pair": f"p{k}", "judge": "gpt", "parsed": {"winner": side}}
                | {"said": {f"k{k}-{n}": "words" for n in range(40 * (k % 4 == 0))}}
                for k, side in enumerate(SIDES)
            ]
        ).encode(),
        {**VOTES, "gold": 0},
    ),
    "counts of verdicts beside the verdicts": (
        json.dumps(
            {
                "judge": {"name": "gpt"},
                "by_kind": {kind: {"A": 9, "B": 7, "TIE": 4} for kind in ("math", "code", "text")},
                "results": [{"id": k, "winner": side} for k, side in enumerate(SIDES)],
            }
        ).encode(),
        {**VOTES, "gold": 0, "judge names": ["gpt"]},
    ),
    "scores below statistics of their query": (
        json.dumps(
            {
                "queries": [
                    {
                        "id": f"q{k}",
                        "metrics": {"ndcg": k / 7, "precision": k / 9, "mrr": k / 11},
                        "found": [{"rank_run": n, "judge_score": (k + n) % 4} for n in range(4)],
                    }
                    for k in range(10)
                ]
            }
        ).encode(),
        {"form": "scores", "judges": 1, "items": 10, "by judges": N},
    ),
    "a list of people": (
        json.dumps(
            [{"id": k, "judge_score": x, "human": [x, 6 - x, x]} for k, x in enumerate(LEVELS)]
        ).encode(),
        {**SCORES, "people": 3},
    ),
}


@pytest.mark.parametrize("kind", READ)
def test_a_file_is_read_as_what_it_holds(kind: str) -> None:
    data, truth = READ[kind]
    assert outcome("file.json" if data[:1] in b"[{" else "file.csv", data, truth) == ("right", "")


@pytest.mark.parametrize("kind", ["a price in dollars", "None is no gold", "success is a status"])
def test_what_a_reading_by_names_rejects_is_not_rejected_by_a_plan(kind: str) -> None:
    (reading,) = read([("file.csv", READ[kind][0])])
    assert (reading.votes.num_rows, reading.n_rejected) == (N, 0)


ENDS = {
    "read": (sheet(**CANONICAL), 0),
    "by a plan": (READ["check marks"][0], 0),
    "asked": (sheet(id=IDS, vote_ab=SIDES, vote_ba=OTHER), 2),
    "items to judge": (sheet(id=IDS, question="why", answer="because"), 2),
    "scores of people alone": (
        sheet(case_id=IDS, response=IDS, human_score_1=LEVELS, human_score_2=LEVELS[::-1]),
        2,
    ),
}


@pytest.mark.parametrize("kind", ENDS)
def test_all_commands_end_alike_on_a_file(kind: str, tmp_path: Path) -> None:
    data, code = ENDS[kind]
    path = tmp_path / "file.csv"
    path.write_bytes(data)
    codes = exits(path)
    if kind == "scores of people alone":
        # Without a judge they can be kept, and not audited.
        del codes["import"], codes["Python"]
    assert set(codes.values()) == {code}, codes


def test_a_file_is_opened_once_to_be_looked_at_and_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "votes.csv").write_bytes(sheet(**CANONICAL))
    opened = []
    real = importers.open_source
    monkeypatch.setattr(
        importers, "open_source", lambda *told, **more: opened.append(told) or real(*told, **more)
    )
    assert main(["doctor", str(tmp_path / "votes.csv")]) == 0
    assert len(opened) == 1


def test_both_orders_in_two_columns_are_asked_about_in_one_question() -> None:
    data = sheet(id=IDS, vote_ab=SIDES, vote_ba=OTHER, gold=SIDES)
    with pytest.raises(AmbiguousLabels, match="by its place"):
        read([("file.csv", data)])
    looks = inspect(data, "file.csv")
    assert looks.layout == PLAN
    (question,) = looks.questions
    assert [typed for typed, _ in question.choices] == [
        "--label-refers slot",
        "--label-refers model",
    ]
    truth = {"form": "votes", "judges": 1, "items": N, "orders": 2, "by judges": 2 * N, "gold": N}
    for typed, _ in question.choices:
        (reading,) = read([("file.csv", data)], answered(typed))
        assert reading.votes.num_rows == 2 * N
        assert set(reading.votes["position"].to_pylist()) == {"ab", "ba"}
        assert len(set(reading.votes["judge"].to_pylist())) == truth["judges"]


def test_every_column_is_used_or_named_with_the_words_of_the_file() -> None:
    data = sheet(id=IDS, llm_judge=MARKS, human_review=MARKS[::-1], place=LEVELS, tokens=LEVELS)
    looks = inspect(data, "file.csv")
    assert looks.columns == ("id", "llm_judge", "human_review", "place", "tokens")
    assert (looks.mapping["score"], looks.mapping["gold"]) == ("llm_judge", "human_review")
    (reading,) = read([("file.csv", data)])
    assert dict(reading.mapping) == dict(looks.mapping)
    assert any(note.startswith("Not used: 'place', 'tokens'") for note in reading.notes)


def test_what_the_owner_says_stands_before_a_plan() -> None:
    data = sheet(**CANONICAL, status="success")
    (by_names,) = read([("file.csv", data)], ReadOptions(mapping=(("status", ""),)))
    assert by_names.votes.num_rows == N
    (people,) = read([("file.csv", sheet(id=IDS, gpt=SIDES, ann=OTHER))], answered("--people ann"))
    assert {(r["judge"], r["rater_type"]) for r in people.votes.to_pylist()} == {("gpt", "llm")}
    assert people.votes["gold"].null_count == 0


def asks(data: bytes, name: str = "file.csv") -> dict[str, str]:
    """What each choice of a question means, by what is typed."""
    looks = inspect(data, name)
    assert looks.layout == PLAN
    return {typed: meaning for question in looks.questions for typed, meaning in question.choices}


def test_metrics_of_nobody_are_asked_about_and_their_file_is_no_judge() -> None:
    data = sheet(id=IDS, answer="a text of some length for " + "x" * 20, tone=LEVELS, depth=LEVELS)
    choices = asks(data)
    assert {"--metrics tone depth", "--people tone depth", "--unused tone depth"} <= choices.keys()
    (reading,) = read([("file.csv", data)], answered("--metrics tone depth"))
    assert set(reading.votes["metric"].to_pylist()) == {"tone", "depth"}


def test_people_in_a_few_rows_are_no_judge_by_the_name_of_their_file() -> None:
    rows = [f"r{k},the question number {k},{k % 5 + 1},{5 - k % 5},rev-{k % 3}" for k in range(12)]
    data = "\n".join(["id,prompt,label_tone,label_depth,reviewer_name", *rows]).encode()
    truth = {"form": "scores", "judges": 0, "people": 3, "items": 12, "by people": 24}
    assert outcome("file.csv", data, truth) == ("right", "")


def test_two_answers_in_one_object_are_a_row_each_and_asked_about_once() -> None:
    marks = {f"t{k}": {x: {"tone": k % 3, "depth": (k + 1) % 3} for x in "AB"} for k in range(15)}
    data = json.dumps({"_meta": {"judge": "Kimi"}, **marks}).encode()
    assert asks(data, "file.json")["--map model=part"] == "whose answer"
    (reading,) = read([("file.json", data)], answered("--metrics tone depth --map model=part"))
    assert (reading.votes.num_rows, reading.votes["judge"].unique().to_pylist()) == (60, ["Kimi"])


def test_another_prompt_is_a_version_of_the_judge() -> None:
    lists = [
        {"sample_id": f"s{k % 10}", "judge_model": "gpt", "prompt_template": f"v{k // 10}"}
        | {"pairwise": [{"winner": side, "run_index": n} for n, side in enumerate("ABA")]}
        for k in range(20)
    ]
    data = json.dumps(lists).encode()
    assert "--version prompt_template" in asks(data, "file.json")
    (reading,) = read([("file.json", data)], answered("--version prompt_template"))
    assert reading.votes.num_rows == 60
    assert set(reading.votes["judge"].to_pylist()) == {"gpt@v0", "gpt@v1"}


def test_labels_are_anybodys() -> None:
    answers = ["a text of some length for " + "x" * 20] * N
    data = sheet(question=IDS, answer=answers, Label=["correct", "wrong"] * 20)
    assert {"--people Label", "--judges Label"} <= asks(data).keys()


def test_a_label_of_pairs_may_be_gold() -> None:
    data = sheet(id=IDS, response_a="x" * 60, response_b="y" * 60, label=SIDES)
    assert "--map gold=label" in asks(data)


def test_gold_beside_what_is_no_verdict_is_gold_alone() -> None:
    texts = {"response_a": "x" * 60, "response_b": "y" * 60}
    data = sheet(id=IDS, **texts, ground_truth_winner=SIDES, verbose_position=OTHER)
    found, said = outcome("file.csv", data, {"form": "votes"})
    assert (found, "holds gold" in said) == ("refused", True)
    with pytest.raises(UnreadableFile, match="holds gold"):
        inspect(data, "file.csv")


def test_a_column_that_only_shares_its_name_costs_no_row() -> None:
    sizes = [("short", "normal")[k % 2] for k in range(N)]
    items = [f"q{k // 2}" for k in range(N)]
    data = sheet(item_id=items, judge="gpt", score=LEVELS, length=sizes, condition=sizes)
    assert "--unit rows" in asks(data)
    (reading,) = read([("file.csv", data)], answered("--unit rows"))
    assert (reading.votes.num_rows, reading.n_rejected) == (N, 0)


def test_what_says_the_same_in_every_row_shows_no_judgement() -> None:
    data = sheet(id=IDS, response_a="x" * 60, response_b="y" * 60, majority_preference="Tie")
    found, said = outcome("file.csv", data, {"form": "votes"})
    assert (found, "'Tie' in every row" in said) == ("refused", True)


def test_options_that_names_cannot_use_go_to_the_plan() -> None:
    codes = [k % 2 for k in range(N)]
    models = {f"model-{name}": codes for name in ("u", "v", "w")}
    data = sheet(item_id=IDS, label=SIDES, **models)
    typed = "--label-map 0=A 1=B --map gold=label"
    (reading,) = read([("file.csv", data)], answered(typed))
    assert (reading.votes.num_rows, reading.n_rejected) == (3 * N, 0)


def test_metrics_in_objects_have_the_gold_that_they_have_in_a_table() -> None:
    names = ("clear_llm", "clear_human", "depth_llm", "depth_human")
    records = [dict(zip(names, (x, x, 6 - x, x), strict=True)) for x in LEVELS]
    data = json.dumps({"results": {f"r{k}": record for k, record in enumerate(records)}}).encode()
    truth = {"form": "scores", "judges": 1, "people": 2, "by judges": 2 * N, "gold": N}
    assert outcome("file.json", data, truth) == ("right", "")
    # The judge is called as its columns are, in objects and in a table, and however short it is.
    table = "\n".join(",".join(map(str, each.values())) for each in records[:5])
    short = "\n".join([",".join(names), table]).encode()
    for file in (("file.json", data), ("file.csv", short)):
        (reading,) = read([file])
        assert {*reading.votes["judge"].to_pylist()} == {"llm"}


SHARED = REPOSITORY.parent / "shared"
CASES = SHARED / "cases"
TRUTHS = SHARED / "spikes" / "reading" / "expected.json"
ASKED = {
    *("both-orders-original-swapped.json", "both-orders-vote_ab-vote_ba.csv"),
    *("both-orders-win_1-win_2.csv", "columns-are-models-0-1.csv", "json-keyed-by-id.json"),
    *("json-nested-by-judge.json", "labels-0-first-1-second-2-tie.csv", "noten-40.csv"),
}
"""Files in which only their owner knows what a word means."""
KNOWN = {
    # A judge's score that cannot be read costs its row, and it is said.
    "one-typo-45.csv",
    # Two forms, of which each has its gold.
    "m24_mixed_pair_and_scores.csv",
}


@pytest.mark.skipif(not TRUTHS.is_file(), reason="the cases are not here")
def test_each_question_offers_the_right_answer() -> None:
    truths = json.loads(TRUTHS.read_text(encoding="utf-8"))
    for path in sorted(CASES.glob("*/*")):
        if path.name in ASKED:
            truth = truths[path.name]
            assert after_answers(path.name, path.read_bytes(), truth) is not None, path.name


@pytest.mark.skipif(not TRUTHS.is_file(), reason="the cases are not here")
def test_no_case_is_read_otherwise_than_it_is_stated() -> None:
    truths = json.loads(TRUTHS.read_text(encoding="utf-8"))
    found: dict[str, str] = {}
    for path in sorted(CASES.glob("*/*")):
        if path.name in truths:
            found[path.name], _ = outcome(path.name, Path(path).read_bytes(), truths[path.name])
    assert len(found) == 61
    assert {name for name, how in found.items() if how == "wrong in silence"} <= KNOWN
    assert {name for name, how in found.items() if how == "asked"} <= ASKED
    assert [name for name, how in found.items() if how == "refused"] == []


@pytest.mark.thorough
@pytest.mark.skipif(not TRUTHS.is_file(), reason="the cases are not here")
def test_all_commands_end_alike_on_every_case() -> None:
    apart = {
        path.name: codes
        for path in sorted(CASES.glob("*/*"))
        if path.suffix in (".csv", ".json") and len(set((codes := exits(path)).values())) > 1
    }
    # People's labels alone can be kept, and not audited.
    alone = {"doctor": 2, "audit": 2, "import": 0, "Python": 0}
    names = ("json-instances-and-annotations.json", "single.csv")
    assert apart == dict.fromkeys(names, alone)


LONG = 40_000


def long_sheet(**columns: Any) -> bytes:
    rows = (",".join(str(c(k)) for c in columns.values()) for k in range(LONG))
    return "\n".join([",".join(columns), *rows]).encode()


def test_a_long_table_is_read_by_a_plan_of_some_of_its_rows() -> None:
    data = long_sheet(
        case=lambda k: f"q{k}",
        judge_score=lambda k: f"{k % 5 + 1}/5",
        human_score=lambda k: k % 4 + 1,
        llm_note=lambda k: f"text {k}",
    )
    (reading,) = read([("file.csv", data)])
    votes = reading.votes
    assert (votes.num_rows, reading.n_rejected) == (LONG, 0)
    assert votes["score"].to_pylist() == [k % 5 + 1 for k in range(LONG)]
    assert votes["gold"].to_pylist() == [k % 4 + 1 for k in range(LONG)]
    assert len(votes["item_id"].unique()) == LONG


@pytest.mark.parametrize("most", [by_plan.MOST_CELLS, 140_000])
def test_items_that_return_far_below_are_asked_about_in_a_long_table(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first rows do not show them; a table of more cells is not planned as a whole."""
    monkeypatch.setattr(by_plan, "MOST_CELLS", most)
    data = long_sheet(
        qid=lambda k: f"q{k % (LONG // 2)}",
        model=lambda k: "m",
        llm_score=lambda k: k % 5 + 1,
        human_score=lambda k: k % (LONG // 2) % 5 + 1,
    )
    with pytest.raises(AmbiguousLabels, match="20,000 values that return 2 times"):
        read([("file.csv", data)])


def test_a_table_of_results_holds_no_judgement() -> None:
    systems = [f"system-{k}" for k in range(N)]
    data = sheet(name=systems, score=[50 + k / 7 for k in range(N)], tokens=LEVELS)
    found, said = outcome("board.csv", data, {"form": "scores"})
    assert found == "refused", said


def test_a_table_that_cannot_be_taken_apart_is_refused_and_read_by_no_other_reader() -> None:
    lines = sheet(id=IDS, judge_passed=MARKS, human_passed=MARKS[::-1]).decode().splitlines()
    lines[30] = '29,"✅,❌'
    found, said = outcome("open.csv", "\n".join(lines).encode(), {"form": "scores"})
    assert (found, "a quote is opened and never closed" in said) == ("refused", True)


def test_what_was_left_out_around_a_table_is_said_of_a_plan_too() -> None:
    data = b"Export of October\n" + sheet(id=IDS, judge_passed=MARKS, human_passed=MARKS[::-1])
    (reading,) = read([("titled.csv", data)])
    assert reading.votes.num_rows == N
    assert any("Export of October" in note for note in reading.notes)


def test_a_verdict_of_nobody_is_counted() -> None:
    graders = ["" if k == 7 else ("gpt", "claude")[k % 2] for k in range(N)]
    (reading,) = read([("file.csv", sheet(trace=IDS, grader=graders, verdict=SIDES, gold=OTHER))])
    assert reading.votes.num_rows + reading.n_rejected == N
