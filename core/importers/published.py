"""Published formats of judgements in JSON, one record each: JudgeBench, AlpacaEval, Arena-Hard,
MT-Bench.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from ..errors import Message
from ..schema import SCORES
from .columns import text_hash
from .json_tables import Record
from .native import (
    BadField,
    NativeFile,
    NativeFormat,
    Reader,
    Vote,
    number,
    required,
    text,
    verdict,
)

_PROMPT = re.compile(
    r"(?:<\|User Prompt\|>|\[User Question\])\n(?P<prompt>.*?)\n+"
    r"(?:<\||\[)The Start of Assistant A's Answer(?:\|>|\])\n(?P<a>.*?)\n"
    r"(?:<\||\[)The End of Assistant A's Answer(?:\|>|\])\s+"
    r"(?:<\||\[)The Start of Assistant B's Answer(?:\|>|\])\n(?P<b>.*?)\n"
    r"(?:<\||\[)The End of Assistant B's Answer",
    re.DOTALL,
)


def prompt_texts(judging_prompt: object, *, first_is_a: bool) -> dict[str, str]:
    """Prompt and responses out of a pairwise judging prompt of FastChat or Arena-Hard, where it is
    whole.
    """
    match = _PROMPT.search(judging_prompt) if isinstance(judging_prompt, str) else None
    if match is None:
        return {}
    first, second = ("response_a", "response_b") if first_is_a else ("response_b", "response_a")
    return {"prompt": match["prompt"], first: match["a"], second: match["b"]}


def judgebench(file: NativeFile) -> Reader:
    """Read pairs whose `judgments[0]` was shown as A, B and `judgments[1]` swapped.

    `decision` is in display order, so that of the swapped judgment is negated. A judgment or
    decision that is null is `unparsed`. Reward models: confidence = 1 / (1 + exp(-|s_1 - s_2|)),
    the softmax over the two scores, kind `logprob`. The judge is `judge_model [judge_name]`, from
    the record or else from the file's name.
    """
    named = dict(part.partition("=")[::2] for part in file.source.stem.split(","))

    def votes(record: Record) -> Iterator[Vote]:
        judgments = required(record, "judgments", list)
        if not 1 <= len(judgments) <= 2:
            raise BadField(
                "judgments", len(judgments), "one judgment an order is allowed, so one or two"
            )
        details = [_part(judgment, "judgment") for judgment in judgments]
        stated = (detail["judge_model"] for detail in details if text(detail.get("judge_model")))
        model = next(stated, named.get("judge_model"))
        how = text(record.get("judge_name")) or named.get("judge_name")
        if not text(model):
            reason = "no judge in the record; keep judge_model=… in the file's name, or map judge"
            raise BadField("judge_model", None, reason)
        response_model = required(record, "response_model")
        for i, (judgment, detail) in enumerate(zip(judgments, details, strict=True)):
            decision = judgment.get("decision") if isinstance(judgment, dict) else None
            shown = verdict(decision, f"judgments[{i}].decision")
            vote = None if shown is None else (-shown if i else shown)
            confidence = (
                None if vote is None else _softmax(detail.get("scores"), f"judgments[{i}].scores")
            )
            yield {
                "item_id": required(record, "pair_id"),
                "category": text(record.get("source")),
                "model_a": f"{response_model}#A",
                "model_b": f"{response_model}#B",
                "judge": str(model).replace("/", "_") + (f" [{how}]" if how else ""),
                "position": "ba" if i else "ab",
                "vote": vote,
                "confidence": confidence,
                "confidence_kind": None if confidence is None else "logprob",
                "gold": verdict(record.get("label"), "label"),
                "prompt": text(record.get("question")),
                "response_a": text(record.get("response_A")),
                "response_b": text(record.get("response_B")),
                "rationale": text(detail.get("response")),
            }

    return votes


def _part(record: object, name: str) -> Record:
    part = record.get(name) if isinstance(record, dict) else None
    return part if isinstance(part, dict) else {}


def _softmax(scores: object, column: str) -> float | None:
    if scores is None:
        return None
    if not isinstance(scores, list) or len(scores) != 2:
        raise BadField(
            column, scores, "two numbers are needed, the scores of the first and second shown"
        )
    first, second = map(number, scores)
    if first is None or second is None:
        raise BadField(column, scores, "not finite numbers; leave scores out if they are missing")
    # exp(-inf) is 0: a difference beyond the largest number is certainty.
    return 1 / (1 + math.exp(-abs(first - second)))


def alpacaeval(file: NativeFile) -> Reader:
    """Read preferences p: model_a is generator_1 (the reference), model_b generator_2.

    vote = +1 if p < 1.5, -1 if p > 1.5, 0 at 1.5; null is `unparsed`. Older files write a draw as
    0, which is read as 1.5. If any preference of the file lies between the whole and half steps, p
    - 1 is a probability: confidence = max(p - 1, 2 - p), kind `logprob`; else there is no
      confidence. The order shown is not in the
    file. The item is a hash of the instruction, with output_1 where one instruction occurs more
    than once, so files of several models meet on the same items.
    """
    values = [record.get("preference") for record in file.records.records]
    graded = any(isinstance(value, float) and (2 * value) % 1 != 0 for value in values)
    seen = Counter(
        (
            text(record.get("instruction")),
            text(record.get("generator_2")),
            text(record.get("annotator")),
        )
        for record in file.records.records
    )
    repeated = {instruction for (instruction, _, _), count in seen.items() if count > 1}
    graded_note = "Confidence is the probability of the preferred output."
    file.notes.append(
        graded_note if graded else "Preferences are whole, so there is no confidence."
    )

    def votes(record: Record) -> Iterator[Vote]:
        instruction = required(record, "instruction")
        preference = record.get("preference")
        is_number = isinstance(preference, int | float) and not isinstance(preference, bool)
        if is_number and preference == 0:
            preference = 1.5
        if preference is not None and not (is_number and 1 <= preference <= 2):
            raise BadField(
                "preference",
                preference,
                "outside 1 (output_1 better) to 2 (output_2 better); correct it",
            )
        vote = None if preference is None else (preference < 1.5) - (preference > 1.5)
        confidence = (
            max(preference - 1, 2 - preference) if graded and preference is not None else None
        )
        key = (
            (instruction, required(record, "output_1"))
            if text(instruction) in repeated
            else (instruction,)
        )
        raw = record.get("raw_completion")
        yield {
            "item_id": text_hash(*key),
            "category": text(record.get("dataset")),
            "model_a": text(record.get("generator_1")) or "reference",
            "model_b": required(record, "generator_2"),
            "judge": text(record.get("annotator")) or "alpaca_eval",
            "vote": vote,
            "confidence": confidence,
            "confidence_kind": None if confidence is None else "logprob",
            "prompt": instruction,
            "response_a": text(record.get("output_1")),
            "response_b": text(record.get("output_2")),
            "rationale": raw if isinstance(raw, str) else None,
            "cost": number(record.get("price_per_example")),
            "extra": {"time_per_example": record.get("time_per_example")},
        }

    return votes


def arenahard(file: NativeFile) -> Reader:
    """Read games: `games[0]` shows the baseline first, `games[1]` the model first; A is the first
    shown.

    model_a is the model, model_b the baseline: the record's, else "baseline", or give its name with
    `mapping=(("model_b", "=NAME"),)`. The score as written is kept in the extra column `label`. A
    null score is `unparsed`, a null game a failed call: `error`. The data set is the file's name up
    to the first `__`, so the files of several models form one board.
    """
    named = any("baseline" in record for record in file.records.records)
    if "model_b" not in file.options.constants() and not named:
        file.notes.append(
            Message(
                "The file does not name the baseline; name it with {option}.", option="baseline"
            )
        )
    return _games


def _games(record: Record) -> Iterator[Vote]:
    item = text(record.get("question_id")) or text(record.get("uid"))
    if item is None:
        raise BadField("question_id", None, "question_id is missing; export the record again")
    games = required(record, "games", list)
    if not 1 <= len(games) <= 2:
        raise BadField(
            "games", len(games), "two games are needed: the baseline first, then the model first"
        )
    for i, given in enumerate(games):
        game = given if isinstance(given, dict) else {}
        first_better = verdict(game.get("score"), f"games[{i}].score")
        vote = None if first_better is None else (first_better if i else -first_better)
        judgment = game.get("judgment")
        answer = judgment.get("answer") if isinstance(judgment, dict) else judgment
        yield {
            "item_id": item,
            "category": text(record.get("category")),
            "model_a": required(record, "model"),
            "model_b": text(record.get("baseline")) or "baseline",
            "judge": required(record, "judge"),
            "position": "ab" if i else "ba",
            "vote": vote,
            **({"status": "error"} if given is None else {}),
            "rationale": text(answer),
            "extra": {"label": game.get("score")},
            **prompt_texts(game.get("user_prompt"), first_is_a=bool(i)),
        }


_WINNERS = {"model_1": 1, "tie": 0, "model_2": -1, "error": None}


def mtbench_pairs(record: Record) -> Iterator[Vote]:
    """Read two games a record, g1 with model_1 shown first, g2 with model_2; the winners name the
    models.

    model_a is model_1. A winner `error` is a failed vote. The rest is as in `_answer`.
    """
    judge = _judge_and_prompt(record.get("judge"))
    for game, position in (("g1", "ab"), ("g2", "ba")):
        winner = record.get(f"{game}_winner")
        if not isinstance(winner, str) or winner not in _WINNERS:
            raise BadField(
                f"{game}_winner", winner, f"unknown winner; allowed are {', '.join(_WINNERS)}"
            )
        vote = _WINNERS[winner]
        yield {
            **_answer(record, judge, record.get(f"{game}_judgment"), usable=vote is not None),
            "model_a": required(record, "model_1"),
            "model_b": required(record, "model_2"),
            "position": position,
            "vote": vote,
            **prompt_texts(record.get(f"{game}_user_prompt"), first_is_a=position == "ab"),
        }


def mtbench_scores(record: Record) -> Iterator[Vote]:
    """Read one score per record: what judge `[name, prompt]` gave one turn of one model's answer.

    A score of -1, which the tool writes when it finds none, one outside 1 to 10 and null are
    failed. The rest is as in `_answer`.
    """
    judge = _judge_and_prompt(record.get("judge"))
    turn = record.get("turn", 1)
    if not isinstance(turn, int) or isinstance(turn, bool):
        raise BadField("turn", turn, "turn is no whole number; export the record again")
    score = record.get("score")
    if isinstance(score, bool) or not isinstance(score, int | float | None):
        raise BadField("score", score, "score is no number; export the record again")
    value = number(score)
    usable = value is not None and 1 <= value <= 10
    yield {
        **_answer(record, judge, record.get("judgment"), usable=usable),
        "model": required(record, "model"),
        "score": value if usable else None,
    }


def _judge_and_prompt(given: object) -> tuple[str, str | None]:
    """Name of the judge and of its prompt, which FastChat writes as a pair; BadField without a
    name.
    """
    parts = [text(part) for part in given] if isinstance(given, list) else [text(given)]
    if not parts or not parts[0]:
        raise BadField("judge", given, "judge is missing; export the record again")
    return parts[0], parts[1] if len(parts) > 1 else None


def _answer(record: Record, judge: tuple[str, str | None], given: object, *, usable: bool) -> Vote:
    """What MT-Bench's pairwise judgments and its grades of single answers have in common.

    Each turn of a question is an item of its own, `81-1` and `81-2`: the judge sees other text. A
    failed judgment has status `error` if it is `$ERROR$` (the call failed), else `unparsed`. The
    name of the judge's prompt is kept in the extra column `judge_prompt`.
    """
    turn, judgment = record.get("turn", 1), text(given)
    failed = "error" if judgment == "$ERROR$" else "unparsed"
    return {
        "item_id": f"{required(record, 'question_id', (int, str))}-{turn}",
        "judge": judge[0],
        "status": "ok" if usable else failed,
        "rationale": judgment,
        "extra": {"turn": turn, "judge_prompt": judge[1]},
    }


FORMATS = (
    NativeFormat(
        name="judgebench",
        line="JudgeBench outputs (JSON Lines): pair_id, label, judgments in both orders",
        needs=("pair_id", "label", "judgments"),
        dataset="JudgeBench",
        reader=judgebench,
    ),
    NativeFormat(
        name="alpacaeval",
        line="AlpacaEval annotations.json: preference from 1 (reference) to 2 (model)",
        needs=("preference", "output_1", "output_2", "instruction"),
        dataset="AlpacaEval",
        reader=alpacaeval,
    ),
    NativeFormat(
        name="arenahard",
        line=(
            "Arena-Hard judgments (JSON Lines): games with scores "
            "A>>B … B>>A, in full or scores only"
        ),
        needs=("games", "model", "judge"),
        dataset="Arena-Hard",
        by_file=True,
        reader=arenahard,
    ),
    NativeFormat(
        name="mtbench_pair",
        line="MT-Bench pairwise judgments (JSON Lines): g1_winner and g2_winner",
        needs=("question_id", "model_1", "model_2", "g1_winner", "g2_winner"),
        dataset="MT-Bench",
        reader=lambda file: mtbench_pairs,
    ),
    NativeFormat(
        name="mtbench_single",
        line="MT-Bench grades of single answers (JSON Lines): model, judge, score from 1 to 10",
        needs=("question_id", "model", "judge", "score", "judgment"),
        dataset="MT-Bench",
        reader=lambda file: mtbench_scores,
        form=SCORES,
    ),
)
