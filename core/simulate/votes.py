"""Votes drawn from known parameters: the demo, planted biases for tests, and large tables for
benchmarks.

The model (ours; no paper gives one), in natural-log odds throughout. expit(x) = 1/(1 + e⁻ˣ), logit
its inverse.

1. Quality. Model m has strength θ_m; its response to item i has quality θ_m + e_im with e_im
   standard Gumbel, shared by all comparisons of that response. On item i, A is better than B by z =
   θ_A − θ_B + δ_AB + e_iA − e_iB. The difference of two Gumbels is standard logistic, so P(z > 0) =
   expit(θ_A − θ_B + δ_AB): Bradley–Terry. δ is +`cycle_offset` for the first against the second,
   the second against the third and the third against the first model of `cycle`, and 0 elsewhere:
   no strengths explain those three pairs together.
2. Gold is 0 where |z| ≤ c, else the sign of z. Each category has its own c, the root of mean over
   matchups of [expit(c − d) − expit(−c − d)] = tie share, d = θ_A − θ_B + δ_AB. Of the two
   responses of a decided comparison the better one is called A with probability a/(a + b), a and b
   the category's shares of gold +1 and −1; of a tie, with probability ½.
3. Votes. Judge j, shown A first (s = +1) or B first (s = −1), feels x = z + u + position_bias·s +
   verbosity·ln(length_A/length_B), where u ~ Logistic(0, idiosyncrasy) is its lasting opinion of
   the comparison, the same in every run and order. With λ = discrimination and w = tie_width·c it
   answers by ordered logit: P(+1) = expit(λ(x − w)), P(−1) = expit(−λ(x + w)), P(0) = 1 − P(+1) −
   P(−1). tie_width 1 draws the line where gold does; 0 never ties.
4. Confidence. q = P(vote = gold | x) is the judge's true chance to be right, so a judge that states
   q is calibrated exactly. Judges state expit(overconfidence + confidence_slope·logit q), rounded
   to .05. Where they state k, accuracy is therefore expit((logit k −
   overconfidence)/confidence_slope), up to the rounding.
5. A call fails with probability failure_share: status `refused` or `unparsed`, half each; no vote,
   no confidence.
"""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..errors import InvalidOption
from ..files import written_whole
from ..records import FloatArray, IntArray
from ..schema import COLUMNS, POSITIONS

if TYPE_CHECKING:
    import pyarrow as pa


DEMO_SEED = 0
DEMO_ITEMS = 70
DEMO_DATASET = "demo (simulated)"

_STATUSES = ("ok", "refused", "unparsed")
FILLERS = (
    " It restates the question first.",
    " It gives one example.",
    " It lists the steps in order.",
    " It names an exception to the rule.",
    " It ends with a short summary.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeParameters:
    """How one judge votes; the module's docstring gives the formulas. The defaults are like gold,
    but noisy.

    `runs` repetitions in both orders (`orders="both"`) or each in one order drawn at random
    (`"random"`). `leniency` shows in single answers and direct scores alone: added to what it sees
    of an answer, in standard deviations of quality.
    """

    name: str
    rater_type: Literal["llm", "human"] = "llm"
    discrimination: float = 2.0
    tie_width: float = 1.0
    position_bias: float = 0.0
    verbosity: float = 0.0
    idiosyncrasy: float = 0.3
    states_confidence: bool = True
    overconfidence: float = 0.0
    confidence_slope: float = 1.0
    leniency: float = 0.0
    failure_share: float = 0.0
    runs: int = 6
    orders: Literal["both", "random"] = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """A topic and its shares of gold +1, 0 and −1 (normalised when used)."""

    name: str
    plus: float
    tie: float
    minus: float


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The truth that votes are drawn from.

    strengths : (model, θ in natural-log odds) of every model, anchors included.
    anchors : each meets every other model, and each other.
    cycle : three models that also meet each other, with δ = `cycle_offset` around the circle; empty
        for none.
    """

    dataset: str
    strengths: tuple[tuple[str, float], ...]
    anchors: tuple[str, ...]
    judges: tuple[JudgeParameters, ...]
    categories: tuple[Category, ...]
    cycle: tuple[str, str, str] | tuple[()] = ()
    cycle_offset: float = 0.0


def demo_world() -> World:
    """The demo's truth: six models, two anchors, one intransitive triangle, four judges and three
    people.

    Gold shares are those of the five RewardBench 2 tasks in [BTD] Table 8: a quarter A, half ties,
    a quarter B. The triangle is sim-hazel > sim-birch > sim-elm > sim-hazel, on every item. Its
    residual is 3·`cycle_offset`; each of its edges also bends the two triangles that it forms with
    the anchors, by one `cycle_offset`.
    """
    return World(
        dataset=DEMO_DATASET,
        strengths=(
            ("sim-hazel", 1.4),
            ("sim-birch", 1.0),
            ("sim-elm", 0.6),
            ("sim-willow", -0.6),
            ("sim-alder", -1.0),
            ("sim-maple", -1.4),
            ("sim-anchor-one", 0.2),
            ("sim-anchor-two", -0.2),
        ),
        anchors=("sim-anchor-one", "sim-anchor-two"),
        cycle=("sim-hazel", "sim-birch", "sim-elm"),
        cycle_offset=1.5,
        judges=(
            JudgeParameters(
                name="sim-judge-careful", discrimination=8.0, idiosyncrasy=0.1, failure_share=0.002
            ),
            JudgeParameters(
                name="sim-judge-first-slot",
                tie_width=0.7,
                position_bias=0.9,
                overconfidence=0.5,
                leniency=1.0,
                failure_share=0.005,
            ),
            JudgeParameters(
                name="sim-judge-decisive",
                tie_width=0.04,
                position_bias=-0.1,
                overconfidence=0.4,
                confidence_slope=0.5,
                failure_share=0.01,
            ),
            JudgeParameters(
                name="sim-judge-boaster",
                discrimination=1.2,
                tie_width=1.3,
                verbosity=0.8,
                idiosyncrasy=0.5,
                overconfidence=2.2,
                confidence_slope=0.4,
                leniency=0.5,
                failure_share=0.02,
            ),
            *(
                JudgeParameters(
                    name=f"sim-person-{number}",
                    rater_type="human",
                    discrimination=1.4,
                    tie_width=width,
                    idiosyncrasy=0.4,
                    states_confidence=False,
                    runs=1,
                    orders="random",
                )
                for number, width in ((1, 0.8), (2, 1.0), (3, 1.2))
            ),
        ),
        categories=(
            Category(name="Factuality", plus=0.234, tie=0.533, minus=0.233),
            Category(name="Focus", plus=0.244, tie=0.495, minus=0.261),
            Category(name="Math", plus=0.255, tie=0.498, minus=0.247),
            Category(name="Precise IF", plus=0.212 / 0.96, tie=0.480 / 0.96, minus=0.268 / 0.96),
            Category(name="Safety", plus=0.233, tie=0.498, minus=0.269),
        ),
    )


def matchups(world: World) -> list[tuple[str, str, float]]:
    """Pairs of models that meet, with d = θ₁ − θ₂ + δ₁₂ in natural-log odds."""
    strength = dict(world.strengths)
    unknown = [model for model in (*world.anchors, *world.cycle) if model not in strength]
    if unknown:
        raise InvalidOption(f"World: {unknown[0]!r} has no strength")
    offset: dict[tuple[str, str], float] = {}
    for first, second in zip(world.cycle, world.cycle[1:] + world.cycle[:1], strict=True):
        offset[first, second] = world.cycle_offset
        offset[second, first] = -world.cycle_offset
    models = list(strength)
    return [
        (first, second, strength[first] - strength[second] + offset.get((first, second), 0.0))
        for k, first in enumerate(models)
        for second in models[k + 1 :]
        if first in world.anchors or second in world.anchors or (first, second) in offset
    ]


def tie_threshold(world: World, category: Category) -> float:
    """Gold's threshold c of a category, in natural-log odds: |z| ≤ c is a tie (step 2 above)."""
    share = category.tie / (category.plus + category.tie + category.minus)
    d = np.array([difference for _, _, difference in matchups(world)])
    low, high = 0.0, 1.0 + 2.0 * float(np.abs(d).max()) + 50.0
    for _ in range(100):  # bisection to the last bit: the share rises with c
        middle = (low + high) / 2
        low, high = (
            (middle, high)
            if (_expit(middle - d) - _expit(-middle - d)).mean() < share
            else (low, middle)
        )
    return (low + high) / 2


def simulate(world: World, *, items: int, rng: np.random.Generator) -> pa.Table:
    """Draw every judge's votes on every matchup of `items` prompts.

    Returns an Arrow table of the canonical columns (`core.schema.COLUMNS`), ordered by item,
    matchup, judge, run and order; columns that the world does not define are null. Categories take
    turns over the items. Only uniform doubles are drawn from `rng`, so a seed gives the same votes
    with every numpy.

    Raises InvalidOption for fewer than one item or no matchup.
    """
    import pyarrow as pa

    pairs = matchups(world)
    if items < 1 or not pairs:
        raise InvalidOption(
            f"simulate: {items} items and {len(pairs)} matchups; both must be at least 1"
        )
    models = [model for model, _ in world.strengths]
    item = np.repeat(np.arange(items), len(pairs))
    pair = np.tile(np.arange(len(pairs)), items)
    first = np.array([models.index(one) for one, _, _ in pairs])[pair]
    second = np.array([models.index(two) for _, two, _ in pairs])[pair]
    texts, lengths = _responses(models, items, rng)

    gumbel = -np.log(-np.log(_open_uniform(rng, (items, len(models)))))
    z = np.array([d for _, _, d in pairs])[pair] + gumbel[item, first] - gumbel[item, second]
    category = item % len(world.categories)
    c = np.array([tie_threshold(world, entry) for entry in world.categories])[category]
    gold = np.where(np.abs(z) <= c, 0, np.sign(z)).astype(np.int64)

    decided = [entry.plus + entry.minus for entry in world.categories]
    share_a = np.array(
        [e.plus / n if n else 0.5 for e, n in zip(world.categories, decided, strict=True)]
    )
    better_is_a = rng.random(len(z)) < np.where(gold == 0, 0.5, share_a[category])
    swap = better_is_a == (gold < 0)
    model_a, model_b = np.where(swap, second, first), np.where(swap, first, second)
    z, gold = np.where(swap, -z, z), np.where(swap, -gold, gold)

    length_a, length_b = lengths[item, model_a], lengths[item, model_b]
    drawn = [_draw(judge, z, np.log(length_a / length_b), c, gold, rng) for judge in world.judges]
    joined = {name: np.concatenate([d[name] for d in drawn]) for name in drawn[0]}
    judge = np.repeat(np.arange(len(drawn)), [len(d["vote"]) for d in drawn])
    # Votes of one comparison side by side: repeated texts then cost nothing once compressed.
    order = np.lexsort((joined["position"], joined["run"], judge, joined["comparison"]))
    row = {name: values[order] for name, values in joined.items()}
    judge, comparison, failed = judge[order], row["comparison"], row["status"] > 0

    flat = [text for texts_of_item in texts for text in texts_of_item]
    prompts = [
        f"Simulated prompt {k + 1} ({world.categories[k % len(world.categories)].name})."
        for k in range(items)
    ]
    confident = np.array([entry.states_confidence for entry in world.judges])[judge] & ~failed
    item = item[comparison]
    model_a, model_b = model_a[comparison], model_b[comparison]
    return vote_table(
        {
            "dataset": coded_words([world.dataset], np.zeros_like(item)),
            "item_id": coded_words([f"sim-{k + 1:04d}" for k in range(items)], item),
            "category": coded_words(
                [entry.name for entry in world.categories], category[comparison]
            ),
            "model_a": coded_words(models, model_a),
            "model_b": coded_words(models, model_b),
            "judge": coded_words([entry.name for entry in world.judges], judge),
            "run": row["run"],
            "position": coded_words(POSITIONS, row["position"]),
            "vote": pa.array(row["vote"], mask=failed),
            "confidence": pa.array(row["confidence"], mask=~confident),
            "confidence_kind": coded_words(["self"], np.where(confident, 0, -1)),
            "gold": gold[comparison],
            "rater_type": coded_words([entry.rater_type for entry in world.judges], judge),
            "status": coded_words(_STATUSES, row["status"]),
            "prompt": coded_words(prompts, item),
            "response_a": coded_words(flat, item * len(models) + model_a),
            "response_b": coded_words(flat, item * len(models) + model_b),
            "length_a": length_a[comparison],
            "length_b": length_b[comparison],
        }
    )


def _draw(
    judge: JudgeParameters,
    z: FloatArray,
    longer: FloatArray,
    c: FloatArray,
    gold: IntArray,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Steps 3 to 5 for one judge: arrays with one row per vote.  longer : ln(length_A/length_B)."""
    n = len(z)
    u = judge.idiosyncrasy * _logit(_open_uniform(rng, n))
    both = judge.orders == "both"
    per_run = 2 if both else 1
    comparison = np.repeat(np.arange(n), judge.runs * per_run)
    run = np.tile(np.repeat(np.arange(judge.runs), per_run), n)
    position = (
        np.tile(np.arange(2), n * judge.runs)
        if both
        else (rng.random(len(comparison)) < 0.5).astype(np.int64)
    )
    x = (z + u + judge.verbosity * longer)[comparison] + judge.position_bias * (1 - 2 * position)
    width = judge.tie_width * c[comparison]
    p_plus = _expit(judge.discrimination * (x - width))
    p_minus = _expit(-judge.discrimination * (x + width))
    uniform = rng.random(len(x))
    vote = np.where(uniform < p_plus, 1, np.where(uniform >= 1 - p_minus, -1, 0)).astype(np.int64)

    truth = gold[comparison]
    q = np.where(truth > 0, p_plus, np.where(truth < 0, p_minus, 1 - p_plus - p_minus))
    confidence = stated(judge, q)
    failure = rng.random(len(x))
    status = np.where(
        failure < judge.failure_share / 2, 1, np.where(failure < judge.failure_share, 2, 0)
    )
    return {
        "comparison": comparison,
        "run": run,
        "position": position,
        "vote": vote,
        "confidence": confidence,
        "status": status,
    }


def stated(judge: JudgeParameters, chance: FloatArray) -> FloatArray:
    """Step 4: the confidence that a judge states where its chance to be right is `chance`."""
    odds = _logit(np.clip(chance, 1e-12, 1 - 1e-12))
    return np.round(_expit(judge.overconfidence + judge.confidence_slope * odds) * 20) / 20


def _responses(
    models: list[str], items: int, rng: np.random.Generator
) -> tuple[list[list[str]], IntArray]:
    """Text of each model's answer to each item, and its length in characters: (items, models)."""
    extra = (rng.random((items, len(models))) * (len(FILLERS) + 1)).astype(np.int64)
    texts = [
        [
            f"Simulated answer {k + 1} of {model}." + "".join(FILLERS[: extra[k, m]])
            for m, model in enumerate(models)
        ]
        for k in range(items)
    ]
    return texts, np.array([[len(text) for text in row] for row in texts], dtype=np.int64)


def write_demo(path: Path, *, seed: int = DEMO_SEED, items: int = DEMO_ITEMS) -> int:
    """Write the demo's votes as canonical CSV and return how many there are (see `write_table`).

    The same seed and items give the same text.

    Raises InvalidOption for a negative seed or fewer than one item.
    """
    return write_table(simulate(demo_world(), items=items, rng=seeded(seed)), path)


def seeded(seed: int) -> np.random.Generator:
    """Random numbers that the seed fixes. Raises InvalidOption for a negative one."""
    if seed < 0:
        raise InvalidOption(f"--seed {seed}: a seed is 0 or more")
    return np.random.default_rng(seed)


def write_table(table: pa.Table, path: Path) -> int:
    """Write a table as CSV, without its empty columns, and return its number of rows.

    A file `.csv.gz` is compressed, without a time stamp.

    Raises InvalidOption for another suffix, or a file that cannot be written.
    """
    from pyarrow import csv

    if not path.name.endswith((".csv", ".csv.gz")):
        raise InvalidOption(f"{path.name}: simulated votes are written as .csv or .csv.gz")
    table = table.select(
        [name for name in table.column_names if table[name].null_count < table.num_rows]
    )
    text = io.BytesIO()
    csv.write_csv(table, text, csv.WriteOptions(quoting_style="needed"))
    with written_whole(path) as part, part.open("wb") as file:
        if path.name.endswith(".gz"):
            with gzip.GzipFile(
                filename="", mode="wb", compresslevel=9, fileobj=file, mtime=0
            ) as packed:
                packed.write(text.getvalue())
        else:
            file.write(text.getvalue())
    return int(table.num_rows)


def vote_table(columns: dict[str, Any]) -> pa.Table:
    """Typed Arrow table of all canonical columns; those not given are null."""
    import pyarrow as pa

    types = {"text": pa.string(), "int": pa.int64(), "float": pa.float64()}
    rows = len(next(iter(columns.values())))
    return pa.table(
        {
            column.name: pa.array(columns[column.name], types[column.kind])
            if isinstance(columns.get(column.name), np.ndarray)
            else columns.get(column.name, pa.nulls(rows, types[column.kind]))
            for column in COLUMNS
        }
    )


def coded_words(words: Any, code: IntArray) -> pa.Array:
    """Strings by code; a code below zero is null."""
    import pyarrow as pa

    return pa.array(list(words), pa.string()).take(pa.array(code, pa.int64(), mask=code < 0))


def _open_uniform(rng: np.random.Generator, size: Any) -> FloatArray:
    """Uniform on the open interval (0, 1): `random` may give 0, whose logarithm is infinite."""
    return np.asarray(np.maximum(rng.random(size), 2.0**-54))


def _expit(x: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))


def _logit(p: FloatArray) -> FloatArray:
    return np.asarray(np.log(p) - np.log1p(-p))
