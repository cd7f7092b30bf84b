"""Scores of single answers out of a table: what words mean, and which scale the numbers have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import UnknownName, UnreadableFile
from ..labels import GRADES, grade_word, shown
from ..reading.words import CHANCES, UNGRADED
from ..schema import SCORES, ImportResult
from .checks import TypedRows, finish, reject_gold_conflicts
from .columns import (
    Cells,
    Numbers,
    cell_codes,
    cell_text,
    coded_cells,
    constant_cells,
    encode_cells,
    fill_missing,
    has_number,
    label_counts,
    map_cells,
    map_together,
    text_hash,
)
from .layouts import Shape, plain
from .options import Plan, ReadOptions
from .raters import lay_out_scores
from .row_parser import RowParser
from .source import Source
from .tables import TextTable, stack
from .values import BadCell, is_number, parse_flag, parse_float, parse_int, parse_number, within

CHANCE_OF_A_PASS = 0.5
MOST_CLASSES = 24
"""Distinct texts of a column without a number up to which they are labels of classes."""
MOST_REPEATED = 50_000_000
"""Cells of other columns that are repeated for each rater of a row."""


parse_score = within(
    parse_number,
    -1e6,
    1e6,
    "beyond a million, which is no scale of scores; correct it, or leave the cell empty",
)
"""Score of any scale, of at most a million either way."""
parse_share = within(
    lambda text: parse_number(text) / (100 if text.endswith("%") else 1),
    0,
    1,
    "outside 0 to 1; correct it, or leave the cell empty",
)
"""Confidence in a score; a cell with `%` is that many hundredths."""


def read_scores(
    table: TextTable, source: Source, shape: Shape, options: ReadOptions
) -> ImportResult:
    """Read one score per row, or several raters per row; `finish` says how rows of the same key are
    settled.

    Any finite scale up to a million, or words such as pass, partial and fail (1, ½, 0) where a
    column holds no other numbers. A missing score without a status is `unparsed`; so are words such
    as N/A, and refusals are `refused`: never a fail. The scale of each metric is said and kept
    beside its scores, see `scale_of`. Source: ours.

    Raises UnreadableFile: a required column is missing. AmbiguousLabels: a score and pass or fail
    of one judge. UnknownName: an option names a column or a metric that the file has not.
    """
    how = lay_out_scores(table, source.name, options).checked(source.name)
    parser = ScoreParser(table, how)
    if how.items == "rows":
        parser.cells["item_id"] = encode_cells([f"{how.stem} {row}" for row in parser.row])
    elif how.items == "texts":
        _name_by_texts(parser)
    parser.check_texts(("item_id", "judge"), options.rater_type)
    numbers = parser.numbers(
        {"scale_low": parse_score, "scale_high": parse_score, "lower_is_better": parse_flag}
        | {"length": parse_int, "run": parse_int}
        | {"temperature": parse_float, "cost": parse_float}
    )
    _take_ungraded(parser)
    of_chances = parser.of_chances()
    numbers["score"] = parser.settle_status("score", parser.scores())
    if "gold" in parser.cells:
        gold = map_cells(
            parser.cells["gold"], lambda text: None if grade_word(text) in UNGRADED else text
        )
        parser.cells["gold"] = gold
        numbers["gold"] = parser.number("gold", _reader(gold))
    # Last, when all that costs a row is known.
    numbers |= parser.numbers({"confidence": parse_share})
    if of_chances.any():
        _pass_or_fail(numbers, of_chances)
        parser.notes.append(
            f"Column {', '.join(map(shown, sorted(parser.chances)))} is the probability that an "
            "answer passes: from 0.5 up it is a pass, and the larger of p and 1 − p its confidence."
        )
    rows = parser.typed_rows(numbers)
    rows.take(parser.good)
    constants = options.constants()
    if how.raters:
        # People are not the judge whom an option names.
        constants.pop("judge", None)
    dataset = source.together or source.stem
    rows.fill(constants, dataset, no_default=("status",))
    reject_gold_conflicts(rows, ("dataset", "item_id", "model", "metric"))
    _refuse_two_scales(rows, source.name)
    fill_scales(rows, options)
    return finish(rows, source, shape.format, constants=constants, dataset=dataset)


class ScoreParser(RowParser):
    """Reads the cells of a table of scores, one with a column per rater in long form."""

    def __init__(self, table: TextTable, how: Plan) -> None:
        self.rater: Cells | None = None
        said = how.mapping.get("score", "")
        self.chances = {name for name in (*how.raters, said) if _are_chances(table, name)}
        self.readers = {
            name: parse_share if name in self.chances else _reader(table.columns[name])
            for name in how.raters
        }
        stacked: dict[str, Cells] = {}
        if how.raters:
            table, stacked = _stack(table, how)
            self.rater = stacked.pop("rater")
            mapping = {
                name: theirs
                for name, theirs in how.mapping.items()
                if name not in stacked and name != "score"
            }
            constants = {name: how.constants[name] for name in mapping if name in how.constants}
            # Columns of raters, and those whose cells are made anew, are no other columns.
            used = {theirs for name, theirs in how.mapping.items() if name in stacked}
            table = replace(
                table,
                columns={name: cells for name, cells in table.columns.items() if name not in used},
            )
            how = replace(how, mapping=mapping, constants=constants)
        super().__init__(table, SCORES, how)
        self.cells |= stacked

    def column(self, name: str, i: int | np.integer[Any]) -> str:
        if name == "score" and self.rater is not None:
            return cell_text(self.rater, i)
        return super().column(name, i)

    def of_chances(self) -> Any:
        """(rows,) whether a score is the probability of a pass."""
        if self.rater is None:
            return np.full(len(self.row), bool(self.chances))
        names = self.rater.dictionary.to_pylist()
        return np.array([name in self.chances for name in names], bool)[cell_codes(self.rater)]

    def scores(self) -> Numbers:
        """Scores of all rows, each by the words or numbers of its column."""
        whole = self.cells["score"]
        if self.rater is None:
            return self.number("score", parse_share if self.chances else _reader(whole))
        code, rater = cell_codes(whole), cell_codes(self.rater)
        names = self.rater.dictionary.to_pylist()
        scores: Numbers = np.ma.array(np.zeros(len(code)), mask=True)
        for read in (parse_grade, parse_score, parse_share):
            own = np.array([self.readers[name] is read for name in names], bool)[rater]
            self.cells["score"] = coded_cells(
                np.ma.array(code, mask=~own | (code < 0)), whole.dictionary.to_pylist()
            )
            of_raters = self.number("score", read)
            scores[own] = of_raters[own]
        self.cells["score"] = whole
        return scores


def _are_chances(table: TextTable, name: str) -> bool:
    """Whether a column holds probabilities of a pass, by its name and its cells."""
    if plain(name) not in CHANCES or name not in table.columns:
        return False
    labels = [
        label for label in label_counts(table.columns[name]) if is_number(label.removesuffix("%"))
    ]
    try:
        values = np.array([parse_share(label) for label in labels])
    except BadCell:
        return False
    return len(values) > 0 and not bool(np.isin(values, (0, 1)).all())


def _pass_or_fail(numbers: dict[str, Numbers], own: Any) -> None:
    """Pass or fail, and how sure, in place of the probability of a pass in some rows."""
    chance = numbers["score"]
    own = own & has_number(chance)
    none = np.ma.array(np.zeros(len(chance)), mask=True)
    confidence: Numbers = np.ma.array(numbers.get("confidence", none), copy=True)
    confidence[own] = np.maximum(chance, 1 - chance)[own]
    score = np.ma.array(chance, copy=True)
    score[own] = (chance >= CHANCE_OF_A_PASS)[own].astype(float)
    numbers |= {"score": score, "confidence": confidence}


def _stack(table: TextTable, how: Plan) -> tuple[TextTable, dict[str, Cells]]:
    """A row per rater and answer, row by row; blank cells of people are no scores.

    Cells of `score`, `judge`, `rater_type`, where they are people's `run`, and `rater`, the column
    that each row comes from.
    """
    raters = list(how.raters)
    judges = [name for name, is_person in how.raters.items() if not is_person]
    blank = sum(table.columns[name].null_count for name in raters if how.raters[name])
    others = len(table.columns) - len(raters)
    if (len(table.row) * len(raters) - blank) * others > MOST_REPEATED:
        raise UnreadableFile(
            f"{how.stem}: {len(raters):,} columns of raters beside {others:,} others come to more "
            f"than {MOST_REPEATED:,} cells, one row per score. Leave out columns, or write one row "
            "per score."
        )
    long, score, rater = stack(table, raters, judges)
    human = np.array([how.raters[name] for name in raters])[rater]
    named = judge = coded_cells(rater, raters)
    who = how.mapping.get("judge")
    if who is not None and len(judges) == 1:
        given = (
            constant_cells(how.constants["judge"], len(rater))
            if "judge" in how.constants
            else long.columns[who]
        )
        person = coded_cells(np.ma.array(rater, mask=~human), raters)
        judge = _coalesce(person, given, human)
    rater_type = coded_cells(human.astype(np.int64), ["llm", "human"])
    stacked = {"score": score, "judge": judge, "rater_type": rater_type, "rater": named}
    if (run := how.mapping.get("run")) in long.columns:
        # A person scores an answer once, however often the judge does.
        once = coded_cells(np.ma.array(np.zeros(len(rater), int), mask=~human), ["0"])
        stacked["run"] = _coalesce(once, long.columns[run], human)
    return long, stacked


def _coalesce(cells: Cells, other: Cells, first: Any) -> Cells:
    """The cells of the first where they are chosen, else those of the other."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.if_else(pa.array(first), cells.cast(pa.string()), other.cast(pa.string()))
    return encode_cells(text)


def _name_by_texts(parser: RowParser) -> None:
    """Give each prompt with its response an item of its own: a hash of both."""
    blank = constant_cells(None, len(parser.row))
    texts = [parser.cells.get(name, blank) for name in ("item_id", "response")]
    parser.cells.setdefault("prompt", parser.cells["item_id"])
    parser.cells["item_id"] = map_together(texts, text_hash)


def _take_ungraded(parser: RowParser) -> None:
    """Words that say that there is no score become a status, unless the file gives one."""
    words = parser.cells["score"]
    status = map_cells(words, lambda text: UNGRADED.get(grade_word(text)))
    n = len(status) - status.null_count
    if not n:
        return
    parser.cells["score"] = map_cells(
        words, lambda text: None if grade_word(text) in UNGRADED else text
    )
    given = parser.cells.get("status")
    if given is not None:
        # `ok` beside N/A is not contradicted: what was said is that there is no score.
        status = _coalesce(status, given, cell_codes(status) >= 0)
    else:
        status = fill_missing(
            status, coded_cells((cell_codes(parser.cells["score"]) < 0) * 1, ["ok", "unparsed"])
        )
    parser.cells["status"] = status
    said = ", ".join(shown(label) for label in label_counts(words) if grade_word(label) in UNGRADED)
    parser.notes.append(f"Scores not graded, which is no fail: {n:,} ({said}).")


def _reader(cells: Cells) -> Callable[[str], float]:
    """How the cells of a column are read: as words where its only numbers are 0, ½ and 1, else as
    numbers.
    """
    labels = [label for label in label_counts(cells) if grade_word(label) not in UNGRADED]
    words = any(grade_word(label) in GRADES for label in labels)
    if words and all(
        not is_number(label) or parse_number(label) in (0, 0.5, 1) for label in labels
    ):
        return parse_grade
    if 1 < len(labels) <= MOST_CLASSES and not words and not any(map(is_number, labels)):
        return _refuse_class
    return parse_score


def _refuse_class(_: str) -> float:
    """Labels such as billing, refund and other have no order in which one is a better score."""
    raise BadCell(
        "no number, and labels have no order; make a row per answer and label instead, the label "
        "as metric, with score and gold 1 where it was given and 0 where not"
    )


def parse_grade(text: str) -> float:
    """Score of a word for a good or bad answer, or of 0, ½ or 1 among such words."""
    value = GRADES.get(grade_word(text))
    if value is not None:
        return value
    if is_number(text):
        return parse_float(text)
    raise BadCell(
        "not a word for a good or bad answer (pass, partial, fail, yes, no …); correct it, or "
        "leave the cell empty"
    )


def check_metrics(readings: Iterable[ImportResult], options: ReadOptions) -> None:
    """Raise UnknownName for a metric of which less is better and that no file has."""
    named = {
        name
        for reading in readings
        if reading.kind == "scores"
        for name in reading.votes["metric"].unique().to_pylist()
    }
    for name in options.lower_is_better:
        if name not in named:
            raise UnknownName(
                "{option} {value!r}: no metric is called so. There are: {known}.",
                option="lower_is_better",
                value=name,
                known=sorted(named) or "none",
            )


def fill_scales(rows: TypedRows, options: ReadOptions) -> None:
    """Write the scale of each metric beside its scores, and say it."""
    metric = rows.text["metric"]
    code = cell_codes(metric)
    names = metric.dictionary.to_pylist()
    score, gold = rows.numbers["score"], rows.numbers["gold"]
    low, high, lower = (
        np.ma.array(rows.numbers[name], copy=True)
        for name in ("scale_low", "scale_high", "lower_is_better")
    )
    for k, name in enumerate(names):
        own = code == k
        seen = np.unique(score[own].compressed())
        if not own.any() or not len(seen):
            continue
        true = np.unique(gold[own].compressed())
        # Gold of right and wrong beside levels is on a scale of its own.
        apart = np.isin(true, (0, 1)).all() and seen.max() > 1
        ends, said = scale_of(seen if apart else np.union1d(seen, true))
        open_ = own & ~has_number(low) & ~has_number(high)
        if ends is not None and open_.any():
            low[open_], high[open_] = ends
        less = name in options.lower_is_better
        if less:
            lower[own] = 1
        if open_.any():
            if less:
                said = said.replace("1 is pass", "0 is pass").replace("0 is fail", "1 is fail")
            better = "less is better" if less else "more is better"
            rows.notes.append(f"Metric {shown(name)}: {said}; {better}.")
    wrong = has_number(low) & has_number(high) & ~(low <= high).filled(True)
    for i in np.flatnonzero(wrong):
        reason = "the scale ends below where it begins; correct scale_low or scale_high"
        rows.reject(i, "scale_low", str(low[i]), reason)
    outside = ((score < low) | (score > high)).filled(False) & ~wrong
    for i in np.flatnonzero(outside):
        reason = (
            f"outside the scale of {low[i]:g} to {high[i]:g} that its row gives; correct either"
        )
        rows.reject(i, "score", f"{score[i]:g}", reason)
    rows.numbers |= {"scale_low": low, "scale_high": high, "lower_is_better": lower}
    rows.take(~wrong & ~outside)


def _refuse_two_scales(rows: TypedRows, file: str) -> None:
    """Raise UnreadableFile where people's scores of a metric and the judge's are on two scales,
    which no difference, and no spread, compares: 1 to 5 beside 0 to 100, or shares beside levels.
    """
    score, gold, low = (rows.numbers[name] for name in ("score", "gold", "scale_low"))
    metric, rater_type = rows.text["metric"], rows.text["rater_type"]
    human = np.isin(
        cell_codes(rater_type),
        [k for k, kind in enumerate(rater_type.dictionary.to_pylist()) if kind == "human"],
    )
    for k, name in enumerate(metric.dictionary.to_pylist()):
        own = (cell_codes(metric) == k) & ~has_number(low)
        people = np.union1d(gold[own].compressed(), score[own & human].compressed())
        judge = np.unique(score[own & ~human].compressed())
        # Right and wrong beside levels has measures of its own.
        if any(not len(values) or np.isin(values, (0, 1)).all() for values in (people, judge)):
            continue
        (theirs, _), (its, _) = scale_of(people), scale_of(judge)
        if theirs is None or its is None:
            continue
        if max(theirs[1], its[1]) < APART * min(theirs[1], its[1]):
            continue
        raise UnreadableFile(
            "{file}: people score {metric} from {low} to {high} and the judge from {bottom} to "
            "{top}: two scales, and no difference between them says anything. Bring both to one in "
            "the file, people's for example by (score - {low}) / {width} * {span}"
            + (" + {bottom}." if its[0] else "."),
            file=file,
            metric=shown(name),
            low=f"{theirs[0]:g}",
            high=f"{theirs[1]:g}",
            bottom=f"{its[0]:g}",
            top=f"{its[1]:g}",
            width=f"{theirs[1] - theirs[0]:g}",
            span=f"{its[1] - its[0]:g}",
        )


APART = 5
"""Tops of two scales that are so many times as far, at least, are no one scale seen in part."""
_TOPS = (5, 7, 10, 100)


def scale_of(values: Any) -> tuple[tuple[float, float] | None, str]:
    """Ends of the scale that distinct scores are on, as far as they show it, and that in words.

    0 and 1 are fail and pass; whole numbers from 1 up are levels of 1 to 5, 7, 10 or 100, where
    they reach beyond the scale before (1 to 3 and less stay open), from 0 up likewise; fractions
    within 0 and 1 are shares. None: the ends are those seen. Source: ours.

    >>> import numpy as np
    >>> scale_of(np.array([1, 2, 4.0]))
    ((1.0, 5.0), 'scale 1 to 5, levels used: 3 of 5')
    """
    least, most = float(values.min()), float(values.max())
    whole = bool((values == np.floor(values)).all())
    if least >= 0 and most <= 1:
        if whole:
            return (0.0, 1.0), "1 is pass and 0 is fail"
        if len(values) <= 3 and np.isin(values, (0, 0.5, 1)).all():
            return (0.0, 1.0), "1 is pass, 0.5 is partial and 0 is fail"
        return (0.0, 1.0), "scale 0 to 1"
    if least < 0 or most > _TOPS[-1] or most <= 3:
        return None, f"scores from {least:g} to {most:g}, taken for the ends of its scale"
    top = next(top for top in _TOPS if most <= top)
    if top == 7 and most == 6:
        top = 10
    bottom = 1 if least >= 1 and top < 100 else 0
    said = f"scale {bottom} to {top}"
    if whole and top < 100:
        n = top - bottom + 1
        said += f", levels used: {len(values)} of {n}"
    return (float(bottom), float(top)), said
