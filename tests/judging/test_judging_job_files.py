"""Job files: several judges with own servers in one job, options as keys, and errors with their
place.
"""

from __future__ import annotations

import csv
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judging_jobs import pairs
from judging_server import Server

from core.__main__ import main
from core.errors import AppellateError
from core.judging.cli import known_options
from core.judging.job import Budget, Job, Judge, Terms
from core.judging.job_file import parse, toml, written
from core.judging.own_verdicts import OwnVerdicts
from core.store import Store

KEY = "sk-planted-77aa02c4d1e94f33"
FREE = "http://127.0.0.1:9/v1"
"""Nothing listens on the port that is for discarding."""


@pytest.fixture
def items(tmp_path: Path) -> Path:
    path = tmp_path / "items.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["item_id", "prompt", "response_a", "response_b", "gold"])
        writer.writerows(
            [item.item_id, item.prompt, *item.responses, item.gold] for item in pairs(10)
        )
    return path


def job_file(items: Path, text: str) -> str:
    path = items.with_name("job.toml")
    path.write_text(text, encoding="utf-8")
    return str(path)


def two(first: str, second: str, more: str = "", top: str = "") -> str:
    return f"""
items = "items.csv"
store = "votes.duckdb"
votes = 2
{top}
[[judge]]
name = "one"
model = "openai/fair"
base-url = "{first}"
key-env = "PLANTED_API_KEY"
price = [1, 2.5]
concurrency = 3
param = {{ seed = 7, stop = ["x"] }}
header = {{ X-Team = "red" }}
{more}
[[judge]]
model = "openai/first"
base-url = "{second}"
reply-tokens = 2000
"""


def test_two_judges_with_their_own_servers_keys_and_parameters(items, capsys, monkeypatch):
    monkeypatch.setenv("PLANTED_API_KEY", KEY)
    with Server() as one, Server(delay=0.05) as other:
        file = job_file(items, two(one.url, other.url))
        assert main(["collect", file, "--dry-run"]) == 0
        assert one.calls == other.calls == 0
        assert main(["collect", file]) == 0
        captured = capsys.readouterr()
        assert "one: 20 of 20 answered" in captured.err
        assert "first: 20 of 20 answered" in captured.err
        assert main(["collect", file]) == 0
        assert (one.calls, other.calls) == (20, 20)
        assert one.peak <= 3
        assert one.keys == {f"Bearer {KEY}"}
        assert KEY not in str(other.keys)
        assert {(body["seed"], *body["stop"], body["max_tokens"]) for body in one.bodies} == {
            (7, "x", 4096)
        }
        assert {(body.get("seed"), body["max_tokens"]) for body in other.bodies} == {(None, 2000)}
    with Store.open(items.with_name("votes.duckdb")) as store:
        rows = store.query(
            "select judge, count(*)::int as n from replies group by judge order by judge"
        )
        assert rows.to_pylist() == [{"judge": "first", "n": 20}, {"judge": "one", "n": 20}]
        assert {row["judge"] for row in store.export().to_pylist()} == {"one", "first"}


def test_a_dead_server_stops_its_judge_alone_and_the_same_file_goes_on(items, capsys, monkeypatch):
    monkeypatch.setenv("PLANTED_API_KEY", KEY)
    with Server() as one:
        file = job_file(items, two(one.url, FREE, top="give-up = 3"))
        assert main(["collect", file]) == 3
        said = capsys.readouterr().err
        assert "one: 20 of 20 answered" in said
        assert "first: 0 of 20 answered, stopped before its end" in said
        assert "in a row" in said
        with Server() as other:
            assert (
                main(
                    [
                        "collect",
                        job_file(items, two(one.url, other.url) + f'same-server = "{FREE}"'),
                    ]
                )
                == 0
            )
            assert (one.calls, other.calls) == (20, 20)


def test_a_judge_has_limits_of_its_own_over_all_runs(items, capsys, monkeypatch):
    monkeypatch.setenv("PLANTED_API_KEY", KEY)
    with Server() as one, Server() as other:
        file = job_file(items, two(one.url, other.url, more="max-calls = 7"))
        assert main(["collect", file]) == 3
        said = capsys.readouterr().err
        assert "one: 7 of 20 answered" in said
        assert "own limit of 7 calls" in said
        assert "first: 20 of 20 answered" in said
        assert main(["collect", file]) == 3
        assert (one.calls, other.calls) == (7, 20)
        # What the command line says wins.
        assert main(["collect", file, "--max-calls", "22"]) == 3
        assert main(["collect", job_file(items, two(one.url, other.url))]) == 0
        assert (one.calls, other.calls) == (20, 20)


def test_a_limit_in_money_of_a_judge_needs_its_price(items, capsys, monkeypatch):
    monkeypatch.setenv("PLANTED_API_KEY", KEY)
    text = two(FREE, FREE) + "max-cost = 1.0\n"
    assert main(["collect", job_file(items, text)]) == 2
    assert "the price of openai/first is unknown" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("votes = [", "job.toml: is no TOML"),
        ("vots = 2", "job.toml: 'vots' is unknown; did you mean votes?"),
        ("votes = 'two'", "job.toml, votes: 'two' is not a whole number"),
        ("votes = true", "job.toml, votes: True is not a whole number"),
        ("ties = 1", "job.toml, ties: 1 is not true or false"),
        (
            "again = ['error']",
            "job.toml: again is for one run; give it on the command line as --again",
        ),
        ("judge = 'x'", "write each judge as a table that begins with [[judge]]"),
        (
            "[[judge]]\nmodle = 'm'",
            "job.toml, [[judge]] 1: 'modle' is unknown; did you mean model?",
        ),
        (
            "[[judge]]\nvotes = 3",
            "[[judge]] 1: votes is of the whole job; write it above the first [[judge]]",
        ),
        ("[[judge]]\nmodel='m'\n[[judge]]\nprice = 3", "[[judge]] 2, price: 3 is no pair"),
        ("[[judge]]\nparam = 'seed'", "[[judge]] 1, param: 'seed' is no table"),
        ("[[judge]]\nname = 'x'", "A judge needs a --model"),
        ("model = ['m']\n[[judge]]\nmodel = 'm'", "name each model in its [[judge]]"),
        (f"[[judge]]\nkey = '{KEY}'", "a key does not belong in a file"),
        (f"[[judge]]\nkey-env = '{KEY}'", "is not the name of an environment variable"),
        (
            f"[[judge]]\nheader = {{ Authorization = '{KEY}' }}",
            "[[judge]] 1, header, Authorization: write $VAR",
        ),
        (
            "[[judge]]\nmodel = 'm'\nbase-url = 'http://localhost:1/v1'\nconcurrency = 300",
            "1 to 256",
        ),
        ("items = 'gone.csv'\nmodel = 'openai/m'\nstore = 's.duckdb'", "gone.csv: cannot be read"),
        ("prompt = 'gone.md'\nmodel = 'openai/m'\nitems = 'items.csv'", "gone.md cannot be read"),
        ("model = 'openai/m'", "Name a file of items, or a data set of the store"),
        ("items = 'items.csv'", "--model: name the model that judges"),
    ],
)
def test_what_is_wrong_is_named_with_its_place_and_no_key_is_repeated(items, capsys, text, said):
    store = [] if "store" in text else ["--store", str(items.with_name("votes.duckdb"))]
    assert main(["collect", job_file(items, text), *store]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert KEY not in err


def test_no_such_file_and_no_store(items, capsys):
    assert main(["collect", "nowhere.toml", "--store", "x.duckdb"]) == 2
    assert "nowhere.toml: cannot be read" in capsys.readouterr().err
    assert main(["collect", job_file(items, "items = 'items.csv'\nmodel = 'openai/m'")]) == 2
    assert "--store: name the file" in capsys.readouterr().err
    assert main(["collect", job_file(items, two(FREE, FREE)), "--model", "openai/x"]) == 2
    assert "--model: the job file names the judges" in capsys.readouterr().err


def judges() -> tuple[Judge, ...]:
    return (
        Judge(
            model="anthropic/claude",
            name="said “one”",
            price=(1.0, 2.5),
            key_env="MY_KEY",
            timeout=30.0,
            parameters=(
                ("seed", "7"),
                ("nested", '{"a b": [1, null, "\\u00e9"]}'.replace("null", "2")),
            ),
            headers=(
                ("X-Team", "red"),
                ("Authorization", f"Bearer {KEY}"),
                ("X-Api-Key", "$OTHER"),
            ),
            concurrency=64,
            budget=Budget(calls=10, cost=0.5),
        ),
        Judge(model="openai/b", base_url=FREE, max_tokens=99, same_server="http://old/v1"),
    )


def test_a_job_that_is_written_is_the_job_that_is_read():
    job = Job(
        dataset="mine",
        items=pairs(3),
        judges=judges(),
        votes=4,
        orders="ab",
        ties=False,
        temperature=0.5,
        few_shot=1,
        seed=5,
        prompt='Say "it"\n\\ {{first}} {{second}}\t\'\'\' """',
        own_verdicts=OwnVerdicts(words=(("A", "one"), ("A", "1st"), ("B", "two"))),
    )
    terms = Terms(concurrency=5, budget=Budget(tokens=7), confirmed=("models.example",), give_up=2)
    text = written(job, terms, known_options(), "items.csv", None, 3)
    assert KEY not in text
    assert "The header Authorization is left out" in text
    found = parse(text, "job.toml", known_options())
    assert found.terms() == terms
    kept = tuple(pair for pair in judges()[0].headers if pair[0] != "Authorization")
    one, other = found.made_judges()
    assert (one.headers, other) == (kept, judges()[1])
    assert one.extra == judges()[0].extra
    assert (one.budget, one.concurrency, one.price) == (Budget(calls=10, cost=0.5), 64, (1.0, 2.5))
    options = found.job_options()
    assert options.pop("prompt").splitlines() == job.prompt.splitlines()
    assert options.pop("keyed") is None
    assert all(getattr(job, name) == value for name, value in options.items())
    assert {name: found.options[name] for name in ("items", "max_items", "dataset")} == {
        "items": "items.csv",
        "max_items": 3,
        "dataset": "mine",
    }


def test_the_command_writes_its_options_as_a_job_file(items, capsys):
    with Server() as server:
        store, out = str(items.with_name("votes.duckdb")), items.with_name("made.toml")
        command = [
            "collect",
            str(items),
            "--model",
            "openai/fair",
            "openai/first",
            "--base-url",
            server.url,
        ]
        command += ["--votes", "2", "--store", store, "--param", "seed=7"]
        assert main([*command, "--write-job", str(out)]) == 0
        assert server.calls == 0
        assert main(command) == 0
        assert main(["collect", str(out), "--store", store]) == 0
        assert "40 requests were answered before" in capsys.readouterr().err
        assert server.calls == 40


VALUES = st.recursive(
    st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=5,
)


@settings(max_examples=200)
@given(st.dictionaries(st.text(st.characters(codec="utf-8")), VALUES))
def test_values_in_toml_are_read_back(value: dict[str, Any]) -> None:
    assert tomllib.loads(f"x = {toml(value)}")["x"] == value


@settings(max_examples=200)
@given(
    st.text()
    | st.dictionaries(st.sampled_from([*known_options(), "judge"]), VALUES).map(lambda d: toml(d))
)
def test_any_text_is_settings_or_a_named_error(text: str) -> None:
    try:
        found = parse(text, "job.toml", known_options())
        found.terms()
        found.made_judges()
    except AppellateError:
        return
