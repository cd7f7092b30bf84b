"""The examples in docstrings of core run and give what they say."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import core

ROOT = Path(core.__file__).parent
MODULES = sorted(
    ".".join(("core", *path.relative_to(ROOT).with_suffix("").parts))
    for path in ROOT.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)
WITH_EXAMPLES = {
    "core.questions.accuracy.confusion_matrix": {"confusion"},
    "core.questions.agreement.kappa": {"cohen_kappa"},
    "core.questions.agreement.reliability": {"icc"},
    "core.questions.order.method": {"position_bias"},
    "core.questions.confidence.calibration_error": {"calibration", "reliability"},
    "core.questions.confidence.th_scores": {"th_score"},
}


@pytest.mark.parametrize("name", MODULES)
def test_examples_of(name: str) -> None:
    found = doctest.testmod(import_module(name))
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_main_functions_have_an_example(name: str) -> None:
    module = import_module(name)
    for function in WITH_EXAMPLES[name]:
        assert ">>> " in (getattr(module, function).__doc__ or ""), function
