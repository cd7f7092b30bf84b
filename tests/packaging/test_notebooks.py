"""The notebooks of `docs/` run as they stand, and show what they speak of."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from patience import LONG
from places import REPOSITORY

NOTEBOOKS = sorted((REPOSITORY / "docs").glob("*.ipynb"))


def cells(path: Path) -> list[dict[str, Any]]:
    return list(json.loads(path.read_text(encoding="utf-8"))["cells"])


def ran(path: Path) -> list[dict[str, Any]]:
    """The code cells of a notebook with their outputs, run in its folder by a kernel of its own."""
    nbclient = pytest.importorskip("nbclient")
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=LONG, kernel_name="python3", resources={"metadata": {"path": path.parent}}
    )
    # A browser test leaves a loop in this thread.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(client.async_execute())).result()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shown(cell: dict[str, Any]) -> str:
    """All text of a cell's outputs."""
    texts = []
    for output in cell["outputs"]:
        data = output.get("data", {})
        texts += [output.get("text", ""), data.get("text/html", ""), data.get("text/plain", "")]
    return "\n".join(texts)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_kept_without_outputs(path: Path) -> None:
    for cell in cells(path):
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None
            compile("".join(cell["source"]), path.name, "exec")


def test_the_documents_name_the_notebooks() -> None:
    assert len(NOTEBOOKS) == 2
    index = (REPOSITORY / "docs" / "index.md").read_text(encoding="utf-8")
    assert all(f"({path.name})" in index for path in NOTEBOOKS)


@pytest.mark.thorough
def test_is_my_judge_good_enough() -> None:
    _, whole, verdicts, right, failures, table, against = ran(
        REPOSITORY / "docs" / "is-my-judge-good-enough.ipynb"
    )
    (output,) = whole["outputs"]
    assert "<svg" in output["data"]["text/html"]
    assert len(output["data"]["text/html"].encode()) < 20_000
    assert len(output["data"]["text/plain"]) <= 500
    assert "sim-judge-first-slot   do_not_trust       because of position" in shown(verdicts)
    assert "sim-judge-careful      0.9" in shown(right)
    assert shown(right).count(": yes") >= 2
    assert "sim-judge-boaster, calibration: Confidence is off by" in shown(failures)
    assert "<table" in shown(table)
    assert "nothing moved" in shown(against)


@pytest.mark.thorough
def test_how_many_votes_do_i_need() -> None:
    start, sweep, plan, labels, unclear, items = ran(
        REPOSITORY / "docs" / "how-many-votes-do-i-need.ipynb"
    )
    assert "13,415 votes on 1,1" in shown(start)
    assert "more_low" in shown(sweep)
    assert "instead of 12 votes per comparison" in shown(plan)
    assert "Shrunken BTD" in shown(labels)
    assert "items would decide, there are" in shown(unclear)
    assert "items for ± 0.01" in shown(items)
