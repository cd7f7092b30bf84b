"""The worked example of CONTRIBUTING: a format by declaration alone."""

import re

from places import REPOSITORY

from core.importers import read
from core.importers.registry import FORMATS


def blocks(kind):
    text = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
    chapter = text.partition("## Add a file format")[2]
    return re.findall(rf"```{kind}\n(.*?)```", chapter, re.DOTALL)


def test_the_example_is_read_as_it_says(monkeypatch):
    names: dict[str, object] = {}
    (code,), (sample,) = blocks("python"), blocks("json")
    exec(code, names)  # noqa: S102
    assert not any(format.fits({"suite": "s", "cases": []}) for format in FORMATS.values())
    monkeypatch.setitem(FORMATS, "suites", names["SUITES"])
    (reading,) = read([("suite.json", sample.encode())])
    columns = ("dataset", "item_id", "model", "judge", "rater_type", "metric", "score", "status")
    assert [tuple(row[name] for name in columns) for row in reading.votes.to_pylist()] == [
        ("support", "c1", "app", "gpt-judge", "llm", "clear", 4.0, "ok"),
        ("support", "c1", "app", "Ann", "human", "clear", None, "unparsed"),
    ]
    assert "1 with rater_type rule" in " ".join(reading.notes)
