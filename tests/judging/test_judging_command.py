"""`python -m core collect` as a process: estimate, progress, exit codes, Ctrl-C, and no key
anywhere.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import signal
import subprocess
import sys
from pathlib import Path
from shutil import copytree

import pytest
from judging_jobs import pairs, until
from judging_server import Server, answer_text
from patience import LONG
from places import REPOSITORY

from core.__main__ import main
from core.collect.prompts import FOLDER
from core.installation import PROGRAM
from core.store import Store

KEY = "sk-planted-8c1f00d5e77a4b21"


@pytest.fixture
def items(tmp_path):
    path = tmp_path / "items.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["item_id", "prompt", "response_a", "response_b", "gold"])
        writer.writerows(
            [item.item_id, item.prompt, *item.responses, item.gold] for item in pairs(20)
        )
    return path


def arguments(items: Path, server: Server, *more: object) -> list[str]:
    store = items.with_name("votes.duckdb")
    base = [
        "collect",
        "--yes",
        items,
        "--model",
        "openai/fair",
        "--base-url",
        server.url,
        "--store",
        store,
        "--votes",
        2,
    ]
    return [str(part) for part in (*base, *more)]


def test_collect_resume_audit(items, capsys):
    with Server() as server:
        assert main(arguments(items, server, "--dry-run")) == 0
        err = capsys.readouterr().err
        assert "40 calls to 127.0.0.1" in err
        assert "characters divided by four" in err
        assert "price unknown" in err
        assert server.calls == 0
        assert main(arguments(items, server, "--max-calls", 15, "--confidence", "self")) == 3
        captured = capsys.readouterr()
        assert "limit of 15 calls" in captured.err
        assert "25 requests are left" in captured.err
        assert main(arguments(items, server, "--confidence", "self", "--price", 1, 2)) == 0
        captured = capsys.readouterr()
        assert "15 requests were answered before" in captured.err
        assert "cost at most" in captured.err
        assert captured.out.startswith("40 answers in ")
        store = items.with_name("votes.duckdb")
        assert captured.out.endswith(f"\nNext: {PROGRAM} audit {store}\n")
        assert server.calls == 40
    out = items.with_name("votes.csv")
    assert main(["export", str(out), "--store", str(items.with_name("votes.duckdb"))]) == 0
    # The next command, as it was printed.
    assert main(["audit", str(store), "--splits", "0"]) == 0
    assert "fair" in capsys.readouterr().out
    assert main(["audit", str(out), "--splits", "0"]) == 0
    assert "fair" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--max-cost", 1], "--price"),
        (["--max-cost", "nan", "--price", 1, 1], "a limit is a number"),
        (["--price", "nan", 1], "a price of nan"),
        (["--model", "openai/"], "names no model"),
        (["--votes", 3], "even number"),
        (["--concurrency", 257], "1 to 256"),
        (["--base-url", "http://192.0.2.1/v1"], "--yes-send-to 192.0.2.1"),
        (["--items-of", "d"], "not both"),
        (["--protocol", "usc", "--samples-of", "nobody"], "items"),
        (["--key-env", "NO_SUCH_VARIABLE"], "NO_SUCH_VARIABLE"),
        (["--prompts", "nowhere"], "pairwise.md"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_sent(items, capsys, more, said):
    with Server() as server:
        assert main(arguments(items, server, *more)) == 2
        assert said in capsys.readouterr().err
        assert server.calls == 0


def test_items_of_a_stored_data_set(items, capsys):
    with Server() as server:
        assert main(arguments(items, server)) == 0
        store = str(items.with_name("votes.duckdb"))
        again = [
            "collect",
            "--yes",
            "--items-of",
            "items",
            "--model",
            "openai/first",
            "--base-url",
            server.url,
        ]
        assert main([*again, "--store", store, "--votes", "2"]) == 0
    with Store.open(store) as opened:
        (info,) = opened.datasets()
    assert (info.votes, info.judges, info.comparisons) == (80, 2, 20)


def test_comparisons_of_a_stored_item_are_ranked_as_one_list(items, capsys):
    text = "item_id,prompt,response_a,response_b,model_a,model_b,gold\n"
    for a, b in (("x", "y"), ("x", "z"), ("y", "z")):
        quality = {"x": 2.0, "y": 0.0, "z": -2.0}
        text += f"q,p,{answer_text(quality[a])},{answer_text(quality[b])},{a},{b},1\n"
    items.write_text(text, encoding="utf-8")
    with Server() as server:
        assert main(arguments(items, server)) == 0
        store = items.with_name("votes.duckdb")
        asked = [
            "collect",
            "--yes",
            "--items-of",
            "items",
            "--model",
            "openai/fair",
            "--base-url",
            server.url,
        ]
        asked += ["--store", str(store), "--protocol", "listwise", "--votes", "3"]
        assert main(asked) == 0
        assert server.calls == 6 + 3
        # In a file each row is a list of its own, and two lists of one item are not told apart.
        assert (
            main([*arguments(items, server), "--protocol", "listwise", "--dataset", "lists"]) == 2
        )
        assert "'q' has several lists" in capsys.readouterr().err
    with Store.open(store) as opened:
        rows = opened.export(kind="rankings").to_pylist()
    assert len(rows) == 9
    assert {(row["candidate"], row["rank"], row["is_best"]) for row in rows} == {
        ("x", 1, 1),
        ("y", 2, 0),
        ("z", 3, 0),
    }


def spawn(
    arguments: list[str], stderr: int = subprocess.PIPE, **environment: str
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "core", *arguments],
        cwd=REPOSITORY,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=stderr,
        # A shell that runs the tests in the background has them ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.thorough
def test_ctrl_c_stops_cleanly_and_the_same_command_goes_on(items):
    said = items.with_name("said.txt")
    with Server(hold_after=8) as server, said.open("wb") as file:
        process = spawn(arguments(items, server, "--concurrency", 4), file.fileno())
        try:
            # Eight are answered and four under way; it hears the signal once it says what goes on.
            until(lambda: server.calls == 12 and b"4 of 4 in flight" in said.read_bytes())
            process.send_signal(signal.SIGINT)
            until(lambda: b"waiting for the calls in flight" in said.read_bytes())
            assert process.poll() is None
            server.release()
            process.communicate(timeout=LONG)
        finally:
            process.kill()
            process.communicate()
        assert process.returncode == 3
        assert b"Traceback" not in said.read_bytes()
        assert server.calls == 12
        with Store.open(items.with_name("votes.duckdb")) as store:
            assert len(store.export()) == 12
        assert main(arguments(items, server)) == 0
        assert server.calls == 40


def test_ctrl_c_before_anything_is_sent(items):
    """The file of items is a pipe, so the command waits in the middle of its preparations."""
    with Server() as server:
        os.rename(items, items.with_suffix(".rest"))
        os.mkfifo(items)
        process = spawn(arguments(items, server))
        with items.open("wb"):
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=LONG)
        assert (process.returncode, err) == (3, b"stopped before anything was sent\n")
        assert server.calls == 0


def test_ctrl_c_in_another_command(items):
    """The signal comes in the middle of the work, at a place and not at a time: a busy machine is
    slow.
    """
    code = """if True:
        import signal, sys
        from core.__main__ import main
        from core.simulate import votes
        # What starts in the background of a shell inherits a SIGINT that is ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        def interrupted(*_):
            signal.raise_signal(signal.SIGINT)
        votes.write_table = interrupted
        sys.exit(main(["simulate", sys.argv[1], "--items", "4"]))"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(items.with_name("votes.csv"))],
        cwd=REPOSITORY,
        capture_output=True,
        check=False,
        timeout=LONG,
    )
    assert (done.returncode, done.stderr) == (130, b"appellate: interrupted\n")


@pytest.mark.thorough
def test_a_reader_that_has_gone_stops_the_run_and_loses_nothing(items):
    """`2>&1 | head -1`: the answers in flight are paid, and nobody sees what more would be
    spent.
    """
    with Server(hold_after=8) as server:
        read, write = os.pipe()
        process = subprocess.Popen(
            [sys.executable, "-m", "core", *arguments(items, server, "--concurrency", 4)],
            cwd=REPOSITORY,
            stdout=write,
            stderr=write,
        )
        os.close(write)
        until(lambda: server.calls == 12)
        os.close(read)
        # Answers trickle in: it hears of its reader when it says how far it is, which it does every
        # second.
        for through in range(9, 40):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.5)
                break
            server.release(through)
        assert process.wait(LONG) == 3
        stopped = server.calls
        server.release()
        with Store.open(items.with_name("votes.duckdb")) as store:
            assert len(store.export()) == stopped < 40
        assert main(arguments(items, server)) == 0
        assert server.calls == 40


def test_a_run_that_fails_has_a_code_of_its_own(items, tmp_path, capsys):
    folder = tmp_path / "prompts"
    copytree(FOLDER, folder)

    def fault(number, body):
        (folder / "key.md").unlink(missing_ok=True)

    with Server(fault=fault) as server:
        more = ("--protocol", "apoc", "--prompts", folder)
        assert (
            main([word for word in arguments(items, server, *more) if word not in ("--votes", "2")])
            == 4
        )
        said = capsys.readouterr().err
        assert "the prompt key.md cannot be read" in said
        assert "the run failed; what was answered is in the store" in said
        assert server.calls == 40


def test_repeated_rows_are_said_and_their_order_costs_nothing(items, capsys):
    head, *rows = items.read_text(encoding="utf-8").splitlines()
    nameless = [line.partition(",")[2] for line in (head, *rows)]
    with Server() as server:
        items.write_text("\n".join([*nameless, nameless[1]]), encoding="utf-8")
        assert main(arguments(items, server)) == 0
        assert (
            "1 row repeats an earlier one and is judged once: row 21 (as 1)"
            in capsys.readouterr().err
        )
        assert server.calls == 40
        for dataset in ("items", "again"):
            items.write_text("\n".join([nameless[0], *nameless[:0:-1]]), encoding="utf-8")
            assert main(arguments(items, server, "--dataset", dataset)) == 0
            assert server.calls == 40


@pytest.mark.thorough
def test_a_key_is_nowhere(items, tmp_path):
    """The server echoes the key in its failures; it is in no output, no log and no byte of the
    store.
    """
    faults = {1: "500", 2: "429", 3: "truncated", 6: "401"}
    found = []
    with Server(fault=lambda n, body: faults.get(n)) as server:
        options = ("--key-env", "PLANTED_KEY", "--concurrency", 1)
        for level in ("DEBUG", ""):
            process = spawn(
                arguments(items, server, *options),
                PLANTED_KEY=KEY,
                LITELLM_LOG=level,
                OPENAI_LOG="debug" if level else "",
            )
            out, err = process.communicate(timeout=LONG)
            found.append((process.returncode, out, err))
        assert server.keys == {f"Bearer {KEY}"}
    (stopped, _, err), (done, _, _) = found
    assert (stopped, done) == (3, 0)
    assert b"fair stopped (HTTP 401)" in err
    assert b"[key]" in err
    for _, out, err in found:
        assert KEY.encode() not in out + err
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path.name
    with Store.open(tmp_path / "votes.duckdb") as store:
        for table in ("replies", "texts", "settings", "files"):
            rows = store.query(f"select * from {table}").to_pylist()
            assert KEY not in repr(rows)


WATCHED = """
import socket, sys
from core.__main__ import main
asked, look_up, connect = [], socket.getaddrinfo, socket.socket.connect
def watched_look_up(host, *rest, **more):
    asked.append(host)
    return look_up(host, *rest, **more)
def watched_connect(self, address):
    asked.append(address[0] if isinstance(address, tuple) else "local socket")
    return connect(self, address)
socket.getaddrinfo, socket.socket.connect = watched_look_up, watched_connect
code = main(sys.argv[1:])
print("HOSTS", sorted({str(host) for host in asked}))
sys.exit(code)
"""


@pytest.mark.thorough
def test_nobody_but_the_server_is_called(items):
    with Server() as server:
        command = [
            sys.executable,
            "-c",
            WATCHED,
            *arguments(items, server, "--confidence", "logprob"),
        ]
        done = subprocess.run(
            command, cwd=REPOSITORY, capture_output=True, text=True, timeout=LONG, check=False
        )
        assert done.returncode == 0, done.stderr
        assert server.calls == 40
    (said,) = [line for line in done.stdout.splitlines() if line.startswith("HOSTS")]
    assert said == "HOSTS ['127.0.0.1']"


def test_nothing_is_sent_where_nobody_can_be_asked(items, capsys, monkeypatch):
    with Server() as server:
        asked = [word for word in arguments(items, server) if word != "--yes"]
        assert main(asked) == 2
        said = capsys.readouterr().err
        assert "40 calls would be made (price unknown), and nobody is there to be asked" in said
        assert "--yes" in said
        assert main([*asked, "--price", "1", "2"]) == 2
        assert "likely cost" in capsys.readouterr().err
        assert server.calls == 0
        # At a terminal it asks: no is no, and yes is yes.
        for answer, code, calls in (("n\n", 3, 0), ("\n", 3, 0), ("y\n", 0, 40)):
            monkeypatch.setattr("sys.stdin", Terminal(answer))
            monkeypatch.setattr("sys.stderr", Terminal())
            assert main(asked) == code
            assert server.calls == calls
            assert "Make 40 calls, price unknown? [y/N]" in sys.stderr.getvalue()
            monkeypatch.undo()
        # What is answered asks nothing again; a limit is an agreement.
        assert main(asked) == 0
        assert main([*asked, "--judge", "other", "--max-calls", "100"]) == 0
        assert server.calls == 80


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_judge_without_a_price_does_not_hide_the_cost_of_the_other(items, tmp_path, capsys):
    with Server() as server:
        store = tmp_path / "votes.duckdb"
        file = tmp_path / "job.toml"
        file.write_text(
            f'items = "{items.name}"\nstore = "{store.name}"\nvotes = 2\nmax-cost = 1000.0\n'
            f'[[judge]]\nmodel = "openai/fair"\nbase-url = "{server.url}"\nprice = [1.0, 2.0]\n'
            f'[[judge]]\nmodel = "openai/first"\nbase-url = "{server.url}"\n'
        )
        assert main(["collect", "--yes", str(file)]) == 0
        said = capsys.readouterr().err
        assert "price unknown of openai/first" in said
        assert "likely cost" in said
        assert "without first, whose price is unknown" in said
        assert "fair: 40 of 40 answered, cost 0." in said
        assert "first: 40 of 40 answered\n" in said
        # The limit counts the calls of the first.
        low = file.with_name("low.toml")
        low.write_text(
            file.read_text().replace("1000.0", "0.0001").replace("votes = 2", "votes = 4")
        )
        assert main(["collect", "--yes", str(low)]) == 3
        assert "another call could exceed the limit of 0.0001 in cost" in capsys.readouterr().err
