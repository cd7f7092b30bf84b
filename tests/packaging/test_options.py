"""A field of the options says all about itself: its flag has its default and its help, pages begin
with it, and the documents list it.

APPELLATE_WRITE_OPTIONS=1 writes the list of `docs/options.md` anew; its difference is then what
changed for users.
"""

from __future__ import annotations

import argparse
import os
import re
from dataclasses import MISSING, fields

import pytest
from places import REPOSITORY

from core.__main__ import _parser
from core.auditing.options import AuditOptions
from core.collect.cli import known_options
from core.collect.job import Budget, Job, Judge, Terms
from core.collect.job_file import Settings
from core.errors import InvalidOption
from core.importers import ReadOptions
from core.options import default_of, flags, from_flags, help_of, pair

DOCUMENT = REPOSITORY / "docs" / "options.md"
BEGIN = "<!-- What follows is written by tests/packaging/test_options.py. -->\n"
KINDS = (AuditOptions, ReadOptions, Budget, Judge, Terms, Job)


def commands() -> dict[str, argparse.ArgumentParser]:
    (action,) = (each for each in _parser()._actions if isinstance(each.choices, dict))
    return dict(action.choices)


def actions(command: str) -> dict[str, argparse.Action]:
    """What a command takes, by its longest flag or the name of its place."""
    return {
        (action.option_strings or [str(action.metavar)])[-1 if action.nargs == "?" else 0]: action
        for action in commands()[command]._actions
        if action.dest != "help"
    }


def value_of(kind: type, name: str) -> object:
    """The default that the dataclass itself fills in, which no helper of ours has touched."""
    (field,) = (field for field in fields(kind) if field.name == name)
    if field.default_factory is not MISSING:
        return field.default_factory()
    return None if field.default is MISSING else field.default


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, field.name) for kind in KINDS for field in fields(kind)]
)
def test_every_field_has_help(kind: type, name: str) -> None:
    text = help_of(kind, name, formats="…")
    assert len(text) > 3
    assert not re.search(r"(?<!\{)\{\w+\}(?!\})", text), text


@pytest.mark.parametrize("command", ["audit", "report", "import"])
def test_a_flag_has_the_default_of_its_field(command: str) -> None:
    taken = actions(command)
    kinds = (ReadOptions,) if command == "import" else (AuditOptions, ReadOptions)
    for kind in kinds:
        for flag, name in flags(kind).items():
            assert taken[flag].default == value_of(kind, name), flag
        given = commands()[command].parse_args(
            ["votes.csv", *(["--html", "x"] * (command == "report"))]
        )
        assert from_flags(kind, given) == kind()


def test_flags_of_a_job_say_nothing_unless_they_are_given() -> None:
    """So that a job file, and then the dataclass, has its say."""
    taken = known_options()
    for kind in (Budget, Judge, Terms, Job):
        for flag in flags(kind):
            assert taken[flag.removeprefix("--")].action.default is None, flag
    nothing = Settings(options={}, judges=({"model": "openai/m"},))
    assert nothing.terms() == Terms()
    assert nothing.made_judges() == (Judge(model="openai/m"),)
    given = nothing.job_options()
    assert given == {name: value_of(Job, name) for name in given}


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        (["--epsilon", ".1", "--epsilon", ".2", ".3"], {"epsilons": (0.2, 0.3)}),
        (["--anchor", "a", "b", "--anchor", "c"], {"anchors": ("a", "b", "c")}),
        (
            ["--limit", "position=.05,.10", "--limit", "ties=.2"],
            {"limits": {"position": (0.05, 0.1), "ties": (0.2, None)}},
        ),
        (["--family", "X=a,b", "Y=c"], {"families": {"X": ("a", "b"), "Y": ("c",)}}),
        (["--pass-from", "tone=4", "a=.5"], {"pass_from": {"tone": 4.0, "a": 0.5}}),
        (["--pool", "300", "--calibration-share", ".2"], {"pool": 300, "calibration_share": 0.2}),
        (
            ["--correctness", "both_orders", "--seed", "4"],
            {"correctness": "both_orders", "seed": 4},
        ),
    ],
)
def test_what_is_given_reaches_the_audit(arguments: list[str], read: dict[str, object]) -> None:
    given = commands()["audit"].parse_args(["votes.csv", *arguments])
    assert from_flags(AuditOptions, given) == AuditOptions(**read)  # type: ignore[arg-type]


def test_what_is_given_reaches_the_reading() -> None:
    words = "votes.csv --map vote=v --map judge==gpt-4 --label-map L=A x=failed --label-refers slot"
    words += " --rater-type human --tie-margin .5"
    given = commands()["import"].parse_args(words.split())
    assert from_flags(ReadOptions, given) == ReadOptions(
        mapping=(("vote", "v"), ("judge", "=gpt-4")),
        label_map=(("L", "A"), ("x", "failed")),
        label_refers="slot",
        rater_type="human",
        tie_margin=0.5,
    )


@pytest.mark.parametrize("text", ["vote", "=x", ""])
def test_a_pair_needs_a_name_and_a_value(text: str) -> None:
    with pytest.raises(InvalidOption, match=r"--map .*: write it as NAME=VALUE"):
        pair(text, "--map")


def test_a_field_that_is_not_there_has_no_default() -> None:
    with pytest.raises(KeyError):
        default_of(AuditOptions, "bin")


def row(name: str, action: argparse.Action) -> str:
    shown = action.metavar or ("" if action.nargs == 0 else action.dest.upper())
    if action.choices is not None:
        shown = "|".join(map(str, action.choices))
    shown = " ".join(shown) if isinstance(shown, tuple) else shown
    several = " …" if action.nargs in ("+", "*") and not shown.endswith("…") else ""
    names = " / ".join(action.option_strings)
    text = f"{names} {shown}".strip() if action.option_strings else name
    said = (action.help or "").replace("<", "&lt;")
    return f"- `{text}{several}`: {said}"


def listed() -> str:
    """What every command takes, one list for options that the same commands share."""
    of_row: dict[str, list[str]] = {}
    for command in commands():
        for name, action in actions(command).items():
            of_row.setdefault(row(name, action), []).append(command)
    of_commands: dict[tuple[str, ...], list[str]] = {}
    for text, names in of_row.items():
        of_commands.setdefault(tuple(names), []).append(text)
    return "\n".join(
        "\n".join((f"## {', '.join(names)}", "", *rows, "")) for names, rows in of_commands.items()
    )


def test_the_documents_list_every_option() -> None:
    before, begin, _ = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    expected = f"{before}{begin}\n{listed()}"
    if os.environ.get("APPELLATE_WRITE_OPTIONS"):
        DOCUMENT.write_text(expected, encoding="utf-8")
    remedy = "run this test with APPELLATE_WRITE_OPTIONS=1, and look at what changed"
    assert DOCUMENT.read_text(encoding="utf-8") == expected, remedy


@pytest.mark.parametrize("command", commands())
def test_every_option_has_help(command: str) -> None:
    for name, action in actions(command).items():
        assert action.help, f"{command} {name}"


def test_the_json_document_names_every_option_of_the_audit() -> None:
    text = (REPOSITORY / "docs" / "json.md").read_text(encoding="utf-8")
    section = text.partition("### `options`")[2].partition("###")[0]
    for field in fields(AuditOptions):
        assert f"`{field.name}`" in section, field.name
