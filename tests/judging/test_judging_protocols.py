"""Each protocol through the server: what is asked, in which order, and what is stored for it."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from shutil import copytree

import pytest
from judging_jobs import collect, job, lists, pairs
from judging_server import JUDGES, Server, answer_text
from levels import first_of
from readings import reading

from core.collect.items import Item
from core.collect.job import Budget, Job, Judge
from core.collect.plan import plan
from core.collect.prompts import FOLDER
from core.collect.protocols import orderings
from core.errors import InvalidOption, UnknownName
from core.finding.wording import upwards
from core.schema import Selection
from core.store import Store


@pytest.fixture
def server():
    with Server() as found:
        yield found


@pytest.fixture
def store():
    with Store.open() as found:
        yield found


def votes_of(store: Store, judge: str) -> list[dict]:
    rows = store.export(Selection(judges=(judge,))).to_pylist()
    return sorted(rows, key=lambda row: (int(row["item_id"][1:]), row["run"], row["position"]))


def test_greedy_is_one_vote_in_each_order_without_chance(server, store):
    assert collect(job(server, pairs(8), "first", protocol="greedy"), store).answered == 16
    rows = votes_of(store, "greedy(first)")
    assert [(row["run"], row["position"]) for row in rows[:2]] == [(0, "ab"), (0, "ba")]
    assert {body["temperature"] for body in server.bodies} == {0.0}
    for row, item in zip(rows[::2], pairs(8), strict=True):
        qualities = [float(text.split()[-1].rstrip(".")) for text in item.responses]
        p = JUDGES["first"].probabilities(*qualities, ties=True)
        assert row["vote"] == {"A": 1, "B": -1, "C": 0}[max(p, key=p.get)]


def test_forced_choice_has_no_ties_and_tying_judges_tie(server, store):
    collect(job(server, pairs(10), "tying", votes=4), store)
    collect(job(server, pairs(10), "tying", votes=4, ties=False, name="forced"), store)
    assert any(row["vote"] == 0 for row in votes_of(store, "tying"))
    assert not any(row["vote"] == 0 for row in votes_of(store, "forced"))


def test_confidence_by_agreement_of_repeats(server, store):
    collect(job(server, pairs(6), votes=4, confidence="multi"), store)
    rows = votes_of(store, "fair")
    for item in pairs(6):
        found = [row for row in rows if row["item_id"] == item.item_id]
        said = [row["vote"] for row in found]
        assert [row["confidence"] for row in found] == [said.count(vote) / 4 for vote in said]
        mode = max(said.count(vote) for vote in said) / 4
        assert max(row["confidence"] for row in found) == mode
    assert {row["confidence_kind"] for row in rows} == {"multi"}
    # The same votes with more repeats: shares follow, and only the new votes are asked for.
    collect(job(server, pairs(6), votes=8, confidence="multi"), store)
    assert server.calls == 48
    assert all((8 * row["confidence"]).is_integer() for row in votes_of(store, "fair"))


def test_confidence_by_token_probabilities(server, store):
    collect(job(server, pairs(6), "boastful", votes=2, confidence="logprob"), store)
    assert all((body["max_tokens"], body["logprobs"]) == (1, True) for body in server.bodies)
    for row, item in zip(votes_of(store, "boastful")[::2], pairs(6), strict=True):
        qualities = [float(text.split()[-1].rstrip(".")) for text in item.responses]
        p = JUDGES["boastful"].probabilities(*qualities, ties=True)
        assert row["confidence"] == pytest.approx(max(p["A"], p["B"]), abs=1e-9)
        assert row["confidence_kind"] == "logprob"


def test_a_server_without_token_probabilities_is_said(store):
    with Server(fault=lambda n, body: "prose") as other:
        last = collect(job(other, pairs(1), votes=2, confidence="logprob"), store)
        assert last.statuses == {"unparsed": 2}
    with Server() as plain:
        plain._said = lambda body: ("A", None)
        last = collect(
            job(plain, pairs(2, seed=3), votes=2, confidence="logprob", name="mute"), store
        )
    assert last.without_confidence == 4
    assert "4 replies without confidence" in last.sentence
    assert {row["confidence"] for row in votes_of(store, "mute")} == {None}


def test_examples_are_shown_and_not_judged(server, store):
    last = collect(job(server, pairs(10), few_shot=3, votes=2), store)
    assert last.answered == 14
    assert all("Example 3." in body["messages"][1]["content"] for body in server.bodies)


def test_direct_scores_become_scores(server, store):
    items = lists(3, size=3)
    last = collect(job(server, items, protocol="score", votes=2), store)
    assert last.answered == 18
    rows = store.export(kind="scores").to_pylist()
    assert len(rows) == 18
    texts = {
        (item.item_id, model): text
        for item in items
        for model, text in zip(item.models, item.responses, strict=True)
    }
    for row in rows:
        assert 1 <= row["score"] <= 10
        assert row["response"] == texts[(row["item_id"], row["model"])]
    collect(job(server, items, protocol="score", votes=2), store)
    assert (server.calls, len(store.export(kind="scores"))) == (18, 18)


def shared(*pairs: tuple[str, float, str, float]) -> tuple[Item, ...]:
    """Several comparisons of one item, some with a response in common."""
    return tuple(
        Item(
            item_id="q0",
            prompt="Question 0?",
            responses=(answer_text(a), answer_text(b)),
            models=(first, second),
            gold=1 if a > b else -1,
        )
        for first, a, second, b in pairs
    )


def test_responses_of_several_comparisons_of_an_item_are_scored_once(server, store):
    quality = {"chosen": 1.5, "bad": -1.5, "worse": -2.0, "fair": 0.0}
    asked = (("chosen", "bad"), ("chosen", "worse"), ("fair", "bad"))
    items = shared(*((a, quality[a], b, quality[b]) for a, b in asked))
    given = job(server, items, protocol="score", votes=3)
    assert plan(given, store).calls == 12
    assert collect(given, store).state == "done"
    assert server.calls == 12
    rows = store.export(kind="scores").to_pylist()
    assert sorted((row["model"], row["run"]) for row in rows) == [
        (model, run) for model in sorted(quality) for run in range(3)
    ]
    assert {row["model"]: row["response"] for row in rows} == {
        m: answer_text(q) for m, q in quality.items()
    }
    means = {m: sum(row["score"] for row in rows if row["model"] == m) for m in quality}
    assert sorted(means, key=means.get) == sorted(quality, key=quality.get)
    # In another order, and with one comparison less, nothing is new.
    assert plan(job(server, items[::-1][:2], protocol="score", votes=3), store).calls == 0


@pytest.mark.parametrize("protocol", ["score", "listwise"])
@pytest.mark.parametrize(
    "other", first_of({"temperature": 0.7}, {"model": "tying"}, {"prompts": "edited"})
)
def test_scores_and_rankings_of_another_origin_stay(server, store, tmp_path, protocol, other):
    items, kind = lists(2, size=3), "scores" if protocol == "score" else "rankings"
    given = job(server, items, "fair", name="j", protocol=protocol, votes=2)
    collect(given, store)
    before, calls = store.export(kind=kind), server.calls
    if "prompts" in other:
        copytree(FOLDER, tmp_path / "edited")
        edited = tmp_path / "edited" / f"{protocol}.md"
        edited.write_text(edited.read_text().replace("\n--- user\n", "\nBe strict.\n--- user\n"))
        other = {"prompts": tmp_path / "edited"}
    options = {"model": "fair", "protocol": protocol, "votes": 2, "name": "j", **other}
    with pytest.raises(InvalidOption, match=f"has {kind} of 'j' on item 'q0' from another"):
        collect(job(server, items, **options), store)
    # Answers that are kept, because another data set was asked for them, do not slip in either.
    collect(replace(job(server, items, **options), dataset="elsewhere"), store)
    with pytest.raises(InvalidOption, match="Give this judge another name"):
        collect(job(server, items, **options), store)
    here = Selection(datasets=("collected",))
    assert store.export(here, kind=kind).equals(before)
    assert server.calls == 2 * calls
    # Its own job goes on, with more of the same.
    assert collect(replace(given, votes=3), store).state == "done"
    assert server.calls == 2 * calls + calls // 2


def test_rows_that_came_while_a_job_ran_stay_and_are_said(server, store):
    first = job(server, lists(1, size=2), protocol="score", name="j")

    def fault(number, body):
        if number == 1:
            collect(first, store)

    with Server(fault=fault) as slow:
        late = job(slow, lists(1, size=2), protocol="score", name="j", temperature=0.7)
        last = collect(late, store, concurrency=1)
    assert last.state == "failed"
    assert "from another prompt, model, temperature or file" in last.messages[-1]
    assert {row["temperature"] for row in store.export(kind="scores").to_pylist()} == {0.0}
    assert collect(first, store).state == "done"
    assert server.calls == 2


def test_a_failed_score_makes_room_for_its_answer(store):
    items = lists(1, size=2)
    with Server(fault=lambda n, body: "500" if n <= 6 else None) as server:
        given = job(server, items, protocol="score")
        assert collect(given, store, concurrency=1).statuses == {"error": 1, "ok": 1}
        assert {row["status"] for row in store.export(kind="scores").to_pylist()} == {"error", "ok"}
        assert collect(given, store).answered == 2
    assert {row["status"] for row in store.export(kind="scores").to_pylist()} == {"ok"}


@pytest.mark.parametrize("same", [False, True])
def test_lists_are_ranked_in_k_orders(server, store, same):
    """What is stored is the slot that was shown, whether lists share their orders or not."""
    items = lists(3)
    given = job(server, items, protocol="listwise", votes=5, same_orderings=same)
    last = collect(given, store)
    assert last.answered == 15
    rows = store.export(kind="rankings").to_pylist()
    assert len(rows) == 60
    for item in items:
        orders = orderings(item, 5, 0, same=same)
        for run, order in enumerate(orders):
            found = [row for row in rows if (row["item_id"], row["run"]) == (item.item_id, run)]
            assert {row["candidate"]: row["slot"] for row in found} == {
                item.models[place]: slot for slot, place in enumerate(order)
            }
            assert sorted(row["rank"] for row in found) == [1, 2, 3, 4]
            (best,) = [row["candidate"] for row in found if row["is_best"]]
            assert best == item.best[0]
            top = min(found, key=lambda row: row["rank"])
            assert top["score"] == max(row["score"] for row in found)
    shown = [body["messages"][1]["content"] for body in server.bodies]
    assert all("each of A, B, C, D" in text for text in shown)


def test_an_unreadable_ranking_is_no_ranking(store):
    with Server(fault=lambda n, body: "cut" if n == 2 else None) as server:
        last = collect(job(server, lists(1), protocol="listwise", votes=3), store, concurrency=1)
    assert last.statuses == {"ok": 2, "unparsed": 1}
    failed = [
        row for row in store.export(kind="rankings").to_pylist() if row["status"] == "unparsed"
    ]
    assert len(failed) == 4
    assert {(row["rank"], row["score"]) for row in failed} == {(None, None)}


@pytest.mark.parametrize("protocol", ["usc", "gsa"])
def test_derived_judges_read_the_stored_samples(server, store, protocol):
    with pytest.raises(UnknownName, match="collected"):
        plan(job(server, pairs(4), protocol=protocol, samples_of=("fair",)), store)
    collect(job(server, pairs(4), votes=4, confidence="self"), store)
    given = job(server, pairs(4), "first", protocol=protocol, samples_of=("fair",))
    last = collect(given, store)
    assert (last.answered, server.calls) == (4, 20)
    rows = votes_of(store, f"{protocol}(fair)")
    assert len(rows) == 4
    first = server.bodies[16]["messages"][1]["content"]
    assert first.count("Its words:") == 4
    assert first.count("in the other order") == 2
    samples = votes_of(store, "fair")
    item = next(item for item in pairs(4) if item.prompt in first)
    for row in samples:
        if row["item_id"] == item.item_id:
            said = {1: "Response A is better", -1: "Response B is better", 0: "neither is better"}[
                row["vote"]
            ]
            assert f"Verdict: {said}. Confidence: {row['confidence']:.2f}." in first
    collect(given, store)
    assert server.calls == 20


@pytest.mark.parametrize("protocol", ["usc", "gsa"])
def test_a_second_reader_of_the_same_votes_has_a_name_of_its_own(server, store, protocol):
    collect(job(server, pairs(3), votes=2), store)
    given = {"protocol": protocol, "samples_of": ("fair",)}
    collect(job(server, pairs(3), "first", **given), store)
    with pytest.raises(InvalidOption, match="--judge"):
        plan(job(server, pairs(3), "tying", **given), store)
    collect(job(server, pairs(3), "tying", name="strict", **given), store)
    assert len(votes_of(store, f"{protocol}(fair)")) == 3
    assert len(votes_of(store, f"{protocol}(fair) by strict")) == 3
    assert server.calls == 12


@pytest.mark.parametrize(("orders", "shown"), [("ab", 1), ("balanced", 2)])
def test_a_sample_of_unknown_order_is_said_to_be_one(server, store, orders, shown):
    votes = [
        {"item_id": item.item_id, "model_a": "left", "model_b": "right", "judge": "old", "vote": 1}
        for item in pairs(2)
    ]
    store.load(
        reading([{**vote, "dataset": "collected", "rationale": "A it is."} for vote in votes])
    )
    collect(
        job(server, pairs(2), protocol="usc", samples_of=("old",), votes=shown, orders=orders),
        store,
    )
    asked = [body["messages"][1]["content"] for body in server.bodies]
    assert len(asked) == 2 * shown
    for text in asked:
        assert text.count("Which it saw first is not known") == 1
        assert "in the other order" not in text


def test_a_fuser_reads_decisions_confidences_and_critiques_of_all_members(server, store):
    collect(job(server, pairs(5), "fair", votes=2, confidence="self"), store)
    collect(job(server, pairs(4), "boastful", votes=2, confidence="self"), store)
    given = job(
        server,
        pairs(5),
        "tying",
        protocol="fuser",
        samples_of=("fair", "boastful"),
        confidence="self",
    )
    last = collect(given, store)
    # The fifth item was judged by one member only.
    assert last.answered == 4
    rows = votes_of(store, "fuser(tying)")
    assert {row["item_id"] for row in rows} == {"q0", "q1", "q2", "q3"}
    assert all(row["confidence"] is not None for row in rows)
    text = server.bodies[-1]["messages"][1]["content"]
    assert text.count("Its words:") == 4
    assert text.count("Confidence: ") == 4
    with pytest.raises(InvalidOption, match="two"):
        job(server, pairs(5), protocol="fuser", samples_of=("fair",))


def disputed(gap: float, k: int, *, estimation: bool = False) -> Item:
    """An item on which the judge `first` takes whoever is shown first, unless the gap is large."""
    return Item(
        item_id=f"q{k}",
        prompt=f"Question {k}?",
        responses=(answer_text(gap), answer_text(0.0)),
        models=("left", "right"),
        estimation=estimation,
    )


def test_apoc_overrides_only_what_an_independent_keyed_judge_confirms(server, store):
    # first: bias 1, discrimination 2: a gap beyond ±.5 decides against the order.
    gaps = [2.0, -2.0, 0.2, -0.2, 0.3, -0.3]
    items = (*(disputed(gap, k) for k, gap in enumerate(gaps)), disputed(-0.2, 6, estimation=True))
    given = Job(
        dataset="collected",
        items=items,
        judges=(Judge(model="openai/first", base_url=server.url),),
        protocol="apoc",
        ties=False,
        keyed=Judge(model="openai/fair", base_url=server.url),
    )
    planned = plan(given, store)
    assert (planned.calls, planned.further_calls) == (13, 12)
    assert collect(given, store).state == "done"
    base = {
        row["item_id"]: row["vote"] for row in votes_of(store, "first") if row["position"] == "ab"
    }
    assert base == {"q0": 1, "q1": -1, **{f"q{k}": 1 for k in range(2, 7)}}
    verdicts = {row["item_id"]: row["vote"] for row in votes_of(store, "apoc(first)")}
    # q3 and q5: swapped order and keyed judge both say −1. q2 and q4: the keyed judge does not
    # confirm. q6 is an estimate: the base verdict stands.
    assert verdicts == {"q0": 1, "q1": -1, "q2": 1, "q3": -1, "q4": 1, "q5": -1, "q6": 1}
    assert server.calls == 13 + 4 + 4
    keys = [
        b
        for b in server.bodies
        if "answer key" not in b["messages"][1]["content"]
        and '{"key"' in b["messages"][1]["content"]
    ]
    assert len(keys) == 4
    # The independent judge sees neither response when it writes its key.
    assert not any("quality is" in body["messages"][1]["content"] for body in keys)
    collect(given, store)
    assert server.calls == 21
    how = store.query(
        "select item_id, body from replies where judge = 'apoc(first)' order by 1"
    ).to_pylist()
    assert [json.loads(row["body"])["how"] for row in how] == [
        *("base", "base", "contradicted, not confirmed", "overridden"),
        *("contradicted, not confirmed", "overridden", "base"),
    ]


SCRIPTS = {
    "latin": "An answer, in plain words.",
    "cjk": "這是一個用中文寫的很長的回答。" * 20,
    "emoji": "🦆" * 200,
}


class Dear(Server):
    """A server whose tokenizer makes a token of each byte, and whose replies are as long as they
    may be.
    """

    cost = 0.0

    def completion(self, body, fault):
        found = super().completion(body, fault)
        prompt = sum(len(message["content"].encode()) for message in body["messages"])
        found["usage"] = {
            "prompt_tokens": prompt,
            "completion_tokens": body["max_tokens"],
            "total_tokens": prompt + body["max_tokens"],
        }
        self.cost += prompt * 3e-6 + body["max_tokens"] * 5e-6
        return found


@pytest.mark.parametrize("words", first_of(*SCRIPTS.values()), ids=SCRIPTS)
@pytest.mark.parametrize("protocol", first_of("apoc", "pairwise", "score"))
def test_what_a_job_costs_at_most_it_never_exceeds(store, protocol, words):
    items = tuple(
        replace(disputed(gap, k), responses=(answer_text(gap, words), answer_text(0.0, words)))
        for k, gap in enumerate((0.2, -0.2, 0.3, -0.3))
    )
    with Dear() as server:
        given = job(server, items, "first", protocol=protocol, price=(3.0, 5.0), max_tokens=50)
        planned = plan(given, store)
        last = collect(given, store)
        assert server.cost <= planned.cost < 1.5 * server.cost
        assert last.cost == pytest.approx(server.cost)
        assert server.calls == planned.calls + planned.further_calls
        assert planned.completion_tokens == 50 * server.calls
        again = plan(given, store)
        assert (again.calls, again.further_calls, again.cost) == (0, 0, 0.0)


def test_an_amount_at_most_is_rounded_up():
    assert [upwards(cost) for cost in (0.0, 0.00012341, 1.5, 12345.6)] == [
        "0",
        "0.0001235",
        "1.5",
        "12,350",
    ]


def test_apoc_counts_what_may_follow_from_what_is_known(server, store):
    # Verdicts agree on the first, and contradict each other on the other two.
    items = tuple(disputed(gap, k) for k, gap in enumerate((2.0, -0.2, 0.3)))
    collect(job(server, items, "first", votes=2, temperature=0.0, ties=False), store)
    given = job(server, items, "first", protocol="apoc", ties=False)
    planned = plan(given, store)
    assert (planned.calls, planned.further_calls) == (0, 4)
    collect(given, store, budget=Budget(calls=server.calls + 2), concurrency=1)
    assert plan(given, store).further_calls == 2
    collect(given, store)
    assert plan(given, store).further_calls == 0
    assert server.calls == 10


def test_apoc_uses_pairwise_votes_that_are_there(server, store):
    items = pairs(5)
    collect(job(server, items, "first", votes=2, temperature=0.0), store)
    planned = plan(job(server, items, "first", protocol="apoc"), store)
    assert (planned.calls, planned.answered) == (0, 10)


def test_several_judges_share_a_job_and_one_that_stops_stops_alone(store):
    def fault(number, body):
        return "401" if body["model"] == "tying" else None

    with Server(fault=fault) as server:
        judges = tuple(
            Judge(model=f"openai/{name}", base_url=server.url)
            for name in ("fair", "tying", "first")
        )
        last = collect(replace(job(server, pairs(6), votes=2), judges=judges), store, concurrency=6)
    assert last.answered == 24
    assert len(last.messages) == 1
    assert len(votes_of(store, "fair")) == len(votes_of(store, "first")) == 12


def test_a_judge_with_known_odds_is_drawn_with_those_odds():
    # The server's own dice: two standard errors of 400 draws.
    p = JUDGES["fair"].probabilities(0.3, 0.0, ties=False)["A"]
    body = {
        "model": "fair",
        "temperature": 1.0,
        "messages": [{"content": f"{answer_text(0.3)} {answer_text(0.0)}"}],
    }
    drawn = Server(seed=random.Random(5).randrange(10))
    share = sum('"A"' in drawn._said(body)[0] for _ in range(400)) / 400
    assert abs(share - p) < 2.5 * (p * (1 - p) / 400) ** 0.5


def test_several_criteria_in_one_reply_are_one_score_per_metric(store, tmp_path):
    class Rubric(Server):
        def _said(self, body):
            scores = {"accuracy": 7, "clarity": {"reason": "Short.", "score": 9}}
            return json.dumps({"reason": "Good.", "scores": scores, "score": 8}), None

    asked = '"score": a whole'
    text = (FOLDER / "score.md").read_text().replace(asked, f'"scores": {{…}}, {asked}')
    for name in ("pairwise", "score"):
        (tmp_path / f"{name}.md").write_text(text)
    with Rubric() as server:
        given = job(server, pairs(3), protocol="score", prompts=tmp_path)
        last = collect(given, store)
        assert (last.state, last.left, server.calls) == ("done", 0, 6), last.messages
        assert all("response_format" not in body for body in server.bodies)
        rows = store.export(kind="scores").to_pylist()
        found = Counter((row["metric"], row["score"]) for row in rows)
        assert found == {("score", 8): 6, ("accuracy", 7): 6, ("clarity", 9): 6}
        # The same job again asks nothing and changes nothing.
        assert collect(given, store).left == 0
        assert (server.calls, len(store.export(kind="scores"))) == (6, 18)


@pytest.mark.parametrize(("left_out", "status"), [((), "ok"), (("clarity",), "unparsed")])
def test_criteria_are_asked_for_and_all_of_them_are_scored(store, left_out, status):
    class Rubric(Server):
        def _said(self, body):
            scores = {name: 4 for name in ("accuracy", "clarity") if name not in left_out}
            return json.dumps({"reason": "Good.", "scores": scores, "score": 3}), None

    with Rubric() as server:
        given = job(server, pairs(2), protocol="score", five=True, criteria=("accuracy", "clarity"))
        last = collect(given, store)
        assert (last.state, last.statuses) == ("done", {status: 4}), last.messages
        asked = server.bodies[0]
    text = asked["messages"][-1]["content"]
    assert '"scores": {"accuracy": a whole number, "clarity": a whole number}, "score":' in text
    schema = asked["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["scores"]["required"] == ["accuracy", "clarity"]
    assert schema["properties"]["scores"]["properties"]["clarity"]["enum"] == [1, 2, 3, 4, 5]
    stored = Counter(
        (row["metric"], row["score"]) for row in store.export(kind="scores").to_pylist()
    )
    if status == "ok":
        assert stored == {("score", 3): 4, ("accuracy", 4): 4, ("clarity", 4): 4}
    else:
        assert stored == {("score", None): 4}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"protocol": "pairwise", "criteria": ("style",)}, "goes with"),
        ({"protocol": "pairwise", "same_orderings": True}, "same-orderings goes with"),
        ({"criteria": ("score",)}, "not 'score'"),
        ({"criteria": ('a": 1, "b',)}, "a few letters"),
        ({"criteria": ("style", "style")}, "each name once"),
    ],
)
def test_criteria_that_cannot_be_are_refused(options, words):
    with Server() as server, pytest.raises(InvalidOption, match=words):
        job(server, pairs(1), **{"protocol": "score", **options})
