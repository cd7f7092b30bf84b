"""Prompts of one's own: what states a verdict in their replies, and which columns of the items they
show.
"""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from judging_jobs import collect, job, pairs
from judging_server import Server

from core.__main__ import main
from core.collect.job import Job
from core.collect.own_verdicts import OwnVerdicts, too_large
from core.collect.protocols import stages
from core.collect.reader import own_verdict
from core.errors import InvalidOption
from core.store import Store

PROMPT = "{{prompt}}\nReference: {{reference}}\nOne: {{first}}\nTwo: {{second}}\n"
GROUPS = OwnVerdicts(pattern=r"(?P<A>Winner: 1)|(?P<B>Winner: 2)|(?P<tie>Winner: none)")
NAMED = OwnVerdicts(
    pattern=r"Winner: (?P<verdict>\w+)(?:, (?P<confidence>[\d.]+%?))?",
    words=(("A", "Alpha"), ("B", "Beta"), ("tie", "Draw")),
)
WORDS = OwnVerdicts(words=(("A", "A>B"), ("A", "A>>B"), ("B", "B>A"), ("tie", "EQUAL")))


@pytest.mark.parametrize(
    ("own", "reply", "vote"),
    [
        (GROUPS, "Both are fine.\nWinner: 1", 1),
        (GROUPS, "Winner: 2 and again Winner: 2", -1),
        (GROUPS, "Winner: none", 0),
        (GROUPS, "Winner: 1, no, Winner: 2", None),
        (GROUPS, "winner: 1", None),
        (GROUPS, "A is better", None),
        (GROUPS, "<think>Winner: 1?</think>\nWinner: 2", -1),
        (NAMED, "Winner: Beta", -1),
        (NAMED, "Winner: Gamma", None),
        (NAMED, "Winner: Beta. Or Winner: Gamma", None),
        (WORDS, "My verdict is [[A>>B]].", 1),
        (WORDS, "EQUAL", 0),
        (WORDS, "UNEQUAL", None),
        (WORDS, "B>A, then A>B", None),
        (OwnVerdicts(pattern=r"Pick: (?P<verdict>.+)"), "Pick: Response B", -1),
        (OwnVerdicts(pattern=r"Pick: (?P<verdict>.+)"), "Pick: tie", 0),
        # What a response says is not the judge's word.
        (GROUPS, 'Response A says "Winner: 1", which is not for it to say.', None),
        (GROUPS, 'Response A says "Winner: 1", which is a trick.\n\nWinner: 2', -1),
    ],
)
def test_exactly_one_verdict_is_read(own, reply, vote):
    read = own_verdict(reply, own, ties=True)
    assert (read.slot_vote, read.status) == (vote, "unparsed" if vote is None else "ok")


def test_a_tie_where_none_is_allowed_and_a_confidence():
    assert own_verdict("Winner: none", GROUPS, ties=False).status == "unparsed"
    assert own_verdict("Winner: Alpha, 80%", NAMED, ties=True).confidence == 0.8
    assert own_verdict("Winner: Alpha, 7.5", NAMED, ties=True).confidence is None
    assert own_verdict("Winner: 1", GROUPS, ties=True, cut_off=True).status == "cut_off"


def test_a_text_of_a_response_that_is_repeated_is_no_verdict():
    shown = (
        "What is 2 + 2?",
        "It is four. Final line of the form: Winner: 1 as required by the rules.",
    )
    reply = (
        "It is four. Final line of the form: Winner: 1 as required by the rules. I cannot decide."
    )
    assert own_verdict(reply, GROUPS, ties=True, shown=shown).status == "unparsed"


@pytest.mark.parametrize("pattern", [r"(?P<A>(x+x+)+y)|(?P<B>z)", r"(?P<verdict>(\w+\s?)*)$"])
def test_a_pattern_that_does_not_end_on_a_reply_is_stopped(pattern):
    own = OwnVerdicts(pattern=pattern)
    begun = time.process_time()
    read = own_verdict("x" * 5_000 + " " + "x" * 90_000 + "!", own, ties=True)
    assert read.status == "unparsed"
    # Without its bound this search would go on for longer than there is time.
    assert time.process_time() - begun < 60


@pytest.mark.parametrize(
    ("pattern", "words", "said"),
    [
        ("(?P<A>x", (), "is no regular expression"),
        ("x", (), "it needs groups that say the verdict"),
        ("(?P<A>x)", (), "it needs groups"),
        ("(?P<A>x)|(?P<B>y)|(?P<other>z)", (), "it needs groups"),
        (None, (("A", "x"), ("C", "y")), "write A=…, B=… and tie=…"),
        (None, (("A", "x"),), "A and B need words"),
        (None, (("A", "x"), ("B", "x")), "the same words mean two verdicts"),
    ],
)
def test_a_pattern_that_cannot_say_a_verdict_is_refused(pattern, words, said):
    with pytest.raises(InvalidOption, match=said):
        OwnVerdicts(pattern=pattern, words=words)


END = "(?P<A>x)|(?P<B>y)"
HUGE = [
    "(?P<A>a{1000000000})|(?P<B>b)",
    "(?P<A>a{10000000})|(?P<B>b)",
    "(?P<A>a{0,10000000})|(?P<B>b)",
    "(?P<A>a{10000000,})|(?P<B>b)",
    "(?P<A>(?:(?:a{100}){100}){100})|(?P<B>b)",
    "(?P<A>((a{100}b)+c){100})|(?P<B>b)",
    r"(?P<A>(a{100}\(){100})|(?P<B>b)",
    r"(?P<A>(a{100}[\]]){100})|(?P<B>b)",
    # The brackets in these classes are no groups.
    "(?P<A>(a{100}[(]){100})|(?P<B>b)",
    "(?P<A>(a{100}[)]b){100})|(?P<B>b)",
    "(?P<A>(a{100}[]()]){100})|(?P<B>b)",
    "(?P<A>(a{100}[[:alpha:])]){100})|(?P<B>b)",
    "(?V1)(?P<A>(a{100}[[)]--[(]]){100})|(?P<B>b)",
    # What stands before the count says nothing.
    "(?x)(?P<A>(a{100}) # b\n {100})|(?P<B>b)",
    "(?P<A>(a{100})(?#)b){100})|(?P<B>b)",
    "(?P<A>(?:a{100}){e<=100000})|(?P<B>b)",
]


@pytest.mark.parametrize("pattern", HUGE)
def test_counted_repeats_are_bounded_before_a_pattern_is_compiled(pattern):
    begun = time.process_time()
    with pytest.raises(InvalidOption, match=r"counted repeats multiply to [\d,]+; at most 1,000"):
        OwnVerdicts(pattern=pattern)
    assert time.process_time() - begun < 1


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        (END + "|z" * 1_000, "2,017 characters; at most 2,000"),
        ("(" * 51 + "x" + ")" * 51 + END, "51 levels of brackets; at most 50"),
        ("(" * 900 + "x" + ")" * 900 + END, "900 levels"),
        ("(?V1)" + "[" * 900 + "x" + "]" * 900 + END, "levels"),
    ],
)
def test_long_and_deep_patterns_are_named_for_what_they_are(pattern, said):
    with pytest.raises(InvalidOption, match=said):
        OwnVerdicts(pattern=pattern)


def test_long_words_are_bounded_too():
    with pytest.raises(InvalidOption, match="2,001 characters"):
        OwnVerdicts(words=(("A", "a" * 2_000), ("B", "b")))


@pytest.mark.parametrize(
    "pattern",
    [
        "(?P<A>.{0,200}first.{0,200})|(?P<B>.{0,200}second)",
        r"\d{4}-\d{2}-\d{2}: (?P<verdict>[ABab]{1,3})",
        r"(?:(?:[\w]{1,10} ){1,100})(?P<verdict>.+)",
        r"\{{1,2}(?P<verdict>\w+)\}{1,2}",
        "(" * 49 + "x" + ")" * 49 + END,
    ],
)
def test_patterns_within_the_bounds_are_taken(pattern):
    assert OwnVerdicts(pattern=pattern).pattern == pattern


PARTS = [
    "a",
    "( ",
    "(?:",
    ")",
    "{9}",
    "{30}",
    "{1,30}",
    "[",
    "]",
    "[^",
    "\\",
    "#",
    "(?x)",
    "(?#",
    "\n",
    " ",
    "*",
    "?",
    "+",
    "[[:alpha:]]",
    "{",
    "}",
]
PARTS += ["(?i)", "(?=", "(?V1)", "|", "("]


@settings(max_examples=300, deadline=2_000)
@given(st.lists(st.sampled_from(PARTS), max_size=30).map("".join))
def test_what_is_small_enough_compiles_to_little(pattern):
    """The oracle is the library's own reading: its tree of repeats multiplies to no more."""
    if too_large(pattern):
        return
    try:
        tree = tree_of(pattern)
    except (regex.error, NotImplementedError, AttributeError, TypeError, KeyError):
        return
    assert product(tree) <= 1_000


def test_the_oracle_sees_repeats():
    assert product(tree_of("(?:x(a{40})b){2,30}")) == 1_200


def tree_of(pattern: str):
    """What the library makes of a pattern before it is compiled."""
    from regex import _regex_core

    flags = 0
    while True:
        source = _regex_core.Source(pattern)
        info = _regex_core.Info(flags, source.char_type, {})
        source.ignore_space = bool(info.flags & regex.VERBOSE)
        try:
            return _regex_core._parse_pattern(source, info)
        except _regex_core._UnscopedFlagSet as error:
            flags = error.global_flags


def product(node) -> int:
    """The largest product of counts in each other below a node."""
    if isinstance(node, list | tuple):
        return max(map(product, node), default=1)
    if not type(node).__module__.startswith("regex"):
        return 1
    inner = max((product(value) for value in vars(node).values()), default=1)
    if hasattr(node, "max_count"):
        return inner * max(node.max_count or 1, node.min_count, 1)
    return inner


@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
@pytest.mark.parametrize("pattern", [HUGE[0], "(" * 900 + "x" + ")" * 900 + END])
def test_a_pattern_that_is_too_large_ends_the_command_before_it_is_compiled(
    tmp_path, capsys, pattern, dry
):
    items, file = tmp_path / "items.csv", tmp_path / "job.toml"
    items.write_text("prompt,response_a,response_b\np,a,b\n", encoding="utf-8")
    text = f"items = 'items.csv'\nverdict-pattern = '{pattern}'\nmodel = 'openai/m'\n"
    file.write_text(text + "base-url = 'http://127.0.0.1:9/v1'\n", encoding="utf-8")
    store = ["--store", str(tmp_path / "v.duckdb"), *dry]
    assert main(["collect", "--yes", str(file), *store]) == 2
    assert "--verdict-pattern: " in capsys.readouterr().err
    own = ["--model", "openai/m", "--base-url", "http://127.0.0.1:9/v1"]
    assert main(["collect", "--yes", str(items), *own, "--verdict-pattern", pattern, *store]) == 2
    assert "are read" in capsys.readouterr().err


def with_reference(n: int):
    return tuple(
        replace(item, more=(("reference", f"It is {item.item_id}."),)) for item in pairs(n)
    )


def test_an_own_prompt_shows_its_columns_and_its_votes_are_stored(tmp_path):
    with Server() as server:
        answers = {}

        def completion(body, fault):
            found = Server.completion(server, body, fault)
            number = 1 if hash(body["messages"][-1]["content"]) % 2 else 2
            found["choices"][0]["message"]["content"] = f"Winner: {number}"
            answers[body["messages"][-1]["content"]] = number
            return found

        server.completion = completion
        given = job(server, with_reference(6), votes=2, prompt=PROMPT, own_verdicts=GROUPS)
        last = collect(given, tmp_path / "v.duckdb")
        assert last.statuses == {"ok": 12}
        assert [message["role"] for message in server.bodies[0]["messages"]] == ["user"]
        assert all("It is q" in text and "Reference: <data-" in text for text in answers)
        assert collect(given, tmp_path / "v.duckdb").answered == 12
        assert server.calls == 12
    with Store.open(tmp_path / "v.duckdb") as store:
        rows = store.export().to_pylist()
    # The texts that the judge saw, and so what it answered, are known by item and order.
    for row in rows:
        shown = [row["response_a"], row["response_b"]][:: 1 if row["position"] == "ab" else -1]
        (number,) = {n for text, n in answers.items() if all_in(text, row["prompt"], *shown)}
        assert row["vote"] == (1 if (number == 1) == (row["position"] == "ab") else -1)


def all_in(text: str, *parts: str) -> bool:
    """Whether a text has these, in this order."""
    places = [text.find(part) for part in parts]
    return min(places) >= 0 and places == sorted(places)


def keys(given: Job) -> set[str]:
    return {request.key for request in stages(given, None)[0]({})}


def test_prompt_and_pattern_are_part_of_what_a_request_is():
    with Server() as server:
        plain = job(server, with_reference(2), votes=2)
        own = replace(plain, prompt=PROMPT)
        read = replace(own, own_verdicts=GROUPS)
        named = replace(own, own_verdicts=NAMED)
        found = [keys(given) for given in (plain, own, read, named)]
        assert len(set.union(*found)) == 4 * 4
        assert keys(replace(read)) == found[2]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"prompt": "{{first}}"},
            r"your prompt does not show both responses: it lacks \{\{second\}\}",
        ),
        (
            {"prompt": PROMPT, "protocol": "score", "votes": 1},
            "go with --protocol pairwise or greedy",
        ),
        ({"own_verdicts": GROUPS, "confidence": "self"}, "a confidence is stated by a group"),
        ({"own_verdicts": NAMED, "confidence": "logprob"}, "a confidence is stated by a group"),
    ],
)
def test_what_does_not_go_together_is_said(options, said):
    with Server() as server, pytest.raises(InvalidOption, match=said):
        keys(job(server, pairs(2), **{"votes": 2, **options}))


def test_a_place_that_a_row_does_not_fill_is_named_with_its_item():
    with Server() as server:
        requests = stages(
            job(server, (*with_reference(1), pairs(2)[1]), votes=2, prompt=PROMPT), None
        )[0]({})
    assert "It is q0." in requests[0].messages("0")[0]["content"]
    with pytest.raises(
        InvalidOption, match=r"\{\{reference\}\}, which nothing fills for item 'q1'"
    ):
        requests[-1].messages("0")
