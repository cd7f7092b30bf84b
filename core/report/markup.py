"""HTML of a report: text is escaped unless it was made here, and nothing is fetched from any host."""

from __future__ import annotations

import base64
import hashlib
import html
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from core.figures import COLOURS, Theme, drawing_library, to_json

if TYPE_CHECKING:
    from core.figures import Figure

THEMES: tuple[Theme, ...] = ("light", "dark")
PROBLEM: dict[Theme, str] = {"light": "#a84700", "dark": "#f0803c"}
"""Colour of words that warn: the figures' orange, on white as dark as text has to be (4.5 to 1)."""


class Html(str):
    """Markup that is safe as it is. Any other text is escaped on its way into the page."""

    __slots__ = ()


def text(words: object) -> Html:
    """Text from anywhere as harmless markup; line breaks and what cannot be printed become spaces."""
    if isinstance(words, Html):
        return words
    return Html(html.escape("".join(c if c.isprintable() else " " for c in str(words))))


def number(value: float | None, form: str = "z.3f") -> Html:
    """A number as it is read, with all its digits in the `value` of its element; unknown is a dash."""
    if value is None or not math.isfinite(value):
        return Html("–")
    value = float(value)
    return Html(f'<data value="{value!r}">{format(value, form)}</data>')


def p_value(p: float | None) -> Html:
    """As the verdicts print it: three digits, and the far tail as such."""
    if p is None or not p < 0.001:
        return number(p, ".3g")
    return Html(f'<data value="{float(p)!r}">&lt; .001</data>')


def interval(value: float | None, low: float | None, high: float | None, form: str = "z.3f") -> Html:
    """An estimate with its interval, if it has one."""
    if value is None or not math.isfinite(value):
        return Html("–")
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return number(value, form)
    return Html(f"{number(value, form)} <small>({number(low, form)} to {number(high, form)})</small>")


def tag(name: str, *inside: object, kind: str = "") -> Html:
    """An element around text or markup; `kind` is its class."""
    opened = f'{name} class="{html.escape(kind)}"' if kind else name
    return Html(f"<{opened}>{''.join(text(part) for part in inside)}</{name}>")


def table(
    caption: str,
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    texts: Sequence[str] = ("judge",),
) -> Html:
    """A table whose first column names the row; columns in `texts` are to the left, numbers to the right."""
    looks = ["text" if place == 0 or name in texts else "number" for place, name in enumerate(header)]
    head = "".join(
        f'<th scope="col" class="{look}">{text(name)}</th>' for name, look in zip(header, looks, strict=True)
    )
    named = tag("caption", caption) if caption else ""
    body = []
    for row in rows:
        first, *others = (_cell(cell) for cell in row)
        cells = "".join(
            f'<td class="{look}">{cell}</td>' for cell, look in zip(others, looks[1:], strict=True)
        )
        body.append(f'<tr><th scope="row" class="text">{first}</th>{cells}</tr>')
    return Html(
        f'<div class="wide"><table>{named}<thead><tr>{head}</tr></thead>'
        f"<tbody>\n{chr(10).join(body)}\n</tbody></table></div>"
    )


def _cell(cell: object) -> Html:
    if cell is None:
        return Html("–")
    return Html(f"{cell:,}") if isinstance(cell, int) and not isinstance(cell, bool) else text(cell)


def folded(title: str, *inside: Html) -> Html:
    """Something long, opened by a click, and opened by itself before it is printed."""
    return Html(f"<details><summary>{text(title)}</summary>{''.join(inside)}</details>")


def drawing(make: Callable[..., Figure], *, alt: str) -> Html:
    """What `make(theme=…)` gives in both themes, drawn when the file is opened; tables hold its numbers.

    The figure is data, not a script: `<` in a name cannot end its element.
    """
    both = ",".join(f'"{theme}":{to_json(make(theme=theme))}' for theme in THEMES)
    for sign in "<>&\u2028\u2029":
        both = both.replace(sign, f"\\u{ord(sign):04x}")
    return Html(
        f'<figure><div class="plot" role="img" aria-label="{text(alt)}" hidden></div>'
        f'<script type="application/json">{{{both}}}</script></figure>'
    )


def section(key: str, title: str, *inside: Html) -> Html:
    """A part of the page with a heading to link to; nothing if there is nothing in it."""
    if not any(inside):
        return Html()
    return Html(
        f'<section id="{key}"><h2>{text(title)}</h2>\n{chr(10).join(filter(None, inside))}\n</section>\n'
    )


def page(title: str, top: Html, parts: Sequence[tuple[str, str, Html]]) -> str:
    """The whole file: parts are (key, title, section), linked from the top; empty ones are left out.

    The policy in it forbids every request and every script but the two whose hashes it names.
    """
    shown = [part for part in parts if part[2]]
    links = " ".join(f'<a href="#{key}">{text(name)}</a>' for key, name, _ in shown)
    scripts = [drawing_library(), SCRIPT] if any("plot" in part for *_, part in shown) else []
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts) or "'none'"
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{text(title)}</h1>\n{top}\n<nav>{links}</nav>\n{''.join(part for *_, part in shown)}</main>\n"
        f"{''.join(f'<script>{script}</script>{chr(10)}' for script in scripts)}</body>\n</html>\n"
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _variables(theme: Theme) -> str:
    colours = COLOURS[theme]
    return (
        f"--page: {colours.page}; --text: {colours.text}; --grid: {colours.grid}; "
        f"--neutral: {colours.neutral}; --accent: {colours.accent}; --problem: {PROBLEM[theme]};"
    )


STYLE = f"""
:root {{ {_variables("light")} }}
@media screen and (prefers-color-scheme: dark) {{ :root {{ {_variables("dark")} }} }}
* {{ box-sizing: border-box; }}
body {{ margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }}
main {{ max-width: 80rem; margin: 0 auto; padding: 1.5rem; overflow-wrap: anywhere; }}
h1 {{ font-size: 1.7rem; line-height: 1.25; margin: 0 0 .5rem; }}
h2 {{ font-size: 1.3rem; margin: 2.5rem 0 .5rem; }}
h3 {{ font-size: 1.05rem; margin: 1.5rem 0 .25rem; }}
h2, h3, caption {{ break-after: avoid; }}
.answer {{ border-left: 3px solid var(--accent); padding-left: .8rem; font-size: 1.15rem; font-weight: 500; }}
.simulated, .grade-warn, .grade-fail {{ color: var(--problem); font-weight: 600; }}
nav a {{ margin-right: .8rem; color: var(--accent); white-space: nowrap; }}
.wide {{ overflow-x: auto; margin: .75rem 0 1.25rem; }}
table {{ border-collapse: collapse; font-size: .9rem; overflow-wrap: break-word; }}
caption {{ text-align: left; font-weight: 600; padding-bottom: .3rem; }}
th, td {{ padding: .25rem .7rem .25rem 0; border-bottom: 1px solid var(--grid); vertical-align: top; }}
th {{ font-weight: 500; }}
thead th {{ color: var(--neutral); vertical-align: bottom; }}
.text {{ text-align: left; }}
th.text {{ min-width: 6rem; max-width: 20rem; }}
td.text {{ min-width: 4.5rem; max-width: 48rem; }}
.number {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }}
small {{ color: var(--neutral); font-size: .92em; }}
figure {{ margin: .75rem 0; max-width: 42rem; break-inside: avoid; }}
summary {{ cursor: pointer; color: var(--accent); }}
@media print {{
  main {{ max-width: none; padding: 0; }}
  nav {{ display: none; }}
  .wide {{ overflow: visible; }}
  table {{ font-size: .7rem; }}
  tbody .text {{ overflow-wrap: anywhere; }}
  th, td {{ padding-right: .5rem; }}
  .number {{ white-space: normal; }}
  data {{ white-space: nowrap; }}
  tr {{ break-inside: avoid; }}
}}
"""

SCRIPT = """
const dark = matchMedia("(prefers-color-scheme: dark)");
function draw(theme) {
  for (const plot of document.querySelectorAll(".plot")) {
    const figure = JSON.parse(plot.nextElementSibling.textContent)[theme];
    plot.hidden = false;
    plot.style.height = figure.layout.height + "px";  // kept when the window changes
    Plotly.react(plot, figure.data, figure.layout, {displayModeBar: false, responsive: true});
  }
}
const fitting = () => draw(dark.matches ? "dark" : "light");
addEventListener("beforeprint", () => {
  document.querySelectorAll("details").forEach(folded => { folded.open = true; });
  draw("light");
});
addEventListener("afterprint", fitting);
dark.addEventListener("change", fitting);
fitting();
"""
