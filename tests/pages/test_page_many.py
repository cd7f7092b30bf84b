"""Many judges on a page: their order, and which of them a figure draws."""

from math import nan

from apps import opened

from core.finding.figure import COLOURS, rater_styles
from pages.shared import many, widgets


def test_the_order_of_judges_is_that_of_the_question_and_the_unknown_are_last():
    merit = {"b": 0.2, "unknown": nan, "a": 0.9, "c": 0.5}
    assert many.sorted_by(merit, "best first") == ("a", "c", "b", "unknown")
    assert many.sorted_by(merit, "worst first") == ("b", "c", "a", "unknown")
    assert many.sorted_by(merit, "by name") == ("a", "b", "c", "unknown")


def test_the_chosen_judge_is_drawn_whatever_its_place():
    names = [str(k) for k in range(20)]
    assert many.among(names, 3) == ("0", "1", "2")
    assert many.among(names, 3, ("1",)) == ("0", "1", "2")
    assert many.among(names, 3, ("17",)) == ("0", "1", "17")


def test_results_follow_the_order_and_those_that_are_missing_are_left_out():
    shown = many.Shown(("c", "a", "b"), ("c", "a"))
    assert list(shown.all({"a": 1, "b": 2, "c": 3})) == ["c", "a", "b"]
    assert shown.few({"a": 1, "b": 2}) == {"a": 1}


def test_a_list_of_judges_begins_with_the_worst(app):
    box = opened(app, "votes_to_labels").selectbox(key="judge")
    assert box.options[0] == box.placeholder.removeprefix("worst here: ")
    assert box.options != sorted(box.options)


def test_the_chosen_judge_is_blue_and_no_two_judges_look_alike(monkeypatch):
    plain = rater_styles({f"j{k}": "llm" for k in range(20)} | {"ann": "human"})
    monkeypatch.setattr(widgets.cached, "styles", lambda *_: plain)
    monkeypatch.setattr(widgets, "current_look", lambda: "light")
    monkeypatch.setattr(widgets, "current_dataset", lambda: "any")
    monkeypatch.setattr(widgets, "current_people", lambda: frozenset(["ann"]))
    for chosen in (*plain, "gone", None):
        monkeypatch.setattr(widgets, "chosen_judge", lambda chosen=chosen: chosen)
        found = widgets.current_styles()
        assert found.keys() == plain.keys()
        assert len({(one.colour, one.symbol) for one in found.values()}) == len(plain)
        if chosen in plain and chosen != "ann":
            assert found[chosen].colour == COLOURS["light"].raters[0]
        else:
            assert found == plain
