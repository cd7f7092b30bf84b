"""Distribution-calibrated aggregation, item by item: [BTD]."""

from __future__ import annotations

from . import labels
from .record import PROMPTS, place

_rules = place("BTD", "votes_to_labels", "Rules")
_forced = place("BTD", "votes_to_labels", "Forced choice")
_collect = place("BTD", "collect")
_data = place("BTD", "start")
_raters = place("BTD", "agreement")
_grid = place("BTD", "votes_to_labels", "Tasks and judges")
_votes = place("BTD", "planning", "How many votes")
_here = place("BTD", "papers")
_transfer = place("BTD", "votes_to_labels", "Transfer")
_labels_needed = place("BTD", "planning", "How many labels")
_STATED = (
    "confidence is the token probability where votes have one (collect --confidence logprob), else "
    "what the judge states"
)
_ITEMS = "splits draw items, as comparisons of one prompt are not independent"
_DRPS = ("beta", "nu", "gamma", "drps")
_ERRORS = ("judge", "key", "mae", "pa", "top_cluster")
_CELLS = ("task", "judge", "votes", "key", "mae", "pa", "top_cluster")

ITEMS = (
    _rules(
        "§4", "labels from n votes, calibrated to gold", labels.fitted, _DRPS, field="judges.*.btd"
    ),
    _rules(
        "Figure 1",
        "decision for every way in which votes fall, beside the majority's, in two settings",
        labels.decisions,
        ("judge", "plus", "tie", "minus", "decision", "majority"),
        ours="the settings are the two judges with most labelled votes",
    ),
    place("BTD", "position_bias")(
        "Table 1",
        "votes for the first slot, the second and ties, with position bias",
        labels.position,
        ("first", "second", "tie", "bias_decided", "bias_all"),
        field="judges.*.position",
        ours="both denominators, as the paper's formula and its second column differ",
    ),
    _forced(
        "Table 1, prompts",
        "forced choice beside ties allowed, of one judge",
        labels.forced,
        ("judge", "where", "first", "second", "tie", "bias_decided"),
        field="forced_choice",
        ours="a prompt is a judge name",
    ),
    _forced(
        "§3",
        "the same on comparisons whose gold is a tie",
        labels.forced,
        ("judge", "where", "bias_decided"),
        field="forced_choice",
    ),
    place("BTD", "compare", "Settings")(
        "Table 2",
        "share of ties, judge × prompt, with margins",
        labels.tie_rates,
        ("judge", "all"),
        ours="prompts are the values of a column: --by COLUMN",
    ),
    _rules("eq. 1", "MAE and pairwise accuracy", labels.rules, _ERRORS, field="grid"),
    _rules(
        "eq. 2–3",
        "margin s and tie feature t of the votes",
        labels.decisions,
        ("s", "t"),
        ours="α and κ by --alpha and --kappa",
    ),
    _rules(
        "eq. 4–5",
        "Davidson's model: u = βs, η = η₀ + γt",
        labels.decisions,
        ("u", "eta", "p(-1)", "p(0)", "p(+1)"),
    ),
    _rules(
        "eq. 6–7", "the label of least expected absolute error", labels.decisions, ("decision",)
    ),
    _rules(
        "eq. 8",
        "fit by the MAE of decisions",
        labels.losses,
        ("judge", "loss", "mae"),
        ours="the third loss is the expected absolute error under the fitted probabilities, "
        "a smooth stand-in, as decisions change by steps",
        differs=True,
    ),
    _rules(
        "eq. 9–12",
        "discrete ranked probability score, and its minimum",
        labels.fitted,
        _DRPS,
        field="judges.*.btd.drps",
    ),
    _rules(
        "§1",
        "fit by maximum likelihood",
        labels.losses,
        ("judge", "loss", "beta", "nu", "gamma"),
        ours="an alternative beside DRPS, which the paper's method uses",
    ),
    _rules(
        "Algorithm 1",
        "L-BFGS-B from several starts",
        labels.fitted,
        _DRPS,
        ours="Newton steps from a fixed start and the best of a grid, so that runs agree; "
        "the minimum is the same",
        differs=True,
    ),
    _rules(
        "Appendix E, bounds",
        "bounds of β, ν, γ, and which are active",
        labels.losses,
        ("at_bounds",),
    ),
    _rules(
        "§5, GD",
        "two votes in reversed orders, rounded median",
        labels.rules,
        _ERRORS,
        field="grid",
        ours="of sampled votes the first of each order: imported votes name no temperature",
        differs=True,
    ),
    _collect(
        "§5, FS",
        "labelled items as examples in the prompt",
        command="collect --few-shot 4",
        ours="examples are drawn at random among items that are then left out",
    ),
    _rules(
        "§5, SC",
        "majority of votes",
        labels.rules,
        _ERRORS,
        field="grid",
        ours="no unique mode is a tie; the paper does not say",
    ),
    _rules(
        "§5, Soft-SC",
        "votes weighed by least, mean or product of confidence",
        labels.rules,
        _ERRORS,
        field="grid",
        ours=_STATED,
    ),
    _rules(
        "§5, CI-SC",
        "votes weighed by confidence",
        labels.rules,
        _ERRORS,
        field="grid",
        ours=_STATED,
    ),
    _collect(
        "§5, GSA and USC",
        "a model decides from the samples",
        command="collect --protocol usc",
        field="grid",
    ),
    _collect("§5, orders", "half of the votes in each order", command="collect --orders balanced"),
    _collect(
        "§5, sampling",
        "4 and 12 votes at temperature .5",
        command="collect --preset btd-wmt --temperature 0.5",
    ),
    _collect(
        "§5, thinking",
        "judges that reason before they answer",
        command="collect --reasoning-effort high",
    ),
    _data(
        "§5, MQM",
        "scores of two translations become a vote",
        command="audit SCORES --votes-of METRIC --tie-margin 0",
    ),
    _raters(
        "§5, consensus",
        "gold is the mode of people",
        labels.people,
        ("human", "human_pa"),
        command="audit VOTES --gold humans",
        ours="no unique mode is a tie",
    ),
    _data(
        "§5, RewardBench 2",
        "pairs of accepted and rejected answers",
        command="audit SCORES --votes-of quality",
    ),
    _rules(
        "§5, splits",
        "100 splits, 5 % of labels calibrate",
        labels.rules,
        ("mae", "mae_low", "mae_high"),
        field="judges.*.btd.splits",
        ours=_ITEMS,
        differs=True,
    ),
    _rules(
        "§5, top cluster",
        "methods that no better one beats at .05",
        labels.rules,
        ("top_cluster", "p_value"),
        field="grid",
        ours="sign flips by item, as splits overlap",
        differs=True,
    ),
    _grid("Table 3", "task × rule: MAE, accuracy, top cluster", labels.grid, _CELLS, field="grid"),
    _grid(
        "Table 4",
        "the same with other numbers of votes",
        labels.grid,
        _CELLS,
        field="grid",
        part_of="Table 3",
    ),
    _votes(
        "Figure 2",
        "MAE and accuracy of every rule by number of votes",
        labels.vote_numbers,
        ("votes", "rule", "mae", "pa"),
        ours="USC and GSA have read all votes, so they stand at all votes alone",
    ),
    _votes(
        "Figure 2, bars",
        "± 1.96 SE over splits",
        labels.vote_numbers,
        ("mae_low", "mae_high", "mae_item_low"),
        ours="intervals by item beside it",
    ),
    _raters(
        "Table 5",
        "each person left out, beside BTD and the majority",
        labels.people,
        ("human", "judge", "rule", "human_pa", "judge_pa"),
        ours="BTD is calibrated on the other nine tenths of the items",
        differs=True,
    ),
    _here(
        "Table 5, n",
        "the same at 2, 4, 8 and 12 votes, with people beaten",
        labels.people,
        ("votes", "people_beaten", "of"),
        ours="calibrated as in Table 5",
        differs=True,
    ),
    _grid(
        "Table 6",
        "judge × task: BTD and majority",
        labels.gains,
        ("task", "judge", "votes", "majority", "btd", "gain"),
        field="grid",
    ),
    _grid(
        "Table 7",
        "judge × task × number of votes",
        labels.gains,
        ("task", "judge", "votes", "majority", "btd", "gain"),
        field="grid",
        part_of="Table 6",
    ),
    _transfer(
        "Figure 3",
        "change of MAE with another task's fit",
        labels.transfers,
        ("fitted_on", "evaluated_on", "mae", "change"),
    ),
    _labels_needed(
        "Figures 4, 11",
        "MAE by number of labels, 20 to 200",
        labels.label_numbers,
        ("labels", "rule", "mae"),
    ),
    _collect(
        "Figures 5–7",
        "three prompts for translations",
        command="collect --preset btd-wmt",
        lacks="two of the three prompts: " + PROMPTS,
    ),
    _collect(
        "Figures 8, 9",
        "judge prompts of the two benchmarks",
        command="collect --preset btd-wmt",
        lacks="the second prompt: " + PROMPTS,
    ),
    _here(
        "Table 8, Figure 10",
        "gold A, tie and B by data set and category",
        labels.gold_shares,
        ("by", "value", "comparisons", "A", "tie", "B"),
    ),
    _rules(
        "Appendix D, Figures 12, 14",
        "P(label given gold) with counts, BTD beside the majority",
        labels.confusions,
        ("judge", "labels"),
        field="judges.*.confusion",
    ),
    _rules(
        "Figures 13, 15",
        "labels by gold, majority and BTD",
        labels.label_shares,
        ("judge", "source", "A", "tie", "B"),
    ),
    place("BTD", "votes_to_labels", "Parameters")(
        "Table 9",
        "mean and quartiles of β, ν, γ over splits, and the regime",
        labels.parameters,
        ("nu_mean", "nu_q1", "nu_q3", "regime"),
        ours="the limits of the regimes are ours; they give the paper's",
    ),
    place("BTD", "position_bias", "What order does")(
        "Appendix F, Table 10",
        "one order, the other and half of each, at equal numbers of votes",
        labels.order_balances,
        ("judge", "votes", "orders", "mae_majority", "mae_btd"),
    ),
    _grid(
        "Appendix G, Table 11",
        "temperature × task × number of votes",
        labels.gains,
        ("task", "judge", "votes", "majority", "btd", "gain"),
        field="grid",
        ours="a temperature is a judge name",
    ),
    _grid(
        "Appendix H, Table 12",
        "prompt × rule × number of votes, with the difference",
        labels.gains,
        ("judge", "votes", "majority", "btd", "gain"),
        field="grid",
        ours="a prompt is a judge name",
    ),
    _here(
        "Figure 16",
        "labels of two prompts by gold, majority and BTD",
        labels.label_shares,
        ("judge", "source", "A", "tie", "B"),
    ),
    _labels_needed(
        "first experiments",
        "labels, votes and transfer",
        labels.label_numbers,
        ("labels", "rule", "mae"),
    ),
    _here(
        "recovery",
        "a known θ is found again",
        labels.recovered,
        ("parameter", "truth", "mean", "sd"),
        ours="θ of the user's judge, on the user's votes",
    ),
    _transfer(
        "§6, transfer",
        "can transfer be foretold",
        labels.transfer_foreseen,
        ("target", "rho", "p_value"),
    ),
    place("BTD", "votes_to_labels", "Likert scales")(
        "§6, ordinal",
        "labels of more than three levels",
        labels.ordinal_labels,
        ("judge", "rule", "mae"),
        lacks="labels without an order",
    ),
    place("BTD", "votes_to_labels", "Confidence weights")(
        "§6, weights",
        "votes weighed by confidence, at low temperature",
        labels.confidence_weights,
        ("judge", "rule", "mae"),
    ),
)
