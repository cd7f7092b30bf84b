"""Many judges on a page: their order, and which of them a figure draws."""

from math import nan

from pages.shared import many


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
