"""Tables and figures of a report, a function a section; without anything to show it is empty.

HTML of a report: text is escaped unless it was made here, and nothing is fetched from any host.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..aggregation.rules import RULES
from ..auditing import Audit, JudgeAudit
from ..confidence.calibration_error import by_chance
from ..interpretation.format import SAYS, one_line, percent
from ..plots.aggregation import errors_figure
from ..plots.base import COLOURS, Theme, drawing_library, rater_styles, to_json
from ..plots.calibration import reliability_diagram
from ..plots.confusion import accuracies, confusion_matrix
from ..plots.leaderboard import board_figure
from ..plots.position import flips, slot_biases
from .document import to_document

if TYPE_CHECKING:
    from ..confidence.calibration_error import Calibration
    from ..leaderboard.anchored import Board
    from ..plots.base import Figure
    from ..stats.estimate import Estimate


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
    return Html(html.escape(one_line(str(words))))


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


def estimate(found: Estimate | None, form: str = "z.3f") -> Html:
    """The same of a result."""
    return interval(found.value, found.low, found.high, form) if found else Html("–")


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


TOGETHER = 5
"""Judges in one reliability diagram; more could not be distinguished."""
MOST_DRAWN = 20
"""Judges with a figure of their own, and models in the figure of a board; tables have all of them."""
MOST_BOARDS = 12
"""Anchors whose leaderboard is shown; the JSON has all."""
ELO = "+z.0f"


def judges(audit: Audit) -> list[Html]:
    """One row a rater: how many votes, and the main figure of each check."""

    def row(judge: JudgeAudit) -> Sequence[object]:
        right, position, icc = judge.accuracy, judge.position, judge.repeatability
        return (
            judge.judge,
            judge.rater_type,
            judge.votes.n,
            judge.votes.plus,
            judge.votes.tie,
            judge.votes.minus,
            judge.votes.failed,
            estimate(right),
            number(judge.confusion.constant) if judge.confusion else None,
            number(judge.calibration.ece) if judge.calibration else None,
            number(position.flip_rate.value) if position and position.flip_rate else None,
            number(icc.icc_3_k.value) if icc and icc.icc_3_k else None,
        )

    header = (
        *("judge", "kind", "votes", "A", "tie", "B", "no vote"),
        *("accuracy", "best constant", "ECE", "flip rate", "ICC(3,k)"),
    )
    return [table("Raters", header, [row(judge) for judge in audit.judges], texts=("kind",))]


def calibration(audit: Audit) -> list[Html]:
    """Reliability diagrams, the measures with their noise floor, TH-Score, and the bins."""
    known = {judge: found.calibration for judge, found in _by_name(audit).items() if found.calibration}
    if not known:
        return []
    of = _by_name(audit)
    measures, near, parts = [], [], []
    for name, one in known.items():
        gap, floor = of[name].gap, of[name].floor
        measures.append(
            (
                name,
                one.n,
                estimate(one.accuracy),
                number(one.mean_confidence),
                estimate(gap.gap, "+z.3f") if gap else None,
                number(one.ece),
                number(floor.ece.value) if floor else None,
                number(by_chance(floor)) if floor else None,
                *(number(value) for value in (one.ace, one.mce, one.brier, one.nll)),
            )
        )
        near += [
            (
                name,
                number(th.epsilon, "g"),
                number(th.th.value, "z.2f"),
                number(th.share),
                estimate(th.accuracy),
                th.n,
            )
            for th in of[name].th
        ]
    for group in _groups(list(known)):
        bins = {name: known[name].reliability for name in group}
        parts.append(
            _drawn(
                audit,
                partial(reliability_diagram, bins),
                alt="Share right against stated confidence",
            )
        )
    header = (
        *("judge", "n", "accuracy", "stated", "stated − right"),
        *("ECE", "ECE by chance", "by chance up to", "ACE", "MCE", "Brier", "NLL"),
    )
    return [
        table("Stated confidence against what was right", header, measures),
        *parts,
        table(
            "TH-Score, in percent points",
            ("judge", "ε", "TH-Score", "share kept", "accuracy there", "n"),
            near,
        ),
        folded("Bins of the reliability diagrams", *(_bins(name, one) for name, one in known.items())),
    ]


def _bins(name: str, found: Calibration) -> Html:
    bins = found.reliability
    rows = [
        (
            f"{bins.low[b]:g} to {bins.high[b]:g}",
            int(bins.n[b]),
            number(bins.confidence[b]),
            estimate(bins.accuracy[b]),
        )
        for b in range(len(bins.n))
    ]
    return table(name, ("confidence", "n", "mean stated", "share right"), rows)


def position(audit: Audit) -> list[Html]:
    """Position bias and flips of the judges whose votes say what was shown first."""
    known = {judge: found.position for judge, found in _by_name(audit).items() if found.position}
    if not known:
        return []

    def row(name: str) -> Sequence[object]:
        one = known[name]
        return (
            name,
            *(one.first, one.second, one.tie),
            *(estimate(bias, "+z.3f") for bias in (one.bias_decided, one.bias_all, one.bias_pairs)),
            one.pairs,
            *(estimate(rate) for rate in (one.flip_rate, one.hard_flip_rate, one.same_order_disagreement)),
            p_value(one.p_value),
        )

    rows = [row(name) for name in known]
    return [
        table(
            "Bias towards the first response shown; within pairs, quality cannot pass for it",
            ("judge", "first", "second", "tie", "of decided votes", "of all votes", "within pairs"),
            [one[:7] for one in rows],
        ),
        _drawn(audit, partial(slot_biases, known), alt="Position bias by judge"),
        table(
            "Verdicts that change with the order",
            ("judge", "pairs", "flip rate", "A to B or back", "repeats, same order", "p, paired orders"),
            [(one[0], *one[7:]) for one in rows],
        ),
        _drawn(audit, partial(flips, known), alt="Flips by judge"),
    ]


def confusion(audit: Audit) -> list[Html]:
    """Accuracy beside the best constant answer, and each judge's table of gold against verdict."""
    known = {judge: found.confusion for judge, found in _by_name(audit).items() if found.confusion}
    if not known:
        return []
    parts = [
        table(
            "Share right of all votes with gold",
            ("judge", "n", "share right", "best constant answer"),
            [(name, one.n, estimate(one.accuracy), number(one.constant)) for name, one in known.items()],
        ),
        _drawn(audit, partial(accuracies, known), alt="Share right"),
    ]
    for place, (name, one) in enumerate(known.items()):
        rows = [
            (
                f"gold says {SAYS[gold]}",
                *(int(one.counts[gold + 1, said + 1]) for said in (1, 0, -1)),
                *(estimate(one.share[gold + 1, said + 1]) for said in (1, 0, -1)),
            )
            for gold in (1, 0, -1)
        ]
        says = [SAYS[said] for said in (1, 0, -1)]
        parts += [
            tag("h3", name),
            table(
                "What was said, by what gold says: votes, and shares of the row",
                ("", *says, *(f"{word}, share" for word in says)),
                rows,
            ),
        ]
        if place < MOST_DRAWN:
            parts.append(drawing(partial(confusion_matrix, one), alt=f"Confusion of {name}"))
    return parts


def aggregation(audit: Audit) -> list[Html]:
    """Parameters of the fits, and every rule on the same held-out comparisons."""
    fitted = {judge: found.btd for judge, found in _by_name(audit).items() if found.btd}
    if not fitted:
        return []
    parts = [
        table(
            "BTD fitted on all labels",
            ("judge", "β", "ν", "γ", "DRPS", "n", "at bounds"),
            [
                (
                    name,
                    *(number(value, "z.4g") for value in (one.beta, one.nu, one.gamma)),
                    number(one.drps, "z.4f"),
                    one.n_items,
                    ", ".join(one.at_bounds) or "none",
                )
                for name, one in fitted.items()
            ],
            texts=("at bounds",),
        )
    ]
    evaluated = {judge: found.splits for judge, found in _by_name(audit).items() if found.splits}
    for place, (name, value) in enumerate(evaluated.items()):
        rows = [
            (
                score.name,
                interval(score.mae, score.mae_item_low, score.mae_item_high),
                interval(score.mae, score.mae_low, score.mae_high),
                interval(score.pa, score.pa_item_low, score.pa_item_high),
                number(score.regret, "+z.3f"),
                {True: "yes", False: "no", None: None}[score.top_cluster],
            )
            for score in value.scores.values()
        ]
        parts += [
            tag("h3", name),
            table(
                f"Rules on held-out comparisons: mean over {value.n_splits} splits by item, "
                f"{100 * value.share:g} % of the items for calibration (n {value.n:,})",
                ("rule", "MAE", "MAE, over splits", "pairwise accuracy", "regret", "top cluster"),
                rows,
            ),
        ]
        if place < MOST_DRAWN:
            parts.append(
                drawing(
                    partial(errors_figure, value),
                    alt=f"Errors of rules, {name}",
                )
            )
        reasons: dict[str, list[str]] = {}
        for key, reason in value.not_applicable.items():
            reasons.setdefault(reason, []).append(RULES[key].name)
        parts += [
            tag("p", f"Not compared here: {', '.join(names)} ({reason}).")
            for reason, names in reasons.items()
        ]
    return parts


def agreement(audit: Audit) -> list[Html]:
    """ICC of repeated runs, and κ of every pair of raters."""
    repeated = [
        (
            judge.judge,
            one.k,
            one.n_comparisons,
            estimate(one.icc_3_1),
            estimate(one.icc_3_k),
            number(one.unanimous_share),
        )
        for judge in audit.judges
        if (one := judge.repeatability)
    ]
    pairs = [
        (
            pair.judge_1,
            pair.judge_2,
            pair.n,
            estimate(pair.raw),
            estimate(pair.kappa),
        )
        for pair in audit.agreement.pairs
        if pair.n
    ]
    parts = []
    if repeated:
        columns = ("judge", "runs", "comparisons", "ICC(3,1)", "ICC(3,k)", "all runs alike")
        parts.append(table("Repeatability", columns, repeated))
    if pairs:
        parts.append(
            table(
                "Agreement of majority labels",
                ("judge", "and", "n", "same label", "Cohen κ"),
                pairs,
                texts=("and",),
            )
        )
    return parts


def leaderboards(audit: Audit) -> list[Html]:
    """Each anchor's board of all judges pooled, each judge's own, and what changes with the anchor."""
    parts: list[Html] = []
    for anchor, boards in list(audit.boards.items())[:MOST_BOARDS]:
        pooled = next(judged.board for judged in boards if judged.judge is None)
        own = {judged.judge: judged.board for judged in boards if judged.judge is not None}
        parts += [
            tag("h3", f"Against {anchor}"),
            _board(
                f"All judges pooled, {pooled.n_items:,} prompts; "
                f"{percent(pooled.mid_region_coverage, 1)} of the models in the mid region",
                pooled,
            ),
            _drawn(
                audit,
                partial(
                    board_figure, pooled, judged=own if 1 < len(own) <= TOGETHER else None, shown=MOST_DRAWN
                ),
                alt=f"Elo of the first {min(MOST_DRAWN, len(pooled.rows))} models against {anchor}",
            ),
        ]
        if len(own) > 1:
            parts.append(
                folded("The board of each judge", *(_board(name, found) for name, found in own.items()))
            )
    left = len(audit.boards) - MOST_BOARDS
    if left > 0:
        parts.append(tag("p", f"Leaderboards against {left} more anchors are in the JSON of the audit."))
    if audit.anchor_swap:
        parts.append(
            table(
                "What changes with the anchor, over the models on both boards",
                ("anchor", "other anchor", "models", "Kendall τ", "mean shift, Elo"),
                [
                    (
                        row.anchor_1,
                        row.anchor_2,
                        len(row.models),
                        number(row.kendall_tau),
                        number(row.mean_abs_centred_shift, "z.1f"),
                    )
                    for row in audit.anchor_swap.rows
                ],
                texts=("other anchor",),
            )
        )
    return parts


def _board(caption: str, board: Board) -> Html:
    rows = [
        (
            row.model,
            row.tier,
            row.n,
            *(number(value, "z.1f") for value in (row.wins, row.ties, row.losses)),
            interval(row.p.value, row.p.low, row.p.high),
            interval(row.elo.value, row.elo.low, row.elo.high, ELO),
        )
        for row in board.rows
    ]
    header = ("model", "tier", "prompts", "won", "tied", "lost", "win probability", "Elo")
    return table(caption, header, rows)


def provenance(audit: Audit) -> list[Html]:
    """What was read, byte for byte, and with which options, so that anyone can make the file again."""
    document = to_document(audit)
    files = document["input"]["files"]
    header = ("name", "format", "rows", "votes", "rejected", "sha256")
    parts = []
    if files:
        rows = [tuple(file[name] for name in header) for file in files]
        parts.append(table("Files", header, rows, texts=("format", "sha256")))
    else:
        parts.append(tag("p", f"Data sets of the store: {', '.join(audit.summary.datasets)}."))
    options = [(name, _told(value)) for name, value in _flat(document["options"])]
    parts.append(table("Options", ("option", "value"), options, texts=("value",)))
    return parts


def _flat(options: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in options.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name} ")
        else:
            yield prefix + name, value


def _told(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _by_name(audit: Audit) -> dict[str, JudgeAudit]:
    return {judge.judge: judge for judge in audit.judges}


def _groups(names: list[str]) -> list[list[str]]:
    """A figure each, none nearly empty beside full ones."""
    figures = -(-len(names) // TOGETHER)
    return [names[place::figures] for place in range(figures)] if figures else []


def _drawn(audit: Audit, make: Callable[..., Figure], *, alt: str) -> Html:
    types = {judge.judge: judge.rater_type for judge in audit.judges}
    return drawing(lambda *, theme: make(styles=rater_styles(types, theme=theme), theme=theme), alt=alt)
