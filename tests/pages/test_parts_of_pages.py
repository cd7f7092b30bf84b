"""Parts of pages that are drawn alone."""

from __future__ import annotations

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
