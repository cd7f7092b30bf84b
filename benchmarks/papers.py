"""The papers' methods on real votes: tables of `appellate papers`, and coverage of RAEE's error.

    python -m benchmarks.papers [folder of votes]

Prints Markdown: a row per item with the command that prints the whole table. The folder is that of
`rewardbench2_pairs.csv.gz`; scores lie beside it, in `scores`. Coverage: of n of a model's prompts,
drawn without replacement, the interval of p with the finite pool; how often it holds the p of all.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.rewardbench2 import VOTES
from core.auditing.options import AuditOptions
from core.importers import ReadOptions, read
from core.papers.asked import Asked, Settings
from core.papers.items import BY_NAME
from core.papers.made import maker
from core.questions.boards.anchored import against, board
from core.questions.boards.anchors import kendall_tau
from core.records import PairScores, kept_rows
from core.schema import Selection
from core.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from core.papers.made import Maker
    from core.stats.estimate import DataFrame

DRAWS, HALVES = 100, 100
SHARES = (0.25, 0.5, 0.75)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An item on a file.

    flags : of the command beside the file and the item.  says : its table in words.
    """

    item: str
    file: str
    votes: str
    says: Callable[[DataFrame], str]
    flags: str = ""
    options: AuditOptions = field(default_factory=AuditOptions)
    settings: Settings = field(default_factory=Settings)
    reading: ReadOptions = field(default_factory=ReadOptions)


def plain(value: float, digits: int = 2) -> str:
    """A number without the zero before its point."""
    return f"{value:.{digits}f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.{digits}f}"


def ends(values: DataFrame, digits: int = 3) -> str:
    """The least and the largest."""
    return f"{plain(values.min(), digits)} to {plain(values.max(), digits)}"


def _subsamples(table: DataFrame) -> str:
    of = table.groupby("n")["ratio_finite"].median()
    sizes, ratios = (", ".join(map(str, each)) for each in (of.index, map(plain, of)))
    return f"SD over subsamples is {ratios} of the finite-pool formula at {sizes} prompts (medians)"


def _priors(table: DataFrame) -> str:
    (row,) = table.to_dict("records")
    return (
        f"Jeffreys against Laplace: τ {row['tau']:.2f}, mean difference {row['mean_abs']:.1f} Elo, "
        f"largest {row['largest']:.1f}, {row['percent_within_20']:.0f} % within 20"
    )


def _swaps(table: DataFrame) -> str:
    alike = int((table["kendall_tau"] > 0.9).sum())
    return (
        f"τ 1 in {alike} of {len(table)} pairs of anchors, else "
        f"{plain(table['kendall_tau'].min())}; centred shifts of "
        f"{table['mean_abs_centred_shift'].min():.0f} to "
        f"{table['mean_abs_centred_shift'].max():.0f} Elo"
    )


def _additivity(table: DataFrame) -> str:
    left = table["residual"].abs()
    return (
        f"{len(table)} triangles leave over {left.median():.0f} Elo (median) and {left.max():.0f} "
        f"at most; {int(table['broken'].sum())} broken"
    )


def _direct(table: DataFrame) -> str:
    gap = (table["p_by_scores"] - table["p_by_votes"]).abs().max()
    return (
        f"r {table['r'].iloc[0]:.2f} over {len(table)} models; p differs by {plain(gap, 3)} at most"
    )


def _stated(kind: str) -> Callable[[DataFrame], str]:
    def says(table: DataFrame) -> str:
        of = table[table["confidence"] == kind]
        return f"ECE {ends(of['ece'])}; TH-Score at ε .10 {ends(of['th_0.1'], 1)}"

    return says


def _jury(table: DataFrame) -> str:
    best = table[table["kind"] == "member"].nlargest(1, "accuracy").iloc[0]
    rules = table[(table["kind"] == "rule") & ~table["fitted"]]
    rule = rules.nlargest(1, "accuracy").iloc[0]
    low, high = 100 * rule["against_best_low"], 100 * rule["against_best_high"]
    return (
        f"best rule without a fit {plain(rule['accuracy'], 3)} ({rule['name']}), best member "
        f"{plain(best['accuracy'], 3)}: {100 * rule['against_best_value']:+.1f} points "
        f"({low:+.1f} to {high:+.1f})"
    )


def _orders(table: DataFrame) -> str:
    last = table[table["k"] == table["k"].max()]
    gains = (
        f"{100 * gain:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"
        for gain, low, high in zip(last["gain"], last["gain_low"], last["gain_high"], strict=True)
    )
    return f"{last['k'].iloc[0]} orders against one, by judge: {', '.join(gains)} points"


def _transfer(table: DataFrame) -> str:
    others = table[table["fitted_on"] != table["evaluated_on"]]
    worse = others["fitted_on"].where(others["change_low"] > 0).dropna()
    kept = others[~others["fitted_on"].isin(worse)]["change"]
    return (
        f"MAE rises beyond chance with the fit of {', '.join(worse.unique())} alone, by "
        f"{ends(others.loc[worse.index, 'change'])}; the other {len(kept)} cells move by "
        f"{plain(kept.min(), 3)} to {plain(kept.max(), 3)}"
    )


def _few_votes(table: DataFrame) -> str:
    some = table.dropna(subset="votes")
    less = (some["gain"] > 0).groupby(some["votes"]).agg(["sum", "size"])
    cells = (f"{row['sum']} of {row['size']} with {votes:g}" for votes, row in less.iterrows())
    return f"cells in which BTD errs less than the majority: {', '.join(cells)} votes"


SHOWN = (
    Shown(
        item="RAEE Table 9, Figure 4",
        file="votes/pba_position",
        votes="8 judges, 30 models against one anchor",
        says=_subsamples,
    ),
    Shown(
        item="RAEE Table 9, Figure 4",
        file="votes/ko_arena_hard",
        votes="1 judge, 75 models against one anchor",
        says=_subsamples,
    ),
    Shown(item="RAEE Table 13", file="votes/ko_arena_hard", votes="the same", says=_priors),
    Shown(
        item="RAEE Table 5",
        file="votes/pandalm",
        votes="2 judges and 3 people, 5 models, each an anchor",
        says=_swaps,
    ),
    Shown(item="RAEE B.8", file="votes/pandalm", votes="the same", says=_additivity),
    Shown(
        item="RAEE B.8",
        file="scores/cje_arena",
        votes="1 judge, 4 policies, the sign of two scores as a vote",
        says=_additivity,
        flags="--votes-of quality",
        reading=ReadOptions(votes_of="quality"),
    ),
    Shown(
        item="RAEE Figure 2, left",
        file="scores/cje_arena",
        votes="the same",
        says=_direct,
        flags="--votes-of quality",
        reading=ReadOptions(votes_of="quality"),
    ),
    Shown(
        item="TH Table 1",
        file="votes/judgeconf",
        votes="5 judges, stated confidence, 156 verdicts each",
        says=_stated("stated"),
    ),
    Shown(
        item="TH §3.1, MP",
        file="votes/judgeconf",
        votes="the same, share of two votes",
        says=_stated("multi"),
    ),
    Shown(
        item="TH §3.1, MP",
        file="votes/rewardbench2_pairs",
        votes="3 judges, share of eight votes",
        says=_stated("multi"),
    ),
    Shown(
        item="TH Tables 5, 7", file="votes/judgebench", votes="6 judges of 350 pairs", says=_jury
    ),
    Shown(
        item="TH Tables 5, 7",
        file="votes/rewardbench2_pairs",
        votes="3 judges by share of eight votes",
        says=_jury,
    ),
    Shown(
        item="PCF number of orders",
        file="votes/listwise_choices",
        votes="5 judges that pick one of four",
        says=_orders,
    ),
    Shown(
        item="BTD Figure 3",
        file="votes/rewardbench2_pairs",
        votes="gpt-5.4, five tasks",
        says=_transfer,
        flags='--judge "gpt-5.4 [base]" --splits 40',
        options=AuditOptions(splits=40),
        settings=Settings(judge="gpt-5.4 [base]"),
    ),
    Shown(
        item="BTD Table 7",
        file="votes/rewardbench2_pairs",
        votes="3 judges, five tasks",
        says=_few_votes,
        flags="--votes 1 2 3 --splits 40",
        options=AuditOptions(splits=40),
        settings=Settings(sizes=(1, 2, 3)),
    ),
)


@contextmanager
def made_of(folder: Path, shown: Shown) -> Iterator[Maker]:
    """What makes items of a file."""
    path = folder / f"{shown.file}.csv.gz"
    with (
        Store.holding(read([(path.name, path)], shown.reading)) as store,
        maker(store, Selection(), shown.options, shown.settings) as make,
    ):
        yield make


def rows(folder: Path) -> list[str]:
    """The rows of the table, one per item and file; raises RuntimeError for one without a table."""
    lines = []
    for shown in SHOWN:
        with made_of(folder, shown) as make:
            made = make(BY_NAME[shown.item])
        if made.table is None:
            raise RuntimeError(f"{shown.item}: {made.lacks}")
        name = f"{shown.file.rpartition('/')[2]}.csv.gz"
        flags = f" {shown.flags}" if shown.flags else ""
        command = f'`papers {name}{flags} --item "{shown.item}"`'
        lines.append(f"| {shown.item} | {shown.votes} | {command} | {shown.says(made.table)} |")
    return lines


def pairs_of(asked: Asked) -> PairScores:
    """Scores of all judges."""
    return asked.pairs[None]


def coverage(pairs: PairScores, anchor: str, rng: np.random.Generator) -> list[str]:
    """A row per share of the prompts: how often the intervals hold the p of all prompts."""
    model, item, score, _ = against(pairs, anchor)
    lines = []
    for share in SHARES:
        held = np.zeros(2)
        width = np.zeros(2)
        tried = 0
        for code in np.unique(model):
            place = np.flatnonzero(model == code)
            truth, n = score[place].mean(), round(share * len(place))
            for _ in range(DRAWS):
                drawn = rng.choice(place, n, replace=False)
                few = PairScores(
                    models=("model", "anchor"),
                    model_1=np.zeros(n, dtype=np.int64),
                    model_2=np.ones(n, dtype=np.int64),
                    item=item[drawn],
                    score=score[drawn],
                    n_votes=np.ones(n, dtype=np.int64),
                )
                (row,) = board(few, "anchor", pool=len(place)).rows
                both = row.p, row.p_corrected
                held += [each.low <= truth <= each.high for each in both]
                width += [each.high - each.low for each in both]
                tried += 1
        published, corrected = 100 * held / tried
        lines.append(
            f"| {share:.0%} | {tried:,} | {published:.1f} % | {plain(width[0] / tried, 3)} "
            f"| {corrected:.1f} % | {plain(width[1] / tried, 3)} |"
        )
    return lines


def halves(pairs: PairScores, anchors: tuple[str, ...], rng: np.random.Generator) -> str:
    """What another half of the prompts changes with the same anchor, as a swap of anchors would."""
    taus, shifts = [], []
    items = np.unique(pairs.item)
    for _ in range(HALVES):
        inside = np.isin(pairs.item, rng.choice(items, len(items) // 2, replace=False))
        for anchor in anchors:
            elos = [
                {row.model: row.elo.value for row in board(half, anchor).rows}
                for keep in (inside, ~inside)
                for half in [PairScores(models=pairs.models, **kept_rows(pairs, keep))]
            ]
            common = sorted(elos[0].keys() & elos[1].keys())
            one, two = (np.array([of[name] for name in common]) for of in elos)
            taus.append(kendall_tau(one.tolist(), two.tolist()))
            shifts.append(np.abs((two - one) - (two - one).mean()).mean() / 2**0.5)
    tau = np.mean([tau for tau in taus if tau is not None])
    return (
        f"Two halves of the prompts with the same anchor: mean τ {plain(tau)}, centred shifts of "
        f"{np.mean(shifts):.0f} Elo on average at the size of a swap (divided by √2)."
    )


def report(folder: Path) -> str:
    """The tables as Markdown."""
    lines = ["| item | votes | command | figure |", "|---|---|---|---|", *rows(folder), ""]
    by_file = {shown.file: shown for shown in SHOWN}
    with made_of(folder, by_file["votes/pandalm"]) as make:
        found = halves(pairs_of(make.asked), make.asked.anchors, np.random.default_rng(0))
    lines += [f"PandaLM. {found}", ""]
    head = "| prompts | draws | published holds | width of p | corrected holds | width of p |"
    for name in ("votes/pba_position", "votes/ko_arena_hard"):
        with made_of(folder, by_file[name]) as make:
            pairs, anchor = pairs_of(make.asked), make.asked.anchor
            lines += [
                f"Coverage, {name.rpartition('/')[2]}:",
                "",
                head,
                "|--:|--:|--:|--:|--:|--:|",
            ]
            lines += [*coverage(pairs, anchor, np.random.default_rng(0)), ""]
    return "\n".join(lines).strip()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=VOTES.parent.parent)
    print(report(parser.parse_args().folder))
