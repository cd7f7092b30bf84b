"""Rows of one comparison and judge that differ in a column nobody named are not taken for repeats
unasked.
"""

import numpy as np
import pytest

from core.__main__ import main
from core.errors import AmbiguousLabels
from core.importers import ReadOptions, inspect, read

PROVIDERS = ("openai:gpt-4o", "anthropic:sonnet")


def table(columns, rows):
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows), ""])


def per_provider(items=45):
    rng = np.random.default_rng(1)
    return table(
        ("item_id", "judge", "vote", "provider"),
        (
            (f"t{i}", "rubric", rng.choice([-1, 1]), name)
            for i in range(items)
            for name in PROVIDERS
        ),
    )


def read_one(text, **options):
    return read([("votes.csv", text.encode())], ReadOptions(**options))[0]


def question(text, **options):
    found = inspect(text.encode(), "votes.csv", ReadOptions(**options)).questions
    return next((each for each in found if each.option == "repeats"), None)


def test_a_row_per_item_and_provider_is_asked_about(tmp_path, capsys):
    text = per_provider()
    with pytest.raises(AmbiguousLabels, match="column 'provider': rows of one comparison"):
        read_one(text)
    file = tmp_path / "votes.csv"
    file.write_text(text)
    assert main(["audit", str(file), "--splits", "0"]) == 2
    said = capsys.readouterr().err
    for remedy in ("--map", "model_a=provider", "dataset=provider", "run="):
        assert remedy in said
    # Judge is named by a column, and a provider is no number of a repetition, nor an order.
    assert not any(f"{name}=provider" in said for name in ("judge", "run", "position"))
    choices = [choice for choice, _ in question(text).choices]
    assert choices == ["model_a=provider", "dataset=provider", "run="]
    for choice in choices:
        assert main(["audit", str(file), "--splits", "0", "--map", choice]) == 0
        assert (
            "comparisons: 45" if choice == "run=" else "comparisons: 90" in capsys.readouterr().out
        )


def test_repeats_all_the_same_are_numbered():
    reading = read_one(per_provider(), mapping=(("run", ""),))
    assert sorted(reading.votes["run"].to_pylist()) == [0] * 45 + [1] * 45


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (("1", "2", "3"), "run"),
        (("A first", "B first"), "position"),
        (("en", "de", "fr"), "dataset"),
    ],
)
def test_what_the_column_may_be_goes_by_its_values(values, wanted):
    rows = ((f"t{i}", "j", (-1) ** i, value) for i in range(20) for value in values)
    choices = [
        c.partition("=")[0]
        for c, _ in question(table(("item_id", "judge", "vote", "what"), rows)).choices
    ]
    assert wanted in choices
    assert ("run" in choices[:-1]) == (wanted == "run")
    assert ("position" in choices) == (wanted == "position")


def test_some_of_the_providers_in_each_item_are_enough():
    rng = np.random.default_rng(3)
    rows = (
        (f"t{i}", "j", rng.choice([-1, 1]), f"p{p}")
        for i in range(60)
        for p in rng.choice(6, 2, replace=False)
    )
    assert question(table(("item_id", "judge", "vote", "provider"), rows))


def others(rng, i, k, vote):
    """Columns of repeats that say nothing of how they were asked."""
    return {
        "rationale": rng.choice(["short", "long"]) if k else "first",
        "created": f"2026-01-0{k + 1}",
        "latency": f"{rng.random():.3f}",
        "cost": k,
        "call": f"c{i}-{k}",
        "raw_label": "AB"[int(vote < 0)],
        "finish": rng.choice(["stop", "length"]),
        "cached": rng.choice([0, 1], p=[0.2, 0.8]),
        "language": "ende"[2 * (i % 2) : 2 * (i % 2) + 2],
        "prompt_text": f"Explain the number {i} " * 9,
    }


@pytest.mark.parametrize("repeats", [2, 3, 8])
def test_repeats_remain_repeats(repeats):
    """None of the columns that differ among real repeats tells them apart by design."""
    rng = np.random.default_rng(repeats)
    rows, names = [], ()
    for i in range(60):
        for k in range(repeats):
            vote = rng.choice([-1, 1])
            more = others(rng, i, k, vote)
            names = tuple(more)
            rows.append((f"t{i}", "j", vote, *more.values()))
    text = table(("item_id", "judge", "vote", *names), rows)
    assert question(text) is None
    assert sorted(set(read_one(text).votes["run"].to_pylist())) == list(range(repeats))


@pytest.mark.parametrize("column", ["run", "repetition"])
def test_a_column_of_runs_is_an_answer(column):
    rows = ((f"t{i}", "j", (-1) ** (i + k), k, PROVIDERS[k]) for i in range(20) for k in range(2))
    text = table(("item_id", "judge", "vote", column, "provider"), rows)
    assert question(text) is None
    assert read_one(text).n_read == 40


def test_a_column_that_tells_comparisons_apart_already_is_no_question():
    rows = ((f"t{i}", "j", 1, f"m{k}", "base", f"m{k}-v1") for i in range(20) for k in range(2))
    text = table(("item_id", "judge", "vote", "model_a", "model_b", "version"), rows)
    assert question(text) is None
