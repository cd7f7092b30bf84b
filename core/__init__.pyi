"""The public API by the page that shows it; `__init__.py` reads it to know where each name is."""

from .aggregation.btd import Bounds, BTDOptions, held_out_labels
from .aggregation.btd import fit as fit_btd
from .aggregation.confidence_weights import confidence_weighted
from .aggregation.evaluation import evaluate, shrinkage_gain
from .aggregation.ordinal_model import of_scores as score_levels
from .aggregation.ordinal_model import ordinal
from .aggregation.position_aware_btd import one_order, position_aware
from .aggregation.rules import given_labels
from .aggregation.shrinkage import by_item_name as prior_votes
from .aggregation.shrinkage import candidate_priors
from .agreement.confusion_matrix import confusion
from .agreement.judge_vs_human import leave_one_out
from .agreement.kappa import agreement_matrix
from .agreement.paired import JudgeVotes, compare_judges, pool_raters, share_codes
from .agreement.reliability import icc, inter_rater_reliability
from .agreement.repeats import effective_votes
from .audit_results import AuditOptions
from .bias.balance import order_balance
from .bias.forced_prompts import forced_choice
from .bias.order import position_bias
from .bias.preference import verbosity
from .confidence.calibration_error import (
    calibration,
    calibration_intervals,
    confidence_gap,
    noise_floor,
)
from .confidence.recalibration import recalibrate
from .confidence.repeated_votes import outcomes_by_share
from .confidence.selective import (
    by_btd,
    by_share,
    by_stated_confidence,
    guarantee,
    risk_coverage,
    threshold_for_risk,
)
from .confidence.th_scores import th_score, th_sweep
from .consensus.ensembles import compare as compare_ensembles
from .consensus.ensembles import fuser_verdicts
from .consensus.ensembles import members as ensemble_members
from .consensus.jury import judge_jury
from .consensus.listwise import Weights
from .consensus.listwise import consensus as consensus_ranking
from .consensus.listwise import improvement as listwise_improvement
from .consensus.listwise_orders import order_sensitivity, order_sweep
from .consensus.slots import slot_corrected
from .experiments.budget import learn as learn_budget
from .experiments.budget import plan as plan_budget
from .experiments.budget import trial as trial_budget
from .experiments.comparison import compare as compare_settings
from .experiments.comparison import parameter_grid
from .experiments.grid import given_in_cells, task_grid
from .experiments.parameter_transfer import task_distances, transfer, transfer_prediction
from .experiments.sweeps import label_sweep, vote_sweep
from .importers import ReadOptions, read
from .judging.items import items_of, lists_of, read_items
from .judging.job import Budget, Job, Judge
from .judging.own_verdicts import OwnVerdicts
from .judging.plan import plan as plan_job
from .judging.registry import start as start_job
from .leaderboard.anchored import board, subsample_errors
from .leaderboard.anchors import anchor_swap, triangles
from .leaderboard.debiased import debiased_board, hide_gold
from .leaderboard.debiased import pooled as pooled_votes
from .leaderboard.judge_dispersion import dispersion, rating_spread
from .leaderboard.judges import mean_of_judges
from .leaderboard.judges import pooling as judge_pooling
from .leaderboard.judges import screening as judge_screening
from .leaderboard.robustness import abstention, between_tasks
from .leaderboard.score_board import score_boards
from .leaderboard.score_spread import score_abstention
from .leaderboard.scores import direct_statistics
from .leaderboard.standings import compare_outside, read_outside
from .one_call import audit
from .reporting.document import to_json
from .reporting.html import report
from .reporting.text import to_text
from .schema import Selection
from .store import Store, default_path
from .store import vote_queries as queries
from .store.export import read_store
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
__all__ += [
    "Budget",
    "Job",
    "Judge",
    "OwnVerdicts",
    "items_of",
    "lists_of",
    "plan_job",
    "read_items",
]
__all__ += ["start_job"]

__version__: str
