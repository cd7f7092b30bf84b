"""Labelling in a real browser: by keys at a desk, by thumb on a phone, killed and gone on with."""

from __future__ import annotations

import re

import numpy as np
import pytest
from visits import LONG_MILLISECONDS, start_app, stop_app, sync_api, visiting

from core.importers import read
from core.labelling.desk import open_desk
from core.store import Store
from core.store.labelling import label_log

DESK = {"viewport": {"width": 1440, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
JUDGES = ("judge-careful-x1", "judge-coin-x2")
MODELS = ("model-alpha-y1", "model-beta-y2")
PRESSED_AGAIN = 10_000
"""Milliseconds."""
HIDDEN = (*JUDGES, *MODELS, "item-secret-z")


@pytest.fixture
def store_path(tmp_path):
    """300 comparisons without gold; the careful judge is right on nine of ten.

    The order is drawn here: of every four orders there is one whose first 40 labels do not decide.
    """
    rng = np.random.default_rng(3)
    lines = ["item_id,model_a,model_b,judge,run,position,vote,prompt,response_a,response_b"]
    for item in range(300):
        better = rng.choice([1, -1])
        good, bad = f"The answer is {item} good", f"The answer is {item} <b>bad</b> *so*"
        texts = (good, bad) if better == 1 else (bad, good)
        for judge, right in zip(JUDGES, (0.9, 0.5), strict=True):
            vote = better if rng.random() < right else -better
            lines.append(
                f"item-secret-z{item:03d},{','.join(MODELS)},{judge},0,ab,{vote},Question {item}?,"
                f"{texts[0]},{texts[1]}"
            )
    file = tmp_path / "votes.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    path = tmp_path / "votes.duckdb"
    with Store.open(path) as store:
        for reading in read([("unlabelled.csv", file)]):
            store.load(reading)
        open_desk(store, "unlabelled", seed=0)
    return path


def count(visitor) -> int:
    said = visitor.page.locator(".st-key-label-count [data-testid=stText]").first.inner_text()
    return int(said.split()[0].replace(",", ""))


def button(key: str) -> str:
    """Where the button of a key is; its own name ends with the card that it is for."""
    return f"[class*=st-key-label-{key}-]"


def question(visitor) -> str:
    return visitor.page.get_by_text(re.compile(r"^Question \d+\?$")).first.inner_text()


def better_side(visitor, *, narrow: bool = False) -> str:
    """Which side is the good one, as a person reads it."""
    part = "narrow" if narrow else "wide"
    boxes = visitor.page.locator(f".st-key-{part}-label-texts [data-testid=stHtml]")
    return "1" if "good" in boxes.nth(0).text_content() else "2"


def card_of_buttons(visitor) -> str:
    """What the first of the buttons is for. Those of the last card may stay behind the new ones."""
    shown = visitor.page.locator(button("1")).first.get_attribute("class")
    return re.search(r"st-key-label-1-(\S+)", shown).group(1)


# Texts come first: until the buttons are the next card's, a press is for the one before.
NEXT = r"""([before, old]) => {
  const texts = [...document.querySelectorAll('[data-testid=stText]')];
  const asked = texts.find((text) => /^Question \d+\?$/.test(text.textContent));
  const first = document.querySelector('[class*=st-key-label-1-]');
  return asked && asked.textContent !== before && first
    && first.className.match(/st-key-label-1-(\S+)/)[1] !== old;
}"""


def answer(visitor, press, *, narrow: bool = False) -> None:
    """Answer the card that is shown and wait for the next and its buttons.

    A key that comes before the page listens for the new card counts for nothing: a person presses
    it again.
    """
    before, old = question(visitor), card_of_buttons(visitor)
    for patience in (*[PRESSED_AGAIN] * 3, LONG_MILLISECONDS):
        if question(visitor) == before:
            press(better_side(visitor, narrow=narrow))
        try:
            visitor.page.wait_for_function(NEXT, arg=[before, old], timeout=patience)
        except sync_api.TimeoutError:
            if patience == LONG_MILLISECONDS:
                raise
        else:
            return


def label_until(visitor, n: int, press, **how) -> None:
    while count(visitor) < n:
        answer(visitor, press, **how)


def test_browser_forty_labels_by_keys_with_a_kill_in_between(store_path, chromium):
    server, url = start_app(store_path)
    with visiting(chromium, url, **DESK) as visitor:
        visitor.open("/label?person=ann")
        label_until(visitor, 15, visitor.page.keyboard.press)
        source = visitor.page.content()
        for name in HIDDEN:
            assert name not in source
        assert "<b>bad</b>" not in visitor.page.inner_html(".st-key-wide-label-texts")
        assert visitor.page.locator(".st-key-wide-label-texts mark").count()
        here = question(visitor)
        visitor.page.reload()
        visitor.settle()
        assert (count(visitor), question(visitor)) == (15, here)
        assert "person=ann" in visitor.page.url
        assert "place=" in visitor.page.url
    server.kill()
    server.wait()
    server, url = start_app(store_path)
    with visiting(chromium, url, **DESK) as visitor:
        visitor.open("/label?person=ann")
        assert count(visitor) == 15
        # The keys are heard once their buttons are there, which come last.
        visitor.page.locator(f"{button('u')} button:enabled").wait_for()
        visitor.settle()
        visitor.page.keyboard.press("u")
        visitor.page.get_by_text("Taken back.").wait_for()
        assert count(visitor) == 14
        label_until(visitor, 40, visitor.page.keyboard.press)
        said = visitor.page.locator(".st-key-label-live").get_by_text(f"{JUDGES[0]}: ")
        said.first.wait_for()
        assert visitor.page.locator(".st-key-label-live").get_by_text("against").count()
        visitor.page.get_by_role("button", name="To the verdict").click()
        visitor.arrive("Verdict")
    stop_app(server)
    with Store.open(store_path) as store:
        desk = open_desk(store, "unlabelled")
        assert desk.session.count("ann") == 40
        careful, coin = desk.shown().judges
        assert careful.grade == "ok"
        assert careful.standing.right.value > 0.8
        assert coin.grade != "ok"


def test_browser_forty_labels_by_thumb_and_two_people_at_once(store_path, chromium):
    server, url = start_app(store_path)
    with visiting(chromium, url, **PHONE) as phone, visiting(chromium, url, **DESK) as desk:
        phone.open("/label?person=ann")
        desk.open("/label?person=ben")

        def tap(key: str) -> None:
            phone.page.locator(f"{button(key)} button").first.tap()

        box = phone.page.locator(f"{button('1')} button").bounding_box()
        assert box["y"] + box["height"] <= 844
        assert box["height"] >= 44
        assert phone.fits_across()
        for _ in range(20):
            answer(phone, tap, narrow=True)
            answer(desk, desk.page.keyboard.press)
        label_until(phone, 40, tap, narrow=True)
    stop_app(server)
    with Store.open(store_path) as store:
        session = open_desk(store, "unlabelled").session
        assert session.count("ann") == 40
        assert session.count("ben") >= 18
        one, two, same = session.pairs()
        assert {one, two} == {"ann", "ben"}
        assert all(same.values())
        assert len(session.labels()) == 40 + session.count("ben") - len(same)


# Both reach the page before it can have the next card.
TWICE = """key => { for (const _ of [1, 2]) document.body.dispatchEvent(
  new KeyboardEvent('keydown', {key, code: 'Digit' + key, bubbles: true})); }"""


def test_browser_a_key_pressed_twice_does_not_count_for_a_card_unseen(store_path, chromium):
    server, url = start_app(store_path)
    with visiting(chromium, url, **DESK) as visitor:
        visitor.open("/label?person=ann")
        visitor.page.locator(f"{button('s')} button:enabled").wait_for()
        for labels in range(1, 6):
            answer(visitor, lambda key: visitor.page.evaluate(TWICE, key))
            visitor.settle()
            # Whatever was on its way is here by now.
            visitor.page.wait_for_timeout(500)
            visitor.settle()
            assert count(visitor) == labels
    stop_app(server)
    with Store.open(store_path) as store:
        log = label_log(store, "unlabelled")
        assert [(line.act, line.place) for line in log] == [("label", k) for k in range(5)]


def test_browser_refuses_a_press_on_a_card_that_is_no_more_in_words(chromium, store_path):
    server, url = start_app(store_path)
    try:
        with visiting(chromium, url, **DESK) as visitor, visiting(chromium, url, **DESK) as other:
            visitor.open("/label?person=ann")
            label_until(visitor, 2, visitor.page.keyboard.press)
            other.open("/start")
            other.page.locator(".st-key-rename-box button").first.click()
            name = other.page.locator(".st-key-new-name input")
            name.fill("renamed")
            name.press("Enter")
            other.settle()
            other.page.locator(".st-key-rename button").click()
            other.page.get_by_text("is now named renamed").wait_for()
            visitor.page.keyboard.press("1")
            visitor.page.get_by_text("Not kept: the card was of an earlier labelling").wait_for()
            assert count(visitor) == 2
            label_until(visitor, 3, visitor.page.keyboard.press)
            assert "Not kept" not in visitor.text()
    finally:
        stop_app(server)


# A person who reads the next card and presses at once, before it has its buttons. `seen` counts.
AT_ONCE = """() => {
  window.seen = 0;
  let last = null;
  const shown = () => [...document.querySelectorAll('[class*="st-key-label-shown-"]')].pop()
    ?.className.match(/st-key-label-shown-(\\S+)/)[1];
  window.press = () => document.body.dispatchEvent(
    new KeyboardEvent('keydown', {key: '1', code: 'Digit1', bubbles: true}));
  last = shown();
  new MutationObserver(() => {
    const now = shown();
    if (!now || now === last || window.seen >= 12) return;
    last = now;
    const drawn = document.querySelector(`.st-key-label-1-${now} button`);
    if (drawn) { setTimeout(window.press, 300); return; }
    window.seen += 1;
    window.press();
  }).observe(document, {childList: true, subtree: true, attributeFilter: ['class']});
}"""


def test_browser_a_press_on_a_card_that_has_no_buttons_yet_waits_for_them(store_path, chromium):
    server, url = start_app(store_path)
    with visiting(chromium, url, **DESK) as visitor:
        visitor.open("/label?person=ann")
        visitor.page.locator(f"{button('s')} button:enabled").wait_for()
        visitor.page.evaluate(AT_ONCE)
        visitor.page.evaluate("window.press()")
        visitor.page.wait_for_function("() => window.seen >= 12", timeout=LONG_MILLISECONDS)
        visitor.settle()
        visitor.page.wait_for_timeout(500)
        visitor.settle()
        labels = count(visitor)
    stop_app(server)
    with Store.open(store_path) as store:
        log = label_log(store, "unlabelled")
        # Each card once, in order: none lost, none answered unseen.
        assert [x.place for x in log if x.act == "label"] == list(range(labels))
        assert {line.act for line in log} <= {"label", "repeat"}
        assert labels >= 12


def test_browser_markdown_is_shown_as_such_and_two_who_differ_meet_in_a_third_look(
    tmp_path, chromium
):
    code = "Use **this**:\n\n```python\nprint('<b>')\n```\n\n![x](http://other.host/x.png)"
    path = tmp_path / "votes.duckdb"
    lines = ["item_id,model_a,model_b,judge,vote,prompt,response_a,response_b"]
    for k in range(6):
        told = f'"{code}\n\nIt prints {k}."', f'"{code}\n\nIt shows {k}."'
        lines.append(f"q{k},one,two,j,1,Question {k}?,{','.join(told)}")
    with Store.open(path) as store:
        for reading in read([("code.csv", "\n".join(lines).encode())]):
            store.load(reading)
        desk = open_desk(store, "code", seed=0, sharing="all")
        for person, key in (("ann", "1"), ("ben", "2")):
            card = desk.card(person, 0)
            # The same response for neither: each says that its own left or right is better.
            desk.answer(person, card, key if not card.swapped else "12"["21".index(key)])
        assert desk.session.contested() == [0]
        asked = desk.card("cat", 0).prompt
    server, url = start_app(path)
    requests: list[str] = []
    with visiting(chromium, url, **DESK) as visitor:
        visitor.page.on("request", lambda request: requests.append(request.url))
        visitor.open("/label?person=cat")
        assert question(visitor) == asked
        visitor.page.get_by_text("1 item is contested").wait_for()
        texts = visitor.page.locator(".st-key-wide-label-texts")
        assert texts.locator("pre code").first.inner_text().strip() == "print('<b>')"
        assert texts.locator("strong").first.inner_text() == "this"
        assert sorted(texts.locator("mark").all_inner_texts()) == ["prints", "shows"]
        assert not texts.locator("img, a, b").count()
        visitor.page.get_by_text("Source", exact=True).click()
        visitor.settle()
        texts.get_by_text("Use **this**:").first.wait_for()
        assert not texts.locator("pre").count()
        answer(visitor, visitor.page.keyboard.press)
        visitor.page.get_by_text("1 item is contested").wait_for(state="detached")
    stop_app(server)
    assert not any("other.host" in address for address in requests)
    with Store.open(path) as store:
        golden = {row["item_id"] for row in store.export().to_pylist() if row["gold"] is not None}
        assert len(golden) == 1
