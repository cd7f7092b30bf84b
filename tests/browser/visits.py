"""The real app on a free loopback port, and visitors of it with a browser."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from patience import LONG

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

REPOSITORY = Path(__file__).resolve().parents[2]
LONG_MILLISECONDS = 1000 * LONG
CHROMIUM = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_app(
    store: Path, script: Path = REPOSITORY / "app.py", **process: Any
) -> tuple[subprocess.Popen[bytes], str]:
    """Start `streamlit run app.py`, or another script, as a user would and wait until it answers.

    process : further arguments of `subprocess.Popen`, such as `user`.

    Between the look for a free port and the server's own claim another may take it: then another is
    tried.
    """
    log = store.parent / "server.log"
    for _ in range(5):
        port = _free_port()
        with log.open("wb") as file:
            server = subprocess.Popen(
                [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)],
                cwd=REPOSITORY,
                env={
                    **os.environ,
                    "APPELLATE_STORE": str(store),
                    "STREAMLIT_SERVER_FILE_WATCHER_TYPE": "none",
                },
                stdout=file,
                stderr=subprocess.STDOUT,
                **process,
            )
        address = f"http://localhost:{port}"
        deadline = time.monotonic() + LONG
        while time.monotonic() < deadline and server.poll() is None:
            # It prints its address once the port is its own; before, somebody else may answer
            # there.
            if address in log.read_text(encoding="utf-8") and _answers(address):
                return server, address
            time.sleep(0.2)
        stop_app(server)
        if "already in use" not in log.read_text(encoding="utf-8"):
            break
    raise RuntimeError(f"The app did not start:\n{log.read_text(encoding='utf-8')}")


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=LONG):
            return True
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def stop_app(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    try:
        server.wait(60)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


# Of each figure in view: texts that lie on another, texts that its frame cuts, entries of its
# legend.
FIGURES = r"""() => {
  const seen = (text) => text.getBoundingClientRect().width > 0 && !text.closest('.hoverlayer')
    && text.textContent.trim();
  return [...document.querySelectorAll('.js-plotly-plot')]
    .filter((figure) => figure.getBoundingClientRect().width > 0)
    .map((figure) => {
      const frame = figure.getBoundingClientRect();
      const texts = [...figure.querySelectorAll('svg text')].filter(seen)
        .map((text) => [text.getBoundingClientRect(), text.textContent]);
      const overlaps = [];
      texts.forEach(([one, said], place) => texts.slice(place + 1).forEach(([two, also]) => {
        const across = Math.min(one.right, two.right) - Math.max(one.left, two.left);
        const down = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
        // A line's box has room above and below its letters.
        if (across > 1 && down > 0.3 * Math.min(one.height, two.height)) overlaps.push([said, also]);
      }));
      const cut = texts.filter(([box]) => box.left < frame.left - 1 || box.right > frame.right + 1
        || box.top < frame.top - 1 || box.bottom > frame.bottom + 1).map(([_, said]) => said);
      const legend = new Set([...figure.querySelectorAll('.legendtext')].map((text) => text.textContent));
      return {overlaps, cut, legend: legend.size, marks: figure.querySelectorAll('.point').length};
    });
}"""

# Whether the figures have been as they are for so many looks.
STILL = """(looks) => {
  const now = [...document.querySelectorAll('.js-plotly-plot')].map((figure) => {
    const box = figure.getBoundingClientRect();
    const texts = [...figure.querySelectorAll('svg text')].map((text) => text.getBoundingClientRect().x);
    return [box.x, box.y, box.width, box.height, figure.querySelectorAll('svg *').length, ...texts].join();
  }).join(';') + document.fonts.status;
  const [before, times] = window.figuresBefore ?? ['', 0];
  window.figuresBefore = [now, now === before ? times + 1 : 0];
  return window.figuresBefore[1] >= looks;
}"""


@dataclass
class Watch:
    """What a page asked for and complained about."""

    hosts: set[str] = field(default_factory=set)
    complaints: list[str] = field(default_factory=list)

    def heard(self, said) -> None:
        # On a deep link Streamlit first looks for its server under the page's own path and is told
        # 404.
        probe = "/_stcore/" in said.location.get("url", "") and "404" in said.text
        if said.type == "error" and not probe:
            self.complaints.append(said.text)


@dataclass
class Visitor:
    """A browser tab, and the words that tests need."""

    page: object
    url: str
    watch: Watch

    def open(self, path: str = "/") -> None:
        self.page.goto(self.url + path)
        self.settle()

    def settle(self) -> None:
        """Wait until the app has drawn everything."""
        self.page.wait_for_selector("[data-testid=stMain] h1")
        self.page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")

    def in_address(self, name: str, value: str | None) -> None:
        """Wait until the address has this value of a name; None: until it has none."""
        self.page.wait_for_function(
            "([name, value]) => new URLSearchParams(location.search).get(name) === value",
            arg=[name, value],
        )

    def arrive(self, title: str) -> None:
        """Wait until the app has drawn the page of this title."""
        self.page.locator("[data-testid=stMain] h1").filter(has_text=title).wait_for()
        self.settle()

    def pick(self, box, option: str) -> None:
        """Choose an option of a select box. A page that is drawn anew closes its list: then once
        more.
        """
        from playwright.sync_api import TimeoutError as NotThere

        choice = self.page.get_by_role("option", name=option)
        for _ in range(5):
            self.settle()
            box.click()
            try:
                choice.click(timeout=10_000)
                return
            except NotThere:
                self.page.keyboard.press("Escape")
        raise AssertionError(f"no option {option!r} to click")

    def figures(self) -> list[dict]:
        """Of each figure: overlapping texts, cut texts, number of entries of the legend, and of
        marks.
        """
        if self.page.locator("[data-testid=stPlotlyChart]:visible").count():
            self.page.locator(".js-plotly-plot:visible .main-svg").first.wait_for(state="attached")
            # Figures are drawn, and sized to what they hold, after the script rests.
            self.page.evaluate("() => { window.figuresBefore = undefined; }")
            self.page.wait_for_function(STILL, arg=3, polling=200)
        return self.page.evaluate(FIGURES)

    def height(self) -> int:
        """Pixels from the top to the end of the page."""
        return int(self.page.locator("[data-testid=stMain]").evaluate("main => main.scrollHeight"))

    def fits_across(self) -> bool:
        """Whether nothing is reached by scrolling sideways only."""
        return bool(
            self.page.locator("[data-testid=stMain]").evaluate(
                "main => main.scrollWidth <= main.clientWidth"
            )
        )

    def votes_shown(self) -> int:
        """Number of votes in the table behind the chosen mark."""
        return int(
            self.page.get_by_text(re.compile(r"^[\d,]+ votes"))
            .inner_text()
            .split()[0]
            .replace(",", "")
        )

    def title(self) -> str:
        return str(self.page.locator("[data-testid=stMain] h1").first.inner_text())

    def text(self) -> str:
        return str(self.page.locator("[data-testid=stApp]").inner_text())


def new_context(chromium, **options):
    """A browser of its own: nothing loaded, no cookies. options : of Playwright's `new_context`."""
    context = chromium.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
    context.set_default_timeout(LONG_MILLISECONDS)
    return context


@contextmanager
def visiting(chromium, url: str, *, within=None, **options) -> Iterator[Visitor]:
    """A visitor with a tab. Afterwards: only localhost was asked for anything, and the page did not
    complain.

    within : a context whose earlier tabs have loaded the app's code; None: a new one with options.
    """
    context = within or new_context(chromium, **options)
    page = context.new_page()
    watch = Watch()
    page.on("request", lambda sent: watch.hosts.add(urlsplit(sent.url).hostname or ""))
    page.on("websocket", lambda opened: watch.hosts.add(urlsplit(opened.url).hostname or ""))
    page.on("console", watch.heard)
    page.on("pageerror", lambda error: watch.complaints.append(str(error)))
    yield Visitor(page, url, watch)
    (page if within else context).close()
    assert watch.hosts - {""} == {"localhost"}
    assert watch.complaints == [], watch.complaints
