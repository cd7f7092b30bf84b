"""Messages name options as each front end does, and carry what is wrong as data."""

import copy

import pytest

from core.errors import COMMAND_LINE, AppellateError, InvalidOption, Message, UnreadableFile, render

PAGE = {
    "layout": "“Rows hold”",
    "map": "“Columns”",
    "baseline": "“Name of the baseline”",
    "protocol": "{}",
}


def test_a_message_has_the_flags_of_the_command_line_and_other_names_on_request() -> None:
    error = InvalidOption(
        "{option} {value!r}: use {allowed}.", option="layout", value="x", allowed=("a", "b")
    )
    assert str(error) == "layout 'x': use a, b."
    assert render(error, PAGE) == "“Rows hold” 'x': use a, b."
    assert error.option == "layout"
    assert error.message.fields["allowed"] == ("a", "b")


@pytest.mark.parametrize(
    ("template", "flags", "page"),
    [
        (
            "name it with {option:baseline}",
            "name it with --map model_b==NAME",
            "name it with “Name of the baseline”",
        ),
        ("use {option:map model={value}}", "use --map model=m", "use “Columns” model=m"),
        ("needs {option:protocol {value}} here", "needs --protocol m here", "needs m here"),
        ("limit {option:max_calls}", "limit --max-calls", "limit --max-calls"),
    ],
)
def test_options_have_arguments_and_phrases(template: str, flags: str, page: str) -> None:
    message = Message(template, option="map", value="m")
    assert (str(message), render(message, PAGE)) == (flags, page)
    assert "baseline" in COMMAND_LINE


def test_values_from_a_file_are_never_taken_for_a_template() -> None:
    assert str(UnreadableFile("{option:map} {0}")) == render(
        AppellateError("{option:map} {0}"), PAGE
    )
    error = InvalidOption("{option}: {value}", option="map", value="{option:layout} {0}")
    assert render(error, PAGE) == "“Columns”: {option:layout} {0}"


def test_a_place_and_another_option_keep_the_sentence() -> None:
    message = Message("say which with {option}", option="labels")
    assert message.about("gold_labels") == "say which with --gold-labels"
    placed = AppellateError(message.at("votes.csv"))
    assert (str(placed), placed.option) == ("votes.csv: say which with --labels", "labels")
    assert render(placed, {"labels": "“Labels”"}) == "votes.csv: say which with “Labels”"


def test_an_error_survives_a_copy() -> None:
    error = copy.deepcopy(InvalidOption("{option}: no", option="layout"))
    assert (str(error), render(error, PAGE)) == ("layout: no", "“Rows hold”: no")
