"""Single answers: a file of prompts, responses and people's verdicts, judged and audited."""

from __future__ import annotations

import csv
import json
import math
import re
from dataclasses import replace

import pytest
from judging_jobs import collect, job
from judging_server import Server

from core.__main__ import main
from core.collect.items import read_file
from core.collect.job_file import LAST, Settings
from core.collect.rubric import PASS_FAIL, agreed, label_in
from core.collect.trial import first_of
from core.errors import AppellateError
from core.schema import Selection
from core.store import Store, parts


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
    assert (agreed(label_in(item.people, PASS_FAIL), PASS_FAIL), item.more) == (label, ())


def test_a_word_that_is_no_verdict_is_refused(tmp_path):
    items = read_file(written(tmp_path / "a.csv", [("p", "r", "perhaps")])).items
    with Server() as server, pytest.raises(AppellateError, match="human_passed: 'perhaps' is not"):
        job(server, items, protocol="pass")


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
        assert "fair is asked otherwise than before: a new version, fair@v2" in said
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


class Levels(Server):
    """Says one level, or a word for each criterion."""

    def __init__(self, reply, **how):
        super().__init__(**how)
        self.reply = reply

    def _said(self, body):
        return self.reply, None


@pytest.mark.parametrize(
    ("scale", "people", "reply", "score", "gold", "ends"),
    [
        ("1..5", "4", '{"reason": "x", "score": 3}', 3.0, 4.0, (1.0, 5.0)),
        ("0..10", "0", '{"reason": "x", "score": 10}', 10.0, 0.0, (0.0, 10.0)),
        ("poor,fair,good", "Good", '{"reason": "x", "score": "fair"}', 2.0, 3.0, (1.0, 3.0)),
        ("poor,fair,good", "2", "It is so.\nScore: Poor", 1.0, 2.0, (1.0, 3.0)),
    ],
)
def test_levels_of_any_scale_with_what_people_say(
    tmp_path, capsys, scale, people, reply, score, gold, ends
):
    rows = [(f"Q{k}?", f"It is {k}.", people) for k in range(4)]
    items = written(tmp_path / "a.csv", rows, ("prompt", "response", "human_score"))
    store = tmp_path / "s.duckdb"
    with Levels(reply) as server:
        command = ["collect", str(items), "--model", "openai/m", "--base-url", server.url]
        command += ["--protocol", "score", "--scale", scale, "--store", str(store), "--yes"]
        assert main(command) == 0
        (asked,) = {json.dumps(body["response_format"]) for body in server.bodies}
        words = [int(scale[0]), int(scale[0]) + 1] if ".." in scale else scale.split(",")
        assert json.dumps(words)[:-1] in asked
        assert server.repairs == 0
    with Store.open(store) as opened:
        stored = opened.export(kind="scores").to_pylist()
    assert {(r["score"], r["gold"], r["scale_low"], r["scale_high"]) for r in stored} == {
        (score, gold, *ends)
    }


def test_a_rubric_is_a_metric_for_each_criterion_and_their_weighted_whole(tmp_path):
    criteria = tmp_path / "criteria.csv"
    criteria.write_text(
        "name,question,scale,weight\n"
        "correct,Is every claim right?,,3\n"
        "tone,How friendly is it?,1..5,1\n"
        'length,,"short,fitting,long",\n'
        "cites,Does it name a source?,,\n"
    )
    rows = [(f"Q{k}?", f"It is {k}.", "pass", "fail") for k in range(3)]
    items = written(tmp_path / "a.csv", rows, ("prompt", "response", "human_1", "human_2"))
    store = tmp_path / "s.duckdb"
    scores = {"correct": "PASS", "tone": 2, "length": "fitting", "cites": "FAIL"}
    with Levels(json.dumps({"reason": "x", "scores": scores})) as server:
        command = ["collect", str(items), "--model", "openai/m", "--base-url", server.url]
        command += ["--protocol", "rubric", "--criteria", str(criteria), "--yes"]
        assert main([*command, "--store", str(store)]) == 0
        text = server.bodies[0]["messages"][-1]["content"]
        assert "- correct: Is every claim right? (FAIL, PASS)" in text
        assert "- length: (short, fitting, long)" in text
        format = json.dumps(server.bodies[0]["response_format"])
        assert '"tone": {"type": "integer", "enum": [1, 2, 3, 4, 5]}' in format
        calls = server.calls
        assert main([*command, "--store", str(store)]) == 0
        assert server.calls == calls
    with Store.open(store) as opened:
        stored = opened.export(kind="scores").to_pylist()
    judged = {row["metric"]: row for row in stored if row["judge"] == "m"}
    assert {name: row["score"] for name, row in judged.items()} == {
        "correct": 1.0,
        "tone": 2.0,
        "length": 2.0,
        "cites": 0.0,
        # (3·1 + 1/4 + 1/2 + 0)/6
        "score": 0.625,
    }
    assert (judged["tone"]["scale_low"], judged["tone"]["scale_high"]) == (1.0, 5.0)
    # Two people who differ are half a pass together, and each has a row.
    assert judged["score"]["gold"] == 0.5
    people = {(r["judge"], r["score"]) for r in stored if r["rater_type"] == "human"}
    assert people == {("human_1", 1.0), ("human_2", 0.0)}


@pytest.mark.parametrize(
    ("options", "reply", "closing"),
    [
        ({"protocol": "score", "scale": "1..5"}, "Fine.\nScore: 4", "`Score: ` and one of 1, 2"),
        ({"protocol": "rubric", "rubric": "name\ntone\nuse"}, "tone: PASS\nuse: FAIL", "`tone:"),
    ],
)
def test_a_prompt_of_ones_own_for_levels_and_rubrics(tmp_path, options, reply, closing):
    items = read_file(written(tmp_path / "a.csv", answers(3))).items
    items = tuple(replace(item, people=()) for item in items)
    with Levels(reply) as server, Store.open(tmp_path / "s.duckdb") as store:
        given = job(server, items, votes=1, prompt="Well?\n\n{{response}}", **options)
        assert collect(given, store).statuses == {"ok": 3}
        last = server.bodies[0]["messages"][-1]["content"]
        assert closing in last
        bare = job(server, items, votes=1, prompt="So?\n\n{{response}}", closing=False, **options)
        bare = replace(bare, judges=(replace(bare.judges[0], name="bare"),))
        assert collect(bare, store).statuses == {"ok": 3}
        assert closing not in server.bodies[-1]["messages"][-1]["content"]


def test_a_level_by_its_token_has_its_expectation(tmp_path):
    items = read_file(written(tmp_path / "a.csv", answers(3))).items
    items = tuple(replace(item, people=()) for item in items)

    class Sure(Server):
        def _said(self, body):
            shares = {"4": 0.5, "5": 0.25, "3": 0.15, "The": 0.1}
            given = [{"token": t, "logprob": math.log(s)} for t, s in shares.items()]
            return "4", {"content": [{**given[0], "top_logprobs": given}]}

    with Sure() as server, Store.open(tmp_path / "s.duckdb") as store:
        asked = {"protocol": "score", "votes": 1, "confidence": "logprob"}
        given = job(server, items, scale="1..5", **asked)
        assert collect(given, store).statuses == {"ok": 3}
        expected = (4 * 0.5 + 5 * 0.25 + 3 * 0.15) / 0.9
        rows = store.export(kind="scores").to_pylist()
        levels = {row["metric"]: row["score"] for row in rows}
        assert levels == {"score": 4.0, "expected": pytest.approx(expected)}
        assert {round(row["confidence"], 9) for row in rows} == {round(0.5 / 0.9, 9)}
        with pytest.raises(AppellateError, match="one token"):
            job(server, items, **asked)


def test_another_prompt_is_the_next_version_and_a_try_keeps_nothing(tmp_path, capsys):
    items, store = written(tmp_path / "answers.csv", answers(40)), tmp_path / "votes.duckdb"
    prompts = [tmp_path / f"prompt{k}.md" for k in range(2)]
    for k, prompt in enumerate(prompts):
        prompt.write_text(f"Does it answer? ({k})\n\n{{{{prompt}}}}\n\n{{{{response}}}}\n")
    with Grader() as server:
        command = ["collect", str(items), "--model", "openai/fair", "--base-url", server.url]
        command += ["--store", str(store), "--yes"]
        assert main([*command, "--try", "3"]) == 0
        assert server.calls == 3
        tried = capsys.readouterr().out
        assert tried.count(": score") == 3
        assert '"reason": "So it is."' in tried
        assert main(command) == 0
        for prompt in prompts:
            assert main([*command, "--prompt", str(prompt)]) == 0
        assert server.calls == 3 + 3 * 40
        said = capsys.readouterr().err
        assert "fair is asked otherwise than before: a new version, fair@v3" in said
        # Who asks as before goes on with that version, and pays nothing again.
        assert main([*command, "--prompt", str(prompts[0])]) == 0
        assert main(command) == 0
        assert server.calls == 3 + 3 * 40
        assert "fair goes on as fair@v2" in capsys.readouterr().err
    with Store.open(store) as opened:
        # A second version has split the store: an export is of open items.
        rows = opened.export(Selection(sealed=True), kind="scores").to_pylist()
    judges = [row["judge"] for row in rows]
    assert {name: judges.count(name) for name in judges} == dict.fromkeys(
        ("fair", "fair@v2", "fair@v3"), 40
    )


def test_a_store_asks_as_its_last_job_did_with_another_prompt(tmp_path, capsys):
    """What a prompt alone changes, the store knows: items, people, model and server."""
    items, store = written(tmp_path / "answers.csv", answers(40)), str(tmp_path / "votes.duckdb")
    prompt = tmp_path / "prompt.md"
    prompt.write_text("Judge carefully.\n\n{{prompt}}\n\n{{response}}\n")
    with Careful() as server:
        first = ["collect", str(items), "--model", "openai/fair", "--base-url", server.url]
        assert main([*first, "--store", store, "--max-calls", "40"]) == 0
        assert "Next: python -m core audit" in capsys.readouterr().out
        items.unlink()
        again = ["collect", store, "--prompt", str(prompt)]
        # A limit of the job before is none of this one, so that calls are agreed to anew.
        assert main(again) == 2
        assert server.calls == 40
        assert main([*again, "--yes"]) == 0
        assert server.calls == 80
        said = capsys.readouterr()
        assert "a new version, fair@v2" in said.err
        assert f"Next: python -m core prove {store} fair@v2" in said.out
    with Store.open(store) as opened:
        rows = opened.export(Selection(sealed=True), kind="scores").to_pylist()
        held = parts.read(opened)
    assert {row["gold"] for row in rows if row["judge"] == "fair@v2"} == {0.0, 1.0}
    assert len({row["item_id"] for row in rows}) == 40
    # A try is of open items alone.
    with Store.open(store) as opened:
        names = parts.open_names(opened)
        assert names is not None
        assert len(names) == len(held.items)
        given = Settings(options={"items_of": "answers"}, judges=({"model": "openai/fair"},))
        cut = first_of(given.job(opened)[0], 40, opened)
    assert {item.item_id for item in cut.items} == names


def test_a_store_names_no_host_and_needs_a_job_to_remember(tmp_path, capsys):
    store = str(tmp_path / "votes.duckdb")
    with Store.open(store) as opened:
        opened.set_flag("seen", "yes")
    assert main(["collect", store]) == 2
    assert "votes.duckdb remembers no job" in capsys.readouterr().err
    rows = written(
        tmp_path / "d.csv", [("p", "r", "fair", 1)], ("prompt", "response", "judge", "score")
    )
    assert main(["import", str(rows), "--store", store]) == 0
    with Store.open(store) as opened:
        elsewhere = '[[judge]]\nmodel = "openai/m"\nbase-url = "http://example.org/v1"\n'
        opened.set_flag(LAST, f'items-of = "d"\nprotocol = "pass"\n{elsewhere}')
    assert main(["collect", store, "--yes"]) == 2
    assert "example.org" in capsys.readouterr().err
