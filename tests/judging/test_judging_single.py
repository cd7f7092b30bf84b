"""Single answers: a file of prompts, responses and people's verdicts, judged and audited."""

from __future__ import annotations

import csv
import json
import math
import re

import pytest
from judging_jobs import collect, job
from judging_server import Server

from core.__main__ import main
from core.collect.items import read_file
from core.errors import AppellateError
from core.store import Store


class Grader(Server):
    """A judge that passes what does not hold the word wrong, and one answer in ten that does."""

    def _said(self, body):
        text = body["messages"][-1]["content"]
        passes = "wrong" not in text or "wrong 0" in text
        return json.dumps({"reason": "So it is.", "verdict": "PASS" if passes else "FAIL"}), None


def written(path, rows, header=("prompt", "response", "human_passed")):
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(header)
        lines.writerows(rows)
    return path


def answers(n=120):
    """Half of the answers are wrong, and people failed those."""
    return [
        (f"Question {k}?", f"It is wrong {k % 10} {k}." if k % 2 else f"It is {k}.", (k + 1) % 2)
        for k in range(n)
    ]


def test_one_command_judges_single_answers_and_the_audit_grades_them(tmp_path, capsys):
    items, store = written(tmp_path / "answers.csv", answers()), tmp_path / "votes.duckdb"
    with Grader() as server:
        command = ["collect", str(items), "--model", "openai/fair", "--base-url", server.url]
        assert main([*command, "--store", str(store), "--yes"]) == 0
        assert server.calls == 120
        assert server.repairs == 0
        formats = {json.dumps(body["response_format"]) for body in server.bodies}
        (asked,) = formats
        assert '"enum": ["PASS", "FAIL"]' in asked
        # What people said is no part of what the judge reads.
        assert not any("human_passed" in json.dumps(body) for body in server.bodies)
    said = capsys.readouterr().err
    assert "human_passed is a person's verdict: 120 labels" in said
    with Store.open(store) as opened:
        rows = opened.export(kind="scores").to_pylist()
    assert len(rows) == 120
    assert {(row["score"], row["gold"]) for row in rows} == {(1.0, 1.0), (0.0, 0.0)}
    assert main(["audit", str(store), "--json", str(tmp_path / "audit.json")]) in (0, 1)
    found = json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))
    passing = found["scores"]["fair"]["score"]
    assert (passing["tpr"]["value"], passing["tnr"]["value"]) == (1.0, 1.0)


def test_a_prompt_of_ones_own_ends_with_how_to_answer(tmp_path):
    items = read_file(written(tmp_path / "a.csv", answers(6))).items

    class Lines(Server):
        def _said(self, body):
            return "It names a figure.\nVerdict: PASS", None

    with Lines() as server, Store.open(tmp_path / "s.duckdb") as store:
        prompt = "Does it name a figure?\n\n{{prompt}}\n\n{{response}}"
        given = job(server, items, protocol="pass", votes=1, prompt=prompt)
        assert collect(given, store).statuses == {"ok": 6}
        last = server.bodies[0]["messages"][-1]["content"]
        assert last.startswith("Does it name a figure?")
        assert last.endswith("End with one line: `Verdict: PASS` or `Verdict: FAIL`.")
        assert {row["score"] for row in store.export(kind="scores").to_pylist()} == {1.0}
        with pytest.raises(AppellateError, match="does not show what it judges"):
            collect(job(server, items, protocol="pass", votes=1, prompt="Well?"), store)


def test_the_probability_of_a_pass_is_what_the_server_says(tmp_path):
    items = read_file(written(tmp_path / "a.csv", answers(20))).items

    class Sure(Server):
        def _said(self, body):
            assert body["max_tokens"] == 1
            question = int(re.search(r"Question (\d+)", body["messages"][-1]["content"])[1])
            p = (question + 1) / 22
            shares = {"P": p * 0.9, "F": (1 - p) * 0.9, "The": 0.1}
            given = [{"token": t, "logprob": math.log(s)} for t, s in shares.items()]
            word = "P" if p >= 0.5 else "F"
            first = next(each for each in given if each["token"] == word)
            return word, {"content": [{**first, "top_logprobs": given}]}

    with Sure() as server, Store.open(tmp_path / "s.duckdb") as store:
        given = job(server, items, protocol="pass", votes=1, confidence="logprob")
        assert collect(given, store).statuses == {"ok": 20}
        for row in store.export(kind="scores").to_pylist():
            p = (int(re.search(r"\d+", row["prompt"])[0]) + 1) / 22
            chance = row["confidence"] if row["score"] else 1 - row["confidence"]
            assert chance == pytest.approx(p, abs=0.01)


def test_a_reply_in_no_form_is_asked_about(tmp_path):
    items = read_file(written(tmp_path / "a.csv", answers(4))).items

    class Chatter(Server):
        def _said(self, body):
            return "I would say that this one is fine.", None

    chatter = Chatter(repair=lambda question: "PASS" if "PASS, FAIL" in question else "?")
    with chatter as server, Store.open(tmp_path / "s.duckdb") as store:
        assert collect(job(server, items, protocol="pass", votes=1), store).statuses == {"ok": 4}
        assert server.repairs == 4
        rows = store.export(kind="scores").to_pylist()
        assert {(row["score"], row["status"]) for row in rows} == {(1.0, "ok")}


@pytest.mark.parametrize(
    ("header", "cells", "label"),
    [
        (("gold",), ("pass",), 1.0),
        (("human_label",), ("No",), 0.0),
        (("human_passed",), ("",), None),
        (("human_passed",), ("unsure",), None),
        (("human_1", "human_2", "human_3"), ("1", "0", "1"), 1.0),
        (("human_1", "human_2"), ("1", "0"), 0.5),
    ],
)
def test_what_people_say_is_read_in_the_words_that_the_audit_reads(tmp_path, header, cells, label):
    path = written(tmp_path / "a.csv", [("p", "r", *cells)], ("prompt", "response", *header))
    (item,) = read_file(path).items
    assert (item.label, item.more) == (label, ())


def test_a_word_that_is_no_verdict_is_refused(tmp_path):
    path = written(tmp_path / "a.csv", [("p", "r", "perhaps")])
    with pytest.raises(AppellateError, match="row 1, column human_passed: 'perhaps' says neither"):
        read_file(path)


def test_single_answers_are_no_pairs_and_no_lists(tmp_path):
    items = read_file(written(tmp_path / "a.csv", answers(2))).items
    with Server() as server:
        for protocol in ("pairwise", "listwise"):
            with pytest.raises(AppellateError, match="pass"):
                job(server, items, protocol=protocol)


class Careful(Server):
    """A judge that passes a third of the wrong answers, unless its prompt says carefully."""

    def _said(self, body):
        text = json.dumps(body["messages"])
        wrong = re.search(r"wrong (\d) ", text)
        passes = wrong is None or ("carefully" not in text and int(wrong[1]) % 3 == 0)
        return json.dumps({"reason": "So it is.", "verdict": "PASS" if passes else "FAIL"}), None


def test_a_second_prompt_is_a_second_version_that_is_compared_and_proven(tmp_path, capsys):
    items, store = written(tmp_path / "answers.csv", answers()), str(tmp_path / "votes.duckdb")
    prompts = {}
    for name, word in (("one", ""), ("two", " carefully")):
        prompts[name] = tmp_path / f"{name}.md"
        prompts[name].write_text(f"Judge{word}.\n\n{{{{prompt}}}}\n\n{{{{response}}}}\n")
    with Careful() as server:
        command = ["collect", str(items), "--model", "openai/fair", "--base-url", server.url]
        command += ["--store", store, "--protocol", "pass", "--yes", "--prompt"]
        assert main([*command, str(prompts["one"])]) == 0
        assert main([*command, str(prompts["two"])]) == 0
        said = capsys.readouterr().err
        assert "fair answered here with another prompt, model or setting: this is fair@v2" in said
        assert "sealed for `prove`" in said
        # The same command goes on with the same version, and pays for nothing again.
        calls = server.calls
        assert main([*command, str(prompts["two"])]) == 0
        assert server.calls == calls == 240
    with Store.open(store) as opened:
        names = {name for (name,) in opened.rows("select name from judges")}
    assert {"fair", "fair@v2"} <= names
    assert not {"fair@v3"} & names
    capsys.readouterr()
    assert main(["audit", store, "--compare"]) == 0
    compared = capsys.readouterr().out
    assert "fair@v2" in compared.splitlines()[0]
    assert "were open while fair@v2 was written" in compared
    assert main(["prove", store, "v2"]) == 0
    assert "fair@v2 is better than fair: where they part" in capsys.readouterr().out
