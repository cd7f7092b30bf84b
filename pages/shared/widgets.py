"""What every page is made of.

Names and texts of votes are hostile: they reach a page through `st.text`, `st.code`, `st.dataframe`
and the options of select boxes, which show them as they are, never through Markdown, a label or an
option of pills.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import streamlit as st

import core
from core.auditing.options import AuditOptions
from core.errors import AppellateError, NoUsableVotes, TooFewLabels
from core.finding.answer import Answer
from core.finding.figure import COLOURS, Style, Theme
from core.installation import API
from core.options import default_of
from core.places import NAMES
from core.questions.accuracy.confusion_matrix import Confusion
from core.questions.agreement.figure import confusion_matrix
from core.questions.agreement.words import cell_key
from core.records import VoteCells
from core.schema import VOTE_LABELS, Selection
from core.store import vote_queries as queries
from pages.shared import cached, first_picture, numbers, people
from pages.shared.folds import draw_whole_page, folded

if TYPE_CHECKING:
    import plotly.graph_objects as go

Chosen = TypeVar("Chosen")

LEFT_OUT_LINES = 4
SELECTION = "selection"
SHOWN = "data set that was shown"
GOING = "going to"
OPENED = "values to set"
SIDEBAR = ("dataset", "raters", "judges", "category", "gold")
JUDGE = "judge"
"""Key of the box of judges on every page, and its parameter: the judge of the visit."""
VOTES_BEHIND = "Votes behind"
TAB = "tab"
"""Parameter of the tab that is open, on every page."""
VISIT, SHOWN_PAGE = "judge of the visit", "page that was shown"
PROVING = "proving"
"""In the session: the version whose proof begins when *Improve* is opened."""
URL: Literal["query-params"] = "query-params"
OPEN_STORE = "store = Store.open(default_path(), read_only=True)"
OPEN_TO_CHANGE = "store = Store.open(default_path())  # one process at a time: stop the app first"
IMPORTS = {
    "replace": "from dataclasses import replace",
    "Path": "from pathlib import Path",
    "default_rng": "from numpy.random import default_rng",
}
"""What *Copy as Python* uses beside the public API."""
IMPORT_WIDTH = 88
SIMULATED = "Simulated demo data: these judges and models do not exist"
PLOTLY_CONFIG = {
    "displaylogo": False,
    "modeBarButtonsToRemove": ["select2d", "lasso2d"],
    "responsive": True,
}
NO_LABELS = re.compile(r"\b(gold|labels?|labelled)\b")
"""In why a page has nothing to show: labels would help."""
ELSEWHERE = {"scores": ("Scores", "scores.py"), "rankings": ("Listwise consensus", "listwise.py")}
"""Kinds of judgements that few pages are about, and the page that is."""


def current_selection() -> Selection:
    """What the sidebar selects: data set, judges, category, rater type."""
    chosen: Selection = st.session_state[SELECTION]
    return chosen


def current_dataset() -> str:
    """The data set that the sidebar selects."""
    return str((current_selection().datasets or ("",))[0])


def current_people() -> frozenset[str]:
    """The raters of the data set that are human."""
    return frozenset(
        name for name, kind in cached.raters(current_dataset()).items() if kind == "human"
    )


def current_look() -> Theme:
    """Theme of the visitor's page, for the colours of charts."""
    return "dark" if st.context.theme.type == "dark" else "light"


def current_styles() -> dict[str, Style]:
    """Colour and marker of every rater of the data set, the chosen judge in blue on every page: it
    and the one whose blue that is change places.
    """
    look = current_look()
    styles, chosen = cached.styles(current_dataset(), look), chosen_judge()
    blue = next((n for n, one in styles.items() if one.colour == COLOURS[look].raters[0]), chosen)
    if chosen not in styles or blue is None or chosen in current_people():
        return styles
    return {**styles, chosen: styles[blue], blue: styles[chosen]}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class View:
    """What the sidebar selects and how it looks; the state of a page adds what its own controls
    say.
    """

    selection: Selection = field(default_factory=current_selection)
    look: Theme = field(default_factory=current_look)
    styles: dict[str, Style] = field(default_factory=current_styles)


def elsewhere() -> bool:
    """Whether the votes lie on another engine."""
    return current_dataset() in cached.connected()


def simulated() -> bool:
    """Whether the data set is simulated."""
    return any(found.simulated and found.name == current_dataset() for found in cached.datasets())


def seeded() -> np.random.Generator:
    """The audit's seed."""
    return np.random.default_rng(0)


def title(address: str, question: str) -> None:
    """Name of the page and the question that it answers; says so when the data set is simulated."""
    with st.container(gap="xxsmall"):
        st.title(NAMES[address], anchor=False)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(question)
            if simulated():
                st.badge(SIMULATED, color="orange")
            numbers.downloads_in(st.container(width="content"))


def answer(
    said: Answer | str, kind: Literal["finding", "warning"] = "finding", *, part: str = ""
) -> None:
    """Say the page's answer before any chart: its headline, and the line of its figures.

    said : or a sentence of a `kind` with its figures in it.
    part : tells the answers of one run apart, where a page says a first one and later a better one.
    """
    if isinstance(said, str):
        said = Answer(headline=said, good=kind == "finding")
    with st.container(key=f"answer-{'finding' if said.good else 'warning'}{part}", gap="xxsmall"):
        st.text(said.headline)
        if said.figures:
            with st.container(key=f"figures{part}"):
                st.text(said.figures)


def in_full(*sentences: str, part: str = "") -> None:
    """The answer as whole sentences with every limit, folded."""
    folded("In full sentences", lambda: st.text("\n\n".join(sentences)), key=f"full{part}")


def tab_bar(names: Sequence[str]) -> Sequence[Any]:
    """Tabs, one of them open, by its name in the URL; at first the first."""
    key, asked = f"tabs-{names[0]}", st.query_params.get(TAB)
    # Not bound to its parameter: what is bound goes with its page, also when the next one has it.
    st.session_state[key] = asked if asked in names else names[0]
    found: Sequence[Any] = st.tabs(
        list(names), key=key, on_change=_opened_tab, args=(key, names[0])
    )
    return found


def _opened_tab(key: str, first: str) -> None:
    opened = st.session_state[key]
    if opened == first:
        st.query_params.pop(TAB, None)
    else:
        st.query_params[TAB] = opened


def tabs(parts: Mapping[str, Callable[[], None]]) -> None:
    """Draw the tab that is open; an error in it leaves the rest of the page as it is."""
    for tab, draw in zip(tab_bar(list(parts)), parts.values(), strict=True):
        if tab.open:
            with tab, errors():
                draw()


def select(
    label: str, options: Iterable[str], *, start: str | None, key: str, place: Any = st, **more: Any
) -> Any:
    """One of many options in a box, at first `start`, in the URL as `key`.  more : of
    `st.selectbox`.
    """
    listed = list(options)
    return place.selectbox(
        label, listed, None if start is None else listed.index(start), key=key, bind=URL, **more
    )


def chosen_judge() -> str | None:
    """The judge that the visitor chose, on this page or before; None if a page is to begin with its
    own.
    """
    return st.query_params.get(JUDGE) or None


def judge(
    options: Iterable[str], *, start: str, why: str = "worst here", place: Any = st, **more: Any
) -> str:
    """The judge that a page is about: the one of the visit, else `start`; in the URL as `judge`.

    why : what `start` is among the options.  more : of `st.selectbox`.
    """
    return judge_or_none(options, otherwise=f"{why}: {start}", place=place, **more) or start


def judge_or_none(
    options: Iterable[str], *, otherwise: str, place: Any = st, **more: Any
) -> str | None:
    """The judge of the visit if it is among the options; one that has nothing here stays chosen for
    other pages.

    otherwise : what the empty box says.  more : of `st.selectbox`.
    """
    listed, wanted = list(options), chosen_judge()
    others = [] if wanted is None or wanted in listed else [wanted]
    # Not bound to its parameter: what a box of one page is bound to goes with that page.
    st.session_state[JUDGE] = wanted
    chosen: str | None = place.selectbox(
        "Judge",
        [*listed, *others],
        None,
        key=JUDGE,
        on_change=_chosen,
        placeholder=otherwise,
        **more,
    )
    if chosen in others:
        place.text(f"{wanted} has nothing to show here.")
    return chosen if chosen in listed else None


def beside_judge(shown: str, start: str) -> None:
    """Which judge the page would begin with, as a click, where it is about another.

    shown : the one that it is about.  start : the one that it begins with.
    """
    if shown == start:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="worst-here", gap="small"):
        st.button(
            "Worst here:", key="to-worst", type="tertiary", on_click=choose_judge, args=(start,)
        )
        st.text(start, width="content")


def _chosen() -> None:
    choose_judge(st.session_state[JUDGE])


def choose_judge(name: str | None) -> None:
    """Make it the judge of the visit, or nobody; for callbacks and before the page is drawn."""
    st.session_state[VISIT] = name
    if name is None:
        st.query_params.pop(JUDGE, None)
    else:
        st.query_params[JUDGE] = name


def keep_judge(page: str) -> None:
    """Let the judge of the visit come along to another page, whose address does not have it yet.

    page : the one that is shown.
    """
    given = st.query_params.get(JUDGE)
    another = page != st.session_state.get(SHOWN_PAGE, page)
    if given or not another:
        st.session_state[VISIT] = given
    elif visit := st.session_state.get(VISIT):
        st.query_params[JUDGE] = visit
    st.session_state[SHOWN_PAGE] = page


def choice(
    label: str,
    options: Sequence[str],
    *,
    key: str,
    default: str | None = None,
    place: Any = st,
    **more: Any,
) -> Any:
    """One of a few options side by side, in the URL as `key`; at first `default`, or else the
    first.  more : of `st.segmented_control`.
    """
    first = default or options[0]
    chosen = place.segmented_control(
        label, options, default=first, required=True, key=key, bind=URL, **more
    )
    return chosen or first


def share_slider(place: Any, key: str, width: int | Literal["stretch"] = 170) -> float:
    """Share of the items that calibrate, 0 to 1, as the visitor sets it in percent."""
    percent: int = place.slider(
        "Calibration share",
        1,
        50,
        round(100 * default_of(AuditOptions, "calibration_share")),
        1,
        "%d %%",
        key=key,
        help="Share of the items",
        width=width,
        bind=URL,
    )
    return percent / 100


def how_to_read(text: str) -> None:
    """Explain a figure, folded under it; Markdown, so never with names from votes."""
    with st.expander("How to read this"):
        st.markdown(text)


def not_applicable(reason: str, *, door: str | None = None) -> None:
    """Say why a method has no number here, in the place where the number would be.

    door : key of the ways to labels, which are shown where labels are what is missing.
    """
    with st.container(border=True):
        st.text(f"Not applicable: {reason}")
        if door and NO_LABELS.search(reason):
            doors(door)


def by_reason(reasons: Mapping[str, str]) -> dict[str, str]:
    """The names that have a reason, each reason once."""
    found: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        found.setdefault(reason, []).append(name)
    return {reason: ", ".join(names) for reason, names in found.items()}


def without_result(reasons: Mapping[str, str]) -> None:
    """Name the judges that a table leaves out, with the reason, each reason once."""
    for reason, names in by_reason(reasons).items():
        st.text(f"Not applicable to {names}: {reason}")


def left_out(reasons: Mapping[str, str], *, key: str) -> None:
    """Say what has no number and why: a few as lines, many as a folded table."""
    if len(reasons) <= LEFT_OUT_LINES:
        for name, reason in reasons.items():
            st.text(f"{name} is left out: {reason}")
        return

    def draw() -> None:
        st.dataframe(
            {"left out": list(reasons), "why": list(reasons.values())},
            hide_index=True,
            alt="Left out, and why",
        )

    folded(f"Left out: {len(reasons):,}, with the reasons", draw, key=key)


@contextmanager
def errors(words: Callable[[object], str] = str, *, elsewhere: bool = True) -> Iterator[None]:
    """Show what the user can put right; everything else stays an error of the program.

    words : puts an error in the page's words.  elsewhere : without votes, lead to the pages of what
        there is.
    """
    try:
        yield
    except AppellateError as error:
        with st.container(border=True):
            st.text(words(error))
            if elsewhere and isinstance(error, (NoUsableVotes, TooFewLabels)):
                _lead_elsewhere()
                if NO_LABELS.search(str(error)):
                    doors()


def doors(key: str = "door") -> None:
    """The two ways to labels, as buttons; for visitors who may change what is stored."""
    if people.visitor() != "editor":
        return
    with st.container(horizontal=True, key=f"{key}s"):
        goto("Label 20 now", "label.py", key=f"{key}-label", icon=":material/draw:")
        goto("Add a file of labels", "start.py", key=f"{key}-file", icon=":material/upload_file:")


def _lead_elsewhere() -> None:
    """Buttons to the pages about what a data set without votes holds."""
    found = next((each for each in cached.datasets() if each.name == current_dataset()), None)
    if found is None or found.votes:
        return
    for kind, (name, page) in ELSEWHERE.items():
        if getattr(found, kind):
            goto(f"To {name}", page, key=f"elsewhere-{kind}")


def in_url(key: str) -> str | None:
    """The chosen mark before its select box is drawn; on a cold link only the URL knows it."""
    chosen: str | None = st.session_state.get(key, st.query_params.get(key))
    return chosen


def figure(
    fig: go.Figure,
    key: str,
    *,
    alt: str,
    marks: Mapping[str, Chosen] | None = None,
    prompt: str = VOTES_BEHIND,
    into: str | None = None,
) -> Chosen | None:
    """Draw a figure and return what the chosen mark stands for, if it has `marks` to choose from.

    A mark is chosen by a click on a point whose first `customdata` is its key, or in the select box
    below, which works by keyboard and on a phone. The choice is in the URL as `key`. With `into`,
    the key of another figure with the same marks, a click chooses in that one's select box instead,
    and nothing is returned.
    """
    clicks: dict[str, Any] = {}
    if marks:
        # The select box holds the choice: a chart is mounted anew on each change and forgets it.
        choose = partial(_choose_clicked, key, tuple(marks), into or key)
        clicks = {"selection_mode": "points", "on_select": choose}
    st.plotly_chart(fig, key=f"{key}-figure", theme=None, config=PLOTLY_CONFIG, alt=alt, **clicks)
    first_picture.rest_follows()
    if into or not marks:
        return None
    # Several figures of a page have one: a screen reader tells them apart by their names.
    named = alt if alt.startswith("Elo") or alt[1].isupper() else f"{alt[0].lower()}{alt[1:]}"
    label = f"{prompt}: {named}" if prompt == VOTES_BEHIND else prompt
    chosen = select(label, marks, start=None, key=key, placeholder="click a mark, or choose here")
    return marks[chosen] if chosen else None


def patterns(cells: VoteCells, n: int) -> dict[tuple[int, int, int], int]:
    """Comparisons with each way (for A, tie, for B) in which n votes fall."""
    seen: dict[tuple[int, int, int], int] = {}
    ways = np.stack((cells.plus, cells.tie, cells.minus), axis=1)[cells.n == n].tolist()
    for way, weight in zip(ways, cells.weight[cells.n == n].tolist(), strict=True):
        seen[tuple(way)] = seen.get(tuple(way), 0) + round(weight)
    return seen


def confusion_figure(
    table: Confusion,
    behind: Callable[[int, int], queries.Mark],
    key: str,
    *,
    alt: str,
    height: int = 400,
) -> queries.Mark | None:
    """Draw gold against labels; `behind` gives the votes of a cell from its gold and its label."""
    marks = {
        cell_key(gold, label): behind(gold, label)
        for gold in VOTE_LABELS
        for label in VOTE_LABELS
        if table.counts[gold + 1, label + 1]
    }
    return figure(
        confusion_matrix(table, theme=current_look(), chosen=in_url(key), height=height),
        key,
        alt=alt,
        marks=marks,
    )


def _choose_clicked(key: str, marks: tuple[str, ...], into: str) -> None:
    points = st.session_state[f"{key}-figure"]["selection"]["points"]
    for point in points:
        data = point.get("customdata")
        mark = data[0] if isinstance(data, (list, tuple)) and data else data
        if mark in marks:
            if into == JUDGE:
                choose_judge(mark)
            else:
                st.session_state[into] = mark
            return


def arguments(record: Any, without: Collection[str] = ()) -> list[str]:
    """The fields of a record that differ from their defaults, as arguments in Python."""
    given = []
    for each in fields(record):
        value = getattr(record, each.name)
        default = each.default if each.default_factory is MISSING else each.default_factory()
        if each.name not in without and value != default:
            text = f"Path({str(value)!r})" if isinstance(value, Path) else repr(value)
            given.append(f"{each.name}={text}")
    return given


def copy_as_python(code: str, *commented: str) -> None:
    """Show the lines that reproduce the page's number; `store` and `selection` are defined above
    them.

    commented : names that the code uses in comments only.
    """
    table = cached.connected().get(current_dataset())
    opened = OPEN_TO_CHANGE if "start_job" in commented else OPEN_STORE
    if table:
        options = f"ReadOptions({', '.join(arguments(table.options))})"
        opened = f"store = Warehouse.open({table.url!r}, {table.table!r}, {options})"
    given = ", ".join(arguments(cached.where(current_selection())[1]))
    code = f"{opened}\nselection = Selection({given})\n\n{code.strip()}"
    lines = script(code, *commented)
    # A page may have several: told apart by what they call, as their values change with its
    # controls.
    called = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    key = "-".join(("python", *sorted(called.intersection(core.__all__))))
    folded("Copy as Python", partial(st.code, lines, language="python"), key=key)


def script(code: str, *commented: str) -> str:
    """Lines of Python below the imports that they need: of the public API and of IMPORTS, nothing
    else.
    """
    names = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    used = {*(node.id for node in names), *commented} - own
    public = f"from {API} import {', '.join(sorted(used.intersection(core.__all__)))}"
    if len(public) > IMPORT_WIDTH:
        listed = public.partition(" import ")[2]
        wrapped = textwrap.indent(textwrap.fill(f"{listed},", IMPORT_WIDTH), "    ")
        public = f"from {API} import (\n{wrapped}\n)"
    others = [line for name, line in IMPORTS.items() if name in used]
    return "\n".join([*others, *([""] if others else []), public, "", code])


def goto(
    text: str, page: str, *, key: str, icon: str = ":material/arrow_forward:", **state: Any
) -> None:
    """Button that opens a page (`calibration.py`) with widgets there or in the sidebar set to
    `state`.
    """
    st.button(
        text,
        key=key,
        type="tertiary",
        icon=icon,
        icon_position="right" if "arrow" in icon else "left",
        on_click=open_page,
        args=(page, state),
    )


def open_page(page: str, state: dict[str, Any]) -> None:
    """Open a page in the next run, with widgets there or in the sidebar set to `state`; for
    callbacks.
    """
    kept = {name: st.session_state[name] for name in SIDEBAR if name in st.session_state}
    st.session_state[OPENED] = kept | {JUDGE: chosen_judge()} | state
    st.session_state[GOING] = page
    draw_whole_page()


def open_dataset(name: str) -> None:
    """Select a data set in the sidebar from the next run on, without filters."""
    filters: dict[str, Any] = {"judges": [], "category": None, "raters": None}
    st.session_state[OPENED] = {"dataset": name, "managed": name, **filters}
