"""Arena-Hard judgments: a model against a baseline, two games a question."""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import Message
from ...schema import ImportResult
from ..options import ReadOptions
from ..source import Source
from ..tables import Record, Records
from .common import BadField, Vote, field, prompt_texts, read_votes, status, text, verdict

NAME = "arenahard"
LINE = "Arena-Hard judgments (JSON Lines): games with scores A>>B … B>>A, in full or scores only"
NEEDS = ("games", "model", "judge")


def read(source: Source, records: Records, options: ReadOptions) -> ImportResult:
    """Read games: `games[0]` shows the baseline first, `games[1]` the model first; A is the first shown.

    model_a is the model, model_b the baseline: the record's, else "baseline", or give its name with
    `mapping=(("model_b", "=NAME"),)`. The score as written is kept in the extra column `label`. A null score
    is `unparsed`. The data set is the file's name up to the first `__`, so the files of several models form
    one board.
    """
    dataset = source.stem.partition("__")[0] if "__" in source.stem else "Arena-Hard"

    def votes(record: Record) -> Iterator[Vote]:
        item = text(record.get("question_id")) or text(record.get("uid"))
        if item is None:
            raise BadField("question_id", None, "question_id is missing; export the record again")
        games = field(record, "games", list)
        if not 1 <= len(games) <= 2:
            raise BadField(
                "games", len(games), "two games are needed: the baseline first, then the model first"
            )
        for i, game in enumerate(games):
            game = game if isinstance(game, dict) else {}
            first_better = verdict(game.get("score"), f"games[{i}].score")
            vote = None if first_better is None else (first_better if i else -first_better)
            judgment = game.get("judgment")
            answer = judgment.get("answer") if isinstance(judgment, dict) else judgment
            yield {
                "item_id": item,
                "category": text(record.get("category")),
                "model_a": field(record, "model"),
                "model_b": text(record.get("baseline")) or "baseline",
                "judge": field(record, "judge"),
                "position": "ab" if i else "ba",
                "vote": vote,
                "status": status(vote),
                "rationale": text(answer),
                "extra": {"label": game.get("score")},
                **prompt_texts(game.get("user_prompt"), first_is_a=bool(i)),
            }

    notes = []
    named = any("baseline" in record for record in records.records)
    if "model_b" not in options.constants() and not named:
        notes.append(
            Message("The file does not name the baseline; name it with {option}.", option="baseline")
        )
    return read_votes(source, records, options, NAME, votes, dataset=dataset, notes=notes)
