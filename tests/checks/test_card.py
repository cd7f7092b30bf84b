"""The decision card, the order of judges, and the figures of the first screen hold the numbers of
checks.
"""

from dataclasses import fields

import numpy as np
import pytest

from core.auditing import card as first
from core.auditing.checks import BY_NAME, CHECKS, LIMITS, Rules
from core.auditing.figure import (
    MOST_ROWS,
    check_grid,
    check_matrix,
    evidence_strip,
    matrix_key,
    trust_map,
)
from core.auditing.overall import Overall, ranked
from core.finding.answer import MOST_WORDS, words
from core.finding.check import CheckResult
from core.questions.order.method import PositionBias
from core.questions.order.words import changes as moved_by_order
from core.stats.estimate import Estimate
from core.use.one_call import audit

NAMES = [check.name for check in CHECKS]
BY_DEFAULT = Rules()


def checks_of(judge: str, **given: tuple) -> list[CheckResult]:
    """A result per check: `unknown`, or (grade, estimate, low, high)."""
    results = []
    for check in CHECKS:
        grade, *numbers = given.get(check.name, ("unknown",))
        results.append(
            CheckResult(
                judge=judge,
                check=check.name,
                grade=grade,
                sentence=f"{check.name} (more).",
                estimate=Estimate(*numbers, n=90) if numbers else None,
            )
        )
    return results


GOOD = {"accuracy": ("ok", 0.87, 0.84, 0.9), "position": ("ok", 0.01, -0.02, 0.04)}


def bias(flips: Estimate | None, excess: Estimate | None = None) -> PositionBias:
    """Position figures of which the card reads the flips and what order adds to repeats."""
    unknown = dict.fromkeys(field.name for field in fields(PositionBias))
    return PositionBias(**unknown | {"flip_rate": flips, "excess": excess})


def test_the_card_says_what_was_found_and_what_to_do():
    checks = checks_of("j", **GOOD, stability=("warn", 0.3, 0.25, 0.35))
    overall = Overall(verdict="trust_with_limits", because=("stability",), unchecked=())
    changes = Estimate(0.08, 0.05, 0.11, n=90)
    said = first.card("j", overall, checks, [moved_by_order(bias(changes))])
    assert said.word == "May decide, with care"
    assert said.said.headline == (
        "May decide, with care: j is mostly right, but changes verdicts when answers swap places."
    )
    assert said.said.figures == "right 87 % (84–90) · order changes 8 % · 90 items"
    assert said.advice == ("Ask in both orders and take the majority.",)
    assert said.made == "3 of 19 checks made"
    with_ties = first.card("j", overall, checks, (), exact=Estimate(0.5, 0.4, 0.6, n=90))
    assert with_ties.said.figures == "right label 50 % · where gold decides 87 % (84–90) · 90 items"


def test_what_order_changes_stands_beside_what_a_repeat_changes():
    overall = Overall(verdict="trust", because=(), unchecked=())
    changes = Estimate(0.3, 0.2, 0.4, n=90)
    for excess, clause in (
        (Estimate(0.01, -0.02, 0.04, n=90), "order changes 30 %, a repeat as much"),
        (Estimate(0.2, 0.1, 0.3, n=90), "order changes 30 %, 20.0 points more than a repeat"),
    ):
        said = first.card(
            "j", overall, checks_of("j", **GOOD), [moved_by_order(bias(changes, excess))]
        ).said
        assert clause in said.figures


def test_a_card_claims_no_difference_that_an_interval_does_not_show():
    overall = Overall(verdict="cannot_say", because=("accuracy",), unchecked=())
    unclear = {
        "accuracy": ("unclear", 0.55, 0.45, 0.65),
        "calibration": ("unclear", 0.08, 0.0, 0.2),
    }
    said = first.card("j", overall, checks_of("j", **unclear), ()).said
    assert said.headline == "Cannot say yet: j is not shown to be right often enough."
    assert said.figures == "right 55 % (45–65) · confidence off 8.0 points (0.0–20.0) · 90 items"
    people = checks_of("j", agreement=("unclear", -0.04, -0.1, 0.02))
    said = first.card("j", overall, people, ()).said
    assert said.headline.startswith(
        "Cannot say yet: j is not shown to agree with people as people do"
    )
    people = checks_of("j", agreement=("fail", -0.3, -0.4, -0.2))
    refused = Overall(verdict="do_not_trust", because=("agreement",), unchecked=())
    said = first.card("j", refused, people, ()).said
    assert said.headline == "Not to be used: j agrees with people less than people do."
    assert said.figures == "beside people −30.0 points (−40.0 to −20.0) · 90 items"


def test_a_headline_stays_short_whatever_fails_and_whatever_a_judge_is_called():
    grades = dict.fromkeys(NAMES, ("warn", 0.3, 0.2, 0.4))
    checks = checks_of("a judge of seven words and more", **grades)
    name = checks[0].judge
    for verdict in ("trust_with_limits", "do_not_trust", "cannot_say"):
        overall = Overall(verdict=verdict, because=tuple(NAMES), unchecked=())
        refused = {
            "another one that nobody may use": "Not to be used",
            "and a third": "Not to be used",
        }
        said = first.card(name, overall, checks, (), refused=refused).said.headline
        assert words(said, [name, *refused]) <= MOST_WORDS


def test_checks_of_confidence_share_one_advice_and_missing_gold_says_what_to_add():
    checks = checks_of(
        "j", calibration=("fail", 0.2, 0.18, 0.22), overconfidence=("fail", 0.2, 0.1, 0.3)
    )
    because = ("calibration", "overconfidence", "accuracy")
    said = first.card("j", Overall(verdict="cannot_say", because=because, unchecked=()), checks, ())
    assert said.said.headline == ("Cannot say yet: no gold label says how often j is right.")
    assert said.said.figures == "confidence off 20.0 points (18.0–22.0) · 90 items"
    assert said.advice == (BY_NAME["calibration"].advice, "Add gold labels.")


@pytest.mark.parametrize("check", NAMES)
def test_every_check_that_can_warn_has_its_advice(check):
    checks = checks_of("j", **{check: ("warn", 0.3, 0.2, 0.4)})
    said = first.card(
        "j", Overall(verdict="trust_with_limits", because=(check,), unchecked=()), checks, ()
    )
    assert len(said.advice) == 1


FINE = ("ok", 0.0, -0.01, 0.01)


def overall_of(verdicts, **other):
    """Trust for all judges but those named."""
    return {
        judge: Overall(verdict=other.get(judge, "trust"), because=(), unchecked=())
        for judge in dict.fromkeys(result.judge for result in verdicts)
    }


def test_judges_are_ranked_by_verdict_then_the_low_end_and_people_follow():
    verdicts = [
        *checks_of("lucky", accuracy=("unclear", 0.95, 0.5, 0.99)),
        *checks_of("sure", accuracy=("ok", 0.85, 0.82, 0.88)),
        *checks_of("person", accuracy=("ok", 0.99, 0.97, 1.0)),
        *checks_of("no gold"),
    ]
    overall = overall_of(verdicts, lucky="cannot_say")
    assert ranked(overall, verdicts, {"person"}) == ["sure", "no gold", "lucky", "person"]
    overall = overall_of(verdicts, sure="trust_with_limits", lucky="do_not_trust")
    assert ranked(overall, verdicts) == ["person", "no gold", "sure", "lucky"]
    more = [*checks_of("a", position=FINE), *checks_of("b", position=FINE, ties=FINE)]
    assert ranked(overall_of(more), more) == ["b", "a"]


def many(n: int) -> list[CheckResult]:
    rng = np.random.default_rng(1)
    found = []
    for k, right in enumerate(rng.uniform(0.4, 0.9, n)):
        numbers = ("ok", right, right - 0.04, right + 0.04)
        found += checks_of(f"j{k}", accuracy=numbers, position=("ok", 0.02, -0.05, 0.09))
    return found


@pytest.mark.parametrize("narrow", [False, True])
def test_the_strip_draws_the_estimates_of_the_checks(narrow):
    verdicts = many(5)
    rows = ranked(overall_of(verdicts), verdicts)
    panels = first.panels(verdicts, BY_DEFAULT)
    fig = evidence_strip(panels, rows, chosen=rows[1], narrow=narrow)
    drawn = {}
    for trace in fig.data:
        # What keeps an empty panel's place has no marks.
        for at, x, key in zip(
            trace.y, trace.x, trace.customdata or (), strict=trace.customdata is not None
        ):
            assert rows[at] == key[0]
            drawn[trace.xaxis, key[0]] = x
    of = {v.judge: v.estimate.value for v in verdicts if v.check == "accuracy"}
    assert {name: drawn["x", name] for name in rows} == pytest.approx(
        {n: 100 * of[n] for n in rows}
    )
    assert len(drawn) == 2 * len(rows)
    said = " ".join(note.text.replace("<br>", " ") for note in fig.layout.annotations)
    assert "Add a confidence with each vote, and gold labels" in said
    assert "Add repeated votes (column run)" in said
    assert not fig.layout.showlegend


def test_the_limits_are_the_edges_of_the_zones():
    verdicts = checks_of("low", accuracy=("fail", 0.4, 0.3, 0.5), position=("fail", 0.5, 0.4, 0.6))
    fig = evidence_strip(first.panels(verdicts, BY_DEFAULT), ["low"])
    edges = {
        (shape.xref, round(end, 6))
        for shape in fig.layout.shapes
        if shape.type == "rect"
        for end in (shape.x0, shape.x1)
    }
    for check, axis in (("accuracy", "x"), ("position", "x3")):
        limits = LIMITS[check]
        assert {(axis, 100 * limits.caution), (axis, 100 * limits.failure)} <= edges


def test_the_map_names_the_best_five_and_has_a_mark_for_each():
    right = {
        f"j{k}": Estimate(0.5 + k / 200, 0.45 + k / 200, 0.55 + k / 200, n=90) for k in range(65)
    }
    flips = {name: Estimate(0.1, 0.05, 0.15, n=90) for name in right if name != "j64"}
    fig = trust_map(right, flips, chosen="j3")
    assert sum(len(trace.x) for trace in fig.data) == 64
    assert [note.text for note in fig.layout.annotations] == ["j63", "j62", "j61", "j60", "j59"]
    assert not fig.layout.showlegend


@pytest.mark.parametrize("narrow", [False, True])
def test_each_cell_of_the_matrix_has_the_sign_of_its_grade(narrow):
    verdicts = checks_of("j", accuracy=("fail", 0.4, 0.3, 0.5), ties=("warn", 0.2, 0.1, 0.3))
    wide = check_matrix(verdicts, ["j"], NAMES, signs={"j": "fail"})
    (trace,) = (check_grid(verdicts, "j", NAMES) if narrow else wide).data
    texts = [text.partition(" ") for text in trace.text]
    signs = {key[0]: sign for key, (sign, _, _) in zip(trace.customdata, texts, strict=True)}
    assert [name for _, _, name in texts] == (
        [check.title for check in CHECKS] if narrow else [""] * len(CHECKS)
    )
    assert (signs[matrix_key("j", "accuracy")], signs[matrix_key("j", "ties")]) == ("✗", "!")
    assert signs[matrix_key("j", "data")] == ""
    assert len(signs) == len(CHECKS)


def test_a_hundred_judges_stay_low_enough_to_read():
    verdicts = many(65)
    rows = ranked(overall_of(verdicts), verdicts)
    strip = evidence_strip(first.panels(verdicts, BY_DEFAULT), rows)
    matrix = check_matrix(verdicts, rows, NAMES, signs=dict.fromkeys(rows, "ok"))
    assert strip.layout.height + matrix.layout.height < 2000
    assert evidence_strip(first.panels(verdicts, BY_DEFAULT), rows[:MOST_ROWS]).layout.height < 360


def test_rows_are_named_beside_an_empty_first_panel():
    """Plotly moves the names to the first panel in which anything is drawn."""
    drawn = evidence_strip(
        first.panels(checks_of("j", position=("ok", 0.0, -0.05, 0.05)), BY_DEFAULT), ["j"]
    )
    beside = [trace for trace in drawn.data if trace.xaxis in (None, "x")]
    assert len(beside) == 1
    assert drawn.layout.xaxis.visible is False


@pytest.mark.parametrize(("persons", "marks"), [((0.8, 0.88, 0.95), 1), ((0.75, 0.9, 1.0), 3)])
def test_people_who_are_far_apart_are_no_band(persons, marks):
    people = [f"p{place}" for place in range(len(persons))]
    results = checks_of("j", accuracy=("ok", 0.85, 0.8, 0.9))
    for name, right in zip(people, persons, strict=True):
        results += checks_of(name, accuracy=("ok", right, right - 0.05, min(1, right + 0.05)))
    fig = evidence_strip(first.panels(results, BY_DEFAULT)[:1], ["j"], people=people)
    span = (100 * min(persons), 100 * max(persons))
    drawn = [one for one in fig.layout.shapes if one.type == "rect" and one.layer == "below"]
    inside = [one for one in drawn if span[0] - 1 < one.x0 < one.x1 < span[1] + 1]
    assert len(inside) == marks


@pytest.mark.parametrize(("ties", "beside"), [(8, False), (10, True)])
def test_the_exact_share_stands_beside_half_credit_where_gold_ties_often(ties, beside):
    rows = [f"q{k},j,{1 if k % 9 else -1},{0 if k < ties else 1}" for k in range(100)]
    found = audit(("item_id,judge,vote,gold\n" + "\n".join(rows)).encode(), splits=0)
    said = first.card_of(found.judges[0]).said.figures
    assert said.startswith(f"right label {100 * found.judges[0].exact.value:.0f} % · ") == beside


def test_people_whom_nobody_else_measures_are_told_apart_from_judges_without_gold():
    checks = checks_of("crowd", accuracy=("unknown",))
    overall = Overall(verdict="cannot_say", because=("accuracy",), unchecked=())
    said = first.card("crowd", overall, checks, (), person=True)
    assert said.said.headline == first.PEOPLE
    assert said.advice == (first.ADD_JUDGES,)
    measured = checks_of("crowd", **GOOD)
    said = first.card("crowd", overall, measured, (), person=True).said
    assert said.figures.startswith("right 87 %")


def test_a_sign_of_a_zone_keeps_clear_of_the_words_at_the_reference_line():
    """On a phone a panel is 150 pixels wide; the words stand up in the 16 beside their line."""
    verdicts = checks_of("low", accuracy=("fail", 0.51, 0.43, 0.60))
    fig = evidence_strip(first.panels(verdicts, BY_DEFAULT)[:1], ["low"], narrow=True)
    low, high = fig.layout.xaxis.range
    at = {note.text: note.x for note in fig.layout.annotations}
    assert 150 * (at["✗"] - 50) / (high - low) > 16 + 4


def test_no_two_names_of_checks_touch_above_narrow_columns():
    verdicts = many(3)
    signs = dict.fromkeys(overall_of(verdicts), "ok")
    heads = check_matrix(
        verdicts, list(signs), [one.name for one in CHECKS], signs=signs
    ).layout.xaxis.ticktext
    assert max(len(line) for head in heads for line in head.split("<br>")) <= 10
