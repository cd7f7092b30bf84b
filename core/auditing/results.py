"""What an audit is asked for and what it finds: options and results of `auditing.audit`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, get_args

from ..errors import InvalidOption
from ..finding.check import rater_of
from ..options import flag, pair
from ..questions.labels.btd import DEFAULTS as BTD_DEFAULTS
from ..schema import UNNAMED, ConfidenceSource, CorrectnessRule, Selection
from ..stats.intervals import check_level
from .checks import Rules, limits_with

if TYPE_CHECKING:
    from ..finding.check import CheckResult
    from ..importers import ReadOptions
    from ..questions.accuracy.confusion_matrix import Confusion
    from ..questions.accuracy.method import BlindRule, Direction
    from ..questions.agreement.kappa import AgreementMatrix
    from ..questions.agreement.reliability import Repeatability
    from ..questions.agreement.repeats import EffectiveVotes
    from ..questions.boards.anchors import AnchorSwap
    from ..questions.boards.board_checks import BoardChecks
    from ..questions.boards.by_anchor import AnchorSummary
    from ..questions.boards.panels import JudgedBoard
    from ..questions.boards.standings import OutsideComparison
    from ..questions.change.files import Against
    from ..questions.change.series import FileSeries
    from ..questions.confidence.calibration_error import Calibration, ConfidenceGap, NoiseFloor
    from ..questions.confidence.kinds import KindOfConfidence
    from ..questions.confidence.th_scores import ThScore
    from ..questions.juries.jury import Jury
    from ..questions.labels.btd import BTDFit
    from ..questions.labels.evaluation import Evaluation
    from ..questions.labels.forced_prompts import ForcedChoice
    from ..questions.leaning.changes import Change
    from ..questions.leaning.preference import OwnFamily, Verbosity
    from ..questions.lists.method import Improvements
    from ..questions.lists.orders import OrderSensitivity, OrderSweep
    from ..questions.lists.parts import FlaggedWinner, PartAlone
    from ..questions.lists.slots import SlotCorrected
    from ..questions.order.method import PositionBias
    from ..questions.planning.grid import Grid
    from ..questions.scores.evidence import ScoreEvidence
    from ..questions.scores.people import AltTest
    from ..schema import ImportResult
    from ..stats.estimate import Estimate
    from ..store.browse import JudgeSummary, Summary
    from ..warehouse.relations import TableRead
    from .overall import Overall

MOST_SPLITS = 10_000
ONE_ITEM = "one item says nothing of others"
NO_REPEATS = (
    "fewer than 30 items with decided gold were judged more than once, or no vote on them differs"
)


def named_limits(texts: Iterable[str]) -> dict[str, tuple[float, float | None]]:
    """Limits as they are written, each `CHECK=CAUTION,FAILURE`, or `CHECK=CAUTION` of a check that
    never fails; raises InvalidOption otherwise.

    >>> named_limits(["position=.05,.10", "ties=.2"])
    {'position': (0.05, 0.1), 'ties': (0.2, None)}
    """
    limits: dict[str, tuple[float, float | None]] = {}
    for text in texts:
        check, ends = pair(text, "--limit")
        try:
            caution, *failure = (float(part) for part in ends.split(","))
        except ValueError:
            raise InvalidOption(
                f"--limit {text!r}: {ends!r} is not two numbers, such as .10,.20."
            ) from None
        if len(failure) > 1:
            raise InvalidOption(f"--limit {text!r}: give CAUTION,FAILURE, such as .10,.20.")
        limits[check] = caution, failure[0] if failure else None
    return limits


def named_families(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Families as they are written, each `FAMILY=PREFIX[,PREFIX…]`; raises InvalidOption otherwise.

    >>> named_families(["OpenAI=gpt-,o1", "Anthropic=claude"])
    {'OpenAI': ('gpt-', 'o1'), 'Anthropic': ('claude',)}
    """
    families: dict[str, tuple[str, ...]] = {}
    for text in texts:
        family, _, names = text.partition("=")
        beginnings = tuple(part.strip() for part in names.split(",") if part.strip())
        if not family.strip() or not beginnings:
            raise InvalidOption(f"family {text!r}: write it as FAMILY=PREFIX[,PREFIX…].")
        families[family.strip()] = (*families.get(family.strip(), ()), *beginnings)
    return families


def named_cuts(texts: Iterable[str]) -> dict[str, float]:
    """Scores from which answers pass as they are written, each `METRIC=SCORE`; raises InvalidOption
    otherwise.

    >>> named_cuts(["helpfulness=4"])
    {'helpfulness': 4.0}
    """
    cuts: dict[str, float] = {}
    for text in texts:
        metric, score = pair(text, "--pass-from")
        try:
            cuts[metric] = float(score)
        except ValueError:
            raise InvalidOption(f"--pass-from {text!r}: {score!r} is not a number.") from None
        if not math.isfinite(cuts[metric]):
            raise InvalidOption(f"--pass-from {text!r}: {score!r} is not a score.")
    return cuts


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """How to audit. `anchors` None: every model that met at least three others. `splits` 0: none.

    limits : check → (caution, failure) in place of those of `checks.LIMITS`.
    families : family → beginnings of the names of its judges and models.
    pass_from : metric → the score from which an answer passes, of judges and people.
    wrong_pass : price of passing an answer that people fail, where failing one that they pass
        costs 1.
    """

    bins: int = field(default=10, metadata=flag("bins of the reliability diagram ({default})"))
    epsilons: tuple[float, ...] = field(
        default=(0.05, 0.10, 0.15),
        metadata=flag("ε of TH-Score ({default})", name="epsilon", adds=False),
    )
    correctness: CorrectnessRule = field(
        default="single",
        metadata=flag(
            "what confidence is held against: each vote alone, or the two votes of a run in both "
            "orders together ({default})"
        ),
    )
    confidence_by: ConfidenceSource = field(
        default="stated",
        metadata=flag(
            "confidence as each vote states it, or the share of repeated votes behind the "
            "majority, which needs no prompt ({default})"
        ),
    )
    alpha: float = field(
        default=BTD_DEFAULTS.alpha, metadata=flag("BTD smoothing of the margin ({default})")
    )
    kappa: float = field(
        default=BTD_DEFAULTS.kappa, metadata=flag("BTD smoothing of the tie share ({default})")
    )
    calibration_share: float = field(
        default=0.05, metadata=flag("share of the items used to fit ({default})")
    )
    splits: int = field(default=100, metadata=flag("random splits; 0 for none ({default})"))
    grid: bool = field(
        default=False,
        metadata=flag("every rule by category and judge, with errors and the best of each"),
    )
    grid_votes: tuple[int, ...] = field(
        default=(),
        metadata=flag("with --grid: also with so many votes per comparison", metavar="N"),
    )
    forced_choice: tuple[str, ...] = field(
        default=(),
        metadata=flag(
            "two names of judges: the prompt that forces a choice, and the one that allows ties",
            metavar="JUDGE",
        ),
    )
    jury: bool = field(
        default=False,
        metadata=flag("voting rules over the judges, and fusers, against the best judge alone"),
    )
    board_checks: bool = field(
        default=False,
        metadata=flag(
            "of leaderboards: triangles of models, abstention of unsure judges, direct scores"
        ),
    )
    outside: str | None = field(
        default=None,
        metadata=flag(
            "a published leaderboard to compare with: a CSV with the columns model and score",
            metavar="FILE",
        ),
    )
    level: float = field(default=0.95, metadata=flag("level of the intervals ({default})"))
    anchors: tuple[str, ...] | None = field(
        default=None,
        metadata=flag(
            "leaderboard anchors (default: every model that met at least three others)",
            name="anchor",
            metavar="MODEL",
        ),
    )
    pool: int | None = field(default=None, metadata=flag("finite pool of M prompts", metavar="M"))
    seed: int = field(default=0, metadata=flag("seed of everything random ({default})"))
    limits: Mapping[str, tuple[float, float | None]] = field(
        default_factory=dict,
        metadata=flag(
            "limits of a check, e.g. position=.05,.10",
            name="limit",
            metavar="CHECK=CAUTION,FAILURE",
            read=named_limits,
        ),
    )
    families: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict,
        metadata=flag(
            "judges and models whose names begin so are of one family",
            name="family",
            metavar="FAMILY=PREFIX[,PREFIX…]",
            read=named_families,
        ),
    )
    pass_from: Mapping[str, float] = field(
        default_factory=dict,
        metadata=flag(
            "score of single answers from which one passes, e.g. helpfulness=4",
            metavar="METRIC=SCORE",
            read=named_cuts,
        ),
    )
    wrong_pass: float = field(
        default=1.0,
        metadata=flag(
            "what passing an answer that people fail costs, where failing one that they pass costs "
            "1: decides the cut of scores ({default})"
        ),
    )

    def __post_init__(self) -> None:
        # Methods check what they get, but a judge without such votes never reaches them.
        check_level(self.level)
        rules, sources = get_args(CorrectnessRule), get_args(ConfidenceSource)
        for fine, message in (
            (1 <= self.bins <= 1000, f"bins {self.bins}: use 1 to 1,000."),
            (
                all(0 < e < 0.5 for e in self.epsilons),
                f"epsilon {self.epsilons}: use values between 0 and 0.5.",
            ),
            (
                self.correctness in rules,
                f"correctness {self.correctness!r}: use {' or '.join(rules)}.",
            ),
            (
                self.confidence_by in sources,
                f"confidence by {self.confidence_by!r}: use {' or '.join(sources)}.",
            ),
            (
                self.confidence_by == "stated" or self.correctness == "single",
                "correctness both_orders: a share of votes takes both orders together already.",
            ),
            (
                self.alpha > 0 and self.kappa > 0,
                f"alpha {self.alpha:g}, kappa {self.kappa:g}: use more than 0.",
            ),
            (
                0 < self.calibration_share < 1,
                f"calibration share {self.calibration_share:g}: use 0 to 1.",
            ),
            (
                0 <= self.splits <= MOST_SPLITS,
                f"splits {self.splits}: use 0 (none) to {MOST_SPLITS:,}.",
            ),
            (
                all(votes >= 1 for votes in self.grid_votes),
                f"grid votes {self.grid_votes}: use 1 or more.",
            ),
            (
                self.grid or not self.grid_votes,
                f"grid votes {self.grid_votes}: they are of the grid; ask for it with --grid.",
            ),
            (
                len(self.forced_choice) in (0, 2),
                f"forced choice {', '.join(self.forced_choice)}: name two judges, the one that is "
                "forced to choose first.",
            ),
            (
                self.pool is None or self.pool > 0,
                f"pool {self.pool}: use the number of prompts in the pool.",
            ),
            (
                0 < self.wrong_pass < math.inf,
                f"wrong pass {self.wrong_pass:g}: a price is above 0.",
            ),
            (self.seed >= 0, f"seed {self.seed}: use a whole number from 0 up."),
        ):
            if not fine:
                raise InvalidOption(message)
        limits_with(self.limits)

    @property
    def rules(self) -> Rules:
        """The limits of every check, those given in place of the defaults, and the level."""
        return Rules(limits=limits_with(self.limits), level=self.level)

    def family(self, name: str) -> str | None:
        """The family that a judge or model belongs to by the longest beginning of its name.

        >>> AuditOptions(families={"OpenAI": ("gpt",), "Eleuther": ("gpt-j",)}).family("gpt-j-6b")
        'Eleuther'
        """
        fitting = [
            (len(beginning), family)
            for family, beginnings in self.families.items()
            for beginning in beginnings
            if name.startswith(beginning)
        ]
        # The first of several that are equally long, as families are written.
        return max(fitting, key=lambda fit: fit[0])[1] if fitting else None

    def same_family(self, judge: str, name: str) -> bool:
        """Whether a model, or another judge, is of a judge's family.

        That is the named family; for a judge without one, whoever bears its name.
        """
        family = self.family(judge)
        return (
            bare_name(name) == bare_name(judge) if family is None else family == self.family(name)
        )

    def namesakes(self, judges: Iterable[str], models: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Judge without a named family → the models that bear its name, where there are any.

        Models that have no names of their own (`A` and `B`) are nobody's.
        """
        of_name: dict[str, list[str]] = {}
        for model in models:
            if model not in UNNAMED:
                of_name.setdefault(bare_name(model), []).append(model)
        return {
            judge: tuple(of_name[bare_name(judge)])
            for judge in judges
            if self.family(judge) is None and bare_name(judge) in of_name
        }


def bare_name(name: str) -> str:
    """A name without case and without the organisation before it; of `org/` all of it.

    >>> bare_name("openai/GPT-4o")
    'gpt-4o'
    """
    name = name.strip().casefold()
    return name.rpartition("/")[2] or name


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JudgeAudit:
    """Every result of one judge; None where its votes cannot tell, with the reason in the audit's
    notes.
    """

    judge: str
    rater_type: str
    votes: JudgeSummary
    exact: Estimate | None
    calibration: Calibration | None
    ece: Estimate | None
    floor: NoiseFloor | None
    gap: ConfidenceGap | None
    th: tuple[ThScore, ...]
    position: PositionBias | None
    confusion: Confusion | None
    btd: BTDFit | None
    splits: Evaluation | None
    repeatability: Repeatability | None
    direction: Direction | None
    blind_rule: BlindRule | None
    discrimination: Estimate | None
    confidences: tuple[KindOfConfidence, ...]
    effective_votes: EffectiveVotes | None
    constant_confidence: bool
    length: Verbosity | None
    own_family: OwnFamily | None
    robustness: tuple[Change, ...]
    alternative: AltTest | None
    checks: tuple[CheckResult, ...]
    overall: Overall
    notes: tuple[str, ...]

    @property
    def accuracy(self) -> Estimate | None:
        """Half credit on decided gold."""
        return self.direction.credit if self.direction else None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScoreAudit:
    """Every result of one judge of single answers by one metric.

    evidence : the results of the methods, each made when it is first asked for.
    headline : what is said of it first.  figures : the line of figures below.
    """

    judge: str
    metric: str
    evidence: ScoreEvidence
    checks: tuple[CheckResult, ...]
    overall: Overall
    headline: str
    figures: str

    @property
    def whose(self) -> str:
        """The judge, and what was scored."""
        return rater_of(self.judge, self.metric)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ListwiseAudit:
    """Every result of one judge that ranks several answers at once.

    items, lists : items ranked, and rankings of them.  orders : median number of orders of an item.
    sensitivity : None if no item was ranked twice.  improvements, sweep : None, and no `parts`, if
        no item says which candidate is best.  flagged : none if no faults were flagged.
    headline : what is said of it first.  figures : the line of figures below.
    """

    judge: str
    items: int
    lists: int
    orders: int
    sensitivity: OrderSensitivity | None
    improvements: Improvements | None
    sweep: OrderSweep | None
    parts: tuple[PartAlone, ...]
    flagged: tuple[FlaggedWinner, ...]
    corrected: SlotCorrected
    headline: str
    figures: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GateValue:
    """What a gate found of one judge, or of one metric that it scored.

    value : the figure, the change since an older audit, or a grade; None where it is unknown.
    low, high : ends of the figure's interval, if it has one.
    """

    judge: str
    value: float | str | None
    low: float | None = None
    high: float | None = None
    passed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """A gate of a build: as it was written, a sentence for each judge that fails, and what was
    tested. Without a sentence it passed.
    """

    gate: str
    reasons: tuple[str, ...]
    values: tuple[GateValue, ...]

    @property
    def passed(self) -> bool:
        """Whether no judge fails."""
        return not self.reasons


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Audit:
    """All that an audit found. `judges` from the best to the worst, people behind them; `boards` by
    anchor, which `anchors` sums up; `scores` of judges of single answers, one for each metric;
    `rankings` of judges of lists; `grid` of rules by task and judge, `forced` choice against ties
    allowed, `jury`, `board_checks` and `outside`, a published board beside the first one, if they
    were asked for; `notes` say what could not be computed and why; `against` what moved since
    another audit, and `series` over older files, if that was asked for; `gates` are those of a
    build that were tested. `checks` and `overall` are
    those of votes.
    """

    selection: Selection
    options: AuditOptions
    readings: tuple[ImportResult | TableRead, ...]
    reading_options: ReadOptions | None
    summary: Summary
    judges: tuple[JudgeAudit, ...]
    agreement: AgreementMatrix
    boards: dict[str, tuple[JudgedBoard, ...]]
    anchor_swap: AnchorSwap | None
    checks: tuple[CheckResult, ...]
    overall: dict[str, Overall]
    notes: tuple[str, ...]
    against: Against | None = None
    series: FileSeries | None = None
    scores: tuple[ScoreAudit, ...] = ()
    rankings: tuple[ListwiseAudit, ...] = ()
    grid: Grid | None = None
    forced: ForcedChoice | None = None
    anchors: AnchorSummary | None = None
    jury: Jury | None = None
    board_checks: BoardChecks | None = None
    outside: OutsideComparison | None = None
    gates: tuple[GateResult, ...] = ()

    @property
    def people(self) -> tuple[JudgeAudit, ...]:
        """The raters that are people, whom the judges stand beside."""
        return tuple(judge for judge in self.judges if judge.rater_type == "human")

    @property
    def without_people(self) -> tuple[JudgeAudit, ...]:
        """The judges that are no people."""
        return tuple(judge for judge in self.judges if judge.rater_type != "human")

    @property
    def asked_about(self) -> tuple[JudgeAudit, ...]:
        """The judges that are ranked and that gates test: people only where nobody else voted."""
        return self.without_people or self.judges


def unknown_of_judges(judges: Sequence[JudgeAudit], options: AuditOptions) -> list[str]:
    """One note per reason, with the judges that it concerns; `options` name the anchors that were
    used.
    """
    names: dict[str, list[str]] = {}
    for judge in judges:
        for what, why in _unknown(judge, options).items():
            names.setdefault(f"no {what}, because {why}.", []).append(judge.judge)
    every = len(judges) if len(judges) > 1 else 0
    return [
        f"{'Every judge' if len(some) == every else ', '.join(some)}: {reason}"
        for reason, some in names.items()
    ]


def _unknown(judge: JudgeAudit, options: AuditOptions) -> dict[str, str]:
    """What the votes of one judge cannot tell → why: of results that are missing, and as results
    carry it.

    Why there is no calibration or BTD fit at all is noted where they are tried, with the counts.
    """
    if not judge.votes.n:
        what = (
            "accuracy, no half credit, no share right among decided votes, no blind rule, no "
            "confusion table, no position figures, no repeatability, no discrimination, no "
            "effective number of votes, no Alternative Annotator Test, no length, no own family "
            "and no robustness"
        )
        return {what: "no output has a vote"}
    reasons: dict[str, str] = {}
    if judge.exact is None:
        paired = options.correctness == "both_orders" and judge.confusion is not None
        which = (
            "with gold was judged in both orders of one run"
            if paired
            else "that it judged has a gold label"
        )
        reasons["accuracy"] = f"no comparison {which}"
    elif not judge.exact.has_interval:
        reasons["interval of the accuracy"] = ONE_ITEM
    if judge.confusion is None:
        reasons["confusion table"] = "no comparison that it judged has a gold label"
    for result in (judge.calibration, *judge.th):
        reasons |= result.unknown if result else {}
    for kind in judge.confidences:
        for score in kind.th:
            reasons |= score.unknown
        if kind.auroc is None or not kind.auroc.has_interval:
            reasons["discrimination of every kind of confidence"] = (
                "too few verdicts are right, or too few wrong"
            )
    if judge.effective_votes is None:
        reasons["effective number of votes"] = NO_REPEATS
    elif not judge.effective_votes.effective.has_interval:
        reasons["interval of the effective number of votes"] = "one item carries all of it"
    if judge.alternative is None:
        reasons["Alternative Annotator Test"] = (
            "it is a person's, or fewer than two people voted beside it"
        )
    elif judge.alternative.reason:
        reasons["Alternative Annotator Test"] = judge.alternative.reason.rstrip(".")
    reasons |= (
        judge.position.unknown
        if judge.position
        else {"position figures": "none of its votes says which response was shown first"}
    )
    if judge.btd is not None and not options.splits:
        reasons["splits"] = "none were asked for"
    reasons |= _unknown_of_checks(judge)
    where = " against an anchor" if options.anchors else ""
    return reasons | (
        judge.repeatability.unknown
        if judge.repeatability
        else {"repeatability": f"it judged no comparison{where} twice in the same way"}
    )


def _unknown_of_checks(judge: JudgeAudit) -> dict[str, str]:
    """Why half credit, discrimination, length, own family or robustness, or a part of one, is not
    known.
    """
    reasons = {}
    if judge.direction is None:
        reasons["half credit"] = "no comparison that it judged has decided gold"
    else:
        if not judge.direction.credit.has_interval:
            reasons["interval of the half credit"] = ONE_ITEM
        if judge.direction.among_decided is None:
            reasons["share right among decided votes"] = "all its votes on decided gold are ties"
        rule = judge.blind_rule
        if rule is None:
            reasons["blind rule"] = (
                "neither label, model, place nor length tells gold without the answers"
            )
        elif not rule.right.has_interval:
            reasons["half credit beyond a blind rule"] = (
                "gold says nearly always what that rule says"
            )
    if judge.discrimination is None:
        reasons["discrimination"] = "no verdict has both a confidence and a gold label"
    elif math.isnan(judge.discrimination.value):
        reasons["discrimination of right and wrong"] = (
            "all its verdicts are right, or all are wrong"
        )
    elif not judge.discrimination.has_interval:
        reasons["discrimination with an interval"] = (
            "fewer than 5 items have a right verdict, or a wrong one"
        )
    if judge.length is None:
        reasons["length"] = "no vote decides between responses of known, different length"
    elif judge.length.beyond_gold is None:
        reasons["length beyond gold"] = (
            "gold prefers the longer, or the shorter, response nearly always"
        )
    if judge.own_family is None:
        reasons["own family"] = "no family was named"
    elif judge.own_family.difference is None:
        reasons["own family beyond gold"] = (
            "it met too few models of its family, or one side nearly always won"
        )
    if not judge.robustness:
        reasons["robustness"] = "no item was judged again with a change"
    for change in judge.robustness:
        if change.effect is None:
            reasons[f"effect of {change.name}"] = (
                "it has no repeats in one order, and flips may be noise"
            )
        elif not change.effect.has_interval:
            reasons[f"interval of the effect of {change.name}"] = ONE_ITEM
    return reasons
