"""Job files: several judges with own servers in one job, options as keys, and errors with their
place.
"""

from __future__ import annotations

import csv
import tomllib
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judging_jobs import pairs
from judging_server import Server

from core.__main__ import main
from core.collect.cli import known_options
from core.collect.job import Budget, Job, Judge, Terms
from core.collect.job_file import parse, toml, written
from core.collect.prompts import FOLDER
from core.errors import AppellateError
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
        assert main(["collect", "--yes", file, "--dry-run"]) == 0
        assert one.calls == other.calls == 0
        assert main(["collect", "--yes", file]) == 0
        captured = capsys.readouterr()
        assert "one: 20 of 20 answered" in captured.err
        assert "first: 20 of 20 answered" in captured.err
        assert main(["collect", "--yes", file]) == 0
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
        assert main(["collect", "--yes", file]) == 3
        said = capsys.readouterr().err
        assert "one: 20 of 20 answered" in said
        assert "first: 0 of 20 answered, stopped before its end" in said
        assert "in a row" in said
        with Server() as other:
            assert (
                main(
                    [
                        "collect",
                        "--yes",
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
        assert main(["collect", "--yes", file]) == 3
        said = capsys.readouterr().err
        assert "one: 7 of 20 answered" in said
        assert "own limit of 7 calls" in said
        assert "first: 20 of 20 answered" in said
        assert main(["collect", "--yes", file]) == 3
        assert (one.calls, other.calls) == (7, 20)
        # What the command line says wins.
        assert main(["collect", "--yes", file, "--max-calls", "22"]) == 3
        assert main(["collect", "--yes", job_file(items, two(one.url, other.url))]) == 0
        assert (one.calls, other.calls) == (20, 20)


def test_a_limit_in_money_of_a_judge_needs_its_price(items, capsys, monkeypatch):
    monkeypatch.setenv("PLANTED_API_KEY", KEY)
    text = two(FREE, FREE) + "max-cost = 1.0\n"
    assert main(["collect", "--yes", job_file(items, text)]) == 2
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
    assert main(["collect", "--yes", job_file(items, text), *store]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert KEY not in err


def test_no_such_file_and_no_store(items, capsys):
    assert main(["collect", "--yes", "nowhere.toml", "--store", "x.duckdb"]) == 2
    assert "nowhere.toml: cannot be read" in capsys.readouterr().err
    assert (
        main(["collect", "--yes", job_file(items, "items = 'items.csv'\nmodel = 'openai/m'")]) == 2
    )
    assert "--store: name the file" in capsys.readouterr().err
    assert main(["collect", "--yes", job_file(items, two(FREE, FREE)), "--model", "openai/x"]) == 2
    assert "--model: the job file names the judges" in capsys.readouterr().err


def judges() -> tuple[Judge, ...]:
    return (
        Judge(
            model="anthropic/claude",
            name="said “one”",
            price=(1.0, 2.5),
            key_env="MY_API_KEY",
            timeout=30.0,
            parameters=(
                ("seed", "7"),
                ("nested", '{"a b": [1, null, "\\u00e9"]}'.replace("null", "2")),
            ),
            headers=(
                ("X-Team", "red"),
                ("Authorization", f"Bearer {KEY}"),
                ("X-Api-Key", "$OTHER_API_KEY"),
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
        verdict_words=(("A", "one"), ("A", "1st"), ("B", "two")),
    )
    terms = Terms(concurrency=5, budget=Budget(tokens=7), confirmed=("models.example",), give_up=2)
    text = written(job, terms, known_options(), "items.csv", None, 3)
    assert KEY not in text
    assert "The header Authorization is left out" in text
    found = parse(text, "job.toml", known_options())
    assert found.terms() == replace(terms, confirmed=())
    assert "models.example" not in text
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
            "--yes",
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
        assert main(["collect", "--yes", str(out), "--store", store]) == 0
        assert "40 requests were answered before" in capsys.readouterr().err
        assert server.calls == 40


STRANGER = f"""
items = "items.csv"
store = "votes.duckdb"
votes = 2
MORE_OF_JOB
[[judge]]
model = "openai/fair"
base-url = "{FREE}"
MORE
"""


def stranger(items: Path, more: str = "", of_job: str = "", url: str = FREE) -> str:
    """A job file that somebody else wrote, beside its items."""
    text = STRANGER.replace("MORE_OF_JOB", of_job).replace("MORE", more).replace(FREE, url)
    return job_file(items, text)


def test_consent_is_never_read_from_a_file(items, capsys):
    """Neither for the job nor for a judge; on the command line it is."""
    far = "http://far.example/v1"
    assert (
        main(["collect", "--yes", stranger(items, of_job="yes-send-to = ['far.example']", url=far)])
        == 2
    )
    assert "confirm the host on the command line with --yes-send-to HOST" in capsys.readouterr().err
    assert (
        main(["collect", "--yes", stranger(items, "yes-send-to = ['far.example']", url=far)]) == 2
    )
    assert "is not read from a file" in capsys.readouterr().err
    assert main(["collect", "--yes", stranger(items, url=far), "--dry-run"]) == 2
    assert "confirm it with --yes-send-to far.example" in capsys.readouterr().err
    agreed = ["--yes-send-to", "far.example", "--dry-run"]
    assert main(["collect", "--yes", stranger(items, url=far), *agreed]) == 0
    assert "20 calls to far.example" in capsys.readouterr().err


def test_a_provider_that_a_file_names_is_paid_only_when_this_call_names_it(
    items, capsys, monkeypatch
):
    """On the command line a provider needs no further word; in a file it does."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("core.collect.cli._follow", lambda run, interrupts: pytest.fail("sent"))
    monkeypatch.setattr("core.collect.registry.start", lambda *_, **__: pytest.fail("started"))
    file = job_file(items, "items = 'items.csv'\nstore = 'v.duckdb'\nmodel = 'openai/gpt-4o'")
    assert main(["collect", "--yes", file, "--dry-run"]) == 0
    assert main(["collect", "--yes", file]) == 2
    assert "confirm it with --yes-send-to api.openai.com" in capsys.readouterr().err
    with pytest.raises(pytest.fail.Exception, match="started"):
        main(["collect", "--yes", file, "--yes-send-to", "api.openai.com"])


def test_a_price_of_a_file_is_no_way_around_a_limit_in_money(items, capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("core.collect.registry.start", lambda *_, **__: pytest.fail("started"))
    text = "items = 'items.csv'\nstore = 'v.duckdb'\nmodel = 'openai/gpt-4o'\nprice = [0, 0]"
    limited = ["collect", "--yes", job_file(items, text), "--yes-send-to", "api.openai.com"]
    limited += ["--max-cost", "1"]
    assert main(limited) == 2
    assert "is below the listed 2.5 and 10" in capsys.readouterr().err
    with pytest.raises(pytest.fail.Exception, match="started"):
        main([*limited, "--price", "0", "0"])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("key-env = 'PLANTED_SECRET'", "key-env: PLANTED_SECRET is not sent"),
        ("key-env = 'OPENAI_API_KEY'", "OPENAI_API_KEY is the key of a provider"),
        ("key-env = 'GOOGLE_API_KEY'", "GOOGLE_API_KEY is the key of a provider"),
        ("key-env = 'AZURE_API_KEY'", "AZURE_API_KEY is the key of a provider"),
        ("header = { X-A = '$PLANTED_SECRET' }", "header X-A: PLANTED_SECRET is not sent"),
        ("header = { X-A = '$OPENAI_API_KEY' }", "OPENAI_API_KEY is the key of a provider"),
        ("param = { api_version = 'x' }", "says how the client signs in"),
        ("param = { azure_ad_token = 'x' }", "says how the client signs in"),
        ("param = { seed = 'os.environ/PLANTED_SECRET' }", "says how the client signs in"),
        ("param = { more = { a = ['oidc/env/PLANTED_SECRET'] } }", "says how the client signs in"),
        ("param = { extra_headers = { a = 'b' } }", "says how the client signs in"),
    ],
)
def test_a_file_sends_no_variable_but_a_key_of_its_own_server(
    items, capsys, monkeypatch, more, said
):
    for name in ("PLANTED_SECRET", "OPENAI_API_KEY", "GOOGLE_API_KEY", "AZURE_API_KEY"):
        monkeypatch.setenv(name, KEY)
    with Server() as server:
        file = stranger(items, more, url=server.url)
        assert main(["collect", "--yes", file]) == 2
        err = capsys.readouterr().err
        assert said in err
        assert KEY not in err
        # Neither do options of the command line about other things let it through.
        assert main(["collect", "--yes", file, "--max-items", "1"]) == 2
        assert server.calls == 0


def test_a_variable_that_the_command_line_names_is_sent(items, capsys, monkeypatch):
    monkeypatch.setenv("PLANTED_SECRET", KEY)
    with Server() as server:
        command = [
            "collect",
            "--yes",
            stranger(items, url=server.url),
            "--key-env",
            "PLANTED_SECRET",
        ]
        assert main(command) == 0
        assert server.keys == {f"Bearer {KEY}"}


def test_cloud_credentials_go_to_no_address_of_a_file(items, capsys, monkeypatch):
    monkeypatch.setenv("AZURE_API_KEY", KEY)
    with Server() as server:
        text = stranger(items, url=server.url.removesuffix("/v1"))
        path = Path(text)
        path.write_text(path.read_text().replace("openai/fair", "azure/fair"))
        assert main(["collect", "--yes", text]) == 2
        assert "credentials of the cloud" in capsys.readouterr().err
        assert server.calls == 0


@pytest.mark.parametrize("how", ["above", "absolute", "link"])
@pytest.mark.parametrize("name", ["items", "prompt", "prompts", "store"])
def test_a_path_of_a_file_stays_below_its_folder(items, capsys, name, how, tmp_path):
    folder = tmp_path / "from a stranger"
    folder.mkdir()
    own = folder / "items.csv"
    own.write_bytes(items.read_bytes())
    secret = tmp_path / "secret"
    if name == "prompts":
        copytree(FOLDER, secret)
    else:
        secret.write_text("{{prompt}} {{first}} {{second}}", encoding="utf-8")
    (folder / "link").symlink_to(secret)
    path = {"above": "../secret", "absolute": str(secret), "link": "link"}[how]
    with Server() as server:
        text = two(server.url, server.url).replace(f'{name} = "', '# "').partition("key-env")
        text = f"{name} = {toml(path)}\n" + text[0] + text[2].partition("\n")[2]
        assert main(["collect", "--yes", job_file(own, text)]) == 2
        err = capsys.readouterr().err
        flag = "items-file" if name == "items" else name
        assert f"job.toml, {name}: {path!r} is outside the folder of the file" in err
        assert f"name it on the command line with --{flag}" in err
        assert server.calls == 0


def test_a_link_in_a_folder_of_prompts_is_not_followed_out_of_it(items, capsys, tmp_path):
    folder = tmp_path / "job"
    copytree(FOLDER, folder / "prompts")
    own = folder / "items.csv"
    own.write_bytes(items.read_bytes())
    (folder / "prompts" / "pairwise.md").unlink()
    (folder / "prompts" / "pairwise.md").symlink_to(items)
    assert main(["collect", "--yes", stranger(own, of_job="prompts = 'prompts'")]) == 2
    assert "outside the folder of the file" in capsys.readouterr().err


def test_items_outside_are_named_on_the_command_line(items, tmp_path, capsys):
    folder = tmp_path / "job"
    folder.mkdir()
    with Server() as server:
        file = stranger(folder / "none.csv", url=server.url)
        assert main(["collect", "--yes", file]) == 2
        assert main(["collect", "--yes", file, "--items-file", str(items)]) == 0
        assert server.calls == 20
    assert main(["collect", "--yes", str(items), "--items-file", str(items)]) == 2
    assert "--items-file: goes with a job file" in capsys.readouterr().err


def test_a_job_file_that_is_written_holds_no_consent_and_no_path_from_elsewhere(items, capsys):
    folder = items.parent / "made"
    folder.mkdir()
    out = folder / "job.toml"
    command = ["collect", "--yes", str(items), "--model", "openai/fair", "--base-url"]
    command += ["http://far.example/v1", "--yes-send-to", "far.example"]
    command += ["--store", str(items.with_name("v.duckdb")), "--write-job", str(out)]
    assert main(command) == 0
    text = out.read_text(encoding="utf-8")
    assert "yes-send-to" not in text
    assert "items" not in tomllib.loads(text)
    assert f'give --items-file "{items}"' in text
    assert main([*command[:-1], str(items.with_name("job.toml"))]) == 0
    assert tomllib.loads(items.with_name("job.toml").read_text())["items"] == "items.csv"


VALUES = st.recursive(
    st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=5,
)


@pytest.mark.thorough
@settings(max_examples=200)
@given(st.dictionaries(st.text(st.characters(codec="utf-8")), VALUES))
def test_values_in_toml_are_read_back(value: dict[str, Any]) -> None:
    assert tomllib.loads(f"x = {toml(value)}")["x"] == value


@pytest.mark.thorough
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
