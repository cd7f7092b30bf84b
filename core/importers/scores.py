"""Direct scores: any table with one row per response, or what MT-Bench's single-answer grading wrote."""

from __future__ import annotations

from collections.abc import Iterator

from ..schema import SCORES, ImportResult
from .checks import finish
from .columns import BadCell, parse_float, parse_int
from .layouts import Layout, parse_texts
from .native.common import BadField, Vote, field, number, read_votes, text
from .native.mtbench import judge_and_prompt
from .options import ReadOptions
from .source import Source
from .tables import Record, Records, TextTable

NAME = "mtbench_single"
LINE = "MT-Bench grades of single answers (JSON Lines): model, judge, score from 1 to 10"
NEEDS = ("question_id", "model", "judge", "score", "judgment")

LARGEST = 1e6


def parse_score(cell: str) -> float:
    """Score of any scale, of at most a million either way.

    Raises
    ------
    BadCell : no number, or beyond.
    """
    value = parse_float(cell)
    if abs(value) > LARGEST:
        raise BadCell("beyond a million, which is no scale of scores; correct it, or leave the cell empty")
    return value


def read_scores(table: TextTable, source: Source, layout: Layout, options: ReadOptions) -> ImportResult:
    """Read one direct score per row; `finish` says how rows of the same key are settled.

    Any finite scale up to a million. A missing score without a status is `unparsed`.

    Raises
    ------
    UnreadableFile : a required column is missing.
    """
    parser = parse_texts(table, layout, options)
    notes: list[str] = []
    readers = {"score": parse_score, "temperature": parse_float, "cost": parse_float, "run": parse_int}
    numbers = parser.numbers(readers)
    numbers["score"] = parser.settle_status("score", numbers["score"], notes)
    rows = parser.typed_rows(numbers, layout.mapping, [*layout.notes, *notes])
    rows.take(parser.good)
    return finish(rows, source, layout.shape.format, constants=options.constants(), dataset=source.stem)


def read_mtbench(source: Source, records: Records, options: ReadOptions) -> ImportResult:
    """Read one score per record: what judge `[name, prompt]` gave one turn of one model's answer.

    Each turn of a question is an item of its own, `81-1` and `81-2`, named as in the pairwise judgments: the
    judge sees other text and grades other text. A score of -1, which the tool writes when it finds none, one
    outside 1 to 10 and null are failed: status `error` if the judgment is `$ERROR$` (the call failed), else
    `unparsed`. The name of the judge's prompt is kept in the extra column `judge_prompt`.
    """

    def scores(record: Record) -> Iterator[Vote]:
        judge, prompt = judge_and_prompt(record.get("judge"))
        turn = record.get("turn", 1)
        if not isinstance(turn, int) or isinstance(turn, bool):
            raise BadField("turn", turn, "turn is no whole number; export the record again")
        score = record.get("score")
        if isinstance(score, bool) or not isinstance(score, int | float | None):
            raise BadField("score", score, "score is no number; export the record again")
        value = number(score)
        given = value is not None and 1 <= value <= 10
        judgment = text(record.get("judgment"))
        failed = "error" if judgment == "$ERROR$" else "unparsed"
        yield {
            "item_id": f"{field(record, 'question_id', (int, str))}-{turn}",
            "model": field(record, "model"),
            "judge": judge,
            "score": value if given else None,
            "status": "ok" if given else failed,
            "rationale": judgment,
            "extra": {"turn": turn, "judge_prompt": prompt},
        }

    return read_votes(source, records, options, NAME, scores, dataset="MT-Bench", form=SCORES)
