"""Any table of votes: one row per vote (long), one column per judge (wide), or two scores
per row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import Message
from ..labels import NAMES, Vocabulary, normalise
from ..reading.words import TIE_WORDS
from ..schema import CHANGE, LEVEL_KIND, VOTES, ImportResult, perturbed_name
from .checks import TypedRows, finish
from .columns import (
    Cells,
    Codes,
    Mask,
    Numbers,
    cell_codes,
    cell_text,
    coded_cells,
    constant_cells,
    dense_codes,
    encode_cells,
    fill_missing,
    has_number,
    is_text,
    label_counts,
    map_cells,
    map_together,
    text_hash,
)
from .options import FAILED, SCORE_COLUMNS, Plan, ReadOptions
from .row_parser import RowParser
from .source import Source
from .tables import TextTable, stack
from .values import LEVELS, BadCell, order_word, parse_confidence, parse_float, parse_int
from .vote_plan import plan

_JUDGED = ("vote", "gold", "confidence")
NUMBERS = {c.name: c.kind for c in VOTES.columns if c.kind != "text" and c.name not in _JUDGED}
"""Columns that are read as numbers wherever a table has them → `int` or `float`."""


def read_table(table: TextTable, source: Source, options: ReadOptions, format: str) -> ImportResult:
    """Read the votes of a table of text; `finish` says how rows of the same key are settled.

    Raises UnreadableFile: a required column is missing. AmbiguousLabels: the labels can be read in
    several ways, see `core.labels.decide`. UnknownName: an option names a column that the file has
    not.
    """
    how = plan(table, source.name, options, name_judge=True).checked(source.name)
    rows = VoteParser(table, how, options).votes()
    dataset = source.together or how.stem
    return finish(rows, source, format, constants=options.constants(), dataset=dataset)


class VoteParser(RowParser):
    """Reads the cells of a table of votes, a wide one in long form."""

    def __init__(self, table: TextTable, how: Plan, options: ReadOptions) -> None:
        self.options = options
        stacked: dict[str, Cells] = {}
        if how.layout == "wide":
            table, labels, judge = stack(table, how.judges)
            stacked = {"vote": labels, "judge": coded_cells(judge, list(how.judges))}
            if how.people:
                human = np.isin(judge, [how.judges.index(person) for person in how.people])
                stacked["rater_type"] = coded_cells(human * 1, ["llm", "human"])
        super().__init__(table, VOTES, how)
        self.cells |= stacked
        failed = {label for label, meaning in options.label_map if meaning == FAILED}
        if failed and "vote" in self.cells:
            self.cells["vote"] = map_cells(
                self.cells["vote"], lambda text: None if text.strip() in failed else text
            )
        if "position" in self.cells:
            self.cells["position"] = map_cells(
                self.cells["position"], lambda text: order_word(text, how.first)
            )
        if "judge" in self.cells and "perturbation" in self.extra:
            self._name_perturbed()
        if how.items == "rows":
            self.cells["item_id"] = encode_cells([f"{how.stem} {row}" for row in self.row])
        elif how.items == "texts":
            self._tell_items_apart()

    def _name_perturbed(self) -> None:
        """Give votes on perturbed items the judge's name for them, see `schema.Perturbed`."""
        unfit = map_cells(
            self.extra["perturbation"],
            lambda text: None if CHANGE.fullmatch(text.strip()) else text,
        )
        why = (
            "no name of a change; write a word, and :a or :b behind it if only that response has it"
        )
        self.reject(cell_codes(unfit) >= 0, "perturbation", why)
        change = map_cells(self.extra.pop("perturbation"), str.strip)
        self.cells["judge"] = map_together(
            (self.cells["judge"], change),
            lambda name, label: perturbed_name(name, label) if label and name else name,
        )
        self.notes.append(f"Votes on perturbed items: {len(change) - change.null_count:,}.")

    def _tell_items_apart(self) -> None:
        """Give each prompt with its pair of responses an item of its own, where the models do not
        suffice.

        The item is a hash of prompt, response_a and response_b. Where the file names both models
        and each prompt has one pair of responses per pair of models, the prompt remains the item.
        """
        blank = constant_cells(None, len(self.row))
        prompt = self.cells.get("item_id", blank)
        texts = [prompt, *(self.cells.get(name, blank) for name in ("response_a", "response_b"))]
        if {"item_id", "model_a", "model_b"} <= self.cells.keys():
            compared = dense_codes([prompt, self.cells["model_a"], self.cells["model_b"]])
            pairs = dense_codes(texts)
            if len(np.unique(compared)) == len(np.unique(np.stack([compared, pairs]), axis=1).T):
                return
        named = map_together(texts, lambda *three: text_hash(*three) if any(three) else "")
        self.cells["item_id"], items = named, len(named.dictionary)
        if "item_id" in self.named:
            self.cells.setdefault("prompt", prompt)
        self.notes.append(
            "No column names the items, so each prompt with its two responses is an item: "
            f"{items:,} of {len(label_counts(prompt)):,} prompts."
            if "item_id" in self.named
            else f"No column names the items, so each pair of responses is an item: {items:,}."
        )

    def column(self, name: str, i: int | np.integer[Any]) -> str:
        wide = name == "vote" and self.how.layout == "wide"
        return cell_text(self.cells["judge"], i) if wide else super().column(name, i)

    def votes(self) -> TypedRows:
        """Rows with typed columns, those with a bad cell left out."""
        how = self.how
        self.check_texts(
            ("item_id",) if how.gold_only else ("item_id", "judge"), self.options.rater_type
        )
        readers = {"int": parse_int, "float": parse_float}
        numbers = self.numbers({column: readers[kind] for column, kind in NUMBERS.items()})
        if how.gold_vocabulary:
            gold = self._votes("gold", how.gold_vocabulary)
            numbers["gold"] = self._slots(gold) if how.gold_slots else gold
        if how.gold_only:
            self.reject_missing("gold")
        else:
            vote = self._scores() if how.layout == "scores" else self._votes("vote", how.vocabulary)
            vote = self._slots(vote) if how.slots else vote
            numbers["vote"] = self.settle_status("vote", vote)
        # Last, when all that costs a row is known.
        scale = how.scale or "1"
        numbers |= self.numbers({"confidence": lambda text: parse_confidence(text, scale)})
        if "confidence" in numbers and not how.gold_only:
            numbers["confidence"][~has_number(numbers["vote"])] = np.ma.masked
            if scale in LEVELS:
                self._name_levels(has_number(numbers["confidence"]))
        rows = self.typed_rows(numbers)
        rows.take(self.good)
        return rows

    def _name_levels(self, there: Mask) -> None:
        """Say of each level that it is one, whatever the file says of how it came about."""
        level = coded_cells(np.ma.array(np.zeros(len(there)), mask=~there), [LEVEL_KIND])
        given = self.cells.get("confidence_kind")
        self.cells["confidence_kind"] = level if given is None else fill_missing(level, given)

    def _votes(self, name: str, vocabulary: Vocabulary | None) -> Numbers:
        """Votes of a column of labels; a label outside the vocabulary rejects its row and is never
        a tie.
        """
        assert vocabulary is not None
        if vocabulary.name == NAMES:
            return self._model_names(name)

        def vote(label: str) -> int:
            found = vocabulary.vote(label)
            if found is None:
                reason = "not a label of {name} ({meaning}); correct it, or use {option}"
                if name != "gold":
                    reason += ", or say what it means with {option:label_map LABEL=MEANING}"
                option = "gold_labels" if name == "gold" else "labels"
                raise BadCell(
                    Message(reason, option=option, name=vocabulary.name, meaning=vocabulary.meaning)
                )
            return found

        return self.number(name, vote)

    def _model_names(self, name: str) -> Numbers:
        """Labels that are the better model's name."""
        codes: dict[str, int] = {}

        def coded(cells: Cells) -> Codes:
            texts = cells.dictionary.to_pylist()
            return np.array([*(codes.setdefault(normalise(t), len(codes)) for t in texts), -1])[
                cell_codes(cells)
            ]

        label, a, b = (coded(self.cells[column]) for column in (name, "model_a", "model_b"))
        tie = np.isin(label, [codes[word] for word in TIE_WORDS if word in codes])
        there = label >= 0
        valid = there & (tie | ((label == a) ^ (label == b)))
        self.reject(
            there & ~valid,
            name,
            "names neither model_a nor model_b of its row, nor a tie; correct the name",
        )
        return np.ma.array(np.where(tie, 0, np.where(label == a, 1, -1)), mask=~valid)

    def _slots(self, vote: Numbers) -> Numbers:
        """Turn labels that name the first and second shown into labels that name the models."""
        position = self.cells.get("position", constant_cells(None, len(self.row)))
        swapped = is_text(position, "ba")
        reason = (
            "the label names the first or second shown, but position is missing; write ab or ba"
        )
        self.reject((cell_codes(position) < 0) & has_number(vote), "position", reason)
        return np.ma.array(np.where(swapped, -vote.data, vote.data), mask=~has_number(vote))

    def _scores(self) -> Numbers:
        """The side with the higher score, a tie within the margin."""
        a, b = (self.number(name, parse_float) for name in SCORE_COLUMNS)
        # 100.8 - 100.7 is a little more than 0.1 in binary; it must tie at a margin of 0.1.
        tied = np.ma.abs(a - b) <= self.options.tie_margin * (1 + 1e-9)
        sign = np.sign((a - b).data).astype(np.int64)
        return np.ma.array(np.where(tied.filled(False), 0, sign), mask=np.ma.getmaskarray(tied))
