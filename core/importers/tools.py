"""Logs of evaluation tools: Inspect, DeepEval, MLflow, Phoenix, Langfuse, LangSmith, OpenAI Evals,
lm-eval; promptfoo has a module of its own.
"""

from __future__ import annotations

import re
from typing import Any

from .columns import text_hash
from .declared import (
    LEFT_OUT,
    Scopes,
    declared,
    get,
    hashed,
    joined,
    listed,
    numbered,
    opened,
    said,
)
from .json_tables import Record

APP = "=app"
"""What the model is called where a log is of an application and names none."""
RATERS = {"llm": "llm", "human": "human", "code": LEFT_OUT}


UNGRADED = {"match", "includes", "pattern", "answer", "exact", "f1", "choice", "math", "perplexity"}
"""Scorers of Inspect that compare with the target, and ask no model."""
SCORERS = "root.eval.scorers"
DIGITS = "0123456789"


def _marks(scopes: Scopes) -> list[dict[str, Any]]:
    """The scores of a sample; a score of several values is one per value.

    A sample whose run failed has none, and an empty one of each scorer stands for it.
    """
    # What is asked of all scores of a sample is looked up once: a log may have thousands of them.
    scorers = {
        each["name"]: each
        for each in listed(scopes, SCORERS)
        if isinstance(each, dict) and isinstance(each.get("name"), str)
    }
    other = _other_model(scopes)
    found = get(scopes, "sample.scores")
    if not isinstance(found, dict):
        failed = get(scopes, "sample.error")
        return [
            {"key": name, "scorer": name, "of": {}, "own": own, "other": other}
            for name, own in scorers.items()
            if failed
        ]
    marks: list[dict[str, Any]] = []
    for name, mark in found.items():
        of = mark if isinstance(mark, dict) else {"value": mark}
        value = of.get("value")
        own = scorers.get(name) or scorers.get(name.rstrip(DIGITS)) or {}
        about = {"scorer": name, "of": of, "own": own, "other": other}
        if isinstance(value, dict | list):
            pairs = value.items() if isinstance(value, dict) else enumerate(value, 1)
            marks += [about | {"key": f"{name}: {part}", "value": each} for part, each in pairs]
        else:
            marks.append(about | {"key": name, "value": value})
    return marks


def _other_model(scopes: Scopes) -> str | None:
    """The last model of a sample that is not the one asked."""
    asked = get(scopes, "root.eval.model")
    for event in reversed(listed(scopes, "sample.events")):
        if isinstance(event, dict) and event.get("event") == "model":
            model = event.get("model")
            if model and model != asked:
                return str(model)
    return None


def _judge(scopes: Scopes) -> str | None:
    """The model that graded: the scorer's own, that of the role of grader, another model of the
    sample than the one asked, or that one itself; a scorer that asks none is a judge of its name.
    """
    name = str(get(scopes, "mark.scorer"))
    bare = name.rstrip(DIGITS)
    asked = get(scopes, "root.eval.model")
    if model := get(scopes, "mark.own.options.model.model | mark.own.options.model"):
        return str(model) if isinstance(model, str) else None
    if bare in UNGRADED or name in UNGRADED:
        return f"scorer:{name}"
    if role := get(scopes, "root.eval.model_roles.grader.model | root.eval.model_roles.grader"):
        return str(role) if isinstance(role, str) else None
    if other := get(scopes, "mark.other"):
        return str(other)
    graded = bare.startswith("model_graded") or get(scopes, "mark.of.metadata.grading")
    return str(asked) if graded else f"scorer:{name}"


def _unfinished(record: Record) -> list[str]:
    status = record.get("status")
    return [] if status == "success" else [f"The run was not finished: its status is {status}."]


INSPECT = declared(
    name="inspect",
    line="Inspect log (.eval, or JSON): samples with scores of one or several scorers and epochs",
    needs=("eval.task", "status", "samples"),
    dataset="Inspect",
    notes=_unfinished,
    each=(("sample", "root.samples"), ("mark", _marks)),
    columns={
        "dataset": "root.eval.task",
        "item_id": "sample.id",
        "category": "sample.metadata.category",
        "run": numbered("sample.epoch"),
        "model": "root.eval.model",
        "judge": _judge,
        "metric": "mark.key",
        "score": "mark.value",
        "prompt": "sample.input",
        "response": "sample.output.choices.0.message.content | sample.output.completion",
        "rationale": "mark.of.explanation",
    },
    failed="sample.error",
)


def _cases(scopes: Scopes) -> list[Any]:
    """Cases of one answer, and those of conversations, of a run of DeepEval."""
    run = get(scopes, "root.testRunData") or scopes["root"]
    found = (run.get(name) for name in ("testCases", "conversationalTestCases", "test_results"))
    return [case for cases in found if isinstance(cases, list) for case in cases]


DEEPEVAL = declared(
    name="deepeval",
    line="DeepEval test run (JSON): testCases with metricsData (.latest_test_run.json)",
    needs=("testRunData.testCases | testCases | test_results",),
    sniff=lambda record: any(
        isinstance(case, dict) and {"metricsData", "metrics_data"} & case.keys()
        for case in _cases({"root": record})
    ),
    dataset="DeepEval",
    each=(("case", _cases), ("metric", "case.metricsData | case.metrics_data")),
    columns={
        # Names such as test_case_0 are places in a run, and the next run has them too.
        "item_id": hashed("case.input | case.turns | case.name"),
        "model": APP,
        "judge": lambda scopes: (
            get(scopes, "metric.evaluationModel | metric.evaluation_model")
            or f"scorer:{get(scopes, 'metric.name')}"
        ),
        "metric": "metric.name",
        "score": "metric.score",
        "prompt": "case.input",
        "response": "case.actualOutput | case.actual_output | case.turns",
        "rationale": "metric.reason",
        "cost": "metric.evaluationCost | metric.evaluation_cost",
    },
    extra={"success": "metric.success", "threshold": "metric.threshold", "case": "case.name"},
    failed="metric.error",
)


def _infos(scopes: Scopes) -> list[Any]:
    """What MLflow says of a trace: in the trace as JSON, in it, or in the columns of a table."""
    root = scopes["root"]
    for place in ("root.trace.info", "root.info"):
        found = get(scopes, place)
        if isinstance(found, dict) and "assessments" in found:
            return [found]
    return [root]


def _feedback(scopes: Scopes) -> list[Any]:
    """Assessments that stand: no expectations, which are answers, and none that was overridden."""
    return [
        mark
        for mark in listed(scopes, "info.assessments")
        if isinstance(mark, dict) and mark.get("feedback") and mark.get("valid") is not False
    ]


def _asked(scopes: Scopes) -> str | None:
    """What names a row of the data that was evaluated, so that the next run has it too.

    `mlflow.eval.requestId` is a hash of what was asked where the answers were given, and new in
    each run where MLflow asked for them: then the inputs name it.
    """
    request = said(get(scopes, "info.tags.mlflow.eval.requestId"))
    if request is None or not _UUID.fullmatch(request):
        return request or said(get(scopes, "info.trace_id"))
    inputs = said(get(scopes, "info.trace_metadata.mlflow.traceInputs | info.request_preview"))
    return text_hash(inputs) if inputs else request


_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _is_mlflow(record: Record) -> bool:
    (info,) = _infos({"root": record})
    found = get({"info": info}, "info.assessments")
    return isinstance(found, list) and "trace_id" in info


MLFLOW = declared(
    name="mlflow",
    line="MLflow traces with assessments: Trace.to_json lines, or search_traces as JSON",
    needs=("info.trace_id | trace_id",),
    sniff=_is_mlflow,
    tables=("assessments",),
    dataset="MLflow",
    each=(("info", _infos), ("mark", _feedback)),
    columns={
        "item_id": _asked,
        "model": f"info.tags.mlflow.modelId | {APP}",
        "judge": "mark.source.source_id | mark.source.source_type",
        "rater_type": "mark.source.source_type",
        "metric": "mark.assessment_name",
        "score": "mark.feedback.value",
        "prompt": "info.request_preview | root.request | info.trace_metadata.mlflow.traceInputs",
        "response": (
            "info.response_preview | root.response | info.trace_metadata.mlflow.traceOutputs"
        ),
        "rationale": "mark.rationale",
        "confidence": "mark.metadata.confidence",
    },
    words={"rater_type": RATERS | {"llm_judge": "llm", "ai_judge": "llm"}},
    extra={"trace_id": "info.trace_id"},
    in_order={"run": "mark.metadata.mlflow.assessment.sourceRunId"},
    failed="mark.feedback.error",
)

PHOENIX = declared(
    name="phoenix",
    line="Phoenix annotations (CSV, Parquet, JSON): annotation_name, annotator_kind, score",
    needs=(
        "annotation_name",
        "annotator_kind",
        "score | label",
        "context.span_id | span_id | trace_id | context.trace_id | document_id",
    ),
    tables=("annotator_kind",),
    dataset="Phoenix",
    columns={
        "item_id": "root.context.span_id | root.span_id | root.trace_id | root.context.trace_id",
        "model": APP,
        "judge": lambda scopes: (
            get(scopes, "root.metadata.model | root.metadata.annotator | root.identifier")
            or (
                "human" if str(get(scopes, "root.annotator_kind")).upper() == "HUMAN" else "phoenix"
            )
        ),
        "rater_type": "root.annotator_kind",
        "metric": "root.annotation_name",
        "score": "root.score | root.label",
        "lower_is_better": "root.metadata.direction",
        "rationale": "root.explanation",
    },
    words={"rater_type": RATERS, "lower_is_better": {"minimize": 1, "maximize": 0}},
    extra={"label": "root.label"},
)


def _evals(scopes: Scopes) -> list[Any]:
    """The evaluations beside an answer: `NAME_score` is an object with its kind."""
    found = []
    for column in scopes["root"]:
        mark = opened(scopes["root"][column]) if column.endswith("_score") else None
        if isinstance(mark, dict) and {"score", "kind"} <= mark.keys():
            name = column.removesuffix("_score")
            done = get(scopes, f"root.{name}_execution_details.status | =COMPLETED")
            found.append({**mark, "done": done})
    return found


PHOENIX_EVALS = declared(
    name="phoenix_evals",
    line="Phoenix evaluate_dataframe (CSV, Parquet, JSON): NAME_score objects beside each answer",
    needs=(),
    sniff=lambda record: bool(_evals({"root": record})),
    tables=("_execution_details",),
    dataset="Phoenix",
    each=(("mark", _evals),),
    columns={
        "item_id": ("root.context.span_id | root.span_id | root.id | root.question | root.input"),
        "model": APP,
        "judge": lambda scopes: (
            get(scopes, "mark.metadata.model") or f"scorer:{get(scopes, 'mark.name')}"
        ),
        "rater_type": "mark.kind",
        "metric": "mark.name",
        "score": lambda scopes: (
            get(scopes, "mark.score | mark.label")
            if scopes["mark"]["done"] == "COMPLETED"
            else None
        ),
        "lower_is_better": "mark.direction",
        "prompt": "root.question | root.input | root.query",
        "response": "root.answer | root.output | root.response",
        "rationale": "mark.explanation",
    },
    words={
        "rater_type": {"llm": "llm", "human": "human", "code": "llm", "heuristic": "llm"},
        "lower_is_better": {"minimize": 1, "maximize": 0, "neutral": 0},
    },
    extra={"label": "mark.label"},
    failed=lambda scopes: scopes["mark"]["done"] != "COMPLETED",
)


def _langfuse_score(scopes: Scopes) -> Any:
    kind = str(get(scopes, "root.dataType | root.data_type | =NUMERIC")).upper()
    categorical = kind == "CATEGORICAL"
    return get(scopes, "root.stringValue | root.string_value" if categorical else "root.value")


LANGFUSE = declared(
    name="langfuse",
    line="Langfuse scores export (CSV, JSON, JSON Lines): traceId, source, name, dataType, value",
    needs=("traceId | trace_id", "source", "name", "dataType | data_type"),
    tables=("dataType", "data_type"),
    dataset="Langfuse",
    columns={
        "item_id": joined(
            "root.traceId | root.trace_id", "root.observationId | root.observation_id", by="/"
        ),
        "model": APP,
        # A word such as CORRECTION says that the row holds a text and no score.
        "rater_type": lambda scopes: (
            "text"
            if str(get(scopes, "root.dataType | root.data_type")).upper() in ("TEXT", "CORRECTION")
            else get(scopes, "root.source")
        ),
        "judge": lambda scopes: (
            get(scopes, "root.authorUserName | root.author_user_name | =human")
            if str(get(scopes, "root.source")).upper() == "ANNOTATION"
            else get(scopes, "root.name")
        ),
        "metric": "root.name",
        "score": _langfuse_score,
        "rationale": "root.comment",
        "category": "root.traceName | root.trace_name",
    },
    words={"rater_type": {"eval": "llm", "api": "llm", "annotation": "human", "text": LEFT_OUT}},
    repeats="root.timestamp",
)

LANGSMITH = declared(
    name="langsmith",
    line="LangSmith feedback (JSON, JSON Lines, CSV): key, score, run_id, feedback_source",
    needs=("key", "run_id", "feedback_source.type | feedback_source_type"),
    tables=("feedback_source", "feedback_source.type", "feedback_source_type"),
    dataset="LangSmith",
    columns={
        "item_id": "root.trace_id | root.run_id",
        "model": APP,
        "rater_type": "root.feedback_source.type | root.feedback_source_type",
        "judge": lambda scopes: (
            get(scopes, "root.feedback_source.user_name | root.feedback_source.user_id | =human")
            if str(get(scopes, "root.feedback_source.type | root.feedback_source_type")) == "app"
            else get(scopes, "root.feedback_source.metadata.model | root.key")
        ),
        "metric": "root.key",
        "score": "root.score | root.value",
        "rationale": "root.comment",
    },
    words={"rater_type": {"model": "llm", "api": "llm", "auto_eval": "llm", "app": "human"}},
    repeats="root.created_at",
)

OPENAI_ITEMS = declared(
    name="openai_evals",
    line="OpenAI evals, output items of a run (JSON): datasource_item_id, results",
    needs=("object", "datasource_item_id", "results"),
    sniff=lambda record: record.get("object") == "eval.run.output_item",
    dataset="OpenAI evals",
    each=(("result", "root.results"),),
    columns={
        "item_id": "root.datasource_item_id",
        "model": f"root.sample.model | {APP}",
        "judge": lambda scopes: (
            get(scopes, "result.sample.model") or f"scorer:{get(scopes, 'result.name')}"
        ),
        "metric": "result.name",
        "score": "result.score | result.passed",
        "prompt": "root.sample.input | root.datasource_item",
        "response": "root.sample.output",
        "rationale": "result.sample.output",
    },
    failed="result.sample.error",
)

LM_EVAL = declared(
    name="lm_eval",
    line="lm-evaluation-harness samples_TASK_….jsonl (--log_samples): doc_id, filter, metrics",
    needs=("doc_id", "filter", "metrics", "resps"),
    dataset="",
    each=(("metric", "root.metrics"),),
    columns={
        "item_id": "root.doc_id",
        "model": "=model",
        "judge": joined("=scorer", "metric", by=":"),
        # One document has a row per filter.
        "metric": joined("metric", "root.filter", by=","),
        "score": "root.{metric}",
        "prompt": "root.arguments.gen_args_0.arg_0 | root.arguments",
        "response": "root.filtered_resps | root.resps",
    },
)

FORMATS = (DEEPEVAL, MLFLOW, PHOENIX, PHOENIX_EVALS, LANGFUSE, LANGSMITH, OPENAI_ITEMS, LM_EVAL)
