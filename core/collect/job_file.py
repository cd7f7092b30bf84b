"""A job as settings: what a command line or a TOML file asks for, the job that it makes, and the
file again.

The keys of a file are the options of the command line without their dashes. What stands above the
first `[[judge]]` holds for the job, or for all of its judges; a `[[judge]]` has the options of a
judge, `name` for `--judge`, and its own concurrency and limits. Paths are relative to the file. No
key is ever in it.

A file may be a stranger's. So it names no host that texts may go to, no variable but keys of the
server that it names, and no path outside its folder; those are for the command line.
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, cast

from ..errors import InvalidOption, UnreadableFile
from ..store import Store
from .endpoint import check_secrets
from .items import ItemFile, items_of, lists_of, read_file
from .job import PROTOCOLS, Budget, Job, Judge, Terms, values_of
from .presets import preset
from .prompts import NAMES, read_text

T = TypeVar("T")
Given = dict[str, Any]
"""Options by the names of the fields that they fill."""

JUDGE_GROUP = "the judge"
ONCE = ("dry_run", "try_items", "yes", "again", "reread", "write_job", "items_file", "yes_send_to")
"""Options of one run, which are no part of a job: consent above all is never read from a file."""
OWN = ("concurrency", "calls", "tokens", "cost")
"""What the job has, and a judge may have for itself besides."""
PATHS = ("items", "store", "prompts", "prompt")
TYPES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
SECRET = re.compile(r"key|token|auth|secret|cookie|password", re.IGNORECASE)
VARIABLE = re.compile(r"[A-Za-z_]\w*\Z")
LIBRARY = re.compile(
    r"(?:aws|azure|vertex|api|litellm|mock|input_cost|output_cost|extra|client|oidc)(?:_|\Z)|"
    r"base_url|headers|organization|custom_llm_provider|fallbacks|model_list|callbacks|.*_callback|"
    r"logger_fn|.*credential.*|.*secret.*|.*password.*|.*(?:auth|access|ad|session)_token",
    re.IGNORECASE,
)
"""Parameters that the library of clients takes for itself: how it signs in, and where."""
LOOKED_UP = re.compile(r"os\.environ/|oidc/", re.IGNORECASE)
"""In a text that the same library takes for the place of a secret."""
BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
LAST = "last collected"
"""The flag of a store with the last job that was answered whole, as a job file."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of the command line. of_judge : its group says that it is about a judge."""

    key: str
    of_judge: bool
    action: argparse.Action

    @property
    def field(self) -> str:
        return self.action.dest

    @property
    def kind(self) -> type:
        """Of its value, or of each of several."""
        if self.action.nargs == 0:
            return bool
        return cast(type, self.action.type) or str

    @property
    def pairs(self) -> bool:
        """Whether it takes NAME=VALUE."""
        return "=" in str(self.action.metavar)


Options = dict[str, Option]


def options_of(add_arguments: Callable[[argparse.ArgumentParser], None]) -> Options:
    """The options that a function adds to a parser, by their names without dashes."""
    found: Options = {}
    parser = argparse.ArgumentParser(add_help=False)

    class Recorder:
        of_judge = False

        def add_argument_group(self, title: str) -> Recorder:
            self.of_judge = title == JUDGE_GROUP
            return self

        def add_argument(self, *names: str, **facts: Any) -> None:
            key = names[0].lstrip("-")
            found[key] = Option(key, self.of_judge, parser.add_argument(*names, **facts))

    add_arguments(cast(argparse.ArgumentParser, Recorder()))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What is asked for. options : of the job, and of all judges.  judges : of each.  keyed : for
    apoc.  file : the job file that it is from.  chosen : options that the command line gives.
    """

    options: Given
    judges: tuple[Given, ...]
    keyed: Given | None = None
    file: str | None = None
    chosen: frozenset[str] = frozenset()

    def under(self, given: Given) -> Settings:
        """The settings with options of the command line, which win."""
        for option in ("model", "judge", "base_url"):
            if option in given and "model" not in self.options:
                raise InvalidOption(
                    "{option}: the job file names the judges; change it there", option=option
                )
        lasting = given.keys() - {*OWN}
        judges = tuple(
            {k: v for k, v in judge.items() if k not in lasting} for judge in self.judges
        )
        keyed = {"model": given["keyed_model"]} if "keyed_model" in given else self.keyed
        return replace(
            self, options=self.options | given, judges=judges, keyed=keyed, chosen=frozenset(given)
        )

    @property
    def filled(self) -> Given:
        """The options, with those of a preset where none is given."""
        name = self.options.get("preset")
        return self.options if name is None else preset(name).given | self.options

    def made_judges(self) -> tuple[Judge, ...]:
        """The judges. Raises InvalidOption."""
        if not self.judges:
            raise InvalidOption(
                "{option}: name the model that judges, as provider/name", option="model"
            )
        return tuple(map(self._judge, self.judges))

    def _judge(self, own: Given) -> Judge:
        given = {name: value for name, value in self.options.items() if name not in OWN} | own
        parameters = dict(named("param", given.get("param")))
        own_options = {name: given.get(name) for name in ("reasoning_effort", "top_p")}
        parameters |= {
            name: json.dumps(value) for name, value in own_options.items() if value is not None
        }
        if "model" not in given:
            raise InvalidOption("A judge needs a {option}", option="model")
        judge = _record(
            Judge,
            given,
            name=given.get("judge", ""),
            parameters=tuple(parameters.items()),
            headers=named("header", given.get("header")),
            budget=_record(Budget, own),
        )
        if self.file is not None:
            check_secrets(judge, f"{self.file}, judge {judge.name}", self.chosen)
        return judge

    def terms(self) -> Terms:
        """How the job is run."""
        given = self.options
        return _record(
            Terms,
            given,
            budget=_record(Budget, given),
            confirmed=tuple(given.get("yes_send_to", ())),
        )

    def job_options(self) -> Given:
        """The fields of a job but for its judges and items. Raises InvalidOption,
        UnreadableFile.
        """
        given = self.filled
        found = _given(Job, given) | {
            "verdict_words": named("verdict_words", given.get("verdict_words")),
            "prompt": _text_of(given.get("prompt")),
            **_rubric(given),
            "prompts": Path(given["prompts"]) if given.get("prompts") else None,
            "keyed": self._judge(self.keyed) if self.keyed else None,
        }
        return {name: value for name, value in found.items() if name not in ("dataset", "items")}

    def job(self, store: Store) -> tuple[Job, tuple[str, ...]]:
        """The job, and notes about its items. Raises InvalidOption, UnreadableFile,
        NoUsableVotes.
        """
        given, judges, options = self.filled, self.made_judges(), self.job_options()
        if ("items" in given) == ("items_of" in given):
            words = "Name a file of items, or a data set of the store with {option}, and not both"
            raise InvalidOption(words, option="items_of")
        if given.get("max_items", 1) < 1:
            raise InvalidOption(
                "{option} {given}: 1 or more", option="max_items", given=given["max_items"]
            )
        if "items_of" in given:
            file, dataset = ItemFile(items=items_of(store, given["items_of"])), given["items_of"]
            if given.get("protocol") == "listwise":
                file = ItemFile(items=lists_of(file.items))
        else:
            path = Path(given["items"])
            file, dataset = read_file(path), path.name.split(".")[0]
        items = file.items[: given.get("max_items")]
        notes = file.notes
        if "protocol" not in given and items and all(len(i.responses) == 1 for i in items):
            options["protocol"] = "pass"
        kept = PROTOCOLS[options.get("protocol", "pairwise")].kind == "scores"
        if not kept and any(item.people for item in items):
            notes = (*notes, "What people say of single answers is not stored with pairs or lists")
        if "preset" in given:
            notes = (f"{given['preset']}: {preset(given['preset']).sentence}", *notes)
        return Job(
            dataset=given.get("dataset") or dataset, items=items, judges=judges, **options
        ), notes


def _record(kind: type[T], given: Given, **others: object) -> T:
    return kind(**_given(kind, given) | others)


def _given(kind: type, given: Given) -> Given:
    """What is given of the fields of a dataclass; what is not has the default of the field."""
    names = [field.name for field in fields(kind) if given.get(field.name) is not None]
    return {
        name: tuple(given[name]) if isinstance(given[name], list) else given[name] for name in names
    }


def named(option: str, given: Iterable[str] | None) -> tuple[tuple[str, str], ...]:
    """Pairs out of `NAME=VALUE`. Raises InvalidOption."""
    pairs = [text.partition("=") for text in given or () if text.strip()]
    for name, equals, value in pairs:
        if not name or not equals:
            raise InvalidOption(
                "{option} {text}: write NAME=VALUE", option=option, text=name + equals + value
            )
    return tuple((name, value) for name, _, value in pairs)


def _text_of(prompt: str | None, what: str = "prompt") -> str | None:
    """The text of a prompt: of a file, or in several lines the text itself."""
    if prompt is None or "\n" in prompt:
        return prompt
    return read_text(Path(prompt), f"the {what} {prompt}")


def _rubric(given: Given) -> Given:
    """The criteria of a rubric, which are a file's, not names."""
    if given.get("protocol") != "rubric":
        return {}
    files: Sequence[str] = given.get("criteria") or ()
    if len(files) != 1:
        words = "{option}: name one file of criteria, with {option:protocol rubric}"
        raise InvalidOption(words, option="criteria")
    return {"criteria": (), "rubric": _text_of(files[0], "criteria")}


def read(path: Path, known: Options, chosen: Given | None = None) -> Settings:
    """Settings of a job file, paths beside it, under those of the command line (`chosen`), which
    may name what the file may not.

    Raises UnreadableFile; InvalidOption, also for a path outside the file's folder.
    """
    given = dict(chosen or {})
    if "items_file" in given:
        given["items"] = given.pop("items_file")
    settings = parse(read_text(path, f"{path.name}:"), path.name, known)
    for name, other in (("items", "items_of"), ("items_of", "items")):
        if name in given:
            settings.options.pop(other, None)
    beside = {
        name: str(_beside(path, name, value)) if name in PATHS and "\n" not in value else value
        for name, value in settings.options.items()
        if name not in given
    }
    if beside.get("protocol") == "rubric" and "criteria" in beside:
        files = beside["criteria"]
        beside["criteria"] = [f if "\n" in f else str(_beside(path, "criteria", f)) for f in files]
    return replace(settings, options=beside).under(given)


def keep(store: Store, job: Job, terms: Terms, known: Options) -> None:
    """Remember a job that is answered whole, so that the next prompt is asked in the same way:
    without limits, whose calls were another job's, and without a version, which follows from it.
    """
    from .trial import unversioned

    judges = tuple(
        replace(judge, name=unversioned(judge.name), budget=Budget()) for judge in job.judges
    )
    job, terms = replace(job, judges=judges), Terms(concurrency=terms.concurrency)
    try:
        text = written(job, terms, known, of=job.dataset)
    except InvalidOption:
        # A parameter of null has no form there.
        text = None
    store.set_flag(LAST, text)


def last(store: Store, name: str, known: Options, given: Given) -> Settings:
    """The last job that a store remembers, under what the command line gives. It is held to what
    job files are held to, since a store may be a stranger's.

    Raises InvalidOption, where it remembers none and none is given.
    """
    text = store.flag(LAST)
    if text is None and ("model" not in given or "items_of" not in given):
        raise InvalidOption(
            "{name} remembers no job: name the items with {option:items_of DATASET}, or their "
            "file, and the model with {option:model}",
            name=name,
            option="items_of",
        )
    held = Settings(options={}, judges=()) if text is None else parse(text, name, known)
    if "model" not in given:
        return held.under(given)
    judges = tuple({"model": model} for model in given["model"])
    return Settings(options=held.options | given, judges=judges)


def _beside(file: Path, name: str, value: str) -> Path:
    """A path that a file names, below the file's folder, wherever links lead.

    Raises InvalidOption.
    """
    folder, path = file.parent.resolve(), file.parent / value
    # Prompts are read out of their folder by name, and may be links themselves.
    every = [path, *(path / f"{each}.md" for each in NAMES)] if name == "prompts" else [path]
    try:
        inside = "\0" not in value and all(each.resolve().is_relative_to(folder) for each in every)
    except (OSError, RuntimeError, ValueError):
        inside = False
    if not inside:
        flag = "items-file" if name == "items" else name
        raise InvalidOption(
            f"{file.name}, {name}: {value!r} is outside the folder of the file; name it on the "
            f"command line with --{flag}, or keep it beside the file"
        )
    return path


def parse(text: str, name: str, known: Options) -> Settings:
    """Settings out of the text of a job file.

    Raises UnreadableFile if it is no TOML; InvalidOption with place, value and remedy for what is
    in it.
    """
    try:
        found = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UnreadableFile(f"{name}: is no TOML ({error})") from error
    tables = found.pop("judge", [])
    keyed = found.pop("keyed-judge", None)
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UnreadableFile(
            f"{name}, judge: write each judge as a table that begins with [[judge]]"
        )
    if keyed is not None and not isinstance(keyed, dict):
        raise UnreadableFile(
            f"{name}, keyed-judge: write it as a table that begins with [keyed-judge]"
        )
    options = _table(found, name, known, judge=False)
    judges = tuple(
        _table(table, f"{name}, [[judge]] {number}", known, judge=True)
        for number, table in enumerate(tables, start=1)
    )
    if judges and ("model" in options or "keyed_model" in options):
        raise InvalidOption(
            f"{name}: name each model in its [[judge]] or [keyed-judge], not above them"
        )
    table = None if keyed is None else _table(keyed, f"{name}, [keyed-judge]", known, judge=True)
    if options.get("keyed_model"):
        table = {"model": options.pop("keyed_model")}
    judges = judges or tuple({"model": model} for model in options.get("model", ()))
    return Settings(options=options, judges=judges, keyed=table, file=name)


def _table(found: Mapping[str, Any], place: str, known: Options, *, judge: bool) -> Given:
    """Options out of a table, checked."""
    allowed = {
        ("name" if judge and key == "judge" else key): option
        for key, option in known.items()
        if option.field not in ONCE
        and (option.of_judge or option.field in OWN if judge else key != "judge")
    }
    given: Given = {}
    for key, value in found.items():
        option = allowed.get(key.replace("_", "-"))
        if option is None:
            raise InvalidOption(_unknown(key, place, allowed, known))
        given[option.field] = _value(value, option, f"{place}, {key}", judge=judge)
    return given


def _unknown(key: str, place: str, allowed: Iterable[str], known: Options) -> str:
    plain = key.replace("_", "-")
    if plain in ("key", "api-key"):
        return (
            f"{place}: a key does not belong in a file; name its environment variable with key-env"
        )
    if plain == "yes-send-to":
        return (
            f"{place}: where texts may be sent is not read from a file; "
            "confirm the host on the command line with --yes-send-to HOST"
        )
    if plain == "items-file":
        return f'{place}: write items = "FILE", a file beside this one'
    if plain in known and known[plain].field in ONCE:
        return f"{place}: {plain} is for one run; give it on the command line as --{plain}"
    if plain in known:
        return f"{place}: {plain} is of the whole job; write it above the first [[judge]]"
    near = get_close_matches(plain, list(allowed), 1)
    remedy = f"did you mean {near[0]}?" if near else f"it may have {', '.join(sorted(allowed))}"
    return f"{place}: {key!r} is unknown; {remedy}"


def _value(value: Any, option: Option, place: str, *, judge: bool) -> Any:
    """A value of the type of its option, as the command line gives it."""
    if option.pairs:
        if not isinstance(value, dict):
            raise InvalidOption(
                f"{place}: {value!r} is no table; write {option.key} = {{ NAME = VALUE }}"
            )
        words = option.field == "verdict_words"
        texts = {
            name: each if words and isinstance(each, list) else [each]
            for name, each in value.items()
        }
        return [
            f"{name}={_pair(name, one, option, place)}"
            for name, each in texts.items()
            for one in each
        ]
    if option.action.nargs == 2 and (not isinstance(value, list) or len(value) != 2):
        raise InvalidOption(f"{place}: {value!r} is no pair; write {option.key} = [1.0, 2.0]")
    several = option.action.nargs not in (None, 0, "?") and not (judge and option.field == "model")
    values = value if several and isinstance(value, list) else [value]
    for each in values:
        right = isinstance(each, (int, float) if option.kind is float else option.kind)
        if not right or (isinstance(each, bool) and option.kind is not bool):
            raise InvalidOption(f"{place}: {each!r} is not {TYPES[option.kind]}")
    if option.field == "key_env" and not VARIABLE.match(value):
        raise InvalidOption(
            f"{place}: is not the name of an environment variable, such as MY_API_KEY"
        )
    return [option.kind(each) for each in values] if several else option.kind(value)


def _pair(name: str, value: Any, option: Option, place: str) -> str:
    """A value as it is written behind `NAME=`."""
    if option.field == "param":
        if LIBRARY.match(name) or LOOKED_UP.search(written := json.dumps(value, default=str)):
            raise InvalidOption(
                f"{place}, {name}: says how the client signs in, or where; "
                "that is not read from a file"
            )
        return written
    if not isinstance(value, str):
        raise InvalidOption(f"{place}, {name}: {value!r} is not a text")
    if option.field == "header" and SECRET.search(name) and not value.startswith("$"):
        raise InvalidOption(
            f"{place}, {name}: write $VARIABLE, the name of an environment variable that holds it"
        )
    return value


def written(
    job: Job,
    terms: Terms,
    known: Options,
    items: str | None = None,
    of: str | None = None,
    first: int | None = None,
    folder: Path | None = None,
) -> str:
    """A job as a file that `parse` reads: without what is as by default, secrets, and the hosts
    that texts may go to.

    items : the file of items; of : data set instead; first : how many of them.
    folder : where the file will be; paths outside it are left out, and a comment says so. None:
    items are a name, and the file is not on this machine.
    """
    values: Given = {
        **_changed(job),
        **_changed(terms),
        **_changed(terms.budget),
        "items": items if folder is None or items is None else _from(folder, items),
        "items_of": of,
        "max_items": first,
        "verdict_words": job.verdict_words
        and {v: [text for of, text in job.verdict_words if of == v] for v, _ in job.verdict_words},
        "prompts": job.prompts and folder and _from(folder, job.prompts),
        "prompt": job.prompt and job.prompt.rstrip("\n") + "\n",
        "criteria": (job.rubric.rstrip("\n") + "\n",) if job.rubric else job.criteria,
    }
    lines = ["# python -m core collect THIS_FILE --store votes.duckdb"]
    lines += _lines(values, known)
    for name, flag, path in (("items", "items-file", items), ("prompts", "prompts", job.prompts)):
        if path is not None and values[name] is None:
            lines.append(
                f"# Outside the folder of this file: give --{flag} {json.dumps(str(path))}"
            )
    for judge in job.judges:
        lines += ["", "[[judge]]", *_judge_lines(judge, known)]
    if job.keyed is not None:
        lines += ["", "[keyed-judge]", *_judge_lines(job.keyed, known)]
    return "\n".join(lines) + "\n"


def _from(folder: Path, path: str | Path) -> str | None:
    """A path as a file in a folder names it; None if it is outside."""
    try:
        return Path(path).resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return None


def _changed(record: Any) -> Given:
    """Fields that are not as by default."""
    given = values_of(record)
    return {
        field.name: given[field.name]
        for field in fields(record)
        if given[field.name] != field.default
    }


def _judge_lines(judge: Judge, known: Options) -> Iterator[str]:
    kept = {
        name: value
        for name, value in judge.headers
        if value.startswith("$") or not SECRET.search(name)
    }
    name = judge.name if judge.name != judge.default_name else None
    values = (
        _changed(judge)
        | _changed(judge.budget)
        | {"judge": name, "param": judge.extra, "header": kept}
    )
    yield from _lines(values, known, judge=True)
    for name in sorted({name for name, _ in judge.headers} - kept.keys()):
        yield f"# The header {name} is left out: write it as $VARIABLE, from the environment."


def _lines(values: Given, known: Options, *, judge: bool = False) -> Iterator[str]:
    for key, option in known.items():
        value = values.get(option.field)
        if (
            value is None
            or value in ((), {})
            or option.field in ONCE
            or (option.field == "judge") > judge
        ):
            continue
        yield f"{'name' if key == 'judge' else key} = {toml(value)}"


def toml(value: Any) -> str:
    """A value in TOML.

    >>> toml({"a": ["x", 1.0, True]})
    '{ a = ["x", 1.0, true] }'
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        lines = [_escaped(line) for line in value.split("\n")]
        return f'"{lines[0]}"' if len(lines) == 1 else '"""\n' + "\n".join(lines) + '"""'
    if isinstance(value, Mapping):
        # A text of several lines is no name.
        named = {
            name if BARE.match(name) else f'"{_escaped(name)}"': each
            for name, each in value.items()
        }
        return "{ " + ", ".join(f"{name} = {toml(each)}" for name, each in named.items()) + " }"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    if not isinstance(value, int | float):
        raise InvalidOption(f"{json.dumps(value)} cannot be written into a job file")
    return repr(value)


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1].replace("\x7f", "\\u007f")
