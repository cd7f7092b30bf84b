"""What is to be collected: the judges, the protocol and the items, checked before anything is sent."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from ..errors import InvalidOption
from .items import Item, alone, listed, paired
from .parsing import LETTERS

Protocol = Literal["pairwise", "greedy", "score", "listwise", "usc", "gsa", "apoc", "fuser"]
Orders = Literal["balanced", "ab"]
Confidence = Literal["none", "self", "multi", "logprob"]

PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)
ONE_BY_ONE = ("score", "listwise")
"""Protocols that do not compare two responses."""
DERIVED = ("usc", "gsa", "fuser")
"""Protocols that read stored judgements."""
DEFAULT_VOTES = {"pairwise": 8, "greedy": 2, "listwise": 7}
MAX_CONCURRENCY = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A model that judges.

    model : `provider/name` as litellm spells it; an OpenAI-compatible server: `openai/name` and `base_url`.
    name : who votes; default: the model without its provider.
    price : of a million prompt tokens and of a million completion tokens; None: looked up, or unknown.
    key_env : environment variable that holds the key; default: the provider's own, and none for a base URL.
    timeout : seconds until a call counts as failed.
    """

    model: str
    base_url: str | None = None
    name: str = ""
    max_tokens: int = 1024
    price: tuple[float, float] | None = None
    key_env: str | None = None
    timeout: float = 120.0

    def __post_init__(self) -> None:
        if not self.model.strip() or any(not c.isprintable() for c in self.model):
            raise InvalidOption(f"{self.model!r} names no model; write provider/name, such as openai/NAME")
        if "/" not in self.model:
            if self.base_url is None:
                raise InvalidOption(
                    f"{self.model!r} names no provider: write provider/name, or give a server's --base-url"
                )
            object.__setattr__(self, "model", f"openai/{self.model}")
        if not all(part.strip() for part in self.model.split("/", 1)):
            raise InvalidOption(f"{self.model!r} names no model; write provider/name, such as openai/NAME")
        if not self.name:
            object.__setattr__(self, "name", self.model.partition("/")[2])
        if not self.name.strip() or any(not c.isprintable() for c in self.name):
            raise InvalidOption(f"A judge cannot be named {self.name!r}")
        if self.max_tokens < 1 or not 0 < self.timeout < math.inf:
            raise InvalidOption(f"{self.name}: max_tokens and timeout must be above 0")
        if self.price is not None and not all(0 <= price < math.inf for price in self.price):
            raise InvalidOption(
                f"{self.name}: a price of {self.price[0]} and {self.price[1]}; it is 0 or more"
            )

    @property
    def provider(self) -> str:
        return self.model.partition("/")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Hard limits over all of a job, whichever run of it spent them; None: no limit."""

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        for name in ("calls", "tokens", "cost"):
            limit = getattr(self, name)
            # No comparison with nan holds, so it would be no limit at all.
            if limit is not None and not 0 <= limit < math.inf:
                raise InvalidOption(f"A limit of {limit} {name}: a limit is a number, 0 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Judgements to collect. The same job twice asks nothing twice.

    votes : of each judge on each comparison; for listwise the number K of orderings; None: 8 for pairwise,
        7 orderings, else 1. Greedy is two by definition.
    orders : `balanced`: half in each order; `ab`: model_a first always.
    temperature : None: 1 where several votes are drawn, 0 elsewhere.
    few_shot : labelled items shown as examples; they are drawn by `seed` and not judged.
    samples_of : the judges whose stored votes USC, GSA (one) or a fuser (two or more) read.
    keyed : judge that confirms for APOCJudge; None: the first of `judges` itself, with an answer key.
    prompts : folder of edited prompts; None: the project's own.
    """

    dataset: str
    items: tuple[Item, ...] = field(repr=False)
    judges: tuple[Judge, ...]
    protocol: Protocol = "pairwise"
    votes: int | None = None
    orders: Orders = "balanced"
    confidence: Confidence = "none"
    ties: bool = True
    temperature: float | None = None
    few_shot: int = 0
    seed: int = 0
    samples_of: tuple[str, ...] = ()
    keyed: Judge | None = None
    prompts: Path | None = None

    def __post_init__(self) -> None:
        self._check_words()
        names = [judge.name for judge in self.judges]
        if not names or len(set(names)) < len(names):
            raise InvalidOption(
                f"A job needs judges with names of their own; it has {', '.join(names) or 'none'}"
            )
        self._check_voters()
        if not self.dataset.strip():
            raise InvalidOption("The name of a data set must not be empty")
        if self.n < 1:
            raise InvalidOption(f"{self.n} votes: ask for at least 1")
        if self.two_orders and self.n % 2:
            raise InvalidOption(
                f"{self.n} votes cannot be balanced over two orders: take an even number, or --orders ab"
            )
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise InvalidOption(f"A temperature of {self.temperature}: it is 0 to 2")
        self._check_protocol()

    def _check_words(self) -> None:
        for name, allowed in (
            ("protocol", PROTOCOLS),
            ("orders", get_args(Orders)),
            ("confidence", get_args(Confidence)),
        ):
            if getattr(self, name) not in allowed:
                raise InvalidOption(f"{name} is {getattr(self, name)!r}; allowed: {', '.join(allowed)}")

    def _check_voters(self) -> None:
        """Answers of two judges under one name would count twice."""
        names = [self.voter(judge) for judge in self.judges]
        if len(set(names)) < len(names):
            raise InvalidOption(
                f"The answers of these judges would all be stored as {max(names, key=names.count)!r}: "
                "ask one model at a time, and give each further one a name of its own with --judge"
            )

    def _check_protocol(self) -> None:
        if self.protocol not in ONE_BY_ONE:
            paired(self.items)
        elif self.protocol == "score":
            alone(self.items)
        else:
            longest = max((len(item.responses) for item in listed(self.items)), default=0)
            if longest > len(LETTERS):
                raise InvalidOption(f"{longest} candidates: a list may have up to {len(LETTERS)}")
        if self.confidence == "multi" and (self.n < 2 or self.protocol != "pairwise"):
            raise InvalidOption(
                "Confidence by repeated votes (multi) needs --protocol pairwise and 2 votes or more"
            )
        if self.confidence == "logprob" and self.protocol not in ("pairwise", "greedy"):
            raise InvalidOption(
                "Confidence by token probabilities (logprob) needs --protocol pairwise or greedy"
            )
        if self.confidence == "self" and self.protocol in (*ONE_BY_ONE, "apoc"):
            raise InvalidOption(f"--protocol {self.protocol} states no confidence")
        if self.few_shot and self.protocol not in ("pairwise", "greedy"):
            raise InvalidOption("Examples (few-shot) go with --protocol pairwise or greedy")
        if self.few_shot < 0:
            raise InvalidOption(f"{self.few_shot} examples: 0 or more")
        needed = {"usc": 1, "gsa": 1, "fuser": 2}.get(self.protocol, 0)
        given = len(self.samples_of)
        if (self.protocol == "fuser" and given < needed) or (self.protocol != "fuser" and given != needed):
            raise InvalidOption(
                f"--protocol {self.protocol} reads stored votes of "
                f"{('no judge', 'one judge', 'two judges or more')[needed]}; {given} named (--samples-of)"
            )
        if self.keyed is not None and self.protocol != "apoc":
            raise InvalidOption("A keyed judge confirms for --protocol apoc only")

    @property
    def n(self) -> int:
        """Votes of a judge on a comparison, scores of a response, or orderings of a list."""
        if self.protocol == "greedy":
            return 2
        if self.protocol == "apoc":
            return 1
        return self.votes if self.votes is not None else DEFAULT_VOTES.get(self.protocol, 1)

    @property
    def two_orders(self) -> bool:
        """Whether half of the votes are given in each order."""
        if self.protocol == "greedy":
            return True
        return self.protocol in ("pairwise", *DERIVED) and self.orders == "balanced" and self.n > 1

    @property
    def heat(self) -> float:
        """Sampling temperature in use."""
        if self.protocol == "greedy":
            return 0.0
        if self.temperature is not None:
            return self.temperature
        drawn = self.protocol in ("pairwise", "score") and self.n > 1 and self.confidence != "logprob"
        return 1.0 if drawn else 0.0

    def voter(self, judge: Judge) -> str:
        """The name under which a judge's answer to this protocol is stored.

        USC and GSA have that of the judge whose votes are read, as `usc(judge)`; a reader that was given a
        name of its own has it behind, as `usc(judge) by NAME`.
        """
        if self.protocol in ("usc", "gsa"):
            name = f"{self.protocol}({', '.join(self.samples_of)})"
            return name if judge.name == judge.model.partition("/")[2] else f"{name} by {judge.name}"
        if self.protocol in ("apoc", "fuser", "greedy"):
            return f"{self.protocol}({judge.name})"
        return judge.name
