"""What every page has: the frame, the navigation, and the sidebar that selects the votes."""

import os
from pathlib import Path

import streamlit as st
from streamlit.runtime import Runtime, exists, get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.auditing.figure import grade_colour
from core.auditing.overall import SIGNS
from core.bounds import MOST_WAITED_FOR, within_judges
from core.errors import NoUsableVotes
from core.finding.figure import COLOURS
from core.places import LAB, MOVED, NAMES, PLACES, now
from core.schema import Selection
from core.store import DatasetInfo
from pages.shared import (
    cached,
    first_picture,
    folds,
    numbers,
    parts,
    people,
    share,
    start,
    usable,
    widgets,
)

# Pages of people who may change what is stored.
EDITORS = ("collect", "label")
# Pages on which nothing tells of judges.
BLIND = ("label",)
ADDRESSED = "data set is in the address"
CHANGED = "data set that changed meanwhile"
ICONS = {
    "start": "database",
    "verdict": "verified",
    "examples": "error",
    "improve": "trending_up",
    "compare": "compare_arrows",
    "label": "ballot",
    "collect": "call_made",
    "calibration": "tune",
    "th_score": "target",
    "position_bias": "swap_horiz",
    "leaning": "balance",
    "confusion": "grid_on",
    "scores": "grading",
    "votes_to_labels": "how_to_vote",
    "leaderboard": "leaderboard",
    "juries": "groups",
    "listwise": "format_list_numbered",
    "agreement": "handshake",
    "planning": "event_note",
    "papers": "article",
}
LOGO = Path(__file__).parent / "shared" / "logo.svg"
ABSENT = "data set that is not here"
ABSENT_JUDGES = "judges that are not here"
# The look of what Streamlit's own theme settings do not reach.
STYLE = """<style>
[data-testid="stMainBlockContainer"] { padding-left: 3rem; padding-right: 3rem; max-width: 88rem; }
[data-testid="stMainBlockContainer"] h1 { padding: 0 0 0.4rem 0; }
[class*="st-key-answer-"] { border-left: 3px solid var(--appellate-rule, #7d8791); padding-left: 0.8rem; }
[class*="st-key-answer-"] [data-testid="stText"] { font-size: 1.15rem; line-height: 1.4; font-weight: 500; }
[class*="st-key-answer-"] [class*="st-key-figures"] [data-testid="stText"],
.st-key-found ~ [data-testid="stText"] { font-size: 0.95rem; font-weight: 400; line-height: 1.4; }
[class*="st-key-answer-finding"] { --appellate-rule: #2f8fc4; }
[class*="st-key-answer-warning"] { --appellate-rule: #d5762c; }
[data-testid="stText"] { overflow-wrap: anywhere; }
[data-testid="stLayoutWrapper"]:has(> .st-key-ahead) { display: none; }
.st-key-card { padding: 0.6rem 1rem; }
[class*="st-key-word-"] [data-testid="stText"] { font-size: 1.75rem; font-weight: 700; line-height: 1.25; }
.st-key-found [data-testid="stText"] { font-size: 1.1rem; font-weight: 500; line-height: 1.35; }
[data-testid="stLayoutWrapper"]:has(> [class*="st-key-narrow-"]) { display: none; }
@media (min-width: 641px) { .st-key-bar [data-testid="stHorizontalBlock"] { flex-wrap: nowrap; } }
@media print {
  [data-testid="stSidebar"], [data-testid="stHeader"], [data-testid="stToolbar"] { display: none; }
}
@media (max-width: 640px) {
  [class*="st-key-bar"] [data-testid="stPopover"] button, [class*="st-key-bar"] [data-testid="stPopover"] p {
    white-space: normal; text-align: left; height: auto; overflow: visible; }
  [data-testid="stLayoutWrapper"]:has(> [class*="st-key-wide-"]) { display: none; }
  [data-testid="stLayoutWrapper"]:has(> [class*="st-key-narrow-"]) { display: flex; }
  .st-key-label-first button { min-height: 3.25rem; }
  .st-key-label-others button { min-height: 2.75rem; }
  .st-key-label-keys { position: sticky; bottom: 0; z-index: 5; padding: 0.4rem 0;
    background: var(--st-background-color, Canvas); }
  .st-key-bar { row-gap: 0.1rem; }
  .st-key-bar > :last-child { order: 1; }
  .st-key-bar > :not(:first-child, :last-child) { order: 2; }
  .st-key-head-buttons { flex-wrap: nowrap; row-gap: 0; }
  .st-key-card { padding: 0.25rem 0.8rem; }
  .st-key-card .st-key-judge { min-width: 4.25rem; flex: 1 1 4.25rem; }
  [class*="st-key-word-"] [data-testid="stText"] { font-size: 1.25rem; }
  .st-key-found [data-testid="stText"] { font-size: 1rem; }
  [data-testid="stTabs"] [role="tablist"] { flex-wrap: wrap; }
  [class*="st-key-answer-"] [data-testid="stText"] { font-size: 1rem; }
  [data-testid="stMainBlockContainer"] { padding-left: 1rem; padding-right: 1rem; }
}
</style>"""


def theme_colours() -> str:
    """Colours of the verdict's word, of buttons that are text, and of small print, in the visitor's
    theme.

    Streamlit's own small print is fainter than small text may be, and in the dark its main buttons
    are white on a light colour.
    """
    colours = COLOURS[widgets.current_look()]
    return f"""[data-testid="stBaseButton-tertiary"] {{ color: {colours.accent}; }}
[data-testid="stBaseButton-primary"]:enabled {{ color: {colours.page}; }}
[class*="st-key-lost-"] [data-testid="stText"] * {{ color: {colours.fail}; }}
[data-testid="stCaptionContainer"] {{ color: {colours.unclear}; opacity: 1; }}
""" + "".join(
        f'.st-key-word-{grade} [data-testid="stText"] * {{ color: {grade_colour(colours, grade)}; }}\n'
        for grade in SIGNS
    )


def navigation(role: people.Role) -> dict[str, list[st.Page]]:
    """The places, then the methods by the papers' names, as far as a visitor may use them; what had
    another address leads on.
    """
    shown = {
        group: [
            st.Page(
                f"{address}.py",
                title=name,
                icon=f":material/{ICONS[address]}:",
                default=address == "verdict",
            )
            for address, name in names.items()
            if role == "editor" or address not in EDITORS
        ]
        for group, names in (("", PLACES), ("Lab", LAB))
    }
    hidden = [
        st.Page(_nothing, title=NAMES[now(old)[0]], url_path=old, visibility="hidden")
        for old, tab in MOVED
        if old not in NAMES and not tab
    ]
    return shown | {"Before": hidden}


def _nothing() -> None:
    """A page that has moved."""


def moved(page: st.Page) -> None:
    """Lead on to where the page, or its tab, is now."""
    tab = st.query_params.get(widgets.TAB, "")
    address, new_tab = now(page.url_path or "verdict", tab)
    if address != (page.url_path or "verdict"):
        widgets.open_page(f"{address}.py", {widgets.TAB: new_tab})
        st.rerun()


def newest() -> str | None:
    """The data set that was loaded last: a bare address opens on it, not on the demo."""
    found = cached.datasets()
    return max(found, key=lambda one: one.loaded_at).name if found else None


def forget_judge_of_others(dataset: str) -> None:
    """Drop the judge of the visit where the data set has no such rater."""
    chosen = widgets.chosen_judge()
    if chosen is not None and chosen not in cached.raters(dataset):
        widgets.choose_judge(None)


def choose_dataset(asked: str | None) -> None:
    """Give the box of data sets its value where the visitor did not: what is chosen is then in the
    address.

    One that another visitor renamed is followed; one that is gone gives way to the newest. Both are
    said.
    """
    here = {found.name: found for found in cached.datasets()}
    last: DatasetInfo | None = st.session_state.get(widgets.SHOWN)
    chosen = st.session_state.get("dataset", asked)
    if last is not None and chosen == last.name and last.name not in here:
        renamed = next((name for name, found in here.items() if same(found, last)), None)
        shown = renamed or newest()
        done = f"is now named {renamed} by" if renamed else "was deleted by"
        done += " another visitor"
        if cached.was_connected(last.name):
            done = "is no longer connected"
        instead = "" if renamed or not shown else f" This is {shown}."
        st.session_state[CHANGED] = f"The data set {last.name} {done}.{instead}", shown
        chosen = shown
    if chosen not in here:
        chosen = newest()
    st.session_state["dataset"] = chosen
    first = not st.session_state.get(ADDRESSED)
    st.session_state[ADDRESSED] = True
    if first and chosen and chosen != asked:
        # A value that a box is given before it is first drawn gets into the URL with the next run
        # only; until the box is drawn the parameter is free.
        st.query_params["dataset"] = chosen
        if asked:
            # The box would read the name that is not here, and clear the parameter.
            st.session_state[ABSENT] = asked, chosen
            st.rerun()
    st.session_state[widgets.SHOWN] = here.get(chosen or "")


def same(one: DatasetInfo, two: DatasetInfo) -> bool:
    """Whether two data sets are one under two names: no other is loaded at the same moment and as
    large.
    """
    return (one.loaded_at, one.votes, one.comparisons) == (
        two.loaded_at,
        two.votes,
        two.comparisons,
    )


def sidebar(datasets: list[str], *, blind: bool = False) -> Selection:
    """Filters of every page, all of them in the URL; a name in the URL that no longer exists is
    dropped.
    """
    # Without a default of its own the box puts every choice into the URL.
    dataset = st.selectbox("Data set", datasets, None, key="dataset", bind="query-params")
    if dataset is None:
        return Selection(datasets=())
    if blind:
        return Selection(datasets=(dataset,))
    if table := cached.connected().get(dataset):
        st.text(f"Texts stay where they are.\n{table.warehouse.fetched.crossed}")
    raters = cached.raters(dataset)
    rater_type = None
    if len(set(raters.values())) > 1:
        # The URL holds what an option shows, so the options are the values themselves.
        rater_type = st.segmented_control(
            "Judged by", ["llm", "human"], key="raters", bind="query-params"
        )
    offered = sorted(name for name, kind in raters.items() if rater_type in (None, kind))
    judges = st.multiselect("Judges", offered, key="judges", bind="query-params", placeholder="all")
    forget_judge_of_others(dataset)
    whole = cached.summary(Selection(datasets=(dataset,)))
    categories = [name for name in whole.categories if name]
    category = None
    if len(categories) > 1:
        category = st.selectbox(
            "Category",
            categories,
            index=None,
            key="category",
            bind="query-params",
            placeholder="all",
        )
    gold = "given"
    if "human" in raters.values():
        offered_gold = ["given", "humans"]
        gold = st.selectbox(
            "Gold",
            offered_gold,
            index=offered_gold.index(cached.default_gold(Selection(datasets=(dataset,)))),
            key="gold",
            bind="query-params",
        )
    return Selection(
        datasets=(dataset,),
        judges=tuple(judges) or None,
        rater_types=(rater_type,) if rater_type else None,
        where=(("category", category),) if category else (),
        gold=gold,
    )


def bounded(selection: Selection) -> tuple[Selection, str | None]:
    """As many of the judges as a page answers for while one waits, and which are left out."""
    (dataset,) = selection.datasets or (None,)
    if dataset is None:
        return selection, None
    judges = cached.raters(dataset) if selection.judges is None else selection.judges
    if len(judges) <= MOST_WAITED_FOR:
        return selection, None
    try:
        found = cached.summary(selection)
    except NoUsableVotes:
        # The page says so itself.
        return selection, None
    return within_judges(
        selection,
        [(judge.name, judge.rater_type == "human", judge.n) for judge in found.judges],
        others=[(rater.name, rater.n) for rater in (*found.scores, *found.rankings)],
        most=MOST_WAITED_FOR,
        remedy="Choose judges in the sidebar to see others; the command line audits more.",
    )


def say_what_changed() -> None:
    """Say that the data set was renamed or deleted meanwhile, until another is chosen."""
    said, shown = st.session_state.get(CHANGED, (None, None))
    if said and shown == (widgets.current_dataset() or None):
        st.text(said)
    else:
        st.session_state.pop(CHANGED, None)


def say_what_is_absent(asked: str | None, datasets: list[str]) -> None:
    """Say that a link asked for a data set that is not here; else others' figures would pass for
    its own.
    """
    if asked and asked not in datasets:
        st.session_state[ABSENT] = asked, widgets.current_dataset()
    gone, instead = st.session_state.get(ABSENT, (None, None))
    if gone is None or gone in datasets or instead != widgets.current_dataset():
        st.session_state.pop(ABSENT, None)
    else:
        shown = f"This is {instead}." if instead else "None is."
        st.text(f"The link asks for the data set {gone}, which is not here. {shown}")


def say_which_judges_are_absent(asked: list[str], chosen: tuple[str, ...] | None) -> None:
    """Say that a link names judges that the data set does not have; the sidebar drops them."""
    dataset = widgets.current_dataset()
    raters = cached.raters(dataset) if dataset else {}
    if gone := [name for name in asked if name not in raters]:
        st.session_state[ABSENT_JUDGES] = gone, dataset, chosen
    gone, of, instead = st.session_state.get(ABSENT_JUDGES, ([], None, None))
    if not gone or (of, instead) != (dataset, chosen):
        st.session_state.pop(ABSENT_JUDGES, None)
        return
    shown = f"Shown: {', '.join(chosen)}." if chosen else "All are shown."
    st.text(f"The link asks for {', '.join(gone)}, not among the raters of {dataset}. {shown}")


def leave_for(target: str) -> None:
    """Open another page; its widgets and the sidebar's get their values from `widgets.OPENED`."""
    # `st.switch_page` clears the URL first and raises if a widget is bound to a parameter in it.
    # The values are kept, so the parameters can go; there is no public call for that.
    with get_script_run_ctx().session_state.query_params() as parameters:
        parameters.clear_with_no_forward_msg()
    st.switch_page(target)


# Else the icon of a page becomes the tab's, which Streamlit asks another host for.
st.set_page_config(
    page_title="Appellate", page_icon=LOGO, layout="wide", initial_sidebar_state="auto"
)
st.html(STYLE.replace("</style>", f"{theme_colours()}</style>"))
st.logo(LOGO, size="large", link=None)
started = exists() and type(get_instance()) is Runtime
if started and os.environ.get("APPELLATE_LAUNCHED") != str(os.getpid()):
    # A server of this script alone has no security headers, and lets in everyone.
    st.text("This is a part of Appellate. Start it with: streamlit run app.py")
    st.stop()
if started:
    first_picture.prepare()
role = people.visitor()
if role is None:
    st.text(f"{st.user.get('email') or 'You'} may not come in. Ask who runs this server.")
    st.button("Sign out", on_click=st.logout)
    st.stop()
page = st.navigation(navigation(role), expanded=True)
st.session_state.pop(numbers.MENU, None)
st.session_state.pop(folds.WHOLE, None)
with usable.or_said(page.title), parts.anew_if_changed():
    with widgets.errors():
        if target := st.session_state.pop(widgets.GOING, None):
            leave_for(target)
        for name, value in st.session_state.pop(widgets.OPENED, {}).items():
            if name == widgets.JUDGE:
                widgets.choose_judge(value)
            elif name == widgets.TAB:
                if value:
                    st.query_params[widgets.TAB] = value
            else:
                st.session_state[name] = value
        here = [dataset.name for dataset in cached.datasets()]
        widgets.keep_judge(page.url_path)
        asked, judges = st.query_params.get("dataset"), st.query_params.get_all("judges")
        judges += st.query_params.get_all(widgets.JUDGE)
        choose_dataset(asked)
        with st.sidebar:
            blind = page.url_path in BLIND
            selection = st.session_state[widgets.SELECTION] = sidebar(here, blind=blind)
            if people.sign_in():
                st.text(str(st.user.get("email")))
                st.button("Sign out", key="sign-out", on_click=st.logout)
            # The verdict has the button in its bar.
            if here and page.url_path and not blind:
                share.share()
        title = (page.title, widgets.current_dataset(), "Appellate")
        st.set_page_config(page_title=" · ".join(filter(None, title)), page_icon=LOGO)
        left_out = None
        if page.url_path not in (*start.FILLS, *BLIND):
            st.session_state[widgets.SELECTION], left_out = bounded(selection)
        store = cached.get_store()
        for note in (*store.notes, *store.trouble()):
            st.text(note)
        say_what_changed()
        say_what_is_absent(asked, here)
        if (asked is None or asked in here) and not blind:
            say_which_judges_are_absent(judges, selection.judges)
        if left_out is not None:
            st.text(left_out)
        moved(page)
        if here or page.url_path in start.FILLS:
            page.run()
        else:
            start.first_steps()
    numbers.download_menu()
