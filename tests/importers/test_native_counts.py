"""Counts of real files of tools in ../shared, as independent code found them."""

import re
from collections import Counter

import pytest

from core.__main__ import main
from core.importers import read

APP, LLM, HUMAN = {"app"}, {"llm"}, {"human"}
JUDGE = "openai:/gpt-judge"
CAPITALS = {
    ("model_graded_qa", "mockllm/judge-a"): {1.0: 3, 0.5: 1, 0.0: 1, None: 1},
    ("model_graded_fact", "mockllm/judge-b"): {1.0: 4, 0.0: 2},
}
OUT = {("llm-rubric: names the right capital", "file://judge.js"): {0.9: 3, 0.2: 1}}
TRACES = {
    ("correctness", JUDGE): {1.0: 1, 0.0: 1},
    ("quality", JUDGE): {4.0: 1, 2.0: 1},
    ("correctness", "ann@example.org"): {0.0: 1},
}
RESULTS = {key: counts for key, counts in TRACES.items() if key[1] == JUDGE}
PHOENIX = {("correctness", "gpt-judge"): {1.0: 2, 0.0: 1}}
GEMINI = "gemini-2.5-pro (Gemini)"
SCORES = {
    "inspect/generated_capitals.eval": (CAPITALS, {0, 1}, {"mockllm/answerer"}),
    "inspect/generated_capitals.json": (CAPITALS, {0, 1}, {"mockllm/answerer"}),
    "inspect/2025-05-12T20-28-26-04-00_security-guide.json": (
        {("model_graded_fact", "openai/gpt-4o-mini"): {1.0: 3}},
        {0},
        {"openai/gpt-4o-mini"},
    ),
    "promptfoo/out.json": (OUT, {0}, {"model-a", "model-b"}),
    "promptfoo/out.jsonl": (OUT, {0}, {"model-a", "model-b"}),
    "deepeval/latest_test_run.json": (
        {
            ("Agroforestry Factual Accuracy [GEval]", GEMINI): {0.3: 1, 0.1: 1},
            ("Contextual Localization [GEval]", GEMINI): {1.0: 1, 0.0: 1},
        },
        {0},
        APP,
    ),
    "mlflow/traces.jsonl": (TRACES, {0}, APP),
    "mlflow/search_traces.json": (TRACES, {0}, APP),
    "mlflow/search_traces.csv": (TRACES, {0}, APP),
    "mlflow/result_df.csv": (RESULTS, {0}, APP),
    "mlflow/result_df.json": (RESULTS, {0}, APP),
    "phoenix/annotations.csv": (PHOENIX, {0}, APP),
    "phoenix/annotations.parquet": (PHOENIX, {0}, APP),
    "phoenix/evals.csv": (PHOENIX, {0}, APP),
    "phoenix/evals.parquet": (PHOENIX, {0}, APP),
    "lm_eval/samples_capitals_2026-11-22T03-51-40.160270.jsonl": (
        {("exact_match,none", "scorer:exact_match"): {0.0: 2}},
        {0},
        {"model"},
    ),
    "prometheus/sample_evals_58.json": (
        {("score", "prometheus-eval/prometheus-7b-v2.0"): {5.0: 58}},
        {0},
        {"sample-model"},
    ),
    "hf_preference/kto_en_demo_60.json": (
        {("score", "kto_en_demo_60"): {1.0: 38, 0.0: 22}},
        {0},
        {"response"},
    ),
}
VOTES = {
    "promptfoo/out.json": (2, {1: 1, -1: 1}, 1, LLM),
    "promptfoo/out.jsonl": (2, {1: 1, -1: 1}, 1, LLM),
    "lmarena/mteb_clean_battle_retrieval.json": (602, {1: 156, 0: 296, -1: 150}, 1, HUMAN),
    "lmarena/arena140k_head.csv": (5, {1: 2, 0: 2, -1: 1}, 1, HUMAN),
    "feedback_forensics/annotated_pairs.json": (11, {1: 6, -1: 5}, 11, LLM),
    "alttest/llm_annotations.json": (720, {1: 315, 0: 74, -1: 331}, 6, LLM),
    "alttest/human_annotations.json": (246, {1: 80, 0: 76, -1: 90}, 3, HUMAN),
    "llmbar/result.json": (108, {1: 61, -1: 47}, 1, LLM),
}
GOLD = {"hf_preference/dpo_en_demo_60.json": 60, "hf_preference/v1_dpo_demo.jsonl": 10}
REFUSED = {
    "promptfoo/out.csv": "promptfoo's CSV.*results.json",
    "promptfoo/promptfoo-results.json": "no judgement of a judge.*regex, which no model judges",
    "arenahard/arena_hard_leaderboard_20240731.csv": "a leaderboard",
    "faireval/question.jsonl": "questions only",
    "label_studio/data.json": "Label Studio without results of type pairwise",
    "lm_eval/results_2026-11-22T03-51-40.160270.json": "--log_samples",
    "potato/alice_user_state.json": "Potato's user_state.json",
    "pandalm/pandalm-7b-testset-v1.json": "Give the test set",
}


def of_kind(folder, name, kind):
    readings = read([(name.rsplit("/", 1)[-1], folder / name)])
    (reading,) = [each for each in readings if each.kind == kind]
    assert reading.n_rejected == 0
    return reading.votes


@pytest.fixture(scope="module")
def folder(shared_data):
    return shared_data / "native"


@pytest.mark.parametrize("name", SCORES)
def test_scores_of_a_real_file(folder, name):
    counts, runs, models = SCORES[name]
    votes = of_kind(folder, name, "scores")
    found = {}
    for row in votes.to_pylist():
        found.setdefault((row["metric"], row["judge"]), Counter())[row["score"]] += 1
        who = "human" if "@" in row["judge"] else "llm"
        assert (row["rater_type"], row["model"] in models) == (who, True)
        assert (row["status"] == "ok") == (row["score"] is not None)
    assert {key: dict(counted) for key, counted in found.items()} == counts
    assert {*votes["run"].to_pylist()} == runs


@pytest.mark.parametrize("name", VOTES)
def test_votes_of_a_real_file(folder, name):
    n, counts, judges, raters = VOTES[name]
    votes = of_kind(folder, name, "votes")
    assert votes.num_rows == n
    assert dict(Counter(votes["vote"].to_pylist())) == counts
    assert len({*votes["judge"].to_pylist()}) == judges
    assert {*votes["rater_type"].to_pylist()} == raters


def test_metrics_of_ragas(folder):
    votes = of_kind(folder, "ragas/tiago_ragas_results.csv", "scores")
    sums, missing = Counter(), Counter()
    for row in votes.to_pylist():
        if row["score"] is None:
            missing[row["status"]] += 1
        else:
            sums[row["metric"]] += row["score"]
    assert sums == {
        "faithfulness": pytest.approx(0.307692, abs=1e-6),
        "answer_relevancy": pytest.approx(2.530913, abs=1e-6),
        "context_recall": pytest.approx(2.6),
    }
    assert missing == {"unparsed": 32}
    assert {*votes["judge"].to_pylist()} == {"ragas"}


@pytest.mark.parametrize("name", GOLD)
def test_gold_of_real_pairs(folder, name):
    votes = of_kind(folder, name, "votes")
    assert votes.num_rows == GOLD[name] == len({*votes["item_id"].to_pylist()})
    assert {*votes["gold"].to_pylist()} == {1, -1}


@pytest.mark.thorough
def test_every_real_file_ends_with_something_true(folder, capsys):
    """Each file is audited, or refused with what it is and what to give instead."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or name == "SOURCES.md":
            continue
        code = main(["audit", str(path), "--isolated"])
        out, err = capsys.readouterr()
        unread = (*REFUSED, *GOLD, "faireval/review_gpt35_vicuna-13b_human.txt")
        unread += ("pandalm/gpt-3.5-turbo-testset-v1.json",)
        assert (code, bool(out)) == ((2, False) if name in unread else (0, True)), (name, err)
        if name in REFUSED:
            assert re.search(REFUSED[name], err), (name, err)
