"""What can go wrong: named errors that carry what is wrong as data, and messages that name options.

A message names the place, the value and the remedy. One that names an option is a template with
fields:

>>> error = InvalidOption("{option} {value!r}: use {allowed}.", option="layout", value=1,
...     allowed=(2, 3))
>>> str(error)
'layout 1: use 2, 3.'
>>> render(error, {"layout": "“Rows hold”"})
'“Rows hold” 1: use 2, 3.'
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

COMMAND_LINE = {
    "layout": "layout",
    "baseline": "--map model_b==NAME",
    "two_prices": "--price PROMPT COMPLETION, per million tokens",
}
"""What the command line calls an option, where that is not `--` and its name with hyphens."""


class Message(str):
    """A sentence about options: as text it has the words of the command line, `render` gives
    others.

    template : text with `{option}` for the option that the fields name, `{option:max_calls}` for
        another, `{option:map model=COLUMN}` for one with its argument, and `{field}` for values, as
        in `str.format`.
    fields : the values. A sequence is listed with commas, a message is rendered in the same words.
    """

    template: str
    fields: dict[str, Any]

    def __new__(cls, template: str, /, **fields: Any) -> Self:
        message = super().__new__(cls, _filled(template, fields, {}))
        message.template, message.fields = template, fields
        return message

    def render(self, names: Mapping[str, str]) -> str:
        """The sentence with a front end's names of the options; `{}` in a name takes the
        argument.
        """
        return _filled(self.template, self.fields, names)

    def about(self, option: str) -> Message:
        """The same sentence about another option."""
        return Message(self.template, **self.fields | {"option": option})

    def at(self, place: str) -> Message:
        """The sentence behind the place that it is about."""
        option = {"option": self.fields["option"]} if "option" in self.fields else {}
        return Message("{place}: {problem}", place=place, problem=self, **option)


class _Option:
    """An option in a template: the format specification is another option, an argument
    behind it.
    """

    def __init__(self, option: str, names: Mapping[str, str]) -> None:
        self.option, self.names = option, names

    def __format__(self, specification: str) -> str:
        option, _, argument = (specification or self.option).partition(" ")
        flag = COMMAND_LINE.get(option, "--" + option.replace("_", "-"))
        name = self.names.get(option, flag)
        return name.format(argument) if "{}" in name else f"{name} {argument}".strip()


def _filled(template: str, fields: Mapping[str, Any], names: Mapping[str, str]) -> str:
    if not fields:
        return template
    shown = {
        name: render(value, names)
        if isinstance(value, Message | AppellateError)
        else ", ".join(map(str, value))
        if isinstance(value, list | tuple)
        else value
        for name, value in fields.items()
    }
    return template.format(**shown | {"option": _Option(fields.get("option", ""), names)})


def render(message: object, names: Mapping[str, str]) -> str:
    """A message, error or text in a front end's words.

    names : option → what the front end calls it; an option that is absent has its name on the
        command line.
    """
    if isinstance(message, AppellateError):
        message = message.message
    return message.render(names) if isinstance(message, Message) else str(message)


class AppellateError(Exception):
    """Something the user gave cannot be used.

    message : names the place, the value and the remedy; a template if fields are given, see
        `Message`.
    """

    def __init__(self, message: str = "", /, **fields: Any) -> None:
        self.message = message if isinstance(message, Message) else Message(message, **fields)
        super().__init__(self.message)

    @property
    def option(self) -> str | None:
        """The option that is wrong, or that settles the question."""
        return self.message.fields.get("option")


class UnreadableFile(AppellateError):
    """The file is not what its format needs: encoding, compression, columns or structure."""


class AmbiguousLabels(AppellateError):
    """The labels can be read in more than one way and the user must say which."""


class NoUsableVotes(AppellateError):
    """Nothing is left to work on: no valid vote, or a filter that matches nothing."""


class UnknownName(AppellateError):
    """A dataset, judge, model, column or option that does not exist."""


class InvalidOption(AppellateError):
    """An option outside what its method allows."""


class TooFewLabels(AppellateError):
    """A method needs more labelled comparisons than there are."""


class StoreInUse(AppellateError):
    """Another process has the store file open."""


class LabellingReplaced(AppellateError):
    """A card is of a labelling that is no more: deleted, renamed or begun anew meanwhile."""


class StoreReplaced(AppellateError):
    """The store file was deleted, replaced or overwritten while it was open here."""


class DamagedStore(UnreadableFile):
    """The store file is not what was written: a changed, cut or exchanged part of it."""


class MissingExtra(AppellateError):
    """A package that this needs, and that an extra brings, is not installed."""


class WarehouseError(AppellateError):
    """Another engine that cannot be reached, refuses, or dies; or its driver is not installed."""


class ConnectionLost(WarehouseError):
    """The session on another engine is gone, with all that was derived in it."""
