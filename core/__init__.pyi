"""The public API by the page that shows it; `__init__.py` reads it to know where each name is."""

from .auditing.options import AuditOptions
from .collect.items import items_of, lists_of, read_items
from .collect.job import Budget, Job, Judge
from .collect.plan import plan as plan_job
from .collect.registry import start as start_job
from .importers import ReadOptions, read
from .questions.accuracy.confusion_matrix import confusion
from .questions.agreement.judge_vs_human import leave_one_out
from .questions.agreement.kappa import agreement_matrix
from .questions.agreement.paired import JudgeVotes, compare_judges, pool_raters, share_codes
from .questions.agreement.reliability import icc, inter_rater_reliability
from .questions.agreement.repeats import effective_votes
from .questions.boards.anchored import board, subsample_errors
from .questions.boards.anchors import anchor_swap, triangles
from .questions.boards.debiased import debiased_board, hide_gold
from .questions.boards.debiased import pooled_votes as pooled_votes
from .questions.boards.judge_dispersion import dispersion, rating_spread
from .questions.boards.judges import mean_of_judges
from .questions.boards.judges import pooling as judge_pooling
from .questions.boards.judges import screening as judge_screening
from .questions.boards.robustness import abstention, between_tasks
from .questions.boards.score_board import score_boards
from .questions.boards.score_spread import score_abstention
from .questions.boards.scores import direct_statistics
from .questions.boards.standings import compare_outside, read_outside
from .questions.confidence.alone import threshold_for_risk
from .questions.confidence.calibration_error import (
    calibration,
    calibration_intervals,
    confidence_gap,
    noise_floor,
)
from .questions.confidence.recalibration import recalibrate
from .questions.confidence.selective import (
    by_btd,
    by_share,
    by_stated_confidence,
    guarantee,
    risk_coverage,
)
from .questions.confidence.th_scores import th_score, th_sweep
from .questions.juries.jury import judge_jury
from .questions.juries.method import compare as compare_ensembles
from .questions.juries.method import fuser_verdicts
from .questions.juries.method import members as ensemble_members
from .questions.labels.btd import Bounds, BTDOptions, held_out_labels
from .questions.labels.btd import fit as fit_btd
from .questions.labels.confidence_weights import confidence_weighted
from .questions.labels.evaluation import evaluate, shrinkage_gain
from .questions.labels.forced_prompts import forced_choice
from .questions.labels.ordinal_model import of_scores as score_levels
from .questions.labels.ordinal_model import ordinal
from .questions.labels.position_aware_btd import one_order, position_aware
from .questions.labels.rules import given_labels
from .questions.labels.shrinkage import by_item_name as prior_votes
from .questions.labels.shrinkage import candidate_priors
from .questions.leaning.preference import verbosity
from .questions.lists.method import Weights
from .questions.lists.method import consensus as consensus_ranking
from .questions.lists.method import improvement as listwise_improvement
from .questions.lists.orders import order_sensitivity, order_sweep
from .questions.lists.slots import slot_corrected
from .questions.order.balance import order_balance
from .questions.order.method import position_bias
from .questions.planning.budget import learn as learn_budget
from .questions.planning.budget import plan as plan_budget
from .questions.planning.budget import trial as trial_budget
from .questions.planning.comparison import compare as compare_settings
from .questions.planning.comparison import parameter_grid
from .questions.planning.grid import given_in_cells, task_grid
from .questions.planning.parameter_transfer import task_distances, transfer, transfer_prediction
from .questions.planning.sweeps import label_sweep, vote_sweep
from .reporting.document import to_json
from .reporting.html import report
from .reporting.text import to_text
from .schema import Selection
from .stats.repeated_votes import outcomes_by_share
from .store import Store, default_path
from .store import vote_queries as queries
from .store.export import read_store
from .use.one_call import audit, disagreements, to_people
from .warehouse import Warehouse

__all__ = ["__version__"]
# Files in, a store, a part of it, and what is counted there.
__all__ += [
    "ReadOptions",
    "Selection",
    "Store",
    "Warehouse",
    "default_path",
    "queries",
    "read",
    "read_store",
]
# All judges of a selection at once.
__all__ += ["AuditOptions", "audit", "report", "to_json", "to_text"]
__all__ += ["disagreements", "to_people"]
# Calibration
__all__ += [
    "calibration",
    "calibration_intervals",
    "confidence_gap",
    "noise_floor",
    "th_score",
    "th_sweep",
]
__all__ += [
    "by_btd",
    "by_share",
    "by_stated_confidence",
    "guarantee",
    "outcomes_by_share",
    "recalibrate",
    "risk_coverage",
]
__all__ += ["threshold_for_risk"]
# Aggregation and Confusion
__all__ += [
    "BTDOptions",
    "Bounds",
    "confidence_weighted",
    "confusion",
    "evaluate",
    "fit_btd",
    "given_labels",
]
__all__ += [
    "candidate_priors",
    "held_out_labels",
    "ordinal",
    "prior_votes",
    "score_levels",
    "shrinkage_gain",
]
# Position bias
__all__ += ["one_order", "order_balance", "position_aware", "position_bias", "verbosity"]
# Agreement
__all__ += [
    "JudgeVotes",
    "agreement_matrix",
    "compare_judges",
    "effective_votes",
    "icc",
    "inter_rater_reliability",
]
__all__ += ["leave_one_out", "pool_raters", "share_codes"]
# Listwise and Ensembles
__all__ += [
    "Weights",
    "consensus_ranking",
    "listwise_improvement",
    "order_sensitivity",
    "order_sweep",
    "slot_corrected",
]
__all__ += ["compare_ensembles", "ensemble_members", "fuser_verdicts", "judge_jury"]
# Experiments
__all__ += ["compare_settings", "forced_choice", "given_in_cells", "label_sweep", "learn_budget"]
__all__ += ["parameter_grid", "plan_budget"]
__all__ += [
    "task_distances",
    "task_grid",
    "transfer",
    "transfer_prediction",
    "trial_budget",
    "vote_sweep",
]
# Leaderboard
__all__ += [
    "abstention",
    "anchor_swap",
    "between_tasks",
    "board",
    "compare_outside",
    "debiased_board",
]
__all__ += ["direct_statistics", "dispersion", "hide_gold", "judge_pooling", "judge_screening"]
__all__ += ["mean_of_judges", "pooled_votes", "rating_spread", "read_outside", "score_boards"]
__all__ += ["score_abstention", "subsample_errors", "triangles"]
# Collect
__all__ += ["Budget", "Job", "Judge", "items_of", "lists_of", "plan_job", "read_items"]
__all__ += ["start_job"]

__version__: str
