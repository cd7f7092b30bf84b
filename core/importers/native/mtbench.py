"""MT-Bench pairwise judgments of FastChat; its grades of single answers are read in `scores`."""

from __future__ import annotations

from collections.abc import Iterator

from ...schema import ImportResult
from ..options import ReadOptions
from ..source import Source
from ..tables import Record, Records
from .common import BadField, Vote, field, prompt_texts, read_votes, text

NAME = "mtbench_pair"
LINE = "MT-Bench pairwise judgments (JSON Lines): g1_winner and g2_winner"
NEEDS = ("question_id", "model_1", "model_2", "g1_winner", "g2_winner")

_WINNERS = {"model_1": 1, "tie": 0, "model_2": -1, "error": None}


def judge_and_prompt(given: object) -> tuple[str, str | None]:
    """Name of the judge and of its prompt, which FastChat writes as a pair.

    Raises
    ------
    BadField : no name.
    """
    parts = [text(part) for part in given] if isinstance(given, list) else [text(given)]
    if not parts or not parts[0]:
        raise BadField("judge", given, "judge is missing; export the record again")
    return parts[0], parts[1] if len(parts) > 1 else None


def read(source: Source, records: Records, options: ReadOptions) -> ImportResult:
    """Read two games a record, g1 with model_1 shown first, g2 with model_2; the winners name the models.

    model_a is model_1. A winner `error` is a failed vote: status `error` if the judgment is `$ERROR$` (the
    call failed), else `unparsed`. Items are `question-turn`; the judge's prompt is kept in the extra column
    `judge_prompt`.
    """

    def votes(record: Record) -> Iterator[Vote]:
        judge, prompt = judge_and_prompt(record.get("judge"))
        turn = record.get("turn", 1)
        for game, position in (("g1", "ab"), ("g2", "ba")):
            winner = record.get(f"{game}_winner")
            if not isinstance(winner, str) or winner not in _WINNERS:
                raise BadField(f"{game}_winner", winner, f"unknown winner; allowed are {', '.join(_WINNERS)}")
            vote = _WINNERS[winner]
            judgment = text(record.get(f"{game}_judgment"))
            failed = "error" if judgment == "$ERROR$" else "unparsed"
            yield {
                "item_id": f"{field(record, 'question_id', (int, str))}-{turn}",
                "model_a": field(record, "model_1"),
                "model_b": field(record, "model_2"),
                "judge": judge,
                "position": position,
                "vote": vote,
                "status": failed if vote is None else "ok",
                "rationale": judgment,
                "extra": {"turn": turn, "judge_prompt": prompt},
                **prompt_texts(record.get(f"{game}_user_prompt"), first_is_a=position == "ab"),
            }

    return read_votes(source, records, options, NAME, votes, dataset="MT-Bench")
