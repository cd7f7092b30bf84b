"""A visit to every place and method, as one table: what of it a new user would stumble over.

    make visit                                       all of it, which takes a quarter of an hour
    make visit ARGUMENTS="--only files --looks desk-light --pictures shots"

It looks at the demo, at the same votes without gold, and at files as people have them, on a desk and on
a phone, light and dark. A line of the table that is over its limit fails the visit. What the tests of a
browser look at already (axe, figures that are cut, the papers' items, hostile names) is theirs.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote_plus, urlsplit

from playwright.sync_api import sync_playwright
from start_files import ASKED, FILES
from test_browser_access import OF_STREAMLIT, OF_STREAMLIT_IN_THE_DARK, axe, faults
from visits import CHROMIUM, LONG_MILLISECONDS, Visitor, start_app, stop_app, visiting

from benchmarks.screenshots import demo, no_gold
from core.places import LAB, MOVED, NAMES, now
from core.store import Store

PAIRS, PASSES, LEVELS = (
    "demo (simulated)",
    "demo: pass or fail (simulated)",
    "demo: levels (simulated)",
)
NO_GOLD = "without gold"
KINDS = {"pairs": PAIRS, "pass or fail": PASSES, "levels": LEVELS, "no gold": NO_GOLD}
OF_EACH_KIND = ("start", "verdict", "examples", "improve", "compare")
LOOKS = {
    f"{at}-{scheme}": {"viewport": size, "color_scheme": scheme}
    for at, size in (
        ("desk", {"width": 1440, "height": 900}),
        ("phone", {"width": 390, "height": 844}),
    )
    for scheme in ("light", "dark")
}
WORDS = {"start": 150, **dict.fromkeys(LAB, 110)}
MOST_WORDS, HEADLINE_WORDS, LEAST_TYPE = 90, 20, 12.0
MOST_CLICKS, MOST_BYTES = 4, 500_000
FREE = ("label", "collect")
"""Places that may fold parts of a form."""
BANNED = re.compile(
    r"\b(?:[Rr]aters?|[Rr]un 0|[Dd]irect scores?|[Dd]ecided gold|AUROC|SC|CI-SC|GSA|USC|MAE|[Cc]lusters?|"
    r"[Ff]alse discovery rate|Bounds|[Ll]oss)\b|ICC\(3,k\)|κ_w|ω|κ smoothing"
)
STARTED = re.compile(r"You can now view|URL: http|^\s*$")
"""What the server says when nothing is wrong."""

# What is seen of a page before anybody scrolls, and what is wrong in the whole of it.
SEEN = r"""() => {
  const main = document.querySelector('[data-testid=stMain]');
  const inView = (box) => box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight;
  const NO_TEXT = '[data-testid=stIconMaterial], canvas, script, style, [class*=st-key-ahead]';
  const NO_PROSE = '.js-plotly-plot, svg, canvas, table, [data-testid=stDataFrame], .st-key-card,'
    + '[class*=st-key-telling], [class*=-behind]';
  const texts = (root) => {
    const found = [], walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const node = walk.currentNode, range = document.createRange();
      if (!node.textContent.trim() || node.parentElement.closest(NO_TEXT)) continue;
      range.selectNodeContents(node);
      if (inView(range.getBoundingClientRect()) && getComputedStyle(node.parentElement).visibility !== 'hidden')
        found.push(node);
    }
    return found;
  };
  const shown = texts(main);
  const prose = shown.filter((node) => !node.parentElement.closest(NO_PROSE)).map((node) => node.textContent);
  const visible = (found) => [...main.querySelectorAll(found)].filter((one) => one.getBoundingClientRect().width > 0);
  const headlines = visible('.st-key-found, [class*=st-key-answer-]')
    .map((one) => one.querySelector('[data-testid=stText]')?.innerText || '').filter(Boolean);
  const labels = [...document.querySelectorAll('[aria-label], [title]')]
    .map((one) => `${one.ariaLabel || ''} ${one.title || ''}`);
  const inputs = [...document.querySelectorAll('input')].map((one) => one.value);
  const all = [document.body.innerText, ...labels, ...inputs].join('\n');
  const whole = (text) => {
    const start = text.replace(/…$/, '').trim();
    for (let at = all.indexOf(start); at >= 0; at = all.indexOf(start, at + 1))
      if (!/^\s*…/.test(all.slice(at + start.length))) return true;
    return false;
  };
  const drawn = visible('svg text').filter((text) => !text.closest('.hoverlayer') && text.textContent.trim());
  return {
    prose,
    all: [...shown, ...texts(document.querySelector('[data-testid=stSidebar]') || document.createElement('i'))]
      .map((node) => node.textContent),
    headlines,
    folds: visible('[data-testid=stExpander]').map((one) => one.querySelector('summary p')?.innerText || ''),
    tabs: visible('[data-testid=stTabs] [role=tablist]').length,
    selects: visible('[data-testid=stSelectbox] input[placeholder*="click a mark"]').length,
    small: drawn.map((text) => [parseFloat(getComputedStyle(text).fontSize)
      * Math.hypot(text.getScreenCTM().a, text.getScreenCTM().b), text.textContent]),
    cut: drawn.map((text) => text.textContent).filter((text) => /…$/.test(text) && !whole(text)),
    exceptions: visible('[data-testid=stException]').length,
  };
}"""


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that was looked at.  line : of the acceptance.  most : None if nothing is allowed."""

    line: int
    what: str
    where: str
    value: float
    most: float = 0
    said: str = ""
    least: bool = False

    @property
    def fails(self) -> bool:
        return self.value < self.most if self.least else self.value > self.most


@dataclass
class Visit:
    """What is looked at, and what was found.

    looks : names of screens.  pictures : folder for one of each view; None: none are taken.
    """

    chromium: Any
    looks: Sequence[str]
    pictures: Path | None = None
    only: Sequence[str] = ()
    rows: list[Row] = field(default_factory=list)

    def add(
        self, line: int, what: str, where: str, value: float, most: float = 0, **more: Any
    ) -> None:
        row = Row(line, what, where, value, most, **more)
        self.rows.append(row)
        if row.fails:
            print(f"{line} {what}, {where}: {value:g} of {most:g} {row.said}", file=sys.stderr)

    @contextmanager
    def tab(self, url: str, look: str, **more: Any) -> Iterator[Visitor]:
        """A visitor whose complaints are counted."""
        with visiting(self.chromium, url, **LOOKS[look], **more) as visitor:
            yield visitor
            heard = list(dict.fromkeys(visitor.watch.complaints))
            visitor.watch.complaints.clear()
        self.add(2, "complaints of the browser", look, len(heard), said="; ".join(heard)[:300])


def views() -> list[tuple[str, str, str]]:
    """Place, kind and data set of every view."""
    found = [(place, kind, dataset) for place in OF_EACH_KIND for kind, dataset in KINDS.items()]
    for name in NAMES:
        if name not in OF_EACH_KIND:
            kind = "levels" if name == "scores" else "pairs"
            found.append((name, kind, KINDS[kind]))
    return found


def path_of(place: str, dataset: str) -> str:
    return f"/{'' if place == 'verdict' else place}?dataset={quote_plus(dataset)}"


def look_at(visit: Visit, visitor: Visitor, place: str, where: str) -> None:
    """Lines 1, 2 and 4 of one view."""
    visitor.figures()
    seen = visitor.page.evaluate(SEEN)
    words = [word for text in seen["prose"] for word in text.split() if re.search(r"\w", word)]
    visit.add(1, "words on the first screen", where, len(words), WORDS.get(place, MOST_WORDS))
    for headline in seen["headlines"]:
        visit.add(
            1, "words of a headline", where, len(headline.split()), HEADLINE_WORDS, said=headline
        )
    if place not in FREE:
        visit.add(1, "folds", where, len(seen["folds"]), said=", ".join(seen["folds"]))
        visit.add(1, "bars of tabs", where, seen["tabs"])
        visit.add(1, "selects below a figure", where, seen["selects"])
    visit.add(2, "errors shown", where, seen["exceptions"])
    visit.add(2, "scrolls sideways", where, not visitor.fits_across())
    size, text = min(seen["small"], default=(LEAST_TYPE, ""))
    visit.add(
        2, "least type in figures (px)", where, round(size, 1), LEAST_TYPE, said=text, least=True
    )
    visit.add(2, "texts cut", where, len(seen["cut"]), said=", ".join(seen["cut"]))
    if place != "papers":
        # Their tables have the names that the papers gave.
        banned = sorted({word for text in seen["all"] for word in BANNED.findall(text)})
        visit.add(4, "banned words", where, len(banned), said=", ".join(banned))


def see_views(visit: Visit, url: str) -> None:
    """Every place and method, in every look; from each all others are one click away."""
    source = axe()
    for look in visit.looks:
        phone, dark = look.startswith("phone"), look.endswith("dark")
        with visit.tab(url, look, bypass_csp=True) as visitor:
            for place, kind, dataset in views():
                if visit.only and place not in visit.only:
                    continue
                where = f"{place}, {kind}, {look}"
                visitor.open(path_of(place, dataset))
                look_at(visit, visitor, place, where)
                links = visitor.page.locator("[data-testid=stSidebarNav] a").all_inner_texts()
                missing = set(NAMES.values()) - {link.split("\n")[-1] for link in links}
                visit.add(5, "places not in the navigation", where, len(missing), said=str(missing))
                if not phone:
                    below = visitor.page.locator("[data-testid=stSidebarNav] a").last.bounding_box()
                    visit.add(
                        5, "end of the navigation (px)", where, below["y"] + below["height"], 900
                    )
                excused = OF_STREAMLIT | (OF_STREAMLIT_IN_THE_DARK if dark else set())
                serious = faults(visitor, source).keys() - excused
                visit.add(8, "serious faults by axe", where, len(serious), said=str(serious))
                if visit.pictures:
                    take(visitor, visit.pictures / f"{place}-{kind.replace(' ', '-')}-{look}.png")


def take(visitor: Visitor, file: Path) -> None:
    """A picture of the whole page."""
    size = visitor.page.viewport_size
    file.parent.mkdir(parents=True, exist_ok=True)
    visitor.page.set_viewport_size(
        {**size, "height": max(size["height"], min(visitor.height() + 80, 4000))}
    )
    visitor.page.wait_for_timeout(1500)
    visitor.page.screenshot(path=str(file))
    visitor.page.set_viewport_size(size)


def open_question(visitor: Visitor) -> Any | None:
    """The box of a question about a file that is not answered yet."""
    boxes = visitor.page.get_by_role("combobox", name="Answer", exact=True)
    return next((box for box in boxes.all() if not box.input_value()), None)


def see_files(visit: Visit, url: str) -> None:
    """From the open app to the verdict on each file, by clicks; then its first screen."""
    look = visit.looks[0]
    with tempfile.TemporaryDirectory() as folder, visit.tab(url, look) as visitor:
        for name, (data, _, _) in FILES.items():
            if visit.only and name not in visit.only:
                continue
            file = Path(folder) / name
            file.write_bytes(data)
            visitor.open("/")
            visitor.page.get_by_role("link", name="Start", exact=True).click()
            visitor.arrive("Start")
            visitor.page.set_input_files("[data-testid=stFileUploaderDropzoneInput]", str(file))
            clicks, decisions = 2, 0
            visitor.page.wait_for_selector("[class*=st-key-file-]")
            visitor.settle()
            while decisions < 9 and (asked := open_question(visitor)):
                asked.click()
                visitor.page.get_by_role("option").first.click()
                clicks, decisions = clicks + 2, decisions + 1
                visitor.settle()
                visitor.page.wait_for_timeout(1000)
            visit.add(3, "decisions", name, decisions, ASKED.get(name, 0))
            look_at(visit, visitor, "start", f"Start, {name}")
            if visit.pictures:
                take(visitor, visit.pictures / f"file-{name}-{look}.png")
            visitor.page.locator(".st-key-load button").click()
            visitor.page.get_by_role("button", name="To the verdict").click()
            visitor.arrive("Verdict")
            visitor.in_address("dataset", Path(name).stem)
            visit.add(3, "clicks to the verdict", name, clicks + 2 - 2 * decisions, MOST_CLICKS)
            look_at(visit, visitor, "verdict", f"Verdict, {name}")
            if visit.pictures:
                take(visitor, visit.pictures / f"verdict-{name}-{look}.png")


def see_addresses(visit: Visit, url: str) -> None:
    """Where addresses of before lead."""
    with visit.tab(url, visit.looks[0]) as visitor:
        for old, tab in MOVED:
            address, new_tab = now(old, tab)
            visitor.open(
                f"/{old}?dataset={quote_plus(PAIRS)}" + (f"&tab={quote_plus(tab)}" if tab else "")
            )
            visitor.page.wait_for_timeout(500)
            visitor.settle()
            query = parse_qs(urlsplit(visitor.page.url).query)
            ends = [visitor.title() == NAMES[address], query.get("tab", [""])[0] in (new_tab, tab)]
            visit.add(
                6,
                "leads elsewhere",
                f"{old} {tab}".strip(),
                ends.count(False),
                said=visitor.page.url,
            )


def see_share(visit: Visit, url: str) -> None:
    """The file of *Share* of each kind, opened from disk on a phone."""
    with tempfile.TemporaryDirectory() as folder, visit.tab(url, visit.looks[0]) as visitor:
        for kind, dataset in KINDS.items():
            out = Path(folder) / f"{kind}.html"
            visitor.open(path_of("verdict", dataset))
            visitor.page.get_by_role("button", name="Share").first.click()
            with visitor.page.expect_download() as waiting:
                visitor.page.get_by_role("button", name="Two pages").click()
            waiting.value.save_as(out)
            visit.add(7, "bytes", kind, out.stat().st_size, MOST_BYTES)
            for look in visit.looks:
                context = visit.chromium.new_context(offline=True, **LOOKS[look])
                page, asked = context.new_page(), []
                page.on("request", lambda sent, asked=asked: asked.append(sent.url))
                page.goto(out.as_uri())
                where = f"{kind}, {look}"
                visit.add(7, "requests", where, len(asked), 1, said=str(asked))
                visit.add(7, "scripts", where, page.locator("script").count())
                visit.add(7, "figures", where, page.locator("svg:visible").count(), 1, least=True)
                wide = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
                visit.add(7, "pixels beyond the screen", where, max(wide, 0))
                if visit.pictures:
                    page.screenshot(
                        path=str(visit.pictures / f"share-{kind.replace(' ', '-')}-{look}.png"),
                        full_page=True,
                    )
                context.close()


FOCUSED = """() => {
  const one = document.activeElement;
  return one && one !== document.body
    ? `${one.ariaLabel || ''} ${one.innerText || ''} ${one.getAttribute('placeholder') || ''}`.trim().slice(0, 200)
    : '';
}"""
MOST_TABS = 150


def tab_to(visitor: Visitor, words: str, key: str = "Tab") -> int:
    """Press Tab until the focus is on what has these words; how often."""
    for presses in range(1, MOST_TABS):
        visitor.page.keyboard.press(key)
        if words.lower() in visitor.page.evaluate(FOCUSED).lower():
            return presses
    return MOST_TABS


def see_keyboard(visit: Visit, url: str) -> None:
    """From Start to the verdict, to a mark's examples, and back, without a mouse; the focus stays where
    it was when a page is drawn anew.
    """
    with visit.tab(url, visit.looks[0]) as visitor:
        keys = visitor.page.keyboard
        visitor.open(path_of("start", PAIRS))
        presses = tab_to(visitor, "Verdict")
        keys.press("Enter")
        visitor.arrive("Verdict")
        visit.add(8, "presses of Tab", "Start to Verdict", presses, MOST_TABS - 1)
        visitor.open(path_of("position_bias", PAIRS))
        visitor.figures()
        presses = tab_to(visitor, "click a mark")
        visit.add(8, "presses of Tab", "to a mark of Position bias", presses, MOST_TABS - 1)
        if presses < MOST_TABS:
            keys.press("ArrowDown")
            visitor.page.get_by_role("option").first.wait_for()
            keys.press("Enter")
            visitor.page.locator("[class*=-behind]").first.wait_for()
            visitor.settle()
            visitor.page.wait_for_timeout(1000)
            visit.add(8, "focus lost", "mark's examples", not visitor.page.evaluate(FOCUSED))
            visitor.page.go_back()
            visitor.page.locator("[class*=-behind]").first.wait_for(state="detached")
        for place, selector, press in (
            (
                "verdict",
                "[data-testid=stMain] [data-testid=stSelectbox] input",
                ("ArrowDown", "Enter"),
            ),
            (
                "calibration",
                "[data-testid=stSlider] [role=slider], [data-testid=stSlider] input",
                ("ArrowRight",),
            ),
            (
                "th_score",
                "[data-testid=stSlider] [role=slider], [data-testid=stSlider] input",
                ("ArrowRight",),
            ),
            (
                "votes_to_labels",
                "[data-testid=stSlider] [role=slider], [data-testid=stSlider] input",
                ("ArrowRight",),
            ),
        ):
            visitor.open(path_of(place, PAIRS))
            visitor.figures()
            visitor.page.locator(selector).first.focus()
            before = visitor.page.evaluate(
                "() => document.activeElement.getAttribute('aria-label')"
            )
            for key in press:
                keys.press(key)
                visitor.page.wait_for_timeout(400)
            visitor.settle()
            visitor.page.wait_for_timeout(1500)
            after = visitor.page.evaluate("() => document.activeElement.getAttribute('aria-label')")
            lost = visitor.page.evaluate("() => document.activeElement === document.body") or (
                before != after and place != "verdict"
            )
            visit.add(8, "focus lost", place, lost, said=f"{before} → {after}")


def table(rows: Sequence[Row]) -> str:
    """What was looked at, one line for each thing: how often, the worst of it, and how often it failed."""
    lines = [
        "| line | what | looked at | worst | limit | fails | worst at |",
        "|--:|---|--:|--:|--:|--:|---|",
    ]
    for line, what in sorted({(row.line, row.what) for row in rows}):
        of = [row for row in rows if (row.line, row.what) == (line, what)]
        worst = max(
            of, key=lambda row: (row.most - row.value) if row.least else row.value - row.most
        )
        where = f"{worst.where}: {worst.said}" if worst.said else worst.where
        fails = sum(row.fails for row in of)
        lines.append(
            f"| {line} | {what} | {len(of)} | {worst.value:g} | {worst.most:g} | {fails} | "
            + (where.replace("|", "/").replace("\n", " ")[:160] if fails else "")
            + " |"
        )
    return "\n".join(lines)


PARTS = {
    "views": see_views,
    "files": see_files,
    "addresses": see_addresses,
    "share": see_share,
    "keyboard": see_keyboard,
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="make visit", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--looks", nargs="+", choices=LOOKS, default=tuple(LOOKS))
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=tuple(PARTS))
    parser.add_argument("--only", nargs="+", default=(), help="places and files to look at")
    parser.add_argument("--pictures", type=Path, help="folder for a picture of each view")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        store = Path(scratch) / "votes.duckdb"
        with Store.open(store) as votes:
            demo(votes, Path(scratch))
            no_gold(votes, Path(scratch))
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(CHROMIUM), timeout=LONG_MILLISECONDS
        )
        visit = Visit(browser, options.looks, options.pictures, options.only)
        server, url = start_app(store)
        try:
            for part in options.parts:
                PARTS[part](visit, url)
        finally:
            stop_app(server)
            browser.close()
        log = [
            line
            for line in (Path(scratch) / "server.log").read_text(encoding="utf-8").splitlines()
            if not STARTED.search(line)
        ]
        visit.add(2, "lines of the server's log", "all", len(log), said=" ".join(log)[:300])
    print(table(visit.rows))
    return int(any(row.fails for row in visit.rows))


if __name__ == "__main__":
    raise SystemExit(main())
