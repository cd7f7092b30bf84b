"""Label vocabularies: what each label means, which vocabulary fits a column, and what must be
asked.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import AmbiguousLabels, UnknownName
from core.importers.values import (
    BadCell,
    confidence_scale,
    parse_confidence,
    parse_float,
    parse_int,
)
from core.labels import VOCABULARIES, candidates, decide, normalise, vocabulary

MEANINGS = {
    "1/0/-1": {"1": 1, "+1": 1, "1.0": 1, "0": 0, "-1": -1, "-1.0": -1, "−1": -1},
    "1/2/0": {"1": 1, "2": -1, "0": 0, "Tie": 0},
    "0/1/2": {"0": 1, "1": -1, "2": 0, "Tie": 0},
    "1/0": {"1": 1, "0": -1, "True": 1, "false": -1},
    "0/1": {"0": 1, "1": -1, "TRUE": -1},
    "A/B": {
        "A": 1,
        " b ": -1,
        "[[A]]": 1,
        "[[b]]": -1,
        "C": 0,
        "[[C]]": 0,
        "tie": 0,
        "SAME": 0,
        "Assistant A": 1,
    },
    "A>B": {
        "A>B": 1,
        "[[A>>B]]": 1,
        "A=B": 0,
        "B > A": -1,
        "b>>a": -1,
        "A≫B": 1,
        "A++": 1,
        "b+": -1,
    },
    "model_a/model_b": {
        "model_a": 1,
        "MODEL_B": -1,
        "tie": 0,
        "tie (bothbad)": 0,
        "both_bad": 0,
        "model_2": -1,
        "text_a": 1,
        "response_2": -1,
        "chosen_b": -1,
    },
    "win/lose": {"win": 1, "Lose": -1, "draw": 0, "tie": 0},
    "first/second": {"first": 1, "Second": -1, "tie": 0},
    "left/right": {"left": 1, "Right": -1, "both good": 0},
}


@pytest.mark.parametrize(
    ("name", "label", "vote"), [(n, k, v) for n, t in MEANINGS.items() for k, v in t.items()]
)
def test_every_label_has_its_meaning(name, label, vote):
    assert VOCABULARIES[name].vote(label) == vote


def test_every_vocabulary_but_names_is_tested_here():
    assert set(MEANINGS) == set(VOCABULARIES) - {"names"}


@pytest.mark.parametrize(
    "label", ["", "D", "A>C", "?", "11", "1.5", "tie!", "[[]]", "model_c", "９"]
)
def test_an_unknown_label_is_never_a_tie(label):
    assert all(known.vote(label) is None for known in VOCABULARIES.values())


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        ("1 0 -1", "1/0/-1"),
        ("1 -1", "1/0/-1"),
        ("1 2", "1/2/0"),
        ("1 2 tie", "1/2/0"),
        ("A B tie", "A/B"),
        ("[[A]] [[B]] [[C]]", "A/B"),
        ("A>B B>>A A=B", "A>B"),
        ("model_a model_b tie", "model_a/model_b"),
        ("win lose tie", "win/lose"),
        ("first second", "first/second"),
    ],
)
def test_the_vocabulary_follows_from_the_labels(labels, name):
    assert decide(dict.fromkeys(labels.split(), 10), column="winner").name == name


@pytest.mark.parametrize("labels", [("0", "1"), ("0",), ("1",), ("true", "false")])
def test_zero_and_one_alone_must_be_named(labels):
    with pytest.raises(AmbiguousLabels, match=r"'winner'.*--labels"):
        decide(dict.fromkeys(labels, 5), column="winner")


def test_zero_and_one_in_a_column_named_vote_must_be_named_too():
    with pytest.raises(AmbiguousLabels, match="holds only"):
        decide({"0": 3, "1": 3}, column="vote")
    assert decide({"1": 3}, column="vote").name == "1/0/-1"
    assert decide({"0": 3, "1": 3}, column="vote", canonical=True).name == "1/0/-1"


def test_minus_one_and_two_together():
    with pytest.raises(AmbiguousLabels, match="both -1 and 2"):
        decide({"1": 10, "2": 10, "-1": 3}, column="vote")
    assert decide({"1": 100, "-1": 100, "2": 1}, column="vote").name == "1/0/-1"
    assert decide({"1": 100, "2": 100, "-1": 1}, column="vote").name == "1/2/0"


def test_zero_beside_two_may_be_the_first_or_the_tie():
    with pytest.raises(AmbiguousLabels, match=r"either may be the tie.*1/2/0.*0/1/2"):
        decide({"0": 60, "1": 60, "2": 20}, column="vote")
    assert candidates({"0": 1, "1": 1, "2": 1}) == ("1/2/0", "0/1/2")


def test_two_vocabularies_in_one_column_are_refused_and_a_few_strays_are_not():
    with pytest.raises(AmbiguousLabels, match="mixes vocabularies"):
        decide({"A": 50, "B": 30, "model_a": 40}, column="vote")
    assert decide({"A": 50, "B": 50, "1": 1}, column="vote").name == "A/B"
    with pytest.raises(AmbiguousLabels, match="are none that are known"):
        decide({"good": 5, "bad": 5}, column="vote")


def test_model_names_are_labels_where_the_models_are_known():
    counts = {"GPT-4": 5, "llama": 4, "tie": 2}
    assert decide(counts, column="winner", models=frozenset({"gpt-4", "llama"})).name == "names"


def test_candidates_hold_every_label():
    assert candidates({"0": 1, "1": 1}) == ("1/0/-1", "1/2/0", "1/0", "0/1")
    assert candidates({"A": 1, "?": 1}) == ()


def test_vocabularies_are_found_whatever_the_case():
    assert vocabulary("a/b").name == "A/B"
    with pytest.raises(UnknownName, match="Known: 1/0/-1"):
        vocabulary("letters")


@given(st.text(max_size=20))
def test_normalising_twice_changes_nothing(label):
    assert normalise(normalise(label)) == normalise(label)


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_64_bit_number_is_read(number):
    assert parse_int(str(number)) == number
    assert parse_int(f"{number}.0") == number


@pytest.mark.parametrize("text", ["9223372036854775808", "-9223372036854775809", "9" * 5000])
def test_what_does_not_fit_64_bits_is_said(text):
    with pytest.raises(BadCell, match="64 bits"):
        parse_int(text)


@pytest.mark.parametrize("text", ["1_000", "1.5", "١", "one", "0x10", "1e3", ""])
def test_what_is_no_whole_number_is_said(text):
    with pytest.raises(BadCell, match="not a whole number"):
        parse_int(text)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_is_read(number):
    assert parse_float(repr(number)) == number


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nan", "finite"),
        ("-inf", "finite"),
        ("Infinity", "finite"),
        ("1e999", "too large"),
        ("0,5", "decimal point"),
        ("x", "not a number"),
    ],
)
def test_what_is_no_number_is_said(text, reason):
    with pytest.raises(BadCell, match=reason):
        parse_float(text)


@pytest.mark.parametrize(
    ("cells", "scale"),
    [
        ({"95%": 10}, "%"),
        ({"95%": 1, "0.5": 9}, "1"),
        ({"95%": 1, "50": 3, "98": 6}, "%"),
        ({"95%": 9, "5": 1}, ("1-5", "1-7", "1-10", "100")),
        ({"95": 5, "0.5": 5}, "100"),
        ({"95": 4, "0.5": 5}, "1"),
        ({"1.7": 1, "0.5": 9}, "1"),
        ({"nan": 9, "50": 1}, "100"),
        ({}, "1"),
        # Levels, which are asked for: never a percentage, never rejected.
        ({"1": 88, "2": 50, "3": 60, "4": 40, "5": 62}, ("1-5", "1-7", "1-10")),
        ({"1": 99, "4": 1}, ("1-5", "1-7", "1-10")),
        ({"2": 5, "6.5": 5}, ("1-7", "1-10", "logit")),
        ({"2": 5, "9.9": 5}, ("1-10", "100", "logit")),
        ({"6": 5, "7": 5, "8": 5, "9": 5, "10": 5}, ("1-10", "100")),
        ({"0": 5, "5": 5, "10": 5}, ("0-10", "100")),
        ({"4": 96, "99": 4}, ("1-5", "1-7", "1-10", "100")),  # 99 for a missing one
        # Logits.
        ({"-1.3": 16, "0.4": 68, "1.8": 16}, ("1", "logit")),
        ({"-1.3": 30, "0.4": 20, "4.5": 50}, ("logit",)),
        ({"0.5": 40, "3.2": 35, "12.5": 25}, ("100", "logit")),
        # What a few cells say of no scale is rejected, cell by cell.
        ({"0.5": 95, "3": 5}, "1"),
        ({"1": 50, "0": 49, "2": 1}, "1"),
        ({"50": 40, "80": 58, "-1": 2}, "100"),
        ({"5": 40, "80": 60}, "100"),
    ],
)
def test_the_scale_of_confidence_is_that_of_the_column(cells, scale):
    """Source: docs/methods.md §0."""
    assert confidence_scale(cells) == scale


@pytest.mark.parametrize(
    ("text", "scale", "value"),
    [
        *(("95 %", scale, 0.95) for scale in ("1", "100", "%", "1-5", "logit")),
        *(("95", "100", 0.95), ("95", "%", 0.95), ("0.3", "1", 0.3)),
    ],
)
def test_confidence_is_a_fraction(text, scale, value):
    assert parse_confidence(text, scale) == value


@pytest.mark.parametrize(
    ("scale", "values"),
    [
        ("1-5", {"1": 0.2, "2": 0.4, "3.5": 0.7, "5": 1}),
        ("1-7", {"1": 1 / 7, "7": 1}),
        ("1-10", {"1": 0.1, "10": 1}),
        ("0-10", {"0": 0, "10": 1}),
        # https://en.wikipedia.org/wiki/Logit: the odds 1:1, 1:3 and 9:1.
        ("logit", {"0": 0.5, "-1.0986122886681098": 0.25, "2.1972245773362196": 0.9}),
        ("logit", {"-1e308": 0, "1e308": 1}),
    ],
)
def test_levels_keep_their_order_and_logits_are_probabilities(scale, values):
    for text, value in values.items():
        assert parse_confidence(text, scale) == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize(
    ("scale", "outside"),
    [
        ("1", ("1.7", "-0.1", "150%")),
        ("100", ("101",)),
        ("%", ("0.5",)),
        ("1-5", ("0", "6", "180%")),
        ("1-7", ("8",)),
        ("1-10", ("0.5", "11")),
        ("0-10", ("-1",)),
        ("logit", ("-50%", "inf")),
    ],
)
def test_confidence_outside_its_scale_is_never_rescaled_alone(scale, outside):
    for text in outside:
        with pytest.raises(BadCell):
            parse_confidence(text, scale)
