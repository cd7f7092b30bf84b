"""What an audit is asked for and what it finds: options and results of `auditing.audit`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from .aggregation.btd import DEFAULTS as BTD_DEFAULTS
from .errors import InvalidOption
from .interpretation.rules import Overall, Rules, limits_with
from .options import flag, pair
from .schema import CorrectnessRule, Selection
from .stats.intervals import check_level

if TYPE_CHECKING:
    from .aggregation.btd import BTDFit
    from .aggregation.evaluation import Evaluation
    from .agreement.confusion_matrix import Confusion
    from .agreement.kappa import AgreementMatrix
    from .agreement.reliability import Repeatability
    from .bias import PositionBias, Verbosity
    from .confidence.calibration_error import Calibration, ConfidenceGap, NoiseFloor
    from .confidence.th_scores import ThScore
    from .importers import ReadOptions
    from .interpretation.robustness import Change
    from .interpretation.verdicts import Verdict
    from .leaderboard.anchored import Board
    from .leaderboard.anchors import AnchorSwap
    from .records import IntArray, VoteCounts
    from .schema import ImportResult
    from .stats.estimate import Estimate
    from .store.browse import JudgeSummary, Summary
    from .warehouse.relations import TableRead

MOST_SPLITS = 10_000


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


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """How to audit. `anchors` None: every model that met at least three others. `splits` 0: none.

    limits : check → (caution, failure) in place of those of `rules.LIMITS`.
    families : family → beginnings of the names of its judges and models.
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

    def __post_init__(self) -> None:
        # Methods check what they get, but a judge without such votes never reaches them.
        check_level(self.level)
        rules = get_args(CorrectnessRule)
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
                self.pool is None or self.pool > 0,
                f"pool {self.pool}: use the number of prompts in the pool.",
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


UNNAMED = frozenset(("A", "B"))
"""What models are called where a file does not name them."""


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
    accuracy: Estimate | None
    calibration: Calibration | None
    floor: NoiseFloor | None
    gap: ConfidenceGap | None
    th: tuple[ThScore, ...]
    position: PositionBias | None
    confusion: Confusion | None
    btd: BTDFit | None
    splits: Evaluation | None
    repeatability: Repeatability | None
    direction: Direction | None
    discrimination: Estimate | None
    constant_confidence: bool
    length: Verbosity | None
    length_beyond_gold: Estimate | None
    own_family: OwnFamily | None
    robustness: tuple[Change, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """Half credit on decided gold by item; the share right among decided votes, and how many
    decide.
    """

    credit: Estimate
    among_decided: float | None
    decided_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFamily:
    """Votes of a judge whose family was named, and where response A is of it (+1) or B (−1)."""

    counts: VoteCounts
    side: IntArray
    against: Literal["gold", "judges"]
    difference: Estimate | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JudgedBoard:
    """A leaderboard and whose votes made it; `judge` None is a pooled board.

    pooled_judges : whose votes made it.  left_out_judges : others that met the anchor and are not
        in a pooled
    board, because they did not judge all of its models; none for a judge's own board.
    """

    judge: str | None
    board: Board
    pooled_judges: tuple[str, ...]
    left_out_judges: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Audit:
    """All that an audit found. `boards` by anchor; `notes` say what could not be computed
    and why.
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
    verdicts: tuple[Verdict, ...]
    overall: dict[str, Overall]
    notes: tuple[str, ...]
