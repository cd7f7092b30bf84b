"""Debiased boards and guarantees in figures."""

from __future__ import annotations

import numpy as np
import pytest
from draws import seeded

from core.errors import InvalidOption, NoUsableVotes, UnknownName
from core.finding.figure import COLOURS, Style
from core.questions.boards.check_figure import debiased_figure
from core.questions.boards.debiased import (
    debiased_board,
    debiased_rate,
    hide_gold,
    most_misjudged,
    oriented,
    pooled_votes,
)
from core.questions.confidence.figure import guarantee_figure
from core.questions.confidence.selective import by_share, guarantee, label_outcomes, risk_coverage
from core.records import NO_GOLD, VoteCounts

HOSTILE = "<img src=x onerror=alert(1)>"


def test_board_turns_the_candidate_to_side_a_and_pools() -> None:
    code = np.arange(40)
    rng = np.random.default_rng(2)
    votes = rng.multinomial(3, [0.5, 0.2, 0.3], size=40)
    gold = np.where(code < 24, rng.choice([-1, 0, 1], 40), NO_GOLD)
    counts = VoteCounts(
        comparison=code, item=code, plus=votes[:, 0], tie=votes[:, 1], minus=votes[:, 2], gold=gold
    )
    a = ["ref" if c % 2 else "m" for c in code]
    b = ["m" if c % 2 else "ref" for c in code]
    found = debiased_board(counts, "ref", model_a=a, model_b=b)
    turned = oriented(counts, np.ones(40, bool), code % 2 == 1)
    np.testing.assert_array_equal(turned.plus, np.where(code % 2, votes[:, 2], votes[:, 0]))
    assert [row.model for row in found.rows] == ["m"]
    assert found.rows[0].rate.value == debiased_rate(turned).value
    twice = debiased_board(pooled_votes([counts, counts]), "ref", model_a=a, model_b=b)
    assert twice.rows[0].rate.value == pytest.approx(found.rows[0].rate.value, abs=1e-12)
    assert pooled_votes([counts, counts]).n_votes == 2 * counts.n_votes
    few = debiased_board(hide_gold(counts, share=0.2, rng=seeded()), "ref", model_a=a, model_b=b)
    assert (few.rows, most_misjudged(few)) == ((), None)
    assert "at least 10 items" in few.reasons["m"]
    with pytest.raises(UnknownName):
        debiased_board(counts, "nobody", model_a=a, model_b=b)
    with pytest.raises(InvalidOption):
        hide_gold(counts, share=2, rng=seeded())
    with pytest.raises(NoUsableVotes):
        pooled_votes([])


def test_figures_plot_the_results_and_escape_names() -> None:
    code = np.arange(300)
    rng = np.random.default_rng(3)
    right = rng.random(300) < 0.9
    gold = rng.choice([-1, 1], 300)
    vote = np.where(right, gold, -gold)
    counts = VoteCounts(
        comparison=code,
        item=code,
        plus=(vote == 1) * 3,
        tie=np.zeros(300, dtype=np.int64),
        minus=(vote == -1) * 3 + 1,
        gold=np.where(code < 100, gold, NO_GOLD),
    )
    found = debiased_board(counts, "ref", model_a=[HOSTILE] * 300, model_b=["ref"] * 300)
    style = Style(colour=COLOURS["light"].accent, symbol="circle")
    fig = debiased_figure(found, style=style)
    rate = found.rows[0].rate
    points = [trace for trace in fig.data if trace.x is not None and trace.x[0] is not None]
    assert [trace.x[0] for trace in points] == [rate.value, rate.labels.value, rate.judge]
    assert points[0].x[0] + points[0].error_x.array[0] == pytest.approx(rate.high)
    assert "<img" not in str(fig.to_json())
    decisions = by_share(counts)
    settled = guarantee(decisions, alpha=0.2, delta=0.1, rng=seeded())
    curve = risk_coverage(label_outcomes(decisions))
    drawn = guarantee_figure({HOSTILE: curve}, {HOSTILE: settled}, styles={HOSTILE: style})
    assert drawn.layout.xaxis.title.text == "share of comparisons kept, the surest first"
    # Keys of marks are data, shown nowhere as HTML.
    shown = [trace.name for trace in drawn.data] + [str(trace.hovertext) for trace in drawn.data]
    assert not any("<img" in (text or "") for text in shown)
