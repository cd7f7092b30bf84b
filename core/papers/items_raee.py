"""Anchored Elo, item by item: [RAEE]."""

from __future__ import annotations

from . import boards
from .record import PROMPTS, place

_board = place("RAEE", "leaderboard", "Board")
_judges = place("RAEE", "leaderboard", "Judges")
_here = place("RAEE", "papers")
_scores = place("RAEE", "leaderboard", "Direct scores")
_anchors = place("RAEE", "leaderboard", "Another anchor")
_abstention = place("RAEE", "leaderboard", "Abstention")
_BOARD = ("model", "n", "p", "se_p", "elo", "se_elo")
_STRONG = (
    "model",
    "all_p",
    "all_se_p",
    "all_elo",
    "all_cv",
    "strong_p",
    "strong_se_p",
    "se_reduced_percent",
)
_SCORES = ("judge", "model", "mean", "sd", "kurtosis")

ITEMS = (
    _board(
        "Figure 1, Algorithm 1",
        "from votes to a board",
        boards.boards,
        ("anchor", "judge", *_BOARD),
        field="leaderboards",
    ),
    _board(
        "eq. 1–2",
        "win probability with Jeffreys' prior",
        boards.boards,
        ("model", "p"),
        field="leaderboards",
    ),
    _board(
        "§2.1, Laplace",
        "the other prior",
        boards.priors,
        ("anchor", "tau", "mean_abs"),
        ours="--prior laplace for every table",
    ),
    place("RAEE")(
        "§2.1, links",
        "other link functions",
        lacks="left out on purpose: the paper uses the logistic one alone",
    ),
    _board(
        "eq. 3",
        "Beta interval, and its map to Elo",
        boards.boards,
        ("p_low", "p_high", "elo_low", "elo_high"),
        field="leaderboards",
    ),
    _board("eq. 4", "standard error of Elo", boards.boards, ("se_elo",), field="leaderboards"),
    _board("§2.2", "finite population of prompts", boards.boards, ("se_p",), ours="--pool M"),
    place("RAEE", "agreement")(
        "eq. 5–6, 12",
        "ICC(3,k) and reliability of one run",
        boards.repeatabilities,
        ("judge", "icc_3_1", "icc_3_k"),
        field="judges.*.repeatability",
    ),
    _judges(
        "§2.3",
        "judges with ICC(3,k) from .90 on",
        boards.repeatabilities,
        ("judge", "strong"),
        field="anchors.strong_judges",
    ),
    _judges(
        "Lemma 1, Proposition 1",
        "correlation of judges' errors, seen and by repeats",
        boards.jury_sizes,
        ("rho", "rho_runs"),
    ),
    _judges(
        "Proposition 2, Figure 5",
        "variance of the pooled Elo by number of judges",
        boards.jury_sizes,
        ("size", "observed", "predicted"),
    ),
    _judges(
        "Corollary 1",
        "win probability of the pooled Elo",
        boards.over_judges,
        ("model", "elo", "p"),
    ),
    _here(
        "Table 1",
        "direct scores per model over judges: mean and interval, kurtosis, r, τ, κ",
        boards.model_scores,
        ("model", "mean", "low", "high", "kurtosis", "pearson", "kendall", "kappa"),
    ),
    _scores(
        "Table 8",
        "direct scores by judge and target",
        boards.score_statistics,
        _SCORES,
        field="board_checks.direct_scores",
    ),
    _here(
        "Figure 6",
        "violins of direct scores by judge and target",
        boards.score_counts,
        ("judge", "model", "score", "count"),
    ),
    _scores(
        "Figure 2, left",
        "direct score against anchored Elo, by judge",
        boards.scores_beside_votes,
        ("judge", "model", "score", "elo_by_votes", "r"),
    ),
    _scores(
        "§3",
        "win probability from scores by proportional odds",
        boards.score_board,
        ("model", "p", "elo"),
    ),
    _here(
        "Table 2",
        "SE and CV over judges: scores, anchored, reduction in %",
        boards.reductions,
        (
            "model",
            "direct_se",
            "direct_cv",
            "raee_se",
            "raee_cv",
            "se_reduced_percent",
            "cv_reduced_percent",
        ),
    ),
    _here(
        "Table 3",
        "model × anchor: p, SE, Elo, SE, CV; strong judges alone",
        boards.by_anchor,
        ("anchor", *_STRONG),
        field="anchors.rows",
    ),
    _here(
        "Figure 2, right", "centred Elo under three anchors", boards.centred, ("model", "on_all")
    ),
    _anchors(
        "Table 5",
        "τ and mean absolute centred shift by pair of anchors",
        boards.swaps,
        ("anchor_1", "anchor_2", "kendall_tau", "mean_abs_centred_shift"),
        field="anchor_swap",
    ),
    _anchors(
        "B.8",
        "gaps of three models add up",
        boards.additivity,
        ("p_value",),
        field="board_checks.triangles",
    ),
    _here(
        "Figure 3",
        "median width of the interval of p by the cut on ICC",
        boards.screened,
        ("cut", "judges", "median_width_p"),
    ),
    _here(
        "Table 4",
        "task × model: p, SE, Elo, CV; strong judges alone",
        boards.by_task,
        ("task", *_STRONG),
    ),
    _here(
        "Table 10",
        "SE by task and model, all and strong judges",
        boards.by_task,
        ("task", *_STRONG),
        part_of="Table 4",
    ),
    _here(
        "Table 11",
        "CV by task and model, all and strong judges",
        boards.by_task,
        ("task", "all_cv", "strong_cv"),
        part_of="Table 4",
    ),
    place("RAEE", "leaderboard", "Categories")(
        "§3.3.1", "variance of Elo between tasks", boards.between, ("model", "tau2")
    ),
    _abstention(
        "Table 9, Figure 4",
        "SD over subsamples, formula, finite pool",
        boards.subsamples,
        ("n", "se_analytic", "se_finite", "se_empirical"),
    ),
    _here(
        "Tables 9, 14, κ", "SE times √κ with ratios", boards.subsamples, ("se_kappa", "ratio_kappa")
    ),
    _here(
        "Table 14",
        "κ of judges by task",
        boards.kappas,
        ("task", "kappa", "factor", "se_elo_adjusted"),
        part_of="Tables 9, 14, κ",
    ),
    _board(
        "§3.4",
        "κ of judges as a factor of the SE",
        boards.kappas,
        ("factor", "se_elo", "se_elo_adjusted"),
        ours="off by default: judges that agree less would get narrower intervals",
    ),
    _abstention(
        "Table 6",
        "abstention: coverage, SE and CV by threshold",
        boards.abstained,
        ("rule", "threshold", "coverage", "se_elo", "cv"),
        field="board_checks.abstention",
    ),
    _scores(
        "Table 6, scores",
        "the same of direct scores",
        boards.score_abstained,
        ("threshold", "coverage"),
        field="board_checks.score_abstention",
        ours="the threshold is a share of the scale",
    ),
    _abstention(
        "Table 12",
        "each model before and after abstention",
        boards.abstained_models,
        ("model", "coverage", "p", "delta", "elo", "delta_elo"),
        field="board_checks.abstention",
    ),
    _abstention(
        "E.2", "doubt by SD over runs, or by confidence", boards.abstained, ("rule", "threshold")
    ),
    _here(
        "Table 13",
        "Jeffreys against Laplace: τ, mean and largest difference, share within 20 points",
        boards.priors,
        ("anchor", "tau", "mean_abs", "largest", "percent_within_20"),
    ),
    place("RAEE", "leaderboard", "Other ratings")(
        "Table 7",
        "Bradley–Terry, Glicko-2 and TrueSkill beside: SD over judges, correlations",
        boards.ratings,
        ("method", "sd", "pearson", "kendall"),
    ),
    place("RAEE", "leaderboard", "Outside board")(
        "Table 15",
        "a published board beside: τ, ρ, differences, Jaccard",
        boards.outside,
        ("kendall", "spearman", "mean_abs_elo", "mean_abs_p", "jaccard"),
        field="outside",
        ours="--outside FILE",
    ),
    _anchors(
        "E.1, mid-region",
        "share of p from .2 to .8",
        boards.anchors,
        ("anchor", "coverage"),
        field="anchors.choices",
        ours="of models, as the paper's share of prompts has no number here",
        differs=True,
    ),
    _anchors(
        "E.1",
        "which anchor: most in the mid-region with τ above .9",
        boards.anchors,
        ("anchor", "coverage", "tau", "serves"),
        field="anchors.recommended",
    ),
    _judges(
        "Table 16",
        "judges by role",
        boards.repeatabilities,
        ("judge", "strong"),
        field="anchors.strong_judges",
    ),
    place("RAEE", "collect")(
        "Figures 7–10",
        "prompts of judges",
        command="collect --preset raee-reference",
        lacks="three of the four prompts: " + PROMPTS,
    ),
    _here(
        "E.7",
        "biases of judges beside the statistical error",
        boards.leanings,
        ("judge",),
        field="judges.*.length",
    ),
)
