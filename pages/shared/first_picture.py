"""How the first picture of a visit comes early.

The code that draws figures takes a browser longer to load than most answers take to compute, and
whatever is there once it has loaded is drawn in one step. So it is fetched with the page
(`HEADERS`) and loaded while the server computes (`prepare`), and what follows the first figure is
sent when that one can be drawn (`rest_follows`). After a control a browser would draw all figures
of a page in one step too: there the first one has a moment of its own.
"""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from secrets import token_urlsafe
from threading import Event
from time import sleep
from weakref import WeakValueDictionary

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from core.finding.figure import figure

PATIENCE = 1.5
"""Seconds after which the rest is sent to a browser that says nothing."""
ALONE = 0.12
"""Seconds that a browser has for the first figure after a control, before it is sent more."""
BEFORE_FIRST = "no figure was sent since the control"
LOADED = "figures-can-be-drawn"
VISIT = "visit, and whether its browser can draw figures"
PIXEL = b64decode("R0lGODlhAQABAAAAACwAAAAAAQABAAA=")

# The session of a visit owns its event.
_visits: WeakValueDictionary[str, Event] = WeakValueDictionary()


def _headers() -> dict[str, str]:
    scripts = (Path(st.__file__).parent / "static" / "static" / "js").glob("PlotlyChart.*.js")
    links = ", ".join(f"<./static/js/{script.name}>; rel=modulepreload" for script in scripts)
    return {"Link": links} if links else {}


HEADERS = _headers()
"""Of a page: the browser fetches the code of figures with it; else it would ask for it last."""


def prepare() -> None:
    """Have the browser load the code of figures now, by a hidden figure; drawing it fetches its
    image.
    """
    if VISIT not in st.session_state:
        name, event = token_urlsafe(12), Event()
        st.session_state[VISIT] = name, event
        _visits[name] = event
    image = {"source": f"{LOADED}/{st.session_state[VISIT][0]}.gif", "sizex": 1, "sizey": 1}
    fig = figure("", "", height=20).update_layout(images=[image])
    with st.container(key="ahead"):
        st.plotly_chart(fig, key="ahead-figure", theme=None, config={"staticPlot": True})


def begins() -> None:
    """The next figure is the first that a control draws anew."""
    st.session_state[BEFORE_FIRST] = True


def rest_follows() -> None:
    """Go on when the browser can draw what was sent so far, in the first run of a visit; later ones
    give the first figure its moment.
    """
    first = st.session_state.pop(BEFORE_FIRST, False)
    if VISIT not in st.session_state:
        return
    event = st.session_state[VISIT][1]
    if not event.is_set():
        event.wait(PATIENCE)
        event.set()
    elif first:
        sleep(ALONE)


def _loaded(request: Request) -> Response:
    if event := _visits.get(request.path_params["visit"]):
        event.set()
    return Response(PIXEL, media_type="image/gif", headers={"Cache-Control": "no-store"})


ROUTE = Route(f"/{LOADED}/{{visit}}.gif", _loaded)
