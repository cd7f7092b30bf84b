"""Data sets of preferences, and benchmarks of judges: pairs, annotations, and outputs of judges."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..labels import VOCABULARIES, normalise
from ..schema import VOTES
from .columns import text_hash
from .declared import LEFT_OUT, Scopes, declared, get, joined, listed, said
from .json_tables import Record
from .native import BadField, NativeFile, NativeFormat, Reader, Vote, number

_PAIR = (
    ("chosen", "rejected"),
    ("chosen_messages", "rejected_messages"),
    ("response_chosen", "response_rejected"),
    ("chosen_response", "rejected_response"),
)
_SCORED = (
    ("score_chosen", "score_rejected"),
    ("chosen_score", "rejected_score"),
    ("chosen_rating", "rejected_rating"),
)


def _texts(record: Record, sides: tuple[str, str]) -> tuple[str, str, str] | None:
    """Prompt and both responses: what both lists of messages begin with is the prompt."""
    chosen, rejected = (record.get(side) for side in sides)
    asked = next(
        (record[n] for n in ("prompt", "conversations", "question", "input") if n in record), None
    )
    if isinstance(chosen, list) and isinstance(rejected, list):
        common = 0
        while common < min(len(chosen), len(rejected)) and chosen[common] == rejected[common]:
            common += 1
        asked = asked if asked is not None else chosen[:common]
        chosen, rejected = chosen[common:], rejected[common:]
    responses = said(chosen), said(rejected)
    if not responses[0] or not responses[1]:
        return None
    return said(asked) or "", responses[0], responses[1]


def turned(*texts: str) -> bool:
    """Whether a pair is shown the other way round, by a coin that its texts throw.

    The better one stands first in such data, and gold that is always A says nothing of a judge.
    """
    return int(text_hash(*texts), 16) % 2 == 1


def _pairs(record: Record) -> Iterator[Vote]:
    """A pair with the better response known, which is gold and nobody's vote.

    The item is a hash of prompt and both responses; which response is A is drawn by it.
    """
    sides = next((sides for sides in _PAIR if {*sides} <= record.keys()), None)
    texts = _texts(record, sides) if sides else None
    if texts is None:
        raise BadField("chosen", None, "there are no two responses; export the record again")
    other = turned(*texts)
    first, second = (texts[2], texts[1]) if other else (texts[1], texts[2])
    yield {
        "item_id": text_hash(*texts),
        "category": said(record.get("subset") or record.get("category") or record.get("source")),
        "gold": -1 if other else 1,
        "prompt": texts[0] or None,
        "response_a": first,
        "response_b": second,
    }


def _scored_pairs(file: NativeFile) -> Reader:
    """The same pairs with the scores that somebody gave both: vote = sign of their difference."""
    file.name_judge()

    def votes(record: Record) -> Iterator[Vote]:
        sides = next((sides for sides in _SCORED if {*sides} <= record.keys()), None)
        for pair in _pairs(record) if sides else ():
            chosen, rejected = (number(record[side]) for side in sides or ())
            vote = None
            if chosen is not None and rejected is not None:
                vote = ((chosen > rejected) - (chosen < rejected)) * pair["gold"]
            yield {**pair, "vote": vote}

    return votes


def _is_pair(record: Record) -> bool:
    known = any({*sides} <= record.keys() for sides in _PAIR)
    return known and not {"judge", "vote", "winner", "results"} & record.keys()


def _rewardbench(file: NativeFile) -> Reader:
    """Read the scores of a reward model: the vote is the sign of their difference, its confidence
    1/(1 + exp(−|Δ|)).

    `results` counts a tie as wrong, and is not used.
    """
    file.constants["judge"] = re.sub(r"_outputs$", "", file.source.stem)

    def votes(record: Record) -> Iterator[Vote]:
        chosen, rejected = (
            number(record.get(name)) for name in ("scores_chosen", "scores_rejected")
        )
        prompt = said(record.get("prompt")) or ""
        texts = tuple(said(record.get(name)) or "" for name in ("text_chosen", "text_rejected"))
        name = said(record.get("id"))
        other = turned(prompt, *texts, name or "")
        sign = -1 if other else 1
        vote = confidence = None
        if chosen is not None and rejected is not None:
            vote = ((chosen > rejected) - (chosen < rejected)) * sign
            confidence = 1 / (1 + math.exp(-min(abs(chosen - rejected), 700)))
        models = ("rejected", "chosen") if other else ("chosen", "rejected")
        yield {
            "item_id": name or text_hash(prompt, *texts),
            "category": said(record.get("subset")),
            "model_a": models[0],
            "model_b": models[1],
            "vote": vote,
            "confidence": confidence,
            "confidence_kind": None if confidence is None else "logprob",
            "gold": sign,
            "prompt": prompt or None,
            "response_a": (texts[1] if other else texts[0]) or None,
            "response_b": (texts[0] if other else texts[1]) or None,
        }

    return votes


FORENSICS = declared(
    name="annotated_pairs",
    line="Feedback Forensics and ICAI AnnotatedPairs (JSON): annotators, comparisons",
    needs=("annotators", "comparisons"),
    dataset="AnnotatedPairs",
    form=VOTES,
    each=(("pair", "root.comparisons"), ("mark", "pair.annotations")),
    columns={
        "dataset": "root.metadata.dataset_name",
        "item_id": "pair.id",
        "model_a": "pair.response_a.model | =A",
        "model_b": "pair.response_b.model | =B",
        "judge": (
            "root.annotators.{mark.key}.name | root.annotators.{mark.key}.description | mark.key"
        ),
        "rater_type": lambda scopes: (
            "human" if get(scopes, "root.annotators.{mark.key}.type") == "human" else "llm"
        ),
        "vote": "mark.value.pref | mark.value.no_pref_reason",
        "prompt": "pair.prompt",
        "response_a": "pair.response_a.text",
        "response_b": "pair.response_b.text",
    },
    words={
        "vote": {
            "a": 1,
            "b": -1,
            "text_a": 1,
            "text_b": -1,
            "tie": 0,
            "both": LEFT_OUT,
            "neither": LEFT_OUT,
            "not_applicable": LEFT_OUT,
            "invalid": None,
        }
    },
)

PROMETHEUS = declared(
    name="prometheus",
    line="Prometheus-eval (JSON): records with score, feedback, eval_model_name, by id or listed",
    needs=(),
    sniff=lambda record: any(_is_graded(value) for value in (record, *list(record.values())[:1])),
    dataset="Prometheus",
    each=(("case", lambda scopes: _graded(scopes["root"])),),
    columns={
        "item_id": "case.id | case.instance_id",
        "category": "case.capability",
        "model": "case.response_model_name | =model",
        "judge": "case.eval_model_name",
        "score": "case.score",
        "prompt": "case.input",
        "response": "case.response",
        "rationale": "case.feedback",
    },
)


def _is_graded(value: Any) -> bool:
    return isinstance(value, Mapping) and {"score", "feedback", "eval_model_name"} <= value.keys()


def _graded(record: Record) -> list[Any]:
    if _is_graded(record):
        return [record]
    return [{"id": name, **value} for name, value in record.items() if isinstance(value, dict)]


_KEY = re.compile(r"(?P<question>.+?)__(?P<a>.+?)__(?P<b>.+?)(?:__(?P<turn>\d+))?")
_PEOPLE = re.compile(r"(?:author|expert|human|annotator|worker|rater)_?\d*", re.IGNORECASE)


def _alttest(file: NativeFile) -> Reader:
    """Read raters' labels of pairs, {rater: {QUESTION__A__B__TURN: label}}.

    They are people's where the file or the raters are called so.
    """
    people = "human" in file.source.stem.casefold() or all(
        _PEOPLE.fullmatch(name) for record in file.records.records for name in record
    )
    labels = VOCABULARIES["model_a/model_b"]

    def votes(record: Record) -> Iterator[Vote | BadField]:
        for rater, marks in record.items():
            for key, label in (marks if isinstance(marks, dict) else {}).items():
                found = _KEY.fullmatch(key)
                vote = labels.vote(label) if isinstance(label, str) and label else None
                if found is None or (vote is None and label):
                    yield BadField(key[:80], label, "no pair with a label; correct it")
                    continue
                turn = f"-{found['turn']}" if found["turn"] else ""
                yield {
                    "item_id": f"{found['question']}{turn}",
                    "model_a": found["a"],
                    "model_b": found["b"],
                    "judge": rater,
                    "rater_type": "human" if people else "llm",
                    "vote": vote,
                }

    return votes


def _is_alttest(record: Record) -> bool:
    first = next(iter(record.values()), None)
    if not isinstance(first, dict) or not first:
        return False
    key, label = next(iter(first.items()))
    known = VOCABULARIES["model_a/model_b"].vote(label) if isinstance(label, str) else None
    return bool(_KEY.fullmatch(key)) and known is not None


def _results(scopes: Scopes) -> list[Any]:
    """Pairwise results of a task of Label Studio; those of predictions are a model's."""
    found = []
    for place, human in (("root.annotations", True), ("root.predictions", False)):
        for one in listed(scopes, place):
            if not isinstance(one, dict) or one.get("was_cancelled"):
                continue
            for result in listed({"one": one}, "one.result"):
                if isinstance(result, dict) and result.get("type") == "pairwise":
                    found.append({"by": one, "human": human, "value": result.get("value") or {}})
    return found


def _is_pairwise(record: Record) -> bool:
    scopes = {"root": record}
    return "data" in record and "annotations" in record and bool(_results(scopes))


LABEL_STUDIO = declared(
    name="label_studio",
    line="Label Studio pairwise export (JSON): annotations with results of type pairwise",
    needs=("annotations", "data"),
    sniff=_is_pairwise,
    dataset="Label Studio",
    form=VOTES,
    each=(("mark", _results),),
    columns={
        "item_id": "root.id",
        "model_a": "root.data.model_a | root.data.model_1 | =A",
        "model_b": "root.data.model_b | root.data.model_2 | =B",
        "judge": lambda scopes: (
            joined("=annotator", "mark.by.completed_by.id | mark.by.completed_by")(scopes)
            if scopes["mark"]["human"]
            else get(scopes, "mark.by.model_version | =prediction")
        ),
        "rater_type": lambda scopes: "human" if scopes["mark"]["human"] else "llm",
        "position": "=ab",
        "vote": "mark.value.selected | mark.value.choices.0",
        "prompt": "root.data.prompt | root.data.question | root.data.text",
        "response_a": "root.data.response_a | root.data.answer1 | root.data.text1 | root.data.left",
        "response_b": (
            "root.data.response_b | root.data.answer2 | root.data.text2 | root.data.right"
        ),
    },
    words={"vote": {"left": 1, "right": -1, "tie": 0, "equal": 0, "same": 0}},
)

_NESTED_KEYS = {
    *("sample_id", "item_id", "id", "question_id", "judge_model", "judge"),
    *("model_a", "model_b", "position", "temperature", "pairwise"),
}

NESTED = declared(
    name="nested_runs",
    line="several verdicts of one judge in a list: sample_id, judge_model, pairwise of winner, run",
    needs=("pairwise", "judge_model | judge"),
    sniff=lambda record: (
        isinstance(record.get("pairwise"), list)
        and all(isinstance(each, dict) and "winner" in each for each in record["pairwise"])
        # A key that is none of these may be what tells two lists of one sample apart.
        and record.keys() <= _NESTED_KEYS
    ),
    dataset="",
    form=VOTES,
    each=(("mark", "root.pairwise"),),
    columns={
        "item_id": "root.sample_id | root.item_id | root.id | root.question_id",
        "model_a": "root.model_a | =A",
        "model_b": "root.model_b | =B",
        "judge": "root.judge_model | root.judge",
        "run": "mark.run_index | mark.run | mark_number",
        "position": "mark.position | root.position",
        "temperature": "root.temperature",
        "vote": lambda scopes: _winner(get(scopes, "mark.winner")),
        "rationale": "mark.reasoning | mark.rationale | mark.raw",
    },
)


def _winner(label: Any) -> int | None:
    """A verdict in any vocabulary of words."""
    if label is None or normalise(str(label)) in ("", "none", "null", "error", "invalid"):
        return None
    for name in ("A/B", "model_a/model_b", "left/right", "first/second", "win/lose"):
        vote = VOCABULARIES[name].vote(str(label))
        if vote is not None:
            return vote
    raise BadField("winner", label, "no verdict (A, B, tie, model_a …); correct it")


_WILDBENCH = {"item_id": "root.session_id", "rationale": "root.parsed_result.reason"}

WILDBENCH_PAIRS = declared(
    name="wildbench_pairs",
    line="WildBench pairwise results (JSON): session_id, model_A, model_B, parsed_result.choice",
    needs=("session_id", "model_A", "model_B", "parsed_result.choice"),
    dataset="WildBench",
    form=VOTES,
    judge="",
    columns={
        **_WILDBENCH,
        "model_a": "root.model_A",
        "model_b": "root.model_B",
        "position": "=ab",
        "vote": "root.parsed_result.choice",
        "response_a": "root.model_outputs.{root.model_A}",
        "response_b": "root.model_outputs.{root.model_B}",
    },
    words={"vote": {"a++": 1, "a+": 1, "a=b": 0, "b+": -1, "b++": -1, "n/a": None}},
    failed="root.meta_data.error",
)

WILDBENCH = declared(
    name="wildbench",
    line="WildBench scores (JSON): session_id, model_test, score, parsed_result",
    needs=("session_id", "model_test", "score | parsed_result.score"),
    dataset="WildBench",
    judge="",
    columns={
        **_WILDBENCH,
        "model": "root.model_test",
        "score": "root.score | root.parsed_result.score",
        "response": "root.model_output",
        "rationale": joined("root.parsed_result.strengths", "root.parsed_result.weaknesses"),
    },
    failed="root.meta_data.error",
)

FORMATS = (
    NativeFormat(
        name="rewardbench",
        line="RewardBench MODEL_outputs.jsonl: scores_chosen and scores_rejected of a reward model",
        needs=("scores_chosen", "scores_rejected", "results"),
        dataset="RewardBench",
        reader=_rewardbench,
    ),
    NativeFormat(
        name="preference_scores",
        line="preference pairs with scores (JSON, Parquet): chosen, rejected, score_chosen …",
        needs=("chosen", "rejected", "score_chosen", "score_rejected"),
        dataset="",
        reader=_scored_pairs,
        sniff=lambda record: _is_pair(record) and any({*s} <= record.keys() for s in _SCORED),
        tables=("chosen",),
    ),
    NativeFormat(
        name="preference_pairs",
        line="preference pairs (JSON, Parquet): chosen and rejected, gold without a judge",
        needs=("chosen", "rejected"),
        dataset="",
        reader=lambda file: _pairs,
        sniff=_is_pair,
        tables=("chosen",),
        gold_only=True,
    ),
    FORENSICS,
    PROMETHEUS,
    NativeFormat(
        name="alttest",
        line="AltTest annotations (JSON): {rater: {QUESTION__MODEL__MODEL__TURN: label}}",
        needs=("rater → QUESTION__A__B__TURN → model_a, model_b or tie",),
        dataset="AltTest",
        reader=_alttest,
        sniff=_is_alttest,
    ),
    LABEL_STUDIO,
    NESTED,
    WILDBENCH_PAIRS,
    WILDBENCH,
)
