"""PandaLM: the human-labelled test set, and outputs of judges that need it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ...errors import UnreadableFile
from ...labels import VOCABULARIES
from ...schema import ImportResult
from ..options import ReadOptions
from ..source import Source
from ..tables import Record, Records
from .common import BadField, Vote, field, read_votes, status, text

NAME = "pandalm"
LINE = "PandaLM: testset-v1.json (human labels) together with outputs of judges"

NEEDS = ("idx", "cmp_key and annotator1 … (test set), or …_result (output)")

_LABELS = VOCABULARIES["1/2/0"]
_ANNOTATOR = re.compile(r"annotator\d+")
_TESTSET = re.compile(r"[-_]testset.*$")


def fits(record: Record) -> bool:
    """Whether a record is one of a test set or of an output."""
    return is_test_set(record) or is_output(record)


def is_test_set(record: Record) -> bool:
    """Whether a record is a comparison with human labels."""
    return "idx" in record and "cmp_key" in record and any(_ANNOTATOR.fullmatch(name) for name in record)


def is_output(record: Record) -> bool:
    """Whether a record is a judge's output, which names its comparison by `idx` only."""
    return "idx" in record and "cmp_key" not in record and _result(record) is not None


def read_test_set(source: Source, records: Records, options: ReadOptions) -> ImportResult:
    """Read the annotators as human judges; gold is the modal label of the annotators, no unique mode 0."""

    def votes(record: Record) -> Iterator[Vote]:
        about = _comparison(record)
        for name in sorted(name for name in record if _ANNOTATOR.fullmatch(name)):
            vote = _vote(record[name], name)
            human = {"judge": f"human_{name}", "rater_type": "human", "vote": vote, "status": status(vote)}
            yield about | human

    return read_votes(source, records, options, NAME, votes, dataset="PandaLM")


def read_output(
    source: Source, records: Records, options: ReadOptions, test_set: Records | None
) -> ImportResult:
    """Read a judge's output beside the test set, which holds models, texts and gold.

    `garbage` is what PandaLM writes for a reply that it could not parse: `unparsed`. The judge is the file's
    name without `-testset…`.

    Raises
    ------
    UnreadableFile : the test set is not among the files.
    """
    if test_set is None:
        raise UnreadableFile(
            f"{source.name}: row 1: PandaLM outputs name their comparisons by idx only. "
            "Give the test set (testset-v1.json) together with this file."
        )
    about: dict[object, Record] = {
        record["idx"]: record for record in test_set.records if isinstance(record.get("idx"), int)
    }
    judge = _TESTSET.sub("", source.stem) or source.stem

    def votes(record: Record) -> Iterator[Vote]:
        index = field(record, "idx", int)
        if index not in about:
            raise BadField(
                "idx", index, "not in the test set; give the test set that this output was made for"
            )
        name = _result(record)
        value = record[name] if name else None
        vote = None if value == "garbage" else _vote(value, name or "result")
        reason = record.get(name.replace("_result", "_reason")) if name else None
        yield _comparison(about[index]) | {
            "judge": judge,
            "vote": vote,
            "status": status(vote),
            "rationale": text(reason),
        }

    return read_votes(source, records, options, NAME, votes, dataset="PandaLM")


def _result(record: Record) -> str | None:
    return next((name for name in record if name.endswith("_result")), None)


def _vote(value: object, column: str) -> int | None:
    if value is None or value == "":
        return None
    vote = _LABELS.vote(str(value)) if isinstance(value, int | str) and not isinstance(value, bool) else None
    if vote is None:
        raise BadField(column, value, f"not a label of {_LABELS.name} ({_LABELS.meaning}); correct it")
    return vote


def _comparison(record: Record) -> dict[str, object]:
    models = field(record, "cmp_key").split("_")
    if len(models) != 2:
        raise BadField("cmp_key", record["cmp_key"], "two model names with one _ between them are needed")
    labels = Counter(_vote(value, name) for name, value in record.items() if _ANNOTATOR.fullmatch(name))
    del labels[None]
    ranked = labels.most_common(2)
    unique = len(ranked) == 1 or (len(ranked) == 2 and ranked[0][1] > ranked[1][1])
    instruction, given = text(record.get("instruction")), text(record.get("input"))
    return {
        "item_id": f"pandalm-{field(record, 'idx', int):04d}",
        "category": text(record.get("motivation_app")),
        "model_a": models[0],
        "model_b": models[1],
        "position": "ab",
        "gold": (ranked[0][0] if unique else 0) if ranked else None,
        "prompt": "\n\n".join(part for part in (instruction, given) if part) or None,
        "response_a": text(record.get("response1")),
        "response_b": text(record.get("response2")),
    }
