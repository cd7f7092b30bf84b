"""Outputs of six audits are those that were approved, byte for byte."""

from __future__ import annotations

import outputs
import pytest


@pytest.mark.parametrize("name", outputs.AUDITS)
def test_outputs_are_as_approved(name: str) -> None:
    if not outputs.AUDITS[name][0].exists():
        pytest.skip("../shared/data is not in this checkout")
    audit = outputs.audited(name)
    for output in outputs.OUTPUTS:
        approved = (outputs.HERE / name / output).read_text(encoding="utf-8")
        assert outputs.written(audit, output) == approved, f"{name}: {output}; see `make approve`"
