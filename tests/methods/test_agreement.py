"""ICC and Cohen κ: textbook ratings, pingouin and scikit-learn as oracles, coverage, laws."""

from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from raters import rater
from scipy.stats import t

from core.errors import InvalidOption
from core.questions.agreement.kappa import agreement_matrix, cohen_kappa, reliability_factor
from core.questions.agreement.reliability import icc
from core.records import NO_GOLD, RatingTable, VoteCounts
from core.stats.estimate import Estimate

SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]],
    dtype=float,
)


def test_shrout_and_fleiss_1979() -> None:
    """All six coefficients of their Table 4: two are our estimates, four follow from our mean
    squares.
    """
    found = icc(SHROUT_FLEISS)
    n, k = SHROUT_FLEISS.shape
    msr, msc, mse = found.msr, found.msc, found.mse
    msw = ((k - 1) * (n - 1) * mse + (k - 1) * msc) / (n * (k - 1))
    assert round(found.icc_3_1.value, 2) == 0.71
    assert round(found.icc_3_k.value, 2) == 0.91
    assert round((msr - msw) / (msr + (k - 1) * msw), 2) == 0.17
    assert round((msr - mse) / (msr + (k - 1) * mse + k * (msc - mse) / n), 2) == 0.29
    assert round((msr - msw) / msr, 2) == 0.44
    assert round((msr - mse) / (msr + (msc - mse) / n), 2) == 0.62


@pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::DeprecationWarning"
)  # raised inside pingouin
@pytest.mark.parametrize("seed", [None, *range(8)])
def test_icc_agrees_with_pingouin(seed: int | None) -> None:
    """On the ratings of Shrout and Fleiss (no seed) and on drawn ternary ones."""
    import pingouin

    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(5, 40)), int(rng.integers(2, 9))
    x = np.clip(np.round(rng.normal(size=(n, 1)) + rng.normal(size=(n, k))), -1, 1)
    if seed is None:
        x = np.asarray(SHROUT_FLEISS)
    long = (
        pd.DataFrame(x)
        .melt(ignore_index=False, var_name="run", value_name="vote")
        .rename_axis("row")
        .reset_index()
    )
    table = pingouin.intraclass_corr(long, targets="row", raters="run", ratings="vote").set_index(
        "Type"
    )
    interval = next(name for name in table.columns if "CI" in name)
    found = icc(x)
    for name, kind in (("icc_3_1", "ICC(C,1)"), ("icc_3_k", "ICC(C,k)")):
        row = (
            table.loc[kind]
            if kind in table.index
            else table.loc["ICC3" if name == "icc_3_1" else "ICC3k"]
        )
        assert getattr(found, name).value == pytest.approx(row["ICC"], abs=1e-9)
        classical = getattr(found, f"{name}_f")
        bounds = [classical.low, classical.high]
        assert bounds == pytest.approx(
            list(row[interval]), abs=0.005 + 1e-9
        )  # pingouin rounds them


def test_mean_of_runs_gains_by_spearman_brown() -> None:
    """[RAEE]'s ρ_eval, from ICC(3,k) back to one run, is ICC(3,1)."""
    found = icc(SHROUT_FLEISS)
    rho = found.icc_3_k.value
    assert rho / (found.k - (found.k - 1) * rho) == pytest.approx(found.icc_3_1.value, abs=1e-12)


def test_edges_have_reasons() -> None:
    same = icc(np.array([[1.0, 1, 1], [-1, -1, -1], [0, 0, 0]]))
    assert (same.icc_3_1.value, same.icc_3_k.value, same.unanimous_share) == (1, 1, 1)
    assert not same.icc_3_k.has_interval
    assert "no run ever differs" in same.reason
    flat = icc(np.array([[1.0, 0, -1], [0, -1, 1], [-1, 1, 0]]))
    assert (flat.icc_3_1, flat.icc_3_k, flat.unanimous_share) == (None, None, 0)
    assert "same mean" in flat.reason
    assert icc(np.ones((5, 3))).icc_3_k is None
    # Thirds do not sum to an exact 0, and a constant judge is still constant.
    assert icc(np.full((7, 3), 1 / 3)).icc_3_k is None
    once = icc(np.array([[1.0], [0], [-1]]))
    assert (once.icc_3_k, once.unanimous_share) == (None, None)
    assert "at least 2" in once.reason
    lone = icc(np.array([[1.0, 1], [-1, -1], [0, 1], [1, 1]]))
    assert 0 < lone.icc_3_k.value < 1
    assert not lone.icc_3_k.has_interval
    assert lone.icc_3_k_f.has_interval
    assert "one item" in lone.reason


def freedom_of_squares(x: np.ndarray, item: np.ndarray) -> float:
    """Kish's effective number of items in MSR or in MSE, whichever is less, minus one."""
    row = x.mean(axis=1, keepdims=True)
    rest = x - row - x.mean(axis=0, keepdims=True) + x.mean()
    sums = [
        np.array([part[item == i].sum() for i in np.unique(item)])
        for part in (np.square(row - x.mean()), np.square(rest))
    ]
    return min(s.sum() ** 2 / (s @ s) for s in sums) - 1


def test_jackknife_equals_leaving_rows_out_one_by_one() -> None:
    from scipy.stats import t

    rng = np.random.default_rng(3)
    x = np.clip(np.round(rng.normal(size=(25, 1)) + rng.normal(size=(25, 4))), -1, 1)

    def log_f(rows: np.ndarray) -> float:
        found = icc(rows)
        return np.log(found.msr / found.mse)

    left_out = np.array([log_f(np.delete(x, i, axis=0)) for i in range(25)])
    pseudo = 25 * log_f(x) - 24 * left_out
    freedom = freedom_of_squares(x, np.arange(25))
    assert 5 < freedom < 20
    half = t.ppf(0.975, freedom) * pseudo.std(ddof=1) / 5
    found = icc(x)
    assert found.icc_3_k.low == pytest.approx(1 - np.exp(-(log_f(x) - half)), abs=1e-10)
    assert found.icc_3_k.high == pytest.approx(1 - np.exp(-(log_f(x) + half)), abs=1e-10)


def by_item(ratings: np.ndarray, item: np.ndarray) -> RatingTable:
    return RatingTable(item=item, ratings=ratings, orders="ab", oriented=True)


def test_jackknife_leaves_out_an_item_with_all_its_comparisons() -> None:
    from scipy.stats import t

    rng = np.random.default_rng(5)
    item = np.array([0, 0, 0, 1, 2, 2, 3, 4, 4, 4, 4, 5])
    x = np.clip(np.round(rng.normal(size=(12, 1)) + rng.normal(size=(12, 3))), -1, 1)

    def log_f(rows: np.ndarray) -> float:
        found = icc(rows)
        return np.log(found.msr / found.mse)

    pseudo = 6 * log_f(x) - 5 * np.array([log_f(x[item != i]) for i in range(6)])
    freedom = freedom_of_squares(x, item)
    assert 1 < freedom < 4
    half = t.ppf(0.975, freedom) * pseudo.std(ddof=1) / np.sqrt(6)
    found = icc(by_item(x, 7 * item))
    assert found.icc_3_k.value == icc(x).icc_3_k.value
    assert found.icc_3_k.low == pytest.approx(1 - np.exp(-(log_f(x) - half)), abs=1e-10)
    assert found.icc_3_k.high == pytest.approx(1 - np.exp(-(log_f(x) + half)), abs=1e-10)
    few = icc(by_item(x, np.arange(12) % 2))
    assert not few.icc_3_k.has_interval
    assert "3 items" in few.reason


def test_jackknife_covers_where_comparisons_of_an_item_are_alike() -> None:
    """Ten items of six comparisons that share their lean: comparison by comparison .80 are held."""
    rng = np.random.default_rng(6)

    def ternary(items: int, each: int) -> np.ndarray:
        lean = rng.normal(size=(items, 1)).repeat(each, axis=0) + 0.3 * rng.normal(
            size=(items * each, 1)
        )
        latent = lean + 0.8 * rng.logistic(size=(items * each, 4))
        return np.where(latent > 0.5, 1.0, np.where(latent < -0.5, -1.0, 0.0))

    truth = icc(ternary(200_000, 1)).icc_3_k.value
    item = np.arange(10).repeat(6)
    found = [icc(by_item(ternary(10, 6), item)) for _ in range(1000)]
    assert 0.93 <= np.mean([one.icc_3_k.low <= truth <= one.icc_3_k.high for one in found]) <= 0.98
    independent = [icc(ternary(10, 6)) for _ in range(300)]
    assert np.mean([one.icc_3_k.low <= truth <= one.icc_3_k.high for one in independent]) < 0.86


@pytest.mark.thorough
def test_jackknife_covers_where_the_f_interval_does_not() -> None:
    """Ternary votes of which most items are easy: nominal 95 %."""
    rng = np.random.default_rng(4)
    k = 4

    def draw(n: int) -> np.ndarray:
        lean = np.where(rng.random((n, 1)) < 0.7, 4.0, 0.2) * rng.choice([-1, 1], (n, 1))
        latent = lean + rng.logistic(size=(n, k))
        return np.where(latent > 0.3, 1.0, np.where(latent < -0.3, -1.0, 0.0))

    truth = icc(draw(300_000)).icc_3_k.value
    found = [icc(draw(60)) for _ in range(1500)]
    jackknife = np.mean([f.icc_3_k.low <= truth <= f.icc_3_k.high for f in found])
    classical = np.mean([f.icc_3_k_f.low <= truth <= f.icc_3_k_f.high for f in found])
    assert 0.93 <= jackknife <= 0.98
    assert classical < 0.9


matrices = st.integers(2, 5).flatmap(
    lambda k: st.lists(
        st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=k, max_size=k), min_size=2, max_size=25
    )
)


# Its ICC of the mean has an interval that begins at -628,202: there is no lower bound.
UNBOUNDED = [[-1.0, -1.0, -1.0, 1.0, -1.0], [1.0] * 5, [-1.0, -1.0, 0.0, -1.0, -1.0]]


@example(UNBOUNDED, Random(0))
@given(matrices, st.randoms(use_true_random=False))
def test_icc_ignores_row_order_run_order_and_the_side_called_a(
    rows: list[list[float]], random: Random
) -> None:
    x = np.array(rows)
    found = icc(x)
    shuffled = list(rows)
    random.shuffle(shuffled)
    for other in (icc(np.array(shuffled)), icc(x[:, ::-1]), icc(-x)):
        for name in ("icc_3_1", "icc_3_k"):
            expected, value = getattr(found, name), getattr(other, name)
            assert (value is None) == (expected is None)
            assert value is None or (value.value, value.low, value.high) == pytest.approx(
                (expected.value, expected.low, expected.high), rel=1e-9, abs=1e-9, nan_ok=True
            )
        assert other.unanimous_share == found.unanimous_share
    if found.icc_3_k is not None and found.icc_3_k.has_interval:
        assert found.icc_3_k.low <= found.icc_3_k.value <= found.icc_3_k.high


def test_a_rating_table_keeps_what_its_cells_are() -> None:
    table = RatingTable(
        item=np.array([0, 0, 1]), ratings=SHROUT_FLEISS[:3], orders="both", oriented=True
    )
    found = icc(table)
    assert (found.n_items, found.n_comparisons, found.k, found.orders, found.oriented) == (
        2,
        3,
        4,
        "both",
        True,
    )


label_pairs = st.lists(
    st.tuples(st.sampled_from([-1, 0, 1]), st.sampled_from([-1, 0, 1])), min_size=1, max_size=80
)


@pytest.mark.filterwarnings(
    "ignore::RuntimeWarning", "ignore::UserWarning"
)  # scikit-learn divides by 0 to say nan
@given(label_pairs)
def test_kappa_agrees_with_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    from sklearn.metrics import cohen_kappa_score

    one, two = np.array(pairs).T
    expected = cohen_kappa_score(one, two, labels=[-1, 0, 1])
    found = cohen_kappa(one, two)
    if found is None:
        assert len(set(one) | set(two)) == 1
    else:
        assert found == pytest.approx(expected, abs=1e-12)
    assert cohen_kappa(two, one) == found
    assert cohen_kappa(-one, -two) == found


def test_kappa_is_undefined_only_without_anything_to_agree_on() -> None:
    nothing = np.array([], dtype=np.int64)
    assert cohen_kappa(nothing, nothing) is None
    assert cohen_kappa(np.array([1, 1]), np.array([1, 1])) is None
    assert cohen_kappa(np.array([1, 1]), np.array([0, 0])) == 0
    with pytest.raises(InvalidOption, match="length"):
        cohen_kappa(np.array([1]), np.array([1, 0]))
    with pytest.raises(InvalidOption, match="-1, 0 or 1"):
        cohen_kappa(np.array([2]), np.array([1]))


def test_only_comparisons_both_judged_count() -> None:
    one = rater({0: 1, 1: 1, 2: 0, 3: -1}, gold={0: 1, 2: 1, 3: -1})
    two = rater({3: -1, 1: 1, 2: 1, 9: 0})
    other = rater({50: 1})
    matrix = agreement_matrix({"one": one, "two": two, "other": other})
    first = matrix.pairs[0]
    assert (first.judge_1, first.judge_2, first.n) == ("one", "two", 3)
    assert first.raw.value == pytest.approx(2 / 3)
    assert first.kappa.value == cohen_kappa(np.array([1, 0, -1]), np.array([1, 1, -1]))
    assert first.kappa.low < first.kappa.value < first.kappa.high
    apart = matrix.pairs[1]
    assert (apart.n, apart.raw, apart.kappa) == (0, None, None)
    assert "no comparison" in apart.reason
    assert matrix.gold[0].n == 3
    assert matrix.gold[0].raw.value == pytest.approx(2 / 3)
    assert matrix.gold[2].raw is None
    assert len(matrix.to_frame()) == 6


def test_a_judge_that_says_one_thing_has_no_kappa_with_its_like() -> None:
    constant = rater(dict.fromkeys(range(10), 1))
    pair = agreement_matrix({"one": constant, "two": constant}).pairs[0]
    assert (pair.raw.value, pair.kappa) == (1, None)
    assert "same label" in pair.reason


@pytest.mark.thorough
def test_kappa_interval_covers_with_several_comparisons_an_item() -> None:
    """Three comparisons of an item are equally hard; nominal 95 %."""
    rng = np.random.default_rng(5)

    def draw(items: int) -> dict[str, VoteCounts]:
        hard = np.repeat(rng.random(items) < 0.4, 3)
        truth = rng.choice([-1, 0, 1], size=3 * items, p=[0.4, 0.2, 0.4])
        found = {}
        for name in ("one", "two"):
            label = np.where(
                hard & (rng.random(3 * items) < 0.8), rng.choice([-1, 0, 1], 3 * items), truth
            )
            counts = rater(dict(enumerate(label.tolist())))
            found[name] = VoteCounts(
                **{f: getattr(counts, f) for f in ("comparison", "plus", "tie", "minus", "gold")},
                item=np.arange(3 * items) // 3,
            )
        return found

    truth = agreement_matrix(draw(100_000)).pairs[0].kappa.value
    pairs = [agreement_matrix(draw(50)).pairs[0] for _ in range(800)]
    held = [pair.kappa.low <= truth <= pair.kappa.high for pair in pairs]
    assert 0.93 <= np.mean(held) <= 0.975


def test_reliability_factor_is_the_root_of_the_mean_kappa() -> None:
    rng = np.random.default_rng(6)
    truth = rng.choice([-1, 0, 1], 300)
    judges = {
        name: rater(
            dict(
                enumerate(
                    np.where(rng.random(300) < 0.3, rng.choice([-1, 0, 1], 300), truth).tolist()
                )
            )
        )
        for name in ("a", "b", "c")
    }
    matrix = agreement_matrix(judges)
    assert reliability_factor(matrix) == pytest.approx(
        np.sqrt(np.mean([pair.kappa.value for pair in matrix.pairs]))
    )
    assert reliability_factor(agreement_matrix({"a": judges["a"]})) is None


def check_judges_of_pandalm(shared_data: Path) -> None:
    """gpt-3.5 agrees with the human majority on .7156 of the comparisons, PandaLM-7B on .6677."""
    from sklearn.metrics import cohen_kappa_score

    frame = pd.read_csv(shared_data / "votes" / "pandalm.csv.gz")
    frame["code"] = pd.factorize(
        frame["item_id"] + "|" + frame["model_a"] + "|" + frame["model_b"]
    )[0]
    judges = {}
    for judge, rows in frame.groupby("judge"):
        gold = dict(zip(rows["code"], rows["gold"].fillna(NO_GOLD).astype(int), strict=True))
        judges[judge] = rater(dict(zip(rows["code"], rows["vote"], strict=True)), gold=gold)
    matrix = agreement_matrix(judges)
    raw = {pair.judge_1: pair.raw.value for pair in matrix.gold}
    assert raw["gpt-3.5-turbo"] == pytest.approx(0.7156, abs=5e-5)
    assert next(value for name, value in raw.items() if "pandalm" in name.lower()) == pytest.approx(
        0.6677, abs=5e-5
    )
    gpt = frame[frame["judge"] == "gpt-3.5-turbo"]
    expected = cohen_kappa_score(gpt["vote"], gpt["gold"])
    found = next(pair.kappa.value for pair in matrix.gold if pair.judge_1 == "gpt-3.5-turbo")
    assert found == pytest.approx(expected, abs=1e-12)


def labelled_twice(
    rng: np.random.Generator, items: int, right: float, comparisons: tuple[int, ...], *, alike: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Items and labels of two judges that are right in this share, and guess else.

    alike : all comparisons of an item have the same labels.
    """
    n = rng.choice(comparisons, items)
    item = np.arange(items).repeat(n)

    def spread(of_item: np.ndarray, of_each: np.ndarray) -> np.ndarray:
        return of_item[item] if alike else of_each

    def draw(p: tuple[float, float, float]) -> np.ndarray:
        return spread(rng.choice([-1, 0, 1], items, p=p), rng.choice([-1, 0, 1], len(item), p=p))

    truth = draw((0.4, 0.2, 0.4))
    hit = [spread(rng.random(items), rng.random(len(item))) < right for _ in range(2)]
    third = (1 / 3, 1 / 3, 1 / 3)
    first, second = (np.where(sure, truth, draw(third)) for sure in hit)
    return item, first, second


def kappa_of(item: np.ndarray, first: np.ndarray, second: np.ndarray) -> Estimate | None:
    code = np.arange(len(item))
    counts = {
        name: VoteCounts.of(
            (label[:, None] == np.array([-1, 0, 1])).astype(np.int64),
            comparison=code,
            item=item,
            gold=np.full(len(item), NO_GOLD),
        )
        for name, label in (("one", first), ("two", second))
    }
    return agreement_matrix(counts).pairs[0].kappa


def true_kappa(right: float) -> float:
    """Both right: the truth's label; else a guess."""
    truth, guess = np.array([0.4, 0.2, 0.4]), np.full(3, 1 / 3)
    given = right * np.eye(3) + (1 - right) * guess
    joint = np.einsum("t,ta,tb->ab", truth, given, given)
    chance = float(joint.sum(axis=0) @ joint.sum(axis=1))
    return (float(np.trace(joint)) - chance) / (1 - chance)


@pytest.mark.thorough
@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("items", [10, 30, 100])
def test_the_interval_of_kappa_holds_from_ten_items_on(items: int, alike: bool) -> None:
    """With 1 to 16 comparisons an item; linearised alone it was .80 where an item's are alike."""
    for right in (0.6, 0.9):
        rng, truth, held = np.random.default_rng(items), true_kappa(right), []
        for _ in range(300):
            found = kappa_of(*labelled_twice(rng, items, right, (1, 1, 2, 4, 16), alike=alike))
            held.append(found is None or found.low <= truth <= found.high)
        # .93 less two standard errors of 300 draws.
        assert np.mean(held) >= 0.90, right


def test_the_interval_of_kappa_is_a_jackknife_over_items() -> None:
    """Plain leave-one-item-out loops on many items of two comparisons."""
    rng = np.random.default_rng(6)
    item, first, second = labelled_twice(rng, 300, 0.7, (2,), alike=False)
    left = np.array(
        [cohen_kappa(first[item != one], second[item != one]) for one in range(300)], dtype=float
    )
    error = np.sqrt(299 / 300 * ((left - left.mean()) ** 2).sum())
    found = kappa_of(item, first, second)
    assert found.value == pytest.approx(cohen_kappa(first, second))
    assert found.high - found.low == pytest.approx(2 * t.ppf(0.975, 299) * error, rel=0.03)
    assert (found.high + found.low) / 2 == pytest.approx(found.value, abs=0.01)


def test_judges_who_have_not_differed_yet_may_differ() -> None:
    """Ten comparisons of which five are for either: κ 1, and the lower end is well below."""
    label = np.repeat([-1, 1], 5)
    found = kappa_of(np.arange(10), label, label)
    assert (found.value, found.high) == (1.0, 1.0)
    assert 0.2 < found.low < 0.8
    assert found.low < kappa_of(np.arange(100), np.tile(label, 10), np.tile(label, 10)).low < 1
