"""The Collect page: it says what core plans, sends nothing before, finds its runs again, and holds
no key.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest
from apps import new_app, opened, texts
from batch_server import BatchServer
from judging_jobs import job, pairs, until
from judging_server import Server
from levels import first_of
from patience import LONG
from streamlit.testing.v1 import AppTest

from core.collect.endpoint import provider_variable
from core.collect.items import items_of
from core.collect.job import Budget, Job, Judge, Terms
from core.collect.plan import described, outcome, plan, proposed
from core.collect.prompts import FOLDER
from core.collect.registry import begin, complete, resume, runs, started
from core.errors import InvalidOption
from core.store import Store
from core.store.browse import without_verdict

DEMO = "demo (simulated)"
KEY = "sk-planted-4f1d8a77c2e94b06"
CSV = "item_id,prompt,response_a,response_b,model_a,model_b,gold\n" + "".join(
    f"{item.item_id},{item.prompt},{item.responses[0]},{item.responses[1]},left,right,{item.gold}\n"
    for item in pairs(6)
)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        yield made


@pytest.fixture
def page(app: AppTest) -> AppTest:
    """The page over a store that all tests of this module only read."""
    return opened(app, "collect")


@pytest.fixture
def own(own_store_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[AppTest, Path]:
    """The page over a store of its own, to collect votes into, and the path of that."""
    monkeypatch.setenv("APPELLATE_STORE", str(own_store_path))
    return opened(new_app(), "collect"), own_store_path


def fill(page: AppTest, url: str, model: str = "boastful") -> AppTest:
    page.text_input(key="collect-url").set_value(url)
    page.segmented_control(key="collect-items").set_value("a data set")
    page.text_input(key="collect-model").set_value(model).run()
    assert not page.exception
    return page


def dropped(page: AppTest, text: str, name: str = "mine.csv") -> AppTest:
    page.segmented_control(key="collect-items").set_value("a file").run()
    page.file_uploader(key="collect-file").set_value([(name, text.encode(), "text/csv")]).run()
    assert not page.exception
    return page


def everything(page: AppTest) -> str:
    """All that the page shows, and all that it keeps of the visitor."""
    shown = [f"{element}" for block in (page.main, page.sidebar) for element in block]
    return "\n".join([*shown, repr(page.session_state)])


def test_nothing_is_planned_before_there_is_a_model(page):
    assert (
        page.text[0].value
        == "Name a model and what it shall judge; nothing is sent before you start."
    )
    assert "collect-start" not in [button.key for button in page.button]


@pytest.mark.parametrize("votes", first_of(2, 6))
def test_the_estimate_is_cores(page, store_path, server, votes):
    fill(page, server.url)
    page.number_input(key="collect-first").set_value(10)
    page.number_input(key="collect-votes-pairwise").set_value(votes).run()
    with Store.open(store_path) as store:
        before = store.version
        given = Job(
            dataset="collected",
            items=items_of(store, DEMO)[:10],
            judges=(Judge(model="openai/boastful", base_url=server.url),),
            votes=votes,
        )
        planned = plan(given, store)
        assert planned.calls == 10 * votes
        assert page.text[0].value == proposed(given, planned)
        said = next(
            text for text in texts(page) if text.startswith(f"{10 * votes} calls to 127.0.0.1.\n")
        )
        assert f"{planned.prompt_tokens:,} prompt tokens" in said
        assert f"{planned.completion_tokens:,} completion tokens" in said
        assert "Price unknown" in said
        assert planned.cost is None
        # To ask what a job takes changes nothing, so that no page counts anew.
        assert store.version == before
    assert server.calls == 0


def test_a_price_is_said_and_a_limit_in_money_needs_one(page, server):
    fill(page, server.url)
    page.number_input(key="collect-first").set_value(1)
    page.number_input(key="collect-cost").set_value(1.0).run()
    assert "the price of openai/boastful is unknown" in page.text[0].value
    assert "--" not in page.text[0].value
    page.number_input(key="collect-price-prompt").set_value(1.0)
    page.number_input(key="collect-price-completion").set_value(2.0).run()
    assert "at most 0.0" in page.text[0].value
    assert page.button(key="collect-start").label == "Start"


def test_another_host_is_asked_for_by_name(page):
    fill(page, "https://models.example:8443/v1")
    assert "models.example" in page.text[0].value
    assert "--yes-send-to" not in page.text[0].value
    assert "collect-start" not in [button.key for button in page.button]
    (box,) = [each for each in page.checkbox if each.key == "collect-send-models.example"]
    assert "models.example" in box.label
    box.check().run()
    assert " calls to models.example, " in page.text[0].value
    # Agreed to is this host, not the next one.
    fill(page, "https://other.example/v1")
    assert "collect-start" not in [button.key for button in page.button]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://localhost/v1", "http://HOST:PORT/v1"),
        ("https://user:secret@localhost/v1", "a key does not belong in the address"),
        ("http://localhost/v1?api_key=secret", "a key does not belong in the address"),
    ],
)
def test_an_address_that_cannot_be(page, url, said):
    fill(page, url)
    assert any(said in text for text in texts(page))
    assert not any("secret" in text or "--base-url" in text for text in texts(page))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("prompt,response_a\nx,y\n", "needs the columns prompt, response_a and response_b"),
        (
            "prompt,response_a,response_b\nx,y,z\nx,,z\n",
            "mine.csv, row 2: needs a prompt and at least two",
        ),
        (
            "prompt,response_a,response_b,gold\nx,y,z,perhaps\n",
            "mine.csv, row 1, column gold: 'perhaps'",
        ),
        ("prompt,response_a,response_b\n", "mine.csv: line 2: the file has a header but no rows"),
    ],
)
def test_bad_rows_are_named(page, text, said):
    dropped(page, text)
    assert any(said in shown for shown in texts(page))


@pytest.mark.thorough
def test_a_key_is_found_or_not_and_in_no_element(page, server, monkeypatch):
    variable = provider_variable("anthropic")
    page.segmented_control(key="collect-items").set_value("a data set")
    page.segmented_control(key="collect-where").set_value("a provider").run()
    page.selectbox(key="collect-provider").set_value("anthropic")
    page.text_input(key="collect-model").set_value("some-model").run()
    assert (
        f"Key: {variable}, not found. Set it in the environment or in Streamlit's secrets."
        in texts(page)
    )
    assert "needs a key" in page.text[0].value
    monkeypatch.setenv(variable, KEY)
    page.run()
    assert f"Key: {variable}, found." in texts(page)
    assert KEY not in everything(page)
    # A provider's key is not offered to a server, another one is by its name.
    monkeypatch.setenv("PLANTED_API_KEY", KEY)
    page.segmented_control(key="collect-where").set_value("a server").run()
    fill(page, server.url)
    assert variable not in page.selectbox(key="collect-key").options
    page.selectbox(key="collect-key").set_value("PLANTED_API_KEY").run()
    assert "Key: PLANTED_API_KEY, found." in texts(page)
    assert KEY not in everything(page)


@pytest.mark.parametrize(
    "label",
    first_of("levels of a scale", "greedy pair", "listwise orders", "APOC, confirmed overrides"),
)
def test_every_protocol_has_an_estimate(page, server, label):
    fill(page, server.url)
    page.number_input(key="collect-first").set_value(3)
    page.selectbox(key="collect-protocol").set_value(label).run()
    assert not page.exception
    assert " calls" in page.text[0].value
    assert " to 127.0.0.1" in page.text[0].value


@pytest.mark.thorough
def test_the_same_orderings_are_asked_of_lists_alone_and_planned(page, server, capsys):
    fill(page, server.url)
    page.number_input(key="collect-first").set_value(3)
    assert "collect-same-orderings" not in {each.key for each in page.toggle}
    page.selectbox(key="collect-protocol").set_value("listwise orders").run()
    switch = page.toggle(key="collect-same-orderings")
    assert switch.label == "Same orderings for all lists"
    assert not switch.value
    assert not any("same_orderings" in code.value for code in page.code)
    switch.set_value(True).run()
    assert not page.exception
    assert any("same_orderings=True" in code.value for code in page.code)
    page.selectbox(key="collect-protocol").set_value("greedy pair").run()
    assert not page.exception
    assert not any("same_orderings" in code.value for code in page.code)


@pytest.mark.parametrize(
    "label", first_of("fuser of stored judges", "USC over stored votes", "GSA over stored votes")
)
def test_protocols_over_stored_votes_name_their_judges(page, server, label):
    fill(page, server.url)
    page.number_input(key="collect-first").set_value(3)
    page.text_input(key="collect-into").set_value(DEMO)
    page.selectbox(key="collect-protocol").set_value(label).run()
    assert "reads stored votes of" in page.text[0].value
    assert "--" not in page.text[0].value
    wanted = page.multiselect(key="collect-samples")
    wanted.set_value(
        [name for name in wanted.options if name.startswith("sim-judge")][
            : 2 if "fuser" in label else 1
        ]
    )
    page.run()
    assert page.text[0].value.startswith("3 calls to 127.0.0.1")


def test_the_prompt_is_shown_with_its_hash_and_where_to_edit_it(page, server):
    fill(page, server.url)
    assert any("You compare two responses" in code.value for code in page.code)
    assert any("core/collect/prompts" in text and "pairwise.md" in text for text in texts(page))


@pytest.mark.thorough
def test_an_edited_prompt_is_shown_and_estimated_at_once(page, server, tmp_path):
    folder = tmp_path / "prompts"
    copytree(FOLDER, folder)
    fill(page, server.url)
    page.number_input(key="collect-first").set_value(2)
    page.text_input(key="collect-prompts").set_value(str(folder)).run()
    before = [text for text in texts(page) if "prompt tokens" in text]
    edited = folder / "pairwise.md"
    edited.write_text(
        edited.read_text().replace("\n--- user\n", f" {'Be strict. ' * 100}\n--- user\n")
    )
    page.run()
    assert any("Be strict." in code.value for code in page.code)
    assert [text for text in texts(page) if "prompt tokens" in text] != before
    edited.unlink()
    page.run()
    assert "the prompt pairwise.md cannot be read" in page.text[0].value


def test_repeated_rows_are_said(page):
    dropped(page, f"{CSV}{CSV.splitlines()[1]}\n")
    assert "mine.csv: 1 row repeats an earlier one and is judged once: row 7 (as 1)" in texts(page)


def test_copied_python_plans_the_same(page, server, capsys):
    import streamlit as st

    fill(page, server.url)
    page.number_input(key="collect-first").set_value(4)
    page.number_input(key="collect-votes-pairwise").set_value(6).run()
    code = page.main.code[-1].value
    st.cache_resource.clear()
    exec(code, {})  # noqa: S102 - this is what the reader is told to do
    assert capsys.readouterr().out.startswith("24 calls to 127.0.0.1\n")


@pytest.mark.thorough
def test_a_run_is_found_by_every_session_and_its_votes_by_the_pages(own, monkeypatch):
    page, store_path = own

    monkeypatch.setenv("PLANTED_API_KEY", KEY)
    with Server(hold_after=0) as held:
        dropped(fill(page, held.url), CSV)
        page.selectbox(key="collect-key").set_value("PLANTED_API_KEY")
        page.number_input(key="collect-votes-pairwise").set_value(4)
        page.selectbox(key="collect-confidence-pairwise").set_value("self")
        page.number_input(key="collect-concurrency").set_value(8).run()
        page.button(key="collect-start").click().run()
        assert not page.exception
        with Store.open(store_path) as store:
            run = runs(store)[-1]
            assert not run.progress().finished
            assert page.text[0].value == f"Collecting {described(run.job)}."
            other = new_app()
            opened(other, "collect")
            assert other.text[0].value == page.text[0].value
            assert other.button(key=f"collect-stop-{run.job_id}").label == "Stop"
            held.release()
            last = run.wait(LONG)
            until(lambda: not started(store))
            other.run()
            assert other.text[0].value == outcome(run.job, last)
            assert outcome(run.job, last).startswith(
                "Collected: 24 of 24 requests answered; 24 calls, price"
            )
            other.button(key=f"collect-to-calibration-{run.job_id}").click().run()
            assert not other.exception
            assert other.title[0].value == "Reliability diagrams"
            assert other.session_state["selection"].datasets == ("mine",)
            assert other.session_state["selection"].judges == ("boastful",)
            assert other.dataframe[0].value["judge"].tolist() == ["boastful"]
        assert held.calls == 24
        assert held.keys == {f"Bearer {KEY}"}
        assert KEY not in everything(page) + everything(other)


@pytest.mark.thorough
def test_a_stopped_job_is_listed_and_resumed_for_the_rest_only(own):
    page, store_path = own
    with Server(hold_after=2) as held:
        fill(page, held.url, "fair")
        dropped(page, CSV, "rest.csv")
        page.number_input(key="collect-concurrency").set_value(4)
        page.number_input(key="collect-votes-pairwise").set_value(2).run()
        page.button(key="collect-start").click().run()
        with Store.open(store_path) as store:
            run = runs(store)[-1]
            until(lambda: held.calls == 6)
            page.run()
            page.button(key=f"collect-stop-{run.job_id}").click().run()
            until(lambda: run.progress().state == "stopping")
            held.release()
            last = run.wait(LONG)
            assert last.state == "stopped"
            left = last.planned - last.answered
            assert left == 6
            page.run()
            assert any(text.startswith(f"To go on: {left} call") for text in texts(page))
            page.button(key=f"collect-resume-{run.job_id}").click().run()
            assert not page.exception
            again = runs(store)[-1]
            assert again.wait(LONG).answered == 12
            until(lambda: not started(store))
            page.run()
            buttons = {button.key for button in page.button}
            assert f"collect-resume-{run.job_id}" not in buttons
            # No confidence is stated, but two votes have the share behind their majority.
            assert f"collect-to-calibration-{again.job_id}" in buttons
        assert held.calls == 12


@pytest.mark.thorough
def test_what_a_provider_says_is_shown_as_text(own):
    page, store_path = own
    hostile = "![pixel](http://host.invalid/p.png) <b>$x$</b>"
    with Server(fault=lambda n, body: "prose") as odd:
        fill(page, odd.url, "fair")
        page.text_input(key="collect-judge").set_value("odd")
        dropped(page, CSV.replace("q0", hostile), "odd.csv")
        page.number_input(key="collect-votes-pairwise").set_value(2).run()
        page.button(key="collect-start").click().run()
        with Store.open(store_path) as store:
            run = runs(store)[-1]
            last = run.wait(LONG)
            until(lambda: not started(store))
            found = without_verdict(store, "odd", ["odd"]).to_pylist()
        page.run()
        assert page.text[0].value == outcome(run.job, last)
        assert "in this run no verdict in 12 (unparsed)" in page.text[0].value
        assert found[0]["n"] == 12
        assert found[0]["words"].startswith("Both have their merits")
        assert page.dataframe[0].value["words"].tolist() == [row["words"] for row in found]
        assert not any("host.invalid" in element.value for element in page.markdown)


def test_a_job_is_remembered_until_complete_without_its_key(tmp_path, monkeypatch):
    monkeypatch.setenv("PLANTED_API_KEY", KEY)
    path = tmp_path / "votes.duckdb"
    with Server() as server:
        judge = Judge(
            model="openai/fair", base_url=server.url, key_env="PLANTED_API_KEY", price=(1.0, 2.0)
        )
        given = Job(dataset="d", items=pairs(5), judges=(judge,), votes=4, confidence="self")
        terms = Terms(concurrency=2, budget=Budget(calls=7), confirmed=("models.example",))
        with Store.open(path) as store:
            assert begin(given, store, terms).wait(LONG).answered == 7
        # Another process would find it so.
        with Store.open(path) as store:
            (found,) = started(store)
            assert (found.job, found.terms) == (given, replace(terms, confirmed=()))
            store.rename_dataset("d", "renamed")
            (found,) = started(store)
            assert found.job.dataset == "renamed"
            again = resume(found, store)
            assert "limit of 7 calls" in again.wait(LONG).messages[0]
            assert server.calls == 7
            assert len(started(store)) == 1
            last = begin(found.job, store, Terms()).wait(LONG)
            assert complete(last)
            until(lambda: not started(store))
            assert server.calls == 20
            begin(job(server, pairs(2), votes=2), store, Terms(budget=Budget(calls=0))).wait(LONG)
            assert [each.job.dataset for each in started(store)] == ["collected"]
            begin(found.job, store, Terms()).wait(LONG)
            until(lambda: len(started(store)) == 1)
    assert KEY.encode() not in path.read_bytes()


@pytest.mark.parametrize("variable", ["PLANTED_SECRET", "OPENAI_API_KEY"])
def test_a_job_in_a_store_of_a_stranger_sends_nothing_by_itself(tmp_path, monkeypatch, variable):
    """Neither a host that it says was agreed to, nor a variable that it names."""
    monkeypatch.setenv(variable, KEY)
    with Server() as server, Store.open(tmp_path / "votes.duckdb") as store:
        begin(job(server, pairs(2), votes=2), store, Terms(budget=Budget(calls=0))).wait(LONG)
        stored = store.query("select job from jobs").to_pylist()[0]["job"]
        far = stored.replace("127.0.0.1", "far.example")
        far = far.replace('"confirmed": []', '"confirmed": ["far.example"]')
        taken = stored.replace('"key_env": null', f'"key_env": "{variable}"')
        assert stored not in (far, taken)
        for text, error in ((far, "far.example: confirm it"), (taken, f"{variable} is ")):
            with store.change() as cursor:
                cursor.execute("update jobs set job = ?", [text])
            (found,) = started(store)
            with pytest.raises(InvalidOption, match=error):
                resume(found, store)
        assert server.calls == 0


def test_a_job_that_cannot_start_is_not_remembered(tmp_path):
    with Store.open(tmp_path / "votes.duckdb") as store:
        given = Job(
            dataset="d",
            items=pairs(2),
            judges=(Judge(model="openai/x", base_url="http://far.example/v1"),),
        )
        with pytest.raises(InvalidOption, match=r"far\.example"):
            begin(given, store, Terms())
        assert started(store) == []


@pytest.mark.thorough
def test_replies_that_were_cut_off_are_asked_for_again_by_a_button(own):
    page, store_path = own

    def completion(self, body, fault):
        found = Server.completion(self, body, fault)
        if self.calls % 2 and body["max_tokens"] <= 4096:
            found["choices"][0] |= {"finish_reason": "length"}
            found["choices"][0]["message"]["content"] = '{"reason": "It'
        return found

    with type("CutOff", (Server,), {"completion": completion})() as server:
        dropped(fill(page, server.url), CSV)
        page.number_input(key="collect-votes-pairwise").set_value(2).run()
        page.button(key="collect-start").click().run()
        with Store.open(store_path) as store:
            assert runs(store)[-1].wait(LONG).statuses == {"ok": 6, "cut_off": 6}
            page.run()
            key = f"collect-again-cut_off-{runs(store)[-1].job_id}"
            assert page.button(key=key).label == "Ask again for 6 that were cut off"
            page.button(key=key).click().run()
            assert not page.exception
            assert runs(store)[-1].wait(LONG).statuses == {"ok": 6}
        assert server.calls == 18
        assert {body["max_tokens"] for body in server.bodies[12:]} == {4 * 4096}
        page.run()
        assert not [each for each in page.button if (each.key or "").startswith("collect-again")]


def open_job_file(page: AppTest, text: str) -> AppTest:
    page.file_uploader(key="collect-job").set_value(
        [("job.toml", text.encode(), "application/toml")]
    ).run()
    assert not page.exception
    return page


@pytest.mark.thorough
def test_a_job_file_fills_the_fields_and_is_given_back(own, server):
    page, store_path = own
    text = f"""items = "mine.csv"
votes = 2
ties = false
max-calls = 60
prompt = \"\"\"
{{{{first}}}} or {{{{second}}}}?
\"\"\"
verdict-words = {{ A = "[[1]]", B = "[[2]]" }}

[[judge]]
name = "one"
model = "openai/fair"
base-url = "{server.url}"
concurrency = 5
price = [1.0, 2.0]
param = {{ seed = 7 }}

[[judge]]
model = "openai/first"
base-url = "{server.url}"
reply-tokens = 99
max-tokens = 1000000
"""
    open_job_file(page, text)
    assert any("Add the file of items, mine.csv" in shown for shown in texts(page))
    dropped(page, CSV)
    assert any(
        shown.startswith("24 calls to 127.0.0.1, at most ") and "but for openai/first," in shown
        for shown in texts(page)
    )
    assert page.number_input(key="collect-calls").value == 60
    page.button(key="collect-start").click().run()
    with Store.open(store_path) as store:
        run = runs(store)[-1]
        assert run.wait(LONG).finished
        one, other = run.job.judges
        assert (one.name, one.concurrency, one.price, one.extra) == (
            "one",
            5,
            (1.0, 2.0),
            {"seed": 7},
        )
        assert (other.max_tokens, other.budget) == (99, Budget(tokens=1_000_000))
        assert run.terms.budget == Budget(calls=60)
        assert (run.job.ties, run.job.prompt) == (False, "{{first}} or {{second}}?\n")
        assert dict(run.job.verdict_words) == {"A": "[[1]]", "B": "[[2]]"}
        # The simulated judges answer in their own form: none of it is read by these words.
        assert run.progress().statuses == {"unparsed": 24}
        page.run()
        assert page.button(key=f"collect-again-unparsed-{run.job_id}").label == (
            "Ask again for 24 that could not be read"
        )
        assert any(shown.startswith("one: 12 of 12 answered, 12 unparsed") for shown in texts(page))


@pytest.mark.thorough
def test_ways_of_asking_are_fields_and_come_from_a_job_file(own, server):
    """Five levels, its own answer, a rubric and a change: from a file into fields and into
    the job.
    """
    page, store_path = own
    text = f"""items = "mine.csv"
votes = 2
five = true
own-answer = true
show = ["rubric"]
perturb = "sentence"

[[judge]]
model = "openai/fair"
base-url = "{server.url}"
"""
    open_job_file(page, text)
    head, *lines = CSV.splitlines()
    dropped(page, "\n".join([f"{head},rubric", *(f"{line},be brief" for line in lines)]))
    assert page.toggle(key="collect-five").value
    assert page.toggle(key="collect-own-answer").value
    assert page.text_input(key="collect-show").value == "rubric"
    assert page.selectbox(key="collect-perturb").value == "sentence"
    assert any(shown.startswith("12 calls to 127.0.0.1") for shown in texts(page))
    page.text_input(key="collect-show").set_value("reference").run()
    assert any("“Columns in the prompt” reference: item" in shown for shown in texts(page))
    page.text_input(key="collect-show").set_value("rubric").run()
    page.button(key="collect-start").click().run()
    with Store.open(store_path) as store:
        run = runs(store)[-1]
        assert run.wait(LONG).finished
        job = run.job
    assert (job.five, job.own_answer, job.show, job.perturb) == (
        True,
        True,
        ("rubric",),
        "sentence",
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("vots = 2", "job.toml: 'vots' is unknown; did you mean votes?"),
        ("votes = 3", "3 votes cannot be balanced"),
        ("prompt = '/etc/passwd'", "takes the text of the prompt, not the name of its file"),
        ("items-of = 'nothing'", "there is no data set 'nothing' here"),
        (
            "key-env = 'OPENAI_API_KEY'",
            "OPENAI_API_KEY is the key of a provider and is not sent to far.example",
        ),
        (
            "key-env = 'NO_SUCH_API_KEY'",
            "the key NO_SUCH_API_KEY is not among those that this page may send",
        ),
        ("header = { X-Api-Key = '$HOME' }", "HOME is not sent: a file may name only variables"),
        ("yes-send-to = ['far.example']", "where texts may be sent is not read from a file"),
        (
            "verdict-words = { A = '1', B = '1' }",
            "“What means A, B, tie”: the same words mean two verdicts",
        ),
        ("prompts = '/etc'", "a folder of this server is not read from a file"),
    ],
)
def test_a_job_file_that_cannot_be_changes_nothing(page, text, said, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    top = "model = 'openai/m'\nbase-url = 'http://far.example/v1'\n"
    open_job_file(page, top + text)
    assert any(said in shown for shown in texts(page))
    assert page.text_input(key="collect-model").value == ""
    assert KEY not in everything(page)


@pytest.mark.thorough
def test_judges_are_added_and_removed(page, server):
    fill(page, server.url)
    page.button(key="collect-add").click().run()
    assert page.text[0].value.startswith("Name a model")
    page.text_input(key="collect-url-2").set_value(server.url)
    page.text_input(key="collect-model-2").set_value("fair").run()
    assert "by boastful and fair on" in page.text[0].value
    page.button(key="collect-remove-1").click().run()
    assert not page.exception
    assert "by fair on" in page.text[0].value


@pytest.mark.thorough
def test_a_job_is_handed_in_as_batches(own):
    page, store_path = own
    with BatchServer() as server:
        dropped(fill(page, server.url, "fair"), CSV)
        page.number_input(key="collect-votes-pairwise").set_value(2)
        page.toggle(key="collect-batch").set_value(True).run()
        page.number_input(key="collect-batch-size").set_value(5).run()
        page.button(key="collect-start").click().run()
        assert not page.exception
        with Store.open(store_path) as store:
            run = runs(store)[-1]
            until(lambda: server.asked == 12)
            run.stop(at_once=True)
            assert run.wait(LONG).finished
    assert sorted(map(len, server.lines.values())) == [2, 5, 5]
    assert server.calls == 0
