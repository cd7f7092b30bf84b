"""Options of a folder: `appellate.toml`, or `[tool.appellate]` of its `pyproject.toml`.

They are what flags say about reading and grading, by the same names. The folder may be a
stranger's, so an output, a store, a warehouse or a host is never taken from it.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..auditing.options import AuditOptions
from ..errors import InvalidOption, UnreadableFile
from ..importers import ReadOptions
from ..options import add_flags

OWN, SHARED = "appellate.toml", "pyproject.toml"
MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What the value of a key is: one of `kind` or of the choices, several, or a table."""

    kind: type = str
    several: bool = False
    pairs: bool = False
    choices: tuple[Any, ...] = ()

    @property
    def allowed(self) -> str:
        """What a value may be, in words."""
        if self.pairs:
            return 'a table, such as {name = "value"}'
        if self.choices:
            return " or ".join(map(str, self.choices))
        words = {str: "text", int: "whole number", float: "number"}
        if self.several:
            return f"a list of {words[self.kind]}s"
        return "true or false" if self.kind is bool else f"a {words[self.kind]}"


SELECTED = {
    "gold": Key(),
    "judge": Key(several=True),
    "where": Key(pairs=True),
    "fail-if": Key(several=True),
    "strict": Key(kind=bool),
    "use": Key(choices=("decide", "measure", "sort")),
}
"""Keys besides those of how to read and how to audit: which votes, and the gates."""


@cache
def keys() -> dict[str, Key]:
    """Every key that a file may have, a flag without its dashes → what its value is."""
    found: dict[str, Key] = {}

    class Recorder:
        def add_argument(self, *names: str, **facts: Any) -> None:
            choices = tuple(facts.get("choices", ()))
            found[names[0].removeprefix("--")] = Key(
                kind=str if choices else facts.get("type", bool),
                several=facts.get("nargs") == "+",
                pairs="=" in str(facts.get("metavar")),
                choices=choices,
            )

    for kind in (ReadOptions, AuditOptions):
        add_flags(Recorder(), kind, formats="")
    return found | SELECTED


@dataclass(frozen=True, slots=True)
class FolderOptions:
    """Options that a folder has.

    place : the file, and the table in it.
    values : name of a flag's value (`fail_if`) → the value, as the command line would have it.
    """

    place: str
    values: Mapping[str, Any]

    @property
    def sentence(self) -> str:
        """Where options come from and which, without their values."""
        return f"options of {self.place}: {', '.join(self.values)}"

    @property
    def defaults(self) -> dict[str, Any]:
        """What a parser takes for flags that are not given.

        Several values are no list here: to a list a flag would add its own.
        """
        return {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in self.values.items()
        }

    def completed(self, given: argparse.Namespace) -> argparse.Namespace:
        """What a parser with these defaults found, as if flags had said all of it."""
        for name, value in vars(given).items():
            if name in self.values and isinstance(value, tuple):
                setattr(given, name, list(value))
        return given


def read_folder(folder: Path) -> FolderOptions | None:
    """The options of a folder; None if it has none. Its own file goes before the shared one.

    Raises UnreadableFile for what is no TOML, InvalidOption for an unknown key or a wrong value.
    """
    own, shared = folder / OWN, folder / SHARED
    if own.is_file():
        return _checked(_parsed(own), OWN)
    # A project's file that has nothing for this program is not this program's to refuse.
    if shared.is_file() and b"appellate" in _bytes(shared):
        tools = _parsed(shared).get("tool")
        table = tools.get("appellate") if isinstance(tools, dict) else None
        if table is not None:
            return _checked(table, f"{SHARED} [tool.appellate]")
    return None


def _bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise UnreadableFile(f"{path.name}: is longer than {MOST_BYTES:,} bytes.")
    return content


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(_bytes(path).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(f"{path.name}: is no TOML in UTF-8 ({error}).") from None


def _checked(table: Any, place: str) -> FolderOptions:
    if not isinstance(table, dict):
        raise InvalidOption(f"{place}: is no table.")
    values: dict[str, Any] = {}
    for name, value in table.items():
        if name not in keys():
            raise InvalidOption(
                f"{place}: {name!r} is no option of a folder. Allowed are {', '.join(keys())}; an "
                "output, a store, a warehouse or a host is named on the command line only."
            )
        key = keys()[name]
        try:
            values[name.replace("-", "_")] = _value(value, key)
        except TypeError:
            raise InvalidOption(f"{place}: {name} = {value!r}: give {key.allowed}.") from None
    return FolderOptions(place, values)


def _value(value: Any, key: Key) -> Any:
    """A value as the command line would have it. Raises TypeError."""
    if key.pairs:
        if not isinstance(value, dict):
            raise TypeError
        return [f"{name}={_word(said)}" for name, said in value.items()]
    if key.several:
        each = value if isinstance(value, list) else [value]
        return [_value(one, Key(kind=key.kind)) for one in each]
    if key.kind is float and type(value) is int:
        return float(value)
    if key.choices:
        # True is no 1 here.
        fitting = any(type(value) is type(choice) and value == choice for choice in key.choices)
    else:
        fitting = type(value) is key.kind
    if not fitting:
        raise TypeError
    return value


def _word(value: Any) -> str:
    """The right side of NAME=VALUE: a text, a number, or a list of them with commas."""
    if isinstance(value, list):
        return ",".join(map(_word, value))
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError
    return str(value)
