"""Tables of docs/results.md: aggregators on RewardBench 2 pairs by judge and category, 5 % of items
to fit.

    python -m benchmarks.rewardbench2 [rewardbench2_pairs.csv.gz]
    python -m benchmarks.rewardbench2 --temperature [rewardbench2_temperature.csv.gz]

Prints Markdown. Each cell is `core.questions.labels.evaluation.evaluate` with its defaults and
seed 0.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from core.importers import ReadOptions, read
from core.questions.labels.btd import fit
from core.questions.labels.evaluation import Evaluation, MethodScore, evaluate
from core.questions.labels.rules import RULES
from core.questions.labels.shrinkage import WEAK, Prior, pool
from core.records import VoteCounts
from core.schema import Selection
from core.store import Store
from core.store import vote_queries as queries

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "votes"
VOTES = FOLDER / "rewardbench2_pairs.csv.gz"
TEMPERATURES = FOLDER / "rewardbench2_temperature.csv.gz"

Cell = tuple[str, str]
"""Judge and category."""

COLUMNS = ("majority", "threshold", "btd", "weak", "btd_shrunk")
BY_TEMPERATURE = ("majority", "threshold", "btd", "btd_shrunk")
SHORT = {
    "majority": "SC",
    "threshold": "Threshold",
    "btd": "BTD",
    "weak": "Weak prior",
    "btd_shrunk": "Shrunken BTD",
}
REFERENCE = {"majority": 0.450, "threshold": 0.348, "btd": 0.347, "weak": 0.344, "all": 0.335}
"""Mean MAE of an independent implementation on other splits (docs/methods.md §2)."""


def cells(path: Path) -> dict[Cell, VoteCounts]:
    """Vote counts of each judge and category of a file of votes."""
    found: dict[Cell, VoteCounts] = {}
    with Store.open(None) as store:
        for reading in read([(path.name, path)], ReadOptions()):
            store.load(reading)
        for category in queries.values(store, Selection(), "category"):
            counts = queries.vote_counts(store, Selection(where=(("category", category),)))
            found |= {(judge, category): votes for judge, votes in counts.items()}
    return dict(sorted(found.items()))


def priors(found: Mapping[Cell, VoteCounts], *, own: bool = False) -> dict[Cell, Prior]:
    """Prior of each cell: BTD fitted on all labels of the *other* categories, of every judge or its
    own.
    """
    labelled = {cell: votes.labelled().cells()[0] for cell, votes in found.items()}
    fits = {cell: fit(votes) for cell, votes in labelled.items()}
    made = {}
    for judge, category in found:
        used = [cell for cell in fits if cell[1] != category and (not own or cell[0] == judge)]
        made[judge, category] = pool(
            [fits[cell] for cell in used],
            source="other categories",
            cells=[labelled[cell] for cell in used],
        )
    return made


def evaluations(path: Path, *, category: str | None = None) -> dict[Cell, Evaluation]:
    """Every rule in each cell, or in those of one category; the prior is that of the other
    categories.
    """
    found = cells(path)
    prior = priors(found)
    return {
        cell: evaluate(votes, prior=prior[cell], rng=np.random.default_rng(0))
        for cell, votes in found.items()
        if category in (None, cell[1])
    }


OTHER_PRIORS = {
    "weak": "Shrunken BTD, fixed weak prior",
    "own": "Shrunken BTD, only this judge's other categories",
    "unchecked": "Shrunken BTD, its prior not checked",
}


def other_priors(path: Path) -> dict[str, dict[Cell, MethodScore]]:
    """Shrunken BTD with other priors on the same splits, without resamples: key → cell → score."""
    found = cells(path)
    by_key = {
        "weak": dict.fromkeys(found, WEAK),
        "own": priors(found, own=True),
        "unchecked": {cell: replace(prior, checked=False) for cell, prior in priors(found).items()},
    }
    return {
        key: {
            cell: evaluate(
                votes,
                methods=["btd_shrunk"],
                prior=prior[cell],
                rng=np.random.default_rng(0),
                resamples=0,
            ).scores["btd_shrunk"]
            for cell, votes in found.items()
        }
        for key, prior in by_key.items()
    }


def table(found: Mapping[Cell, Evaluation], weak: Mapping[Cell, MethodScore]) -> str:
    """Markdown: MAE / PA by cell, bold if in the top cluster; BTD fitted on all labels last."""
    lines = [
        f"| judge | category | n | {' | '.join(SHORT[key] for key in COLUMNS)} | BTD, all labels |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for cell, result in found.items():
        shown = []
        for key in COLUMNS:
            score = weak[cell] if key == "weak" else result.scores[key]
            text = f"{score.mae:.3f} / {score.pa:.3f}"
            shown.append(f"**{text}**" if score.top_cluster else text)
        judge, category = cell
        lines.append(
            f"| {judge} | {category} | {result.n} | {' | '.join(shown)} | "
            f"{result.mae_all_labels:.3f} |"
        )
    return "\n".join(lines)


def summary(
    found: Mapping[Cell, Evaluation], others: Mapping[str, Mapping[Cell, MethodScore]]
) -> str:
    """Markdown: every rule over all cells, least mean MAE first; those that do not apply, with the
    reason.
    """
    one = next(iter(found.values()))
    scores = {key: [result.scores[key] for result in found.values()] for key in one.scores}
    scores |= {key: list(of_cells.values()) for key, of_cells in others.items()}
    lines = [
        "| rule | mean MAE | mean PA | mean regret | at worst above BTD | top cluster | reference "
        "MAE |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for key, of_cells in sorted(scores.items(), key=lambda row: _mean(row[1], "mae")):
        above = [score.mae - btd.mae for score, btd in zip(of_cells, scores["btd"], strict=True)]
        top = sum(bool(score.top_cluster) for score in of_cells)
        lines.append(
            f"| {OTHER_PRIORS.get(key) or RULES[key].name} | {_mean(of_cells, 'mae'):.4f} "
            f"| {_mean(of_cells, 'pa'):.3f} | {_mean(of_cells, 'regret'):.4f} "
            f"| {'–' if key == 'btd' else f'{max(above):.4f}'} "
            f"| {'–' if key in others else f'{top} of {len(found)}'} "
            f"| {f'{REFERENCE[key]:.3f}' if key in REFERENCE else '–'} |"
        )
    everything = np.mean([result.mae_all_labels for result in found.values()])
    lines.append(f"| BTD, all labels | {everything:.4f} | – | 0 | – | – | {REFERENCE['all']:.3f} |")
    return "\n".join(lines)


def not_applicable(found: Mapping[Cell, Evaluation]) -> str:
    """Sentence: the rules that these votes cannot feed, by reason."""
    reasons: dict[str, list[str]] = {}
    for key, reason in next(iter(found.values())).not_applicable.items():
        reasons.setdefault(reason, []).append(RULES[key].name)
    return "; ".join(f"{', '.join(names)} ({reason})" for reason, names in reasons.items())


def threshold_beats(found: Mapping[Cell, Evaluation], key: str) -> str:
    """Names of the cells where the plain threshold has less MAE than a rule."""
    lost = [
        cell
        for cell, result in found.items()
        if result.scores["threshold"].mae < result.scores[key].mae
    ]
    judges = {judge: [category for name, category in lost if name == judge] for judge, _ in lost}
    return f"{len(lost)} of {len(found)}" + "".join(
        f"; {judge}: {', '.join(categories)}" for judge, categories in judges.items()
    )


def temperature_rows(found: Mapping[Cell, Evaluation]) -> list[str]:
    """Markdown rows: MAE with intervals by item, by category and temperature (in the
    judge's name).
    """
    rows = []
    for (judge, category), result in sorted(
        found.items(), key=lambda one: (one[0][1], _temperature(one[0][0]))
    ):
        shown = [
            f"{score.mae:.3f} ({score.mae_item_low:.3f} to {score.mae_item_high:.3f})"
            for score in (result.scores[key] for key in BY_TEMPERATURE)
        ]
        rows.append(f"| {_temperature(judge):g} | {category} | {result.n} | {' | '.join(shown)} |")
    return rows


def temperature_table(path: Path) -> str:
    """Markdown: `temperature_rows` of every category, and the means over categories."""
    found = evaluations(path)
    lines = [
        f"| T | category | n | {' | '.join(SHORT[key] for key in BY_TEMPERATURE)} |",
        "|--:|---|--:|--:|--:|--:|--:|",
        *temperature_rows(found),
    ]
    for judge in sorted({judge for judge, _ in found}, key=_temperature):
        of_judge = [result.scores for cell, result in found.items() if cell[0] == judge]
        means = [
            f"{_mean([scores[key] for scores in of_judge], 'mae'):.3f}" for key in BY_TEMPERATURE
        ]
        lines.append(f"| {_temperature(judge):g} | mean | | {' | '.join(means)} |")
    return "\n".join(lines)


def unanimous(path: Path) -> str:
    """Sentence: share of the comparisons on which all votes agree, by temperature."""
    agree: dict[float, list[float]] = {}
    for (judge, _), votes in cells(path).items():
        most = np.max([votes.plus, votes.tie, votes.minus], axis=0)
        agree.setdefault(_temperature(judge), []).extend(most == votes.n)
    shares = (f"{np.mean(agree[degree]):.0%} at {degree:g}" for degree in sorted(agree))
    return f"All votes agree on {', '.join(shares)} of the comparisons."


def _temperature(judge: str) -> float:
    stated = re.search(r"T=([\d.]+)", judge)
    if stated is None:
        raise ValueError(f"{judge!r} does not name its temperature as T=…")
    return float(stated[1])


def _mean(scores: list[MethodScore], name: str) -> float:
    return float(np.mean([getattr(score, name) for score in scores]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("votes", nargs="?", type=Path)
    parser.add_argument(
        "--temperature", action="store_true", help="by temperature, named in the judge"
    )
    options = parser.parse_args()
    if options.temperature:
        path = options.votes or TEMPERATURES
        print(f"{unanimous(path)}\n\n{temperature_table(path)}")
        return
    path = options.votes or VOTES
    found, others = evaluations(path), other_priors(path)
    print(summary(found, others))
    print(f"\nNot applicable: {not_applicable(found)}.")
    print(f"\nCells where the threshold errs less than BTD: {threshold_beats(found, 'btd')}.")
    print(
        f"\nCells where it errs less than shrunken BTD: {threshold_beats(found, 'btd_shrunk')}.\n"
    )
    print(table(found, others["weak"]))


if __name__ == "__main__":
    main()
