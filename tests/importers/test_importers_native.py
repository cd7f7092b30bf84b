"""Files as other tools write them: the same votes as their converted rows, and their traps."""

import hashlib
import json

import pandas as pd
import pytest
from places import REPOSITORY

from core.errors import InvalidOption, UnreadableFile
from core.importers import ReadOptions, inspect, read

NATIVE = REPOSITORY / "tests" / "data" / "native"
SAME = ("dataset", "category", "model_a", "model_b", "run", "vote", "gold", "rater_type")


def read_files(*paths, **options):
    return read([(path.name, path) for path in paths], ReadOptions(**options))


def read_json(records, name="x.jsonl", **options):
    text = "\n".join(json.dumps(record) for record in records)
    return read([(name, text.encode())], ReadOptions(**options))[0]


def against(reading, converted, *keys):
    """Votes that were parsed beside their converted rows."""
    found = reading.votes.to_pandas()
    found = found[found["vote"].notna()]
    return found.merge(converted, on=list(keys), suffixes=("", "_converted"), validate="one_to_one")


FILES = sorted(
    path.relative_to(NATIVE).as_posix()
    for path in NATIVE.rglob("*.json*")
    if "single" not in path.name
)
CELLS = (
    "dataset",
    "item_id",
    "category",
    "model_a",
    "model_b",
    "judge",
    "run",
    "position",
    "vote",
    "gold",
)


def cells(frame, names):
    return (
        frame[list(names)]
        .astype(object)
        .where(frame[list(names)].notna(), None)
        .to_numpy()
        .tolist()
    )


@pytest.mark.parametrize("name", FILES)
def test_a_native_file_gives_the_votes_that_it_was_made_from(native, name):
    path = native / name
    outputs = "pandalm" in name and path.name != "testset-v1.json"
    reading = read_files(path, *[native / "pandalm" / "testset-v1.json"] * outputs)[0]
    made = pd.read_csv(native / "expected.csv")
    made = made[made["file"] == name]
    found = reading.votes.to_pandas()
    assert (reading.format.split("_")[0], reading.rejects.num_rows) == (name.split("/")[0], 0)
    assert cells(found, (*CELLS, "rater_type", "status")) == cells(
        made, (*CELLS, "rater_type", "status")
    )
    assert found["confidence"].tolist() == pytest.approx(
        made["confidence"].tolist(), rel=1e-12, nan_ok=True
    )
    assert (found["confidence_kind"].dropna() == "logprob").all()
    assert (found["confidence_kind"].notna() == found["confidence"].notna()).all()
    assert found["prompt"].notna().all() == ("v0.2" not in name)


def test_every_made_up_file_has_its_votes(native):
    assert sorted(set(pd.read_csv(native / "expected.csv")["file"])) == FILES


def test_texts_and_other_fields_of_native_files(native):
    (full,) = read_files(next((native / "arenahard").glob("*v0.1*")))
    made = pd.read_csv(native / "expected.csv", keep_default_na=False)
    labels = made.loc[made["file"].str.contains("v0.1"), "label"].tolist()
    found = full.votes.to_pandas()
    assert [dict(extra).get("label", "") for extra in found["extra"]] == labels
    assert any("--map model_b==NAME" in note for note in full.notes)
    assert found["rationale"].notna().all()
    # games[0] shows the baseline first, and the model is A of a vote.
    assert (
        found.loc[0, "response_b"]
        == found.loc[1, "response_b"]
        == ("Heat and dry air make the leaf lose more water than the root can bring.")
    )
    (pairs,) = read_files(native / "mtbench" / "judge-1_pair.jsonl")
    found = pairs.votes.to_pandas()
    assert dict(found["extra"][0]) == {"turn": "1", "judge_prompt": "pair-v2"}
    assert found.loc[0, "response_a"] == found.loc[1, "response_a"] != found.loc[0, "response_b"]
    (named,) = read_files(
        next((native / "arenahard").glob("*v0.2*")), mapping=(("model_b", "=base"),)
    )
    assert set(named.votes["model_b"].to_pylist()) == {"base"}
    assert named.notes == ()


def judgebench(judgments, **more):
    record = {
        "pair_id": "p",
        "label": "A>B",
        "response_model": "m",
        "judge_name": "n",
        "judgments": judgments,
    }
    return record | more


def test_judgebench_nulls_are_unparsed_and_the_second_judgment_is_swapped():
    detail = {"judge_model": "org/j"}
    reading = read_json(
        [
            judgebench(
                [{"judgment": detail, "decision": "A>B"}, {"judgment": detail, "decision": "A>B"}]
            ),
            judgebench([None, {"judgment": detail, "decision": None}], pair_id="q"),
            judgebench([{"judgment": detail, "decision": "C>A"}], pair_id="r"),
        ]
    )
    found = reading.votes.select(["item_id", "position", "vote", "status", "judge"]).to_pylist()
    assert [tuple(v.values()) for v in found] == [
        ("p", "ab", 1, "ok", "org_j [n]"),
        ("p", "ba", -1, "ok", "org_j [n]"),
        ("q", "ab", None, "unparsed", "org_j [n]"),
        ("q", "ba", None, "unparsed", "org_j [n]"),
    ]
    assert reading.rejects.to_pylist()[0]["column"] == "judgments[0].decision"
    assert reading.rejects.to_pylist()[0]["value"] == "C>A"


def test_judgebench_takes_the_judge_from_the_file_name_where_the_record_has_none():
    nothing = [judgebench([None, None])]
    named = read_json(nothing, name="dataset=judgebench,judge_name=n,judge_model=m-1.5.jsonl")
    assert set(named.votes["judge"].to_pylist()) == {"m-1.5 [n]"}
    assert read_json(nothing).rejects["column"].to_pylist() == ["judge_model"]


def test_pandalm_outputs_alone_ask_for_the_test_set(native):
    path = native / "pandalm" / "judge-2-testset-v1.json"
    with pytest.raises(UnreadableFile, match=r"judge-2-testset-v1.json.*Give the test set"):
        read_files(path)
    assert "test set" in inspect(path, path.name).notes[0]


def test_pandalm_gold_is_the_modal_label_and_a_tie_without_one():
    labels = [(1, 1, 2), (0, 1, 2), (2, 0, 0), (1, None, 2)]
    records = [
        {"idx": i, "cmp_key": "x_y", "annotator1": a, "annotator2": b, "annotator3": c}
        for i, (a, b, c) in enumerate(labels)
    ]
    gold = read_json(records).votes.to_pandas().groupby("item_id")["gold"].first()
    assert gold.tolist() == [1, 0, 0, 0]


def test_arena_hard_prompts_are_taken_apart_where_they_are_whole():
    prompt = (
        "<|User Prompt|>\nWhy?\n\n<|The Start of Assistant A's Answer|>\nfirst\n<|The End of "
        "Assistant A's Answer|>\n\n<|The Start of Assistant B's Answer|>\nsecond\n<|The End of "
        "Assistant B's Answer|>"
    )
    games = [{"score": "A>B", "user_prompt": prompt}, {"score": "A>B", "user_prompt": prompt}]
    record = {
        "uid": "u",
        "model": "m",
        "baseline": "base",
        "judge": "j",
        "category": "c",
        "games": games,
    }
    found = (
        read_json([record])
        .votes.select(["prompt", "response_a", "response_b", "vote", "model_b"])
        .to_pylist()
    )
    assert [tuple(v.values()) for v in found] == [
        ("Why?", "second", "first", -1, "base"),
        ("Why?", "first", "second", 1, "base"),
    ]


def alpaca(preference, **more):
    return {
        "instruction": "Why?",
        "output_1": "r",
        "output_2": "o",
        "generator_2": "m",
        "preference": preference,
    } | more


def test_whole_alpacaeval_preferences_carry_no_confidence():
    records = [alpaca(p, instruction=f"i{i}") for i, p in enumerate((1.0, 2, 1.5, None))]
    found = read_json(records).votes
    assert found["vote"].to_pylist() == [1, -1, 0, None]
    assert found["status"].to_pylist() == ["ok", "ok", "ok", "unparsed"]
    assert found["confidence"].null_count == 4
    assert found["item_id"][0].as_py() == hashlib.sha256(b"i0").hexdigest()[:16]


@pytest.mark.parametrize("preference", [0.5, 2.5, "2", True, float("nan")])
def test_alpacaeval_preferences_outside_their_range_are_rejected(preference):
    reading = read_json([alpaca(1), alpaca(preference, instruction="x")])
    assert reading.votes.num_rows == 1
    assert reading.rejects.select(["row", "column"]).to_pylist() == [
        {"row": 2, "column": "preference"}
    ]


@pytest.mark.parametrize(("draw", "confidence"), [(0, None), (0.0, 0.5)])
def test_an_alpacaeval_preference_of_0_is_a_draw(draw, confidence):
    others = (1.25, 2) if confidence else (1, 2)
    records = [alpaca(p, instruction=f"i{i}") for i, p in enumerate((*others, draw))]
    reading = read_json(records)
    assert (reading.votes["vote"].to_pylist(), reading.rejects.num_rows) == ([1, -1, 0], 0)
    assert reading.votes["status"].to_pylist() == ["ok"] * 3
    assert reading.votes["confidence"][2].as_py() == confidence


def test_an_arena_hard_game_that_was_not_judged_is_an_error():
    games = [[None, {"score": "A>B"}], [{"score": None}, None]]
    records = [
        {"uid": f"u{i}", "model": "m", "judge": "j", "games": pair} for i, pair in enumerate(games)
    ]
    found = read_json(records).votes
    assert found["status"].to_pylist() == ["error", "ok", "unparsed", "error"]
    assert found["vote"].to_pylist() == [None, 1, None, None]


def test_one_record_that_is_a_whole_file_keeps_its_arrays():
    record = judgebench([{"judgment": {"judge_model": "j"}, "decision": "A>B"}] * 2)
    for text in (json.dumps(record), json.dumps(record, indent=1)):
        (reading,) = read([("x.json", text.encode())])
        assert (reading.format, reading.votes["vote"].to_pylist()) == ("judgebench", [1, -1])


def test_one_instruction_with_two_references_is_two_items():
    reading = read_json([alpaca(1), alpaca(2, output_1="other")])
    assert len(set(reading.votes["item_id"].to_pylist())) == 2


def test_a_format_can_be_forced_and_is_checked():
    record = judgebench([{"judgment": {"judge_model": "j"}, "decision": "A>B"}])
    with pytest.raises(UnreadableFile, match=r"x.jsonl: row 1: not a alpacaeval file.*preference"):
        read_json([record], format="alpacaeval")
    with pytest.raises(UnreadableFile, match=r"not JSON, as a judgebench file is"):
        read([("x.csv", b"item_id,judge,vote\n1,j,1\n")], ReadOptions(format="judgebench"))
    with pytest.raises(InvalidOption, match=r"--map category=source.*fixed text"):
        read_json([record], mapping=(("category", "source"),))


def check_judgebench(shared_data, judge):
    (path,) = (shared_data / "native" / "judgebench").glob(f"*judge_model={judge}.jsonl")
    reading = read_files(path)[0]
    assert (reading.format, reading.rejects.num_rows) == ("judgebench", 0)
    converted = pd.read_csv(shared_data / "votes" / "judgebench.csv.gz")
    both = against(reading, converted, "item_id", "position", "judge")
    assert (
        len(both) == reading.votes.num_rows == converted["judge"].str.startswith(judge).sum() == 700
    )
    for column in SAME:
        assert (both[column] == both[f"{column}_converted"]).all(), column
    # The converted rows are rounded to six digits.
    assert ((both["confidence"] - both["confidence_converted"]).abs() <= 5e-7).sum() == both[
        "confidence"
    ].count()
    assert both["confidence"].count() == (700 if "reward_model" in path.name else 0)


def check_pandalm(shared_data):
    """gpt-3.5-turbo answered 15 of the 300 with garbage, which the converted rows leave out."""
    folder = shared_data / "native" / "pandalm"
    names = ("gpt-3.5-turbo-testset-v1.json", "testset-v1.json", "pandalm-7b-testset-v1.json")
    readings = read_files(*(folder / name for name in names))
    assert [reading.name for reading in readings] == list(names)
    converted = pd.read_csv(shared_data / "votes" / "pandalm.csv.gz")
    for reading, parsed, unparsed in zip(readings, (285, 900, 300), (15, 0, 0), strict=True):
        both = against(reading, converted, "item_id", "judge")
        assert len(both) == parsed
        assert reading.votes["status"].to_pylist().count("unparsed") == unparsed
        assert reading.rejects.num_rows == 0
        for column in (*SAME, "position"):
            assert (both[column] == both[f"{column}_converted"]).all(), column


def check_arena_hard_scores(shared_data, model):
    path = shared_data / "native" / "arenahard" / f"ko-arena-hard-v0.1__ensemble__{model}.jsonl"
    reading = read_files(path, mapping=(("model_b", "=claude-3.7-sonnet"),), dataset="KoArenaHard")[
        0
    ]
    converted = pd.read_csv(shared_data / "votes" / "ko_arena_hard.csv.gz")
    both = against(reading, converted, "item_id", "model_a", "position", "judge")
    assert len(both) == reading.votes.num_rows == 1000
    for column in ("dataset", "model_b", "run", "vote", "rater_type"):
        assert (both[column] == both[f"{column}_converted"]).all(), column


def check_arena_hard_in_full(shared_data):
    path = next((shared_data / "native" / "arenahard").glob("arena-hard-v0.1__*.jsonl"))
    reading = read_files(path)[0]
    found = reading.votes.to_pandas()
    assert (len(found), (found["status"] == "unparsed").sum(), reading.rejects.num_rows) == (
        216,
        2,
        0,
    )
    assert set(found["dataset"]) == {"arena-hard-v0.1"}
    assert set(found["model_b"]) == {"baseline"}
    assert any("--map model_b==NAME" in note for note in reading.notes)
    # games[0] of the first record is A>>B with the baseline as A; games[1] is B>>A with the model
    # as A.
    assert found.loc[:1, ["position", "vote"]].to_numpy().tolist() == [["ba", -1], ["ab", -1]]
    assert dict(found["extra"][0])["label"] == "A>>B"
    assert found["rationale"].notna().all()


def check_mt_bench(shared_data):
    path = shared_data / "native" / "mtbench" / "gpt-4_pair.jsonl"
    reading = read_files(path)[0]
    found = reading.votes.to_pandas()
    raw = [json.loads(line) for line in path.read_text().splitlines()]
    meaning = {"model_1": 1, "tie": 0, "model_2": -1}
    expected = [meaning.get(record[game]) for record in raw for game in ("g1_winner", "g2_winner")]
    assert [None if pd.isna(vote) else int(vote) for vote in found["vote"]] == expected
    assert found["position"].tolist() == ["ab", "ba"] * 75
    assert (found["status"] == "error").sum() == expected.count(None) == 3
    assert set(found["judge"]) == {"gpt-4"}
    assert dict(found["extra"][0]) == {"turn": "1", "judge_prompt": "pair-v2"}


def check_alpacaeval(shared_data):
    (path,) = (shared_data / "native" / "alpacaeval").glob("*.json")
    reading = read_files(path)[0]
    found = reading.votes.to_pandas()
    preference = pd.Series([record["preference"] for record in json.loads(path.read_text())])
    assert (reading.votes.num_rows, reading.rejects.num_rows, reading.duplicates) == (400, 0, 0)
    assert found["vote"].value_counts().to_dict() == {1: 385, -1: 14, 0: 1}
    assert (found["vote"] == (preference < 1.5).astype(int) - (preference > 1.5).astype(int)).all()
    assert (
        found["confidence"] - (preference - 1).where(preference > 1.5, 2 - preference)
    ).abs().max() == 0
    assert set(found["confidence_kind"]) == {"logprob"}
    assert set(found["model_a"]) == {"gpt4_1106_preview"}
    assert found["position"].isna().all()


@pytest.mark.thorough
def test_real_files_give_the_votes_of_their_converted_rows(shared_data, subtests):
    """What other tools wrote, beside the same votes as they were converted independently."""
    for judge in ("o1-mini-2024-09-12", "Skywork_Skywork-Reward-Llama-3.1-8B"):
        with subtests.test(judge):
            check_judgebench(shared_data, judge)
    for model in ("gemini-2.5-pro-exp-03-25", "gpt-4o-mini"):
        with subtests.test(model):
            check_arena_hard_scores(shared_data, model)
    for check in (check_pandalm, check_arena_hard_in_full, check_mt_bench, check_alpacaeval):
        with subtests.test(check.__name__):
            check(shared_data)
