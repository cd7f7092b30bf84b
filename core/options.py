"""Options: what a field of a dataclass says of itself is its flag on the command line.

Name, type, choices and default are those of the field, its help is in its metadata: each stands
once, and pages and documents take them from there.

>>> from dataclasses import dataclass, field
>>> @dataclass(frozen=True, kw_only=True)
... class Diagram:
...     bins: int = field(default=10, metadata=flag("bins of the diagram ({default})"))
...     ends: tuple[float, ...] = field(default=(0.0,), metadata=flag("ends", name="end"))
>>> parser = argparse.ArgumentParser()
>>> add_flags(parser, Diagram)
>>> from_flags(Diagram, parser.parse_args(["--end", "0", "1"]))
Diagram(bins=10, ends=(0.0, 1.0))
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, Literal, Protocol, TypeVar, Union, get_args, get_origin, get_type_hints

from .errors import InvalidOption

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """How the command line takes a field.

    name : of the flag, without dashes; None: that of the field, with hyphens.
    dest : where the parser puts the value; None: the flag's name, with underscores.
    metavar : what stands for the value in the help.
    choices : what it may be, where the type of the field is no `Literal`.
    read : makes the value of the field from the texts of a flag that takes several.
    adds : given again, a flag that takes several adds to what was given, else it takes its place.
    """

    name: str | None
    dest: str | None
    metavar: str | tuple[str, ...] | None
    choices: tuple[Any, ...]
    read: Callable[[list[Any]], Any]
    adds: bool


class Group(Protocol):
    """A parser, a group of one, or what records what they are given."""

    def add_argument(self, *names: str, **facts: Any) -> Any:
        """As of `argparse.ArgumentParser`."""


def flag(
    help: str,
    *,
    name: str | None = None,
    dest: str | None = None,
    metavar: str | tuple[str, ...] | None = None,
    choices: Iterable[Any] = (),
    read: Callable[[list[Any]], Any] = tuple,
    adds: bool = True,
) -> dict[str, Any]:
    """Metadata of a field that the command line takes; see `Flag`.

    help : may hold `{default}` and `{choices}`, which are those of the field.
    """
    taken = Flag(
        name=name, dest=dest, metavar=metavar, choices=tuple(choices), read=read, adds=adds
    )
    return {"help": help, "flag": taken}


def described(help: str) -> dict[str, Any]:
    """Metadata of a field that the command line has no flag for."""
    return {"help": help}


def default_of(kind: type, name: str) -> Any:
    """The default of a field; None of one that must be given.

    Raises KeyError: no such field.
    """
    return _default({field.name: field for field in fields(kind)}[name])


def help_of(kind: type, name: str, **texts: str) -> str:
    """The help of a field, with its default, its choices and further texts in their places.

    Raises KeyError: no such field, or one without help.
    """
    field = {field.name: field for field in fields(kind)}[name]
    default, choices = _default(field), _choices(kind, field)
    named = [f"{each} (default)" if each == default else str(each) for each in choices]
    # As `a, b or c`.
    listed = " or ".join(part for part in (", ".join(named[:-1]), *named[-1:]) if part)
    texts |= {"default": as_typed(default), "choices": listed}
    text: str = field.metadata["help"]
    for place, filled in texts.items():
        text = text.replace(f"{{{place}}}", filled)
    return text


def as_typed(value: object) -> str:
    """A value as help and documents show it.

    >>> as_typed(10_000), as_typed(1.0), as_typed(("a", 0.5)), as_typed(None)
    ('10,000', '1', 'a 0.5', '')
    """
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return format(value, ",g") if isinstance(value, float) else format(value, ",")
    if isinstance(value, Iterable):
        return " ".join(map(as_typed, value))
    return str(value)


def flags(kind: type) -> dict[str, str]:
    """Flag, with its dashes → field, of all fields that the command line takes."""
    return {f"--{_name(each, each.metadata['flag'])}": each.name for each in _flagged(kind)}


def add_flags(group: Group, kind: type, *names: str, unset: bool = False, **texts: str) -> None:
    """Add the flags of a dataclass, or of these fields of it, in the order of its fields.

    unset : a flag that is not given is None, so that it can be told from one that is, and the
        dataclass checks the values; else it has the default of the field.
    texts : further texts for places in the help of fields.
    """
    hints = _hints(kind)
    for field in _flagged(kind):
        if names and field.name not in names:
            continue
        taken: Flag = field.metadata["flag"]
        default, choices = _default(field), _choices(kind, field)
        type_, facts = _taken(hints[field.name])
        if type_ is bool:
            facts["action"] = argparse.BooleanOptionalAction if default else "store_true"
        else:
            facts["type"] = type_
            if choices and not unset:
                facts["choices"] = choices
        if facts.get("nargs") == "+" and taken.adds and not unset:
            facts["action"] = Adds
        if taken.metavar is not None:
            facts["metavar"] = taken.metavar
        if taken.dest is not None:
            facts["dest"] = taken.dest
        facts["default"] = None if unset else default
        help = help_of(kind, field.name, **texts)
        group.add_argument(f"--{_name(field, taken)}", help=help, **facts)


def from_flags(kind: type[T], given: argparse.Namespace, **others: Any) -> T:
    """The dataclass with what the command line gave; others : fields by their names."""
    values = {}
    for field in _flagged(kind):
        taken: Flag = field.metadata["flag"]
        value = getattr(given, taken.dest or _name(field, taken).replace("-", "_"))
        # The parser makes lists; what is none is the default of the field, or one value.
        values[field.name] = taken.read(value) if isinstance(value, list) else value
    return kind(**values | others)


def pair(text: str, option: str) -> tuple[str, str]:
    """Split NAME=VALUE at the first `=`. Raises InvalidOption.

    >>> pair("judge==gpt-4", "--map")
    ('judge', '=gpt-4')
    """
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise InvalidOption(f"{option} {text!r}: write it as NAME=VALUE.")
    return name, value


def pairs(option: str) -> Callable[[Iterable[str]], tuple[tuple[str, str], ...]]:
    """What reads the values NAME=VALUE of an option; it raises InvalidOption."""
    return partial(_pairs, option)


def _pairs(option: str, texts: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple(pair(text, option) for text in texts)


class Adds(argparse.Action):
    """Collects the values of a flag that is given several times, in place of its default."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        before = getattr(namespace, self.dest)
        given = before if isinstance(before, list) else []
        setattr(namespace, self.dest, [*given, *(values or ())])


def _flagged(kind: type) -> list[Field[Any]]:
    return [field for field in fields(kind) if "flag" in field.metadata]


def _name(field: Field[Any], taken: Flag) -> str:
    return taken.name or field.name.replace("_", "-")


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return None if field.default is MISSING else field.default


def _choices(kind: type, field: Field[Any]) -> tuple[Any, ...]:
    """What a field may be, besides None, if that is a list."""
    taken = field.metadata.get("flag")
    if taken is not None and taken.choices:
        return tuple(taken.choices)
    hint = _given(_hints(kind)[field.name])
    return get_args(hint) if get_origin(hint) is Literal else ()


@cache
def _hints(kind: type) -> dict[str, Any]:
    """Types of a dataclass's fields; they are asked for at every one of a hundred flags."""
    return get_type_hints(kind)


def _given(hint: Any) -> Any:
    """The type of a field where it is given: `int` of `int | None`."""
    if get_origin(hint) in (Union, UnionType):
        return next(each for each in get_args(hint) if each is not NoneType)
    return hint


def _taken(hint: Any) -> tuple[Callable[[str], Any], dict[str, Any]]:
    """The type of a value, or of each of several, and how many there are."""
    hint = _given(hint)
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        if all(isinstance(part, str) for part in parts):
            return str, {}
        # Values of several types (1, "1-5") are told apart by how they are written.
        return partial(_member, {str(part): part for part in parts}), {}
    if origin is tuple:
        several = len(parts) == 2 and parts[1] is Ellipsis
        return _plain(parts[0]), {"nargs": "+" if several else len(parts)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return str, {"nargs": "+"}
    return _plain(hint), {}


def _member(values: Mapping[str, Any], text: str) -> Any:
    """The value that is written so, or the text, which the choices then refuse."""
    return values.get(text, text)


def _plain(hint: Any) -> type:
    """A type that the command line can read; anything else is made from text."""
    return hint if hint in (int, float, bool) else str
