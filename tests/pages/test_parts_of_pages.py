"""Parts of pages that are drawn alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from served import Server, Session
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests

from pages.shared.parts import asked_anew


def test_a_waiting_step_of_a_part_is_seen():
    requests = ScriptRequests()
    assert not asked_anew(requests)
    assert not asked_anew(None)
    assert requests.request_rerun(RerunData(fragment_id="part"))
    assert asked_anew(requests)
    # Streamlit itself does not end a run for it.
    assert requests.on_scriptrunner_yield() is None


BODIES = (
    "",
    "calibration",
    "confusion",
    "position_bias",
    "agreement",
    "votes_to_labels",
    "planning",
)


def moved(shown: Iterable[ForwardMsg]) -> Iterator[tuple[str, WidgetState]]:
    """Sliders and the box of judges in parts of a page, each at another value, with its part."""
    for message in shown:
        element, state = message.delta.new_element, WidgetState()
        if not message.delta.fragment_id:
            continue
        if element.HasField("slider"):
            slider = element.slider
            state.id = slider.id
            value = slider.default[0] + slider.step
            state.double_array_value.data.append(value if value <= slider.max else slider.min)
        elif element.selectbox.label == "Judge":
            state.id = element.selectbox.id
            state.string_value = element.selectbox.options[-1]
        else:
            continue
        yield message.delta.fragment_id, state


@pytest.mark.thorough
def test_a_control_draws_its_part_alone_and_whole(own_store_path: Path) -> None:
    """In a browser a control draws a part, which other tests of pages do not: they draw the
    whole.
    """
    with Server("app.py", own_store_path) as server:
        for page in BODIES:
            with Session(server) as visitor:
                visitor.run(page)
                # The innermost part first: a new one takes its place when the part around it is drawn.
                controls = dict(reversed(list(moved(visitor.sent))))
                assert controls, page
                for part, control in controls.items():
                    answer = visitor.run(page, controls=[control], part=part)
                    assert "exception {" not in answer, (page, control.id)
                    assert "navigation {" not in answer, (page, control.id)
