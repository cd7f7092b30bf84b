"""What is to be collected: the judges, the protocol and the items, checked before anything
is sent.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args

from ..errors import InvalidOption, UnreadableFile
from ..options import described, flag
from ..schema import ONE_METRIC, Kind, perturbed_name
from .items import Item, alone, listed, paired
from .perturbations import NAMES as CHANGES
from .perturbations import changed
from .reading import LETTERS, bare
from .rubric import NAME, PASS_FAIL, Criterion, Words, criteria_of, label_in, scale_of

Orders = Literal["balanced", "ab"]
Confidence = Literal["none", "self", "multi", "logprob"]

MAX_CONCURRENCY = 256
LOCAL = "http://localhost:11434/v1"
"""Where a server of one's own usually listens."""
AGAIN = ("unparsed", "cut_off", "refused", "failed", "error")
"""Statuses of replies that may be asked for again."""
RESERVED = (
    "model",
    "messages",
    "temperature",
    "max_tokens",
    "api_key",
    "api_base",
    "timeout",
    "stream",
    "n",
)
"""Parameters of a call that have an option of their own, or none."""


def values_of(record: Any) -> dict[str, Any]:
    """The fields of a dataclass by name; unlike with `asdict` those that are dataclasses
    stay so.
    """
    return {each.name: getattr(record, each.name) for each in fields(record)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a protocol collects and which options it takes.

    votes : default number; fixed: the only one.  examples : labelled items may be shown.
    reads : judges whose stored votes it reads; 2: two or more.
    """

    kind: Kind = "votes"
    votes: int = 1
    fixed: bool = False
    confidences: tuple[Confidence, ...] = ("none",)
    examples: bool = False
    reads: int = 0


PROTOCOLS = {
    "pairwise": Rules(votes=8, confidences=("self", "none", "multi", "logprob"), examples=True),
    "greedy": Rules(votes=2, fixed=True, confidences=("self", "none", "logprob"), examples=True),
    "pass": Rules(kind="scores", confidences=("none", "logprob")),
    "score": Rules(kind="scores", confidences=("none", "logprob")),
    "rubric": Rules(kind="scores"),
    "listwise": Rules(kind="rankings", votes=7),
    "usc": Rules(confidences=("self", "none"), reads=1),
    "gsa": Rules(confidences=("self", "none"), reads=1),
    "apoc": Rules(fixed=True),
    "fuser": Rules(confidences=("self", "none"), reads=2),
}
_VOTES = (
    f"votes per comparison ({PROTOCOLS['pairwise'].votes}), scores per response "
    f"({PROTOCOLS['score'].votes}), orderings per list ({PROTOCOLS['listwise'].votes})"
)
NO_CONFIDENCE = {
    "multi": (
        "Confidence by repeated votes (multi) needs {option:protocol pairwise} and 2 votes or more"
    ),
    "logprob": (
        "Confidence by token probabilities (logprob) needs {option:protocol pairwise}, "
        "greedy, pass or score"
    ),
    "self": "{option:protocol {protocol}} states no confidence",
}
"""Why a protocol cannot have a kind of confidence."""
WHERE = {
    "perturb": "{option} goes with {option:protocol pairwise} or greedy, without examples",
    "five": "{option} goes with {option:protocol pairwise} or greedy, and not with logprob or a "
    "prompt of your own; of scores it is {option:scale 1..5}",
    "scale": "{option} goes with {option:protocol score}",
    "own_answer": "{option} goes with {option:protocol pairwise} or greedy, "
    "and not with logprob or a prompt "
    "of your own",
    "show": "{option} goes with {option:protocol pairwise}, greedy, pass, score or rubric; "
    "a prompt of your own names its "
    "columns itself",
    "criteria": "{option} goes with {option:protocol score}",
    "same_orderings": "{option} goes with {option:protocol listwise}",
}
"""Where an option has a meaning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Hard limits over all of a job, or of a judge in it, whichever run of it spent them; None: no
    limit.
    """

    calls: int | None = field(
        default=None,
        metadata=flag("calls at most", name="max-calls", dest="calls", metavar="MAX_CALLS"),
    )
    tokens: int | None = field(
        default=None,
        metadata=flag(
            "tokens at most, of prompts and replies",
            name="max-tokens",
            dest="tokens",
            metavar="MAX_TOKENS",
        ),
    )
    cost: float | None = field(
        default=None,
        metadata=flag(
            "money at most, in the currency of the price",
            name="max-cost",
            dest="cost",
            metavar="MAX_COST",
        ),
    )

    def __post_init__(self) -> None:
        for name, limit in values_of(self).items():
            # No comparison with nan holds, so it would be no limit at all.
            if limit is not None and not 0 <= limit < math.inf:
                raise InvalidOption(f"A limit of {limit} {name}: a limit is a number, 0 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A model that judges.

    model : `provider/name` as litellm spells it; an OpenAI-compatible server: `openai/name` and
        `base_url`.
    name : who votes; default: the model without its provider.
    price : of a million prompt tokens and of a million completion tokens; None: looked up, or
        unknown.
    key_env : environment variable that holds the key; default: the provider's own, and none for a
        base URL.
    max_tokens : of a reply; a reasoning model thinks within it too.
    timeout : seconds until a call counts as failed.
    same_server : earlier address of the same server: what was collected there is not collected
        again.
    parameters : further ones of each call, such as `reasoning_effort`, with their values as JSON.
    headers : further ones of each call; a value `$NAME` is that of an environment variable.
    concurrency : calls in flight at most; None: a part of those of the job.
    budget : hard limits over all of this judge's calls in the job, beside those of the job.
    """

    model: str = field(metadata=described("openai/NAME, anthropic/NAME …; several share the job"))
    base_url: str | None = field(
        default=None,
        metadata=flag(f"a server with the OpenAI format, such as {LOCAL}", metavar="URL"),
    )
    name: str = field(
        default="",
        metadata=flag("who votes (default: the model's name)", name="judge", metavar="NAME"),
    )
    key_env: str | None = field(
        default=None, metadata=flag("environment variable that holds the key", metavar="VARIABLE")
    )
    price: tuple[float, float] | None = field(
        default=None, metadata=flag("per million tokens", metavar=("PROMPT", "COMPLETION"))
    )
    max_tokens: int = field(
        default=4096,
        metadata=flag(
            "longest reply, its reasoning included, in tokens ({default})",
            name="reply-tokens",
            dest="max_tokens",
            metavar="REPLY_TOKENS",
        ),
    )
    timeout: float = field(
        default=120.0, metadata=flag("timeout of a call, in seconds ({default})")
    )
    parameters: tuple[tuple[str, str], ...] = field(
        default=(),
        metadata=flag(
            "a further parameter of each call, its value as JSON, such as seed=7",
            name="param",
            metavar="NAME=JSON",
        ),
    )
    headers: tuple[tuple[str, str], ...] = field(
        default=(),
        metadata=flag(
            "a further header; $NAME stands for an environment variable",
            name="header",
            metavar="NAME=VALUE",
        ),
    )
    same_server: str | None = field(
        default=None,
        metadata=flag(
            "earlier address of this server: what was collected there counts", metavar="URL"
        ),
    )
    concurrency: int | None = field(
        default=None, metadata=described("concurrent calls (default: a part of those of the job)")
    )
    budget: Budget = field(
        default_factory=Budget, metadata=described("limits of this judge beside those of the job")
    )

    def __post_init__(self) -> None:
        parts = self.model.split("/", 1)
        if not self.model.isprintable() or not all(part.strip() for part in parts):
            raise InvalidOption(
                f"{self.model!r} names no model; write provider/name, such as openai/NAME"
            )
        if len(parts) == 1:
            if self.base_url is None:
                raise InvalidOption(
                    "{model!r} names no provider: write provider/name, or give a server's "
                    "{option:base_url}",
                    model=self.model,
                )
            object.__setattr__(self, "model", f"openai/{self.model}")
        if not self.name:
            object.__setattr__(self, "name", self.default_name)
        if not self.name.strip() or not self.name.isprintable():
            raise InvalidOption(f"A judge cannot be named {self.name!r}")
        if self.max_tokens < 1 or not 0 < self.timeout < math.inf:
            raise InvalidOption(f"{self.name}: max_tokens and timeout must be above 0")
        if self.concurrency is not None and not 1 <= self.concurrency <= MAX_CONCURRENCY:
            raise InvalidOption(
                f"{self.name}: {self.concurrency} calls at once: 1 to {MAX_CONCURRENCY}"
            )
        if self.price is not None and not all(0 <= price < math.inf for price in self.price):
            raise InvalidOption(
                f"{self.name}: a price of {self.price[0]} and {self.price[1]}; it is 0 or more"
            )
        for name, value in self.parameters:
            if name in RESERVED:
                raise InvalidOption(
                    "{name} is no {option}: it has an option of its own", name=name, option="param"
                )
            try:
                json.loads(value)
            except ValueError:
                words = "{option} {name}: {value!r} is not JSON; a text stands in double quotes"
                raise InvalidOption(words, option="param", name=name, value=value) from None

    @property
    def extra(self) -> dict[str, Any]:
        """Further parameters of each call."""
        return {name: json.loads(value) for name, value in self.parameters}

    @property
    def default_name(self) -> str:
        """The model without its provider."""
        return self.model.partition("/")[2]

    @property
    def provider(self) -> str:
        return self.model.partition("/")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How a job is run: at most so many calls at once, within a budget, to hosts that were
    confirmed.

    again : statuses of replies that are asked for again.  reread : read stored replies again, send
        nothing.
    give_up : failures in a row, of a dead server, an empty account or requests that are rejected
        one by one, after which a judge is asked no more.
    repair : a reply that could not be read is asked about once.
    batch : calls are handed in together, at half the price; of at most `batch_size`.
    """

    concurrency: int = field(
        default=16, metadata=flag(f"concurrent calls, at most {MAX_CONCURRENCY} ({{default}})")
    )
    budget: Budget = field(
        default_factory=Budget, metadata=described("limits over all runs of the job")
    )
    confirmed: tuple[str, ...] = field(
        default=(),
        metadata=flag(
            "send texts to this host: one that is not known, or any that a job file names",
            name="yes-send-to",
            metavar="HOST",
        ),
    )
    again: tuple[str, ...] = field(
        default=(),
        metadata=flag("ask again where there is only: {choices}", metavar="STATUS", choices=AGAIN),
    )
    repair: bool = field(
        default=True,
        metadata=flag("ask a model once what its reply says that could not be read (default)"),
    )
    reread: bool = field(
        default=False, metadata=flag("read stored replies without a verdict again; send nothing")
    )
    give_up: int = field(
        default=20, metadata=flag("failures in a row that stop a judge ({default})", metavar="N")
    )
    batch: bool = field(
        default=False, metadata=flag("hand in batches: half the price, results within a day")
    )
    batch_size: int = field(
        default=10_000, metadata=flag("calls in one batch ({default})", metavar="N")
    )

    def __post_init__(self) -> None:
        for status in self.again:
            if status not in AGAIN:
                raise InvalidOption(
                    "{option} {status}: one of {allowed}",
                    option="again",
                    status=status,
                    allowed=AGAIN,
                )
        for name in ("give_up", "batch_size"):
            if getattr(self, name) < 1:
                raise InvalidOption(
                    "{option} {given}: 1 or more", option=name, given=getattr(self, name)
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Judgements to collect. The same job twice makes no call twice.

    votes : per judge and comparison; for listwise the number K of orderings; None: the protocol's
        default. Greedy is two by definition.
    orders : `balanced`: half in each order; `ab`: model_a first always.
    temperature : None: 1 where several votes are drawn, 0 elsewhere.
    few_shot : labelled items shown as examples; they are drawn by `seed` and not judged.
    samples_of : the judges whose stored votes USC, GSA (one) or a fuser (two or more) read.
    keyed : judge that confirms for APOCJudge; None: the first of `judges` itself, with an answer
        key.
    prompts : folder of edited prompts; None: the project's own.
    perturb : change that the items get (`perturbations.NAMES`); the votes are stored beside those
        without.
    five : five-level verdicts (`A>>B` …), or scores from 1 to 5.  scale : of scores, as `scale_of`
        reads it; "" is 1 to 10.
    own_answer : the judge answers the prompt itself, before its verdict.
    show : further columns of the items that the prompt shows, such as `rubric`.
    criteria : names of what each reply scores besides the whole, one metric each.  rubric : text of
        the criteria of the protocol of that name, as `criteria_of` reads it.
    same_orderings : lists of one length are shown in the same orders, not each in its own.
    prompt : text of a prompt of one's own.  closing : how to answer is put behind it, for single
        answers.  verdict_words : pairs of `A`,
        `B` or `tie` and the words that mean it, if replies state other words than these letters.
    """

    dataset: str = field(metadata=flag("name of the data set (default: the file's stem)"))
    items: tuple[Item, ...] = field(repr=False, metadata=described("what is judged"))
    judges: tuple[Judge, ...] = field(metadata=described("the models that judge"))
    protocol: str = field(default="pairwise", metadata=flag("{choices}", choices=PROTOCOLS))
    votes: int | None = field(default=None, metadata=flag(_VOTES))
    orders: Orders = field(default="balanced", metadata=flag("{choices}"))
    confidence: Confidence = field(default="none", metadata=flag("{choices}"))
    ties: bool = field(default=True, metadata=flag("allow ties (default)"))
    temperature: float | None = field(
        default=None, metadata=flag("default: 1 where several votes are drawn, else 0")
    )
    few_shot: int = field(
        default=0, metadata=flag("show K labelled items as examples ({default})", metavar="K")
    )
    samples_of: tuple[str, ...] = field(
        default=(), metadata=flag("votes that usc, gsa or fuser read", metavar="JUDGE")
    )
    keyed: Judge | None = field(
        default=None,
        metadata=flag(
            "the judge that confirms for apoc (default: the same)",
            name="keyed-model",
            metavar="MODEL",
        ),
    )
    five: bool = field(
        default=False, metadata=flag("five-level verdicts (A>>B, A>B …), or scores from 1 to 5")
    )
    scale: str = field(
        default="",
        metadata=flag(
            "levels of a score: 1..5, 0..10, or words from worst to best such as poor,fair,good "
            "(1..10)",
            metavar="LEVELS",
        ),
    )
    own_answer: bool = field(
        default=False, metadata=flag("the judge answers the prompt itself before it judges")
    )
    show: tuple[str, ...] = field(
        default=(), metadata=flag("columns in the prompt, such as rubric", metavar="COLUMN")
    )
    criteria: tuple[str, ...] = field(
        default=(),
        metadata=flag(
            "what each reply scores besides the whole, one metric each, such as accuracy; of "
            "rubric a file with the columns name, question, scale, weight",
            metavar="NAME",
        ),
    )
    rubric: str = field(default="", metadata=described("the criteria of a rubric"))
    same_orderings: bool = field(
        default=False,
        metadata=flag("the same orderings for all lists of one length, as ablations by order need"),
    )
    perturb: str = field(
        default="",
        metadata=flag(
            "ask with a change that should not matter, or with an attack in one response: "
            "{choices} (from a column)",
            metavar="CHANGE",
            choices=CHANGES,
        ),
    )
    prompts: Path | None = field(
        default=None,
        metadata=flag("edited prompts, instead of the project's own", metavar="FOLDER"),
    )
    prompt: str | None = field(
        default=None,
        metadata=flag(
            "a prompt of your own, with {{prompt}}, {{first}} and {{second}}, or {{response}}",
            metavar="FILE",
        ),
    )
    closing: bool = field(
        default=True, metadata=flag("put behind a prompt of your own how to answer (default)")
    )
    verdict_words: tuple[tuple[str, str], ...] = field(
        default=(), metadata=described("pairs of A, B or tie and the words that mean it in replies")
    )
    seed: int = field(default=0, metadata=flag("of examples and orderings ({default})"))

    def __post_init__(self) -> None:
        if self.perturb:
            object.__setattr__(
                self, "items", tuple(changed(item, self.perturb) for item in paired(self.items))
            )
        self._check_words()
        self._check_scale()
        self._check_judges()
        if not self.dataset.strip():
            raise InvalidOption("The name of a data set must not be empty")
        if self.n < 1:
            raise InvalidOption(f"{self.n} votes: ask for at least 1")
        if self.two_orders and self.n % 2:
            raise InvalidOption(
                "{votes} votes cannot be balanced over two orders: take an even number, or "
                "{option:orders ab}",
                votes=self.n,
            )
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise InvalidOption(f"A temperature of {self.temperature}: it is 0 to 2")
        self._check_items()
        self._check_protocol()

    def _check_words(self) -> None:
        words = {
            "protocol": PROTOCOLS,
            "orders": get_args(Orders),
            "confidence": get_args(Confidence),
        }
        for name, allowed in words.items():
            if getattr(self, name) not in allowed:
                raise InvalidOption(
                    f"{name} is {getattr(self, name)!r}; allowed: {', '.join(allowed)}"
                )

    def _check_scale(self) -> None:
        levels, token = self.levels, self.confidence == "logprob" and self.protocol == "score"
        if self.protocol == "rubric" and not self.criteria_asked:
            words = (
                "{option:protocol rubric} needs a file of criteria: {option:criteria criteria.csv}"
            )
            raise InvalidOption(words, option="criteria")
        if token and any(a != b and b.startswith(a) for a in levels for b in levels):
            raise InvalidOption(
                "{option:confidence logprob} reads one token: take a scale of which no level "
                "begins as another does, such as {option:scale 1..5}",
                option="scale",
            )
        for item in self.items if self.rules.kind == "scores" else ():
            if len(item.responses) == 1:
                self.labels_of(item)

    @property
    def levels(self) -> Words:
        """The words of a score; those of pass or fail where none is asked for."""
        if self.protocol != "score":
            return PASS_FAIL
        return scale_of(self.scale or ("1..5" if self.five else "1..10"))

    @property
    def criteria_asked(self) -> tuple[Criterion, ...]:
        """The criteria of a rubric; () of any other protocol."""
        return criteria_of(self.rubric) if self.rubric else ()

    def labels_of(self, item: Item) -> dict[str, float]:
        """What people say of the only response of an item, on the scale of its scores, by column;
        of a rubric whether it passes.

        Raises UnreadableFile: what they say is on another scale.
        """
        try:
            return label_in(item.people, self.levels)
        except UnreadableFile as error:
            raise UnreadableFile(f"item {item.item_id!r}, {error}") from error

    def _check_judges(self) -> None:
        """Answers of two judges under one name would count twice."""
        names = [judge.name for judge in self.judges]
        if not names or len(set(names)) < len(names):
            raise InvalidOption(
                f"A job needs judges with names of their own; it has {', '.join(names) or 'none'}"
            )
        ((most, times),) = Counter(self.voters).most_common(1)
        if times > 1:
            raise InvalidOption(
                "The answers of these judges would all be stored as {voter!r}: "
                "ask one model at a time, and give each further one a name of its own with "
                "{option:judge}",
                voter=most,
            )

    def _check_items(self) -> None:
        if self.rules.kind == "votes":
            paired(self.items)
        elif self.rules.kind == "scores":
            alone(self.items)
        else:
            longest = max((len(item.responses) for item in listed(self.items)), default=0)
            if longest > len(LETTERS):
                raise InvalidOption(f"{longest} candidates: a list may have up to {len(LETTERS)}")

    def _check_protocol(self) -> None:
        if self.confidence not in self.rules.confidences or (
            self.confidence == "multi" and self.n < 2
        ):
            raise InvalidOption(NO_CONFIDENCE[self.confidence], protocol=self.protocol)
        if self.few_shot and not self.rules.examples:
            raise InvalidOption(
                "Examples (few-shot) go with {option:protocol pairwise} or greedy",
                option="few_shot",
            )
        pairs, letter = self.rules.examples, self.confidence == "logprob"
        ours, score = self.prompt is None, self.protocol == "score"
        single = self.rules.kind == "scores"
        for option, chosen, fits in (
            ("perturb", self.perturb, pairs and not self.few_shot),
            ("five", self.five, (pairs and not letter and ours) or (score and not self.scale)),
            ("scale", self.scale, score),
            ("own_answer", self.own_answer, pairs and not letter and ours),
            ("show", self.show, ours and (pairs or single)),
            ("criteria", self.criteria, score and not letter),
            ("same_orderings", self.same_orderings, self.rules.kind == "rankings"),
        ):
            if chosen and not fits:
                raise InvalidOption(WHERE[option], option=option)
        for name in self.show:
            if lacking := [item.item_id for item in self.items if name not in dict(item.more)]:
                words = "{option} {name}: item {item!r} has no text in this column"
                raise InvalidOption(words, option="show", name=name, item=lacking[0])
        for name in self.criteria:
            if not NAME.fullmatch(name) or name == ONE_METRIC:
                words = "{option} {name!r}: a few letters, digits and blanks, and not {whole!r}"
                raise InvalidOption(words, option="criteria", name=name, whole=ONE_METRIC)
        if len(set(self.criteria)) < len(self.criteria):
            raise InvalidOption("{option}: each name once", option="criteria")
        if self.few_shot < 0:
            raise InvalidOption(f"{self.few_shot} examples: 0 or more")
        needed, given = self.rules.reads, len(self.samples_of)
        if given < needed or (given > needed and needed < 2):
            raise InvalidOption(
                "{option:protocol {protocol}} reads stored votes of {needed}; {given} named "
                "({option:samples_of})",
                protocol=self.protocol,
                needed=("no judge", "one judge", "two judges or more")[needed],
                given=given,
            )
        if self.prompt is not None and not (pairs or single):
            raise InvalidOption(
                "A prompt of your own goes with {option:protocol pass}, score, rubric, pairwise or "
                "greedy",
                option="prompt",
            )
        if self.verdict_words and not pairs:
            raise InvalidOption(
                "{option} goes with {option:protocol pairwise} or greedy", option="verdict_words"
            )
        if self.prompt is not None and self.prompts is not None:
            raise InvalidOption("Either {option} or {option:prompts}, not both", option="prompt")
        self._check_verdict_words()
        if self.keyed is not None and self.protocol != "apoc":
            raise InvalidOption(
                "A keyed judge confirms for {option:protocol apoc} only", option="keyed"
            )

    def _check_verdict_words(self) -> None:
        meant: dict[str, str] = {}
        for name, text in self.verdict_words:
            words = bare(text)
            if name not in ("A", "B", "tie") or not words:
                raise InvalidOption(
                    "{option} {verdict}={text}: write A=…, B=… and tie=…, "
                    "each with the words that mean it",
                    option="verdict_words",
                    verdict=name,
                    text=text,
                )
            if meant.setdefault(words, name) != name:
                raise InvalidOption(
                    "{option}: the same words mean two verdicts", option="verdict_words"
                )
        if meant and not {"A", "B"} <= {*meant.values()}:
            raise InvalidOption("{option}: A and B need words of their own", option="verdict_words")
        if meant and self.confidence == "logprob":
            raise InvalidOption(
                "{option}: {option:confidence logprob} reads a letter alone", option="verdict_words"
            )

    @property
    def rules(self) -> Rules:
        """What the job's protocol collects and takes."""
        return PROTOCOLS[self.protocol]

    @property
    def n(self) -> int:
        """Votes of a judge on a comparison, scores of a response, or orderings of a list."""
        return self.rules.votes if self.rules.fixed or self.votes is None else self.votes

    @property
    def two_orders(self) -> bool:
        """Whether half of the votes are given in each order."""
        if self.protocol == "greedy":
            return True
        return self.rules.kind == "votes" and self.orders == "balanced" and self.n > 1

    @property
    def effective_temperature(self) -> float:
        """Sampling temperature in use."""
        if self.protocol == "greedy":
            return 0.0
        if self.temperature is not None:
            return self.temperature
        drawn = (
            self.protocol in ("pairwise", "pass", "score", "rubric")
            and self.n > 1
            and self.confidence != "logprob"
        )
        return 1.0 if drawn else 0.0

    @property
    def voters(self) -> tuple[str, ...]:
        """The names under which answers of the job are stored."""
        changes = sorted({item.perturbed for item in self.items}) or [""]
        return tuple(self.voter(judge, change) for judge in self.judges for change in changes)

    @property
    def models(self) -> tuple[Judge, ...]:
        """Every model that the job may call."""
        return self.judges if self.keyed is None else (*self.judges, self.keyed)

    def voter(self, judge: Judge, change: str = "") -> str:
        """The name under which a judge's answer to this protocol is stored; `change` is that of the
        item.

        USC and GSA have that of the judge whose votes are read, as `usc(judge)`; a reader that was
        given a name of its own has it behind, as `usc(judge) by NAME`.
        """
        if change:
            return perturbed_name(self.voter(judge), change)
        if self.protocol in ("usc", "gsa"):
            name = f"{self.protocol}({', '.join(self.samples_of)})"
            return name if judge.name == judge.default_name else f"{name} by {judge.name}"
        if self.protocol in ("apoc", "fuser", "greedy"):
            return f"{self.protocol}({judge.name})"
        return judge.name
