"""Tables of [BTD]: labels from repeated votes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from ..errors import AppellateError, NoUsableVotes, TooFewLabels
from ..questions.accuracy.confusion_matrix import confusion
from ..questions.agreement.judge_vs_human import leave_one_out
from ..questions.labels.btd import BTDOptions, apply, decision_map, features, fit
from ..questions.labels.confidence_weights import confidence_weighted
from ..questions.labels.evaluation import evaluate
from ..questions.labels.forced_prompts import forced_choice, likely_prompts
from ..questions.labels.ordinal_model import of_scores, ordinal
from ..questions.labels.solver import LOSSES
from ..questions.order.balance import order_balance
from ..questions.order.results import POSITION
from ..questions.planning.comparison import parameter_grid
from ..questions.planning.grid import ALL_TASKS, Grid, given_in_cells, task_grid
from ..questions.planning.parameter_transfer import (
    Transfer,
    task_distances,
    transfer,
    transfer_prediction,
)
from ..questions.planning.sweeps import label_sweep, subsample, vote_sweep, votes_source
from ..records import NO_GOLD, BoolArray, IntArray, OrderCounts, VoteCounts, kept_rows
from ..stats.estimate import DataFrame, flat
from ..store import vote_queries as queries
from .asked import Asked, rows, together

MAP_JUDGES = 2
"""Judges whose decisions are mapped: the two settings of the figure."""


def fitted(asked: Asked) -> DataFrame:
    """β, ν, γ and DRPS of each judge on all its labels."""
    return together({name: each.to_frame() for name, each in asked.fits.items()})


def decisions(asked: Asked) -> DataFrame:
    """What BTD and the majority decide for every way in which n votes can fall, with s, t, p."""
    frames = {}
    for name, votes in list(asked.labelled.items())[:MAP_JUDGES]:
        n = min(int(np.bincount(votes.n).argmax()), 12)
        found = decision_map(asked.fits[name], n)
        patterns = np.column_stack([found.plus, found.tie, found.minus])
        frame = found.to_frame()
        cells = VoteCounts(
            comparison=np.arange(len(patterns)),
            item=np.arange(len(patterns)),
            plus=found.plus,
            tie=found.tie,
            minus=found.minus,
            gold=np.zeros(len(patterns), dtype=np.int64),
        )
        s, t = features(cells, asked.btd)
        beta, _, gamma = asked.fits[name].beta, asked.fits[name].nu, asked.fits[name].gamma
        frame.insert(3, "s", s)
        frame.insert(4, "t", t)
        frame.insert(5, "u", beta * s)
        frame.insert(6, "eta", asked.fits[name].eta0 + gamma * t)
        frames[name] = frame
    return together(frames)


def position(asked: Asked) -> DataFrame:
    """Votes for the first slot, the second and neither, and bias of decided and of all votes."""
    found = {each.judge: each[POSITION] for each in asked.evidence()}
    return together({name: each.to_frame() for name, each in found.items() if each is not None})


def forced(asked: Asked) -> DataFrame:
    """A prompt that forces a choice beside one that allows ties, on all and on gold ties."""
    chosen = asked.options.forced_choice or likely_prompts(asked.votes)
    forced_judge, free = chosen
    found = forced_choice(
        asked.counted.votes,
        asked.counted.positions,
        forced_judge,
        free,
        asked.btd,
        rng=asked.rng(),
        **asked.splits,
    )
    return rows(
        {"judge": row.judge, "where": row.where, "comparisons": row.n, "votes": row.n_votes}
        | {name: getattr(row.position, name, None) for name in ("first", "second", "tie")}
        | flat(row, names=("ties", "right"))
        | {
            "bias_decided": getattr(getattr(row.position, "bias_decided", None), "value", None),
            "bias_all": getattr(getattr(row.position, "bias_all", None), "value", None),
        }
        for row in found.rows
    )


def _ties(votes: VoteCounts) -> float:
    return float(votes.tie.sum() / votes.n.sum())


def tie_rates(asked: Asked) -> DataFrame:
    """Share of tie votes, judge × value of the column of tasks or prompts, with both margins."""
    table = [
        {"judge": name}
        | {value: _ties(of[name]) if name in of else None for value, of in asked.tasks.items()}
        | {"all": _ties(votes)}
        for name, votes in asked.votes.items()
    ]
    columns = [*asked.tasks, "all"]
    means = {
        column: float(np.mean([row[column] for row in table if row[column] is not None]))
        for column in columns
    }
    return rows([*table, {"judge": "mean of judges"} | means])


def _grid(asked: Asked, by_task: Mapping[str, Mapping[str, VoteCounts]], sizes: bool) -> Grid:
    kept = {
        task: {name: votes for name, votes in of.items() if name in asked.labelled}
        for task, of in by_task.items()
    }
    most = max(int(votes.n.max(initial=0)) for of in kept.values() for votes in of.values())
    return task_grid(
        kept,
        asked.btd,
        sizes=tuple(n for n in asked.settings.sizes if n < most) if sizes else (),
        given=given_in_cells(kept, asked.counted.weighed, asked.counted.votes),
        confidences=asked.counted.by_confidence if sizes else None,
        seed=asked.options.seed,
        level=asked.options.level,
        **asked.splits,
    )


def rules(asked: Asked) -> DataFrame:
    """MAE and pairwise accuracy of every rule for each judge, with its top cluster."""
    return _grid(asked, {ALL_TASKS: asked.labelled}, sizes=False).to_frame()


def grid(asked: Asked) -> DataFrame:
    """The same by task, judge and number of votes."""
    return _grid(asked, asked.tasks, sizes=True).to_frame()


def gains(asked: Asked) -> DataFrame:
    """MAE of the majority and of BTD by task, judge and number of votes, and the difference."""
    return rows(
        {
            "task": cell.task,
            "judge": cell.judge,
            "votes": cell.votes,
            "comparisons": cell.n,
            "majority": next((one.mae for one in cell.scores if one.key == "majority"), None),
            "btd": next((one.mae for one in cell.scores if one.key == "btd"), None),
            "gain": cell.gain,
        }
        for cell in _grid(asked, asked.tasks, sizes=True).cells
    )


def vote_numbers(asked: Asked) -> DataFrame:
    """MAE and pairwise accuracy of every rule by number of votes, with intervals."""
    orders = asked.counted.ask(queries.order_counts) if asked.counted.positions else {}
    stated = asked.counted.by_confidence.get(asked.judge)
    with_all = stated is not None and not np.isnan(stated.confidence).any()
    counts = votes_source(asked.counted.votes[asked.judge], orders.get(asked.judge))
    found = vote_sweep(counts, asked.btd, rng=asked.rng(), confidences=stated if with_all else None)
    return together({asked.judge: found.to_frame()})


def label_numbers(asked: Asked) -> DataFrame:
    """MAE of every rule by number of labels, 20 to 200."""
    found = label_sweep(asked.counted.votes[asked.judge].labelled(), asked.btd, rng=asked.rng())
    return together({asked.judge: found.to_frame()})


def people(asked: Asked) -> DataFrame:
    """Each person left out: accuracy of them and of each judge on the others' mode, by votes."""
    humans = sorted(name for name in asked.counted.people if name in asked.counted.votes)
    if len(humans) < 2:
        raise NoUsableVotes("It needs two people or more who voted (rater_type human).")
    of_people = {name: asked.counted.votes[name] for name in humans}
    most = max(int(votes.n.max(initial=0)) for votes in asked.votes.values())
    frames = {}
    for size in (*(n for n in asked.settings.sizes if n < most), None):
        drawn = {
            name: votes if size is None else subsample(votes, size, rng=asked.rng())
            for name, votes in asked.votes.items()
            if size is None or int(votes.n.max(initial=0)) >= size
        }
        found = leave_one_out(of_people | drawn, humans, rng=asked.rng(), level=asked.options.level)
        frame = found.to_frame()
        won = frame.groupby(["judge", "rule"])["wins"].transform("sum")
        frames["all" if size is None else str(size)] = frame.assign(
            people_beaten=won, of=len(humans)
        )
    return together(frames, "votes")


def _transfer(asked: Asked) -> tuple[dict[str, VoteCounts], Transfer]:
    tasks = {value: of[asked.judge] for value, of in asked.tasks.items() if asked.judge in of}
    return tasks, transfer(tasks, asked.btd, rng=asked.rng(), **asked.splits)


def transfers(asked: Asked) -> DataFrame:
    """Change of MAE on each task with the fit of each other."""
    return together({asked.judge: _transfer(asked)[1].to_frame()})


def transfer_foreseen(asked: Asked) -> DataFrame:
    """How well distances of tasks foretell the change."""
    tasks, found = _transfer(asked)
    distances = task_distances({name: tasks[name] for name in found.tasks})
    return transfer_prediction(found, distances, rng=asked.rng()).to_frame()


def _golds(of: Mapping[str, VoteCounts]) -> IntArray:
    """Gold of every comparison that some judge saw, once."""
    comparison = np.concatenate([votes.comparison for votes in of.values()])
    gold = np.concatenate([votes.gold for votes in of.values()])
    _, first = np.unique(comparison, return_index=True)
    labels: IntArray = gold[first][gold[first] != NO_GOLD]
    return labels


def _shares(labels: IntArray) -> dict[str, float | int | None]:
    n = len(labels)
    shares = {
        name: float((labels == label).mean()) if n else None
        for name, label in (("A", 1), ("tie", 0), ("B", -1))
    }
    return {"comparisons": n} | shares


def gold_shares(asked: Asked) -> DataFrame:
    """Gold A, tie and B in each data set and category, in comparisons."""
    found = []
    for column in ("dataset", "category"):
        by_value = asked.counted.ask(queries.vote_counts_by, column=column)
        found += [
            {"by": column, "value": value} | _shares(_golds(of))
            for value, of in by_value.items()
            if value
        ]
    return rows(found)


def label_shares(asked: Asked) -> DataFrame:
    """Shares of A, tie and B by gold, the majority and BTD for every judge."""
    return rows(
        {"judge": name, "source": source} | _shares(labels)
        for name, votes in asked.labelled.items()
        for source, labels in (
            ("gold", votes.gold),
            ("majority", votes.label),
            ("btd", apply(asked.fits[name], votes)),
        )
    )


def confusions(asked: Asked) -> DataFrame:
    """P(label | gold) with counts, for the votes, the majority and BTD."""
    frames = {}
    for name, votes in asked.labelled.items():
        for source, labels in (
            ("votes", None),
            ("majority", votes.label),
            ("btd", apply(asked.fits[name], votes)),
        ):
            frame = confusion(votes, labels=labels, level=asked.options.level).to_frame()
            frames[f"{name}\0{source}"] = frame
    found = together(frames)
    found.insert(1, "labels", found["judge"].str.partition("\0")[2])
    return found.assign(judge=found["judge"].str.partition("\0")[0])


def parameters(asked: Asked) -> DataFrame:
    """Mean and quartiles of β, ν, γ over splits by task and judge, and the regime."""
    groups = {(task, name): of[name] for task, of in asked.tasks.items() for name in of}
    return parameter_grid(groups, asked.btd, rng=asked.rng(), **asked.splits).to_frame()


def order_balances(asked: Asked) -> DataFrame:
    """MAE of the majority and of BTD with n votes of one order, of the other, and of half each."""
    orders = asked.counted.ask(queries.order_counts) if asked.counted.positions else {}
    found = []
    for name in asked.labelled:
        if name not in orders:
            continue
        counts = orders[name]
        balance = order_balance(counts, level=asked.options.level)
        if balance is None:
            continue
        n = int(balance.votes[0])
        both = (counts.ab.sum(axis=1) >= n) & (counts.ba.sum(axis=1) >= n)
        for order, each in zip(balance.orders, balance.mae, strict=True):
            found.append(
                {"judge": name, "votes": n if order != "both" else 2 * n, "orders": order}
                | {"mae_majority": each.value, "low": each.low, "high": each.high}
                | {"mae_btd": _btd_error(asked, counts, both, order, n)}
            )
    return rows(found, "It needs gold, and votes of a judge in both orders (column position).")


def _btd_error(
    asked: Asked, counts: OrderCounts, rows_used: BoolArray, order: str, n: int
) -> float | None:
    """MAE of BTD over splits with n votes of one order, half of each, or all of both."""
    counts = OrderCounts(**kept_rows(counts, rows_used))
    total = {"ab": counts.ab, "ba": counts.ba}.get(order, counts.ab + counts.ba)
    votes: Any = counts
    if order != "balanced":
        votes = VoteCounts(
            comparison=counts.comparison,
            item=counts.item,
            gold=counts.gold,
            **dict(zip(("minus", "tie", "plus"), total.T, strict=True)),
        )
    try:
        drawn = votes if order == "both" else subsample(votes, n, rng=asked.rng())
        return (
            evaluate(
                drawn.labelled(),
                asked.btd,
                rng=asked.rng(),
                methods=("btd",),
                resamples=100,
                **asked.splits,
            )
            .scores["btd"]
            .mae
        )
    except AppellateError:
        return None


def losses(asked: Asked) -> DataFrame:
    """BTD by DRPS, by maximum likelihood and by the MAE of its decisions (eq. 8)."""
    found = []
    for (name, votes), loss in product(asked.labelled.items(), LOSSES):
        one = fit(
            votes.cells()[0],
            BTDOptions(alpha=asked.options.alpha, kappa=asked.options.kappa, loss=loss),
        )
        error = np.abs(apply(one, votes) - votes.gold)
        found.append(
            {"judge": name, "loss": loss, "beta": one.beta, "nu": one.nu, "gamma": one.gamma}
            | {"drps": one.drps, "mae": float(error.mean()), "pa": float((error == 0).mean())}
            | {"at_bounds": ", ".join(one.at_bounds)}
        )
    return rows(found)


def recovered(asked: Asked) -> DataFrame:
    """θ of a judge, and mean and SD of what is fitted where gold is drawn from it (20 times)."""
    found = []
    for name, votes in list(asked.labelled.items())[:MAP_JUDGES]:
        truth = asked.fits[name]
        chance = truth.probabilities(votes).cumsum(axis=1)
        rng, fits = asked.rng(), []
        for _ in range(20):
            gold = (rng.random(len(votes))[:, None] > chance[:, :2]).sum(axis=1) - 1
            drawn = VoteCounts(
                comparison=votes.comparison,
                item=votes.item,
                plus=votes.plus,
                tie=votes.tie,
                minus=votes.minus,
                gold=gold,
            )
            fits.append(fit(drawn.cells()[0], asked.btd))
        for field in ("beta", "eta0", "gamma"):
            values = np.array([getattr(each, field) for each in fits])
            found.append(
                {"judge": name, "parameter": field, "truth": getattr(truth, field)}
                | {"mean": values.mean(), "sd": values.std(ddof=1), "labels": len(votes)}
            )
    return rows(found)


def ordinal_labels(asked: Asked) -> DataFrame:
    """The same method on scores with several levels, against the scores of another rater."""
    names = sorted(asked.scores, key=lambda name: name not in asked.counted.people)
    people_first = {
        rater.name for rater in asked.counted.summary.scores if rater.rater_type == "human"
    }
    gold = next((name for name in names if name in people_first), None)
    if gold is None:
        raise NoUsableVotes("It needs direct scores of a person beside the judge's.")
    frames = {}
    for name in names:
        if name in people_first:
            continue
        try:
            found = ordinal(of_scores(asked.scores[name], asked.scores[gold]), rng=asked.rng())
        except TooFewLabels:
            continue
        frames[name] = found.scores.to_frame().assign(gold=gold)
    return together(frames)


def confidence_weights(asked: Asked) -> DataFrame:
    """BTD with votes weighed by their stated confidence, beside plain BTD."""
    frames = {}
    for name, votes in asked.labelled.items():
        if name not in asked.counted.by_confidence:
            continue
        try:
            found = confidence_weighted(
                votes, asked.counted.by_confidence[name], asked.btd, rng=asked.rng(), **asked.splits
            )
        except AppellateError:
            continue
        frames[name] = found.scores.to_frame()
    return together(frames)
