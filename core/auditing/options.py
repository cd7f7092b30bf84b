"""What an audit is asked for: a field is a flag of the command line and the default of a page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import get_args

from ..errors import InvalidOption
from ..options import flag, pair
from ..questions.confidence.alone import ERRORS
from ..questions.confidence.results import DEFAULTS as CONFIDENCE
from ..questions.confidence.th_scores import EPSILON
from ..questions.labels.btd import DEFAULTS as BTD_DEFAULTS
from ..questions.labels.evaluation import SPLITS_BY_DEFAULT
from ..schema import UNNAMED, ConfidenceSource, CorrectnessRule, LabelsDrawn
from ..stats.intervals import check_level
from .checks import Rules, limits_with

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
    labels_drawn : how labelled answers were drawn, where somebody says it.
    """

    bins: int = field(
        default=CONFIDENCE.bins, metadata=flag("bins of the reliability diagram ({default})")
    )
    epsilons: tuple[float, ...] = field(
        default=CONFIDENCE.epsilons,
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
    splits: int = field(
        default=SPLITS_BY_DEFAULT, metadata=flag("random splits; 0 for none ({default})")
    )
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
    error: float = field(
        default=ERRORS[2],
        metadata=flag(
            "share of wrong answers allowed in what a judge decides alone: 0.01, 0.02, 0.05 or "
            "0.1 ({default})"
        ),
    )
    wrong_pass: float = field(
        default=1.0,
        metadata=flag(
            "what passing an answer that people fail costs, where failing one that they pass costs "
            "1: decides the cut of scores ({default})"
        ),
    )
    labels_drawn: LabelsDrawn = field(
        default="seen",
        metadata=flag(
            "how the labelled answers were drawn: at random, so many of each verdict of the judge, "
            "so many of each class of people, or more where judges of pairs differ; by default as "
            "the file shows it"
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
            (
                self.labels_drawn in get_args(LabelsDrawn),
                f"labels drawn {self.labels_drawn!r}: use {', '.join(get_args(LabelsDrawn))}.",
            ),
            (self.error in ERRORS, f"error {self.error:g}: use {', '.join(map(str, ERRORS))}."),
            (self.seed >= 0, f"seed {self.seed}: use a whole number from 0 up."),
        ):
            if not fine:
                raise InvalidOption(message)
        limits_with(self.limits)

    @property
    def rules(self) -> Rules:
        """The limits of every check, those given in place of the defaults, and the level."""
        return Rules(limits=limits_with(self.limits), level=self.level)

    @property
    def middle_epsilon(self) -> float:
        """The ε where one alone is shown: the middle one of those given."""
        return self.epsilons[len(self.epsilons) // 2] if self.epsilons else EPSILON

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
