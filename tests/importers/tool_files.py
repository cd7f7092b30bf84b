"""What the small files of `data/tools` hold: one of each form that a tool writes.

A reading is (kind, rows, judges, rater types, metrics, runs, models, values).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from places import REPOSITORY

TOOLS = REPOSITORY / "tests" / "data" / "tools"
GPT, APP = {"gpt-judge"}, {"app"}
LLM, HUMAN, BOTH = {"llm"}, {"human"}, {"llm", "human"}
TWO = {"m-one", "m-two"}


def scores(
    judges: Any, raters: Any, metrics: Any, models: Any, values: Any, runs: Any = (0,)
) -> Any:
    return ("scores", judges, raters, metrics, {*runs}, models, values)


def votes(judges: Any, raters: Any, models: Any, values: Any, runs: Any = (0,)) -> Any:
    return ("votes", judges, raters, None, {*runs}, models, values)


PROMPTFOO = (
    scores({"openai:gpt-judge"}, LLM, {"llm-rubric: explains it"}, TWO, [0.2, 0.9, 0.4, 0.8, None]),
    votes({"openai:gpt-judge"}, LLM, {"m-one"}, [1, -1]),
)
MLFLOW = scores(
    {"openai:/gpt-judge", "ann@example.org"}, BOTH, {"clear", "depth"}, APP, [1, 4, 0, 0]
)
INSPECT = scores(
    {"lab/judge-one", "lab/judge-two", "scorer:match", "scorer:facets"},
    LLM,
    {"model_graded_qa", "model_graded_fact", "match", "facets", "facets: clear", "facets: short"},
    {"lab/answerer"},
    [1, 1, 1, 0.75, 1, 0.5, 0, 0, 0.75, 1, None, 1, 1, 0.75, 1, None, None, None, None],
    runs=(0, 1),
)
EXPECTED: dict[str, tuple[str, tuple[Any, ...]]] = {
    "alttest_llm.json": (
        "alttest",
        (votes({"judge-x", "judge-y"}, LLM, {"m-one"}, [1, 0, -1, -1, 0, -1]),),
    ),
    "annotated_pairs.json": (
        "annotated_pairs",
        (votes({"Ann", "Select the shorter"}, BOTH, {"m-one"}, [1, -1, 0, -1, None]),),
    ),
    "battles.csv": ("canonical", (votes({"arena"}, HUMAN, {"m-one"}, [1, 0, 0, -1]),)),
    "crowd.csv": ("canonical", (votes({"w1", "w2"}, HUMAN, TWO, [1, 0, -1]),)),
    "deepeval.json": (
        "deepeval",
        (
            scores(
                {"gpt-judge", "scorer:Exact Match"},
                LLM,
                {"Clarity [GEval]", "Exact Match"},
                APP,
                [0.8, 0, 0.25, 0, None, 0],
            ),
        ),
    ),
    "dpo.json": ("preference_pairs", (votes({None}, {None}, {"A"}, None, (None,)),)),
    "dpo_messages.jsonl": ("preference_pairs", (votes({None}, {None}, {"A"}, None, (None,)),)),
    "german.csv": ("canonical", (votes({"richter"}, LLM, {"A"}, [1, -1, 0]),)),
    "home_made.csv": (
        "direct_scores",
        (scores({"home_made"}, LLM, {"clear", "polite"}, {None}, [4, 5, 3, 5, 2, 5]),),
    ),
    "human_annotations.json": (
        "alttest",
        (votes({"author_0", "expert_24"}, HUMAN, {"m-one"}, [1, 0, -1]),),
    ),
    "inspect.json": ("inspect", (INSPECT,)),
    "label_studio.json": (
        "label_studio",
        (votes({"annotator 1", "annotator 2", "ranker-1"}, BOTH, {"A"}, [1, 1, -1, 1, 1]),),
    ),
    "langfuse.csv": (
        "langfuse",
        (
            scores(
                {"clear", "tone", "Ann"},
                BOTH,
                {"clear", "tone"},
                APP,
                [0.9, 0.2, 0.4, 1, 1],
                (0, 1),
            ),
        ),
    ),
    "langsmith.jsonl": (
        "langsmith",
        (scores({"gpt-judge", "Ann", "clear"}, BOTH, {"clear"}, APP, [1, 0, 0.5]),),
    ),
    "mlflow_result.csv": (
        "direct_scores",
        (scores({"mlflow"}, LLM, {"clear", "depth"}, {None}, [0, 3, 1, 4, 1, 5]),),
    ),
    "mlflow_search.csv": ("mlflow", (MLFLOW,)),
    "mlflow_search.json": ("mlflow", (MLFLOW,)),
    "mlflow_traces.jsonl": ("mlflow", (MLFLOW,)),
    "nested.jsonl": (
        "nested_runs",
        (votes({"judge-x"}, LLM, {"A"}, [1, -1, 0, -1, -1, 1], (0, 1, 2)),),
    ),
    "openai_items.jsonl": (
        "openai_evals",
        (scores(GPT, LLM, {"clear"}, {"gpt-answerer"}, [1, 0, 0.5]),),
    ),
    "org__reward_outputs.jsonl": (
        "rewardbench",
        (votes({"org__reward"}, LLM, {"chosen", "rejected"}, None),),
    ),
    "phoenix.csv": ("phoenix", (scores({*GPT, "human"}, BOTH, {"clear"}, APP, [1, 0, 1]),)),
    "phoenix_evals.csv": ("phoenix_evals", (scores(GPT, LLM, {"clear"}, APP, [1, 0, None]),)),
    "prometheus.json": (
        "prometheus",
        (scores({"prometheus-x"}, LLM, {"score"}, {"m-one"}, [5, 3, 1]),),
    ),
    "promptfoo.json": ("promptfoo", PROMPTFOO),
    "promptfoo.jsonl": ("promptfoo", PROMPTFOO),
    "promptfoo_three.jsonl": (
        "promptfoo",
        (
            scores(
                {"openai:gpt-judge"},
                LLM,
                {"llm-rubric: explains it"},
                {"m-one", "m-two", "m-three"},
                [0.5, 0.5, 0.5],
            ),
            ("rankings", {"openai:gpt-judge"}, LLM, None, {0}, None, [0, 0, 1]),
        ),
    ),
    "ragas.csv": (
        "direct_scores",
        (
            scores(
                {"ragas"},
                LLM,
                {"faithfulness", "answer_relevancy", "context_recall"},
                {None},
                [0.5, 0.9, None, None, 0.7, None, 1, None, None],
            ),
        ),
    ),
    "samples_nature_2026-01-01T00-00-00.000000.jsonl": (
        "lm_eval",
        (
            scores(
                {"scorer:exact_match"},
                LLM,
                {"exact_match,none", "exact_match,strict"},
                {"model"},
                [1, 0, 1],
            ),
        ),
    ),
    "wildbench_pairs.json": (
        "wildbench_pairs",
        (votes({"wildbench_pairs"}, LLM, TWO, [1, 0, -1]),),
    ),
    "wildbench_score.json": (
        "wildbench",
        (scores({"wildbench_score"}, LLM, {"score"}, {"m-one"}, [7, 3, 9]),),
    ),
    "ultra.jsonl": ("preference_scores", (votes({"ultra"}, LLM, {"A"}, None),)),
}
FILES: list[Path] = sorted(TOOLS / name for name in EXPECTED)
