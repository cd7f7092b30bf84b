"""PandaLM: the human-labelled test set, and outputs of judges that need it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from ..errors import UnreadableFile
from ..labels import VOCABULARIES
from .json_tables import Record
from .native import BadField, NativeFile, NativeFormat, Reader, Vote, required, text, verdict

LABELS = VOCABULARIES["1/2/0"]
_ANNOTATOR = re.compile(r"annotator\d+")
_TESTSET = re.compile(r"[-_]testset.*$")


def fits(record: Record) -> bool:
    """Whether a record is one of a test set or of an output, which names its comparison by `idx`
    only.
    """
    return _of_people(record) or (
        "idx" in record and "cmp_key" not in record and _result(record) is not None
    )


def _of_people(record: Record) -> bool:
    """Whether a record is a comparison with human labels."""
    return (
        "idx" in record
        and "cmp_key" in record
        and any(_ANNOTATOR.fullmatch(name) for name in record)
    )


def is_test_set(file: NativeFile) -> bool:
    """Whether a file is the test set, and not an output."""
    return _of_people(file.records.records[0])


def give_test_set(files: Sequence[NativeFile]) -> None:
    """Let outputs among these files have the test set among them.

    Raises UnreadableFile: there are several.
    """
    own = [file for file in files if file.format is FORMAT]
    test_sets = [file for file in own if is_test_set(file)]
    if 1 < len(test_sets) < len(own):
        names = ", ".join(file.source.name for file in test_sets)
        raise UnreadableFile(
            f"{names}: row 1: several PandaLM test sets. Give one at a time, with the outputs "
            "made for it."
        )
    for file in own:
        file.test_set = test_sets[0].records if test_sets else None


def annotators(record: Record) -> Iterator[Vote]:
    """Read the annotators as human judges; gold is the modal label of the annotators, no unique
    mode 0.
    """
    about = _comparison(record)
    for name in sorted(name for name in record if _ANNOTATOR.fullmatch(name)):
        vote = verdict(record[name], name, LABELS)
        yield about | {"judge": f"human_{name}", "rater_type": "human", "vote": vote}


def _outputs(file: NativeFile) -> Reader:
    """Read a judge's output beside the test set, which holds models, texts and gold.

    `garbage` is what PandaLM writes for a reply that it could not parse: `unparsed`. The judge is
    the file's name without `-testset…`.

    Raises UnreadableFile: the test set is not among the files.
    """
    if file.test_set is None:
        raise UnreadableFile(
            f"{file.source.name}: row 1: PandaLM outputs name their comparisons by idx only. "
            "Give the test set (testset-v1.json) together with this file."
        )
    numbered = [record for record in file.test_set.records if isinstance(record.get("idx"), int)]
    about: dict[object, Record] = {record["idx"]: record for record in numbered}
    judge = _TESTSET.sub("", file.source.stem) or file.source.stem

    def votes(record: Record) -> Iterator[Vote]:
        index = required(record, "idx", int)
        if index not in about:
            raise BadField(
                "idx", index, "not in the test set; give the test set that this output was made for"
            )
        name = _result(record)
        value = record[name] if name else None
        vote = None if value == "garbage" else verdict(value, name or "result", LABELS)
        reason = record.get(name.replace("_result", "_reason")) if name else None
        yield _comparison(about[index]) | {"judge": judge, "vote": vote, "rationale": text(reason)}

    return votes


def _result(record: Record) -> str | None:
    return next((name for name in record if name.endswith("_result")), None)


def _comparison(record: Record) -> dict[str, object]:
    models = required(record, "cmp_key").split("_")
    if len(models) != 2:
        raise BadField(
            "cmp_key", record["cmp_key"], "two model names with one _ between them are needed"
        )
    labels = Counter(
        verdict(value, name, LABELS) for name, value in record.items() if _ANNOTATOR.fullmatch(name)
    )
    del labels[None]
    ranked = labels.most_common(2)
    unique = len(ranked) == 1 or (len(ranked) == 2 and ranked[0][1] > ranked[1][1])
    instruction, given = text(record.get("instruction")), text(record.get("input"))
    return {
        "item_id": f"pandalm-{required(record, 'idx', int):04d}",
        "category": text(record.get("motivation_app")),
        "model_a": models[0],
        "model_b": models[1],
        "position": "ab",
        "gold": (ranked[0][0] if unique else 0) if ranked else None,
        "prompt": "\n\n".join(part for part in (instruction, given) if part) or None,
        "response_a": text(record.get("response1")),
        "response_b": text(record.get("response2")),
    }


FORMAT = NativeFormat(
    name="pandalm",
    line="PandaLM: testset-v1.json (human labels) together with outputs of judges",
    needs=("idx", "cmp_key and annotator1 … (test set), or …_result (output)"),
    dataset="PandaLM",
    reader=lambda file: annotators if is_test_set(file) else _outputs(file),
    sniff=fits,
)
