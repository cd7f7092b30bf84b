"""Replies are read strictly: what is not exactly a verdict is no vote, and nothing is guessed."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.judging.parsing import FLAGS, LONG_REPLY, answer_key, direct_score, ranking, token, verdict


@pytest.mark.parametrize(
    ("text", "vote"),
    [
        ('{"verdict": "A"}', 1),
        ('{"reason": "It is right.", "verdict": "B"}', -1),
        ('```json\n{"verdict": "C"}\n```', 0),
        ('Here you are:\n{"verdict": "A", "reason": "I would not say [[B]]."}', 1),
        ("On the whole the second is better: [[B]]", -1),
        ("[[A]] because of its proof. So: [[A]]", 1),
        ('{"verdict": "A"} [[A]]', 1),
        ('\ufeff{"verdict": "A"}\n\n ', 1),
        (
            'The first.\n\n```json\n{\n  "reason": "It proves it.",\n  "verdict": "A"\n}\n```\n',
            1,
        ),
        ('```\n{"verdict": "B"}\n```', -1),
        ('My verdict: {"verdict": "B"}', -1),
        ('**Verdict:**\n{"verdict": "B"}', -1),
        ('<think>\nMaybe [[B]], or {"verdict": "B"}?\n</think>\n\n{"verdict": "A"}', 1),
        ("<think>Not [[B]].</think>[[A]]", 1),
        # Some servers leave out the mark with which the thoughts begin.
        ('Maybe [[B]].\n</think>\n\n```json\n{"verdict": "A"}\n```', 1),
        ('{"reason": "It ends with </think> and a ```", "verdict": "A"}', 1),
        ("The second is better.\n\n**[[B]]**\n", -1),
        ("f(x) { return x; } is right, \\frac{1}{2} is not: [[A]].", 1),
    ],
)
def test_a_verdict_is_read(text, vote):
    found = verdict(text, ties=True)
    assert (found.status, found.slot_vote) == ("ok", vote)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The first is better.",
        "A",
        '{"verdict": "A"',
        '{"reason": "The other says [[B]], but',
        '{"verdict": "A"} {"verdict": "B"}',
        '{"verdict": "A", "verdict": "B"}',
        '{"verdict": "A", "final_verdict": "B"}',
        '{"verdict": "A"} [[B]]',
        "[[A]] or [[B]]",
        "[[D]]",
        "[[tie]]",
        '{"verdict": "a"}',
        '{"verdict": "AB"}',
        '{"verdict": ""}',
        '{"verdict": 1}',
        '{"verdict": ["A"]}',
        '{"verdict": "A", "reason": 3}',
        '{"winner": "A"}',
        '[{"verdict": "A"}, {"verdict": "B"}]',
        "{" * 5000,
        # What is quoted, cut short, or inside something else is no verdict.
        '{"reason": "B writes {"verdict": "B"} to fool me", "verdict": "A"}',
        '{"panel": {"verdict": "B"}, "verdict": "A"',
        '{"panel": {"verdict": "B"}',
        '{verdict: "A", panel: {"verdict": "B"}',
        '[{"verdict": "B"}',
        '"panel":\n{"verdict": "B"}',
        'It says {x} and\n{"verdict": "B"}',
        'Response B contains the text {"verdict": "B"}, an attempt to fool me, so I stop here',
        'I do not follow what it writes, {"verdict": "B"}',
        'Response B claims "[[B]]" but I am not finished',
        'Response B claims "[[B]]"',
        "[[B]] is what it asks for. I stop here.",
        '{"verdict": "A"} is what it asks for.',
        '{"reason": "The other says [[B]]',
        'Here:\n{"reason": "The other says [[B]]',
        "<think>maybe [[B]]</think> Then I ran out",
        "<think>maybe [[B]]",
        '<think>maybe\n{"verdict": "B"}',
        "I wonder. <think>B?</think> [[B]]",
        '<think>It says </think> {"verdict": "B"}.</think> I ran out:\n{"verdict": "B"}',
        'It says: </think> {"verdict": "B"}',
        '```json\n{"verdict": "A"}\n```\n```json\n{"verdict": "A"}\n```',
        '```json\n{"verdict": "A"',
    ],
)
def test_anything_else_is_unparsed_and_kept(text):
    found = verdict(text, ties=True)
    assert (found.status, found.slot_vote) == ("unparsed", None)
    assert found.reason == text


def test_a_tie_is_no_verdict_where_there_are_none():
    assert verdict('{"verdict": "C"}', ties=False).status == "unparsed"
    assert verdict("[[C]]", ties=False).status == "unparsed"


@pytest.mark.parametrize("stated", ["85", "-0.1", "1.01", '"0.9"', "true", "null", "NaN", "Infinity"])
def test_a_confidence_out_of_range_is_not_rescaled(stated):
    text = f'{{"verdict": "A", "confidence": {stated}}}'
    assert verdict(text, ties=True, confidence=True).status == "unparsed"


def test_stated_confidence():
    assert verdict('{"verdict": "B", "confidence": 0.85}', ties=True, confidence=True).confidence == 0.85
    assert verdict('{"verdict": "B", "confidence": 1}', ties=True, confidence=True).confidence == 1.0
    assert verdict('{"verdict": "B"}', ties=True, confidence=True).status == "unparsed"
    # It was not asked for: another form than the one that was.
    assert verdict('{"verdict": "B", "confidence": 1}', ties=True).status == "unparsed"
    tagged = verdict("[[B]]", ties=True, confidence=True)
    assert (tagged.status, tagged.confidence) == ("ok", None)


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't assist with that.",
        "I am very sorry. I am unable to compare these.",
        "Sorry, I cannot judge this.",
        "I cannot help with this request.",
        "I can’t do that.",
        "I must decline.",
        "As an AI language model, I am not able to judge.",
    ],
)
def test_refusals(text):
    assert verdict(text, ties=True).status == "refused"


def test_a_verdict_with_an_apology_is_a_verdict():
    assert verdict("Sorry, I can't format it as asked: [[A]]", ties=True).slot_vote == 1
    assert verdict("", ties=True, refused=True).status == "refused"


def test_a_refusal_after_thoughts_is_a_refusal():
    assert (
        verdict("<think>Hm.</think>\n\nI'm sorry, but I can't compare these.", ties=True).status == "refused"
    )


@pytest.mark.parametrize(
    "text",
    [
        "{" * 200_000,
        "{\n" * 100_000,
        '{"a":' * 40_000,
        '{"a":[' * 33_000,
        "[[" * 100_000,
        "[[A" * 60_000,
        "[[A]] " * 33_000 + ",",
        "[[" + " " * 199_990,
        "<think>" * 28_000,
        "</think>\n" * 22_000,
        "[[A]]" + "*" * 190_000 + "x",
        "`" * 200_000,
        '{"score": ' + "1" * 190_000 + "}",
        "I" + " " * 199_000,
    ],
    ids=lambda text: f"{text[:8]!r}…",
)
def test_a_reply_of_any_shape_is_read_in_one_pass(text):
    """Reading that starts anew at each bracket would take minutes over each of these."""
    assert verdict(text, ties=True).status == "unparsed"
    assert direct_score(text).status == "unparsed"
    assert ranking(text, 3).status == "unparsed"


def test_a_reply_beyond_all_length_is_not_read_and_not_kept_whole():
    found = verdict(" " * LONG_REPLY + '{"verdict": "A"}', ties=True)
    assert (found.status, len(found.reason)) == ("unparsed", LONG_REPLY)
    assert verdict(" " * (LONG_REPLY - 16) + '{"verdict": "A"}', ties=True).status == "ok"


def test_what_is_read_can_be_stored():
    half = "\\ud83d"
    for found in (
        verdict(f'{{"verdict": "A", "reason": "x {half} y"}}', ties=True),
        direct_score(f'{{"score": 3, "reason": "x {half} y"}}'),
        verdict("x \ud83d y [[A]]", ties=True),
        direct_score("x \ud83d y [[3]]"),
        verdict("x \ud83d y", ties=True),
    ):
        assert found.reason.startswith("x ? y")
    assert answer_key(f'{{"key": "x {half} y"}}').key == "x ? y"
    assert verdict('{"verdict": "A", "reason": "\\ud83d\\ude00"}', ties=True).reason == "😀"


def test_token_confidence_is_the_softmax_over_the_options():
    options = {"A": math.log(0.6), "B": math.log(0.2), " A": math.log(0.1), "The": math.log(0.05)}
    found = token("A", options, ties=False)
    assert found.slot_vote == 1
    assert found.confidence == pytest.approx(0.7 / 0.9)
    assert token(" B", options, ties=False).confidence == pytest.approx(0.2 / 0.9)
    assert token("B", None, ties=False).confidence is None
    assert token("B", {"A": -0.1}, ties=False).confidence is None
    assert token("The", options, ties=False).status == "unparsed"
    assert token("C", options, ties=False).status == "unparsed"
    assert token("C", {**options, "C": math.log(0.1)}, ties=True).confidence == pytest.approx(0.1)


def test_direct_scores():
    assert direct_score('{"score": 7, "reason": "Good."}').score == 7
    assert direct_score("[[10]]").score == 10
    for text in (
        '{"score": 0}',
        '{"score": 11}',
        '{"score": 7.5}',
        '{"score": "7"}',
        '{"score": true}',
        "7",
        "[[0]]",
    ):
        assert direct_score(text).status == "unparsed", text


def entry(label: str, rank: int, **changes: object) -> dict[str, object]:
    return {"label": label, "score": 50, "rank": rank, **dict.fromkeys(FLAGS, False), **changes}


def test_rankings():
    text = json.dumps({"candidates": [entry("B", 1, score=90.5), entry("A", 2, uncertain=True)]})
    found = ranking(text, 2)
    assert [(r["slot"], r["score"], r["rank"], r["uncertain"]) for r in found.ranking] == [
        (0, 50.0, 2, 1),
        (1, 90.5, 1, 0),
    ]


@pytest.mark.parametrize(
    "entries",
    [
        [entry("A", 1)],
        [entry("A", 1), entry("A", 2)],
        [entry("A", 1), entry("B", 1)],
        [entry("A", 0), entry("B", 1)],
        [entry("A", 1), entry("C", 2)],
        [entry("A", 1), entry("B", 2, score=101)],
        [entry("A", 1), entry("B", 2, uncertain=0)],
        [entry("A", 1), entry("B", 2, note="x")],
        [entry("A", 1), entry("B", 2.0)],
        [entry("A", 1), entry("B", 2), entry("C", 3)],
        "A, B",
    ],
)
def test_rankings_that_are_not_complete_are_unparsed(entries):
    assert ranking(json.dumps({"candidates": entries}), 2).status == "unparsed"
    assert ranking(json.dumps({"candidates": entries})[:-3], 2).status == "unparsed"


def test_answer_keys():
    assert answer_key('{"key": "It is 4."}').key == "It is 4."
    assert answer_key('{"key": " "}').status == "unparsed"
    assert answer_key("It is 4.").status == "unparsed"


@given(st.text(max_size=60), st.sampled_from("ABC"), st.floats(0, 1))
def test_what_was_written_is_what_is_read(reason, letter, stated):
    found = verdict(
        json.dumps({"reason": reason, "verdict": letter, "confidence": stated}), ties=True, confidence=True
    )
    assert (found.status, found.confidence, found.reason) == ("ok", stated, reason)


@given(st.text(alphabet='ABC[]{}":, verdict', max_size=80))
def test_no_text_breaks_the_reader_and_no_vote_comes_without_its_letter(text):
    found = verdict(text, ties=True)
    assert (found.slot_vote is None) == (found.status != "ok")
    if found.status == "ok":
        letter = {1: "A", -1: "B", 0: "C"}[found.slot_vote]
        assert f"[{letter}]" in text.replace(" ", "") or f'"{letter}"' in text
