"""A job before it starts and after it ended, each in one sentence."""

from __future__ import annotations

from core.judging.job import Job
from core.judging.planning import Plan, upwards
from core.judging.progress import Progress

UNITS = {"score": "score", "listwise": "ranking"}
"""What a protocol collects, where it is no vote."""


def unit(job: Job) -> str:
    """What the job collects: vote, score or ranking."""
    return UNITS.get(job.protocol, "vote")


def voters(job: Job) -> tuple[str, ...]:
    """The names under which answers of the job are stored."""
    return tuple(dict.fromkeys(job.voter(judge) for judge in job.judges))


def described(job: Job) -> str:
    """What a job collects, from whom, about what."""
    of = "each response of" if job.protocol == "score" else "each of"
    # Responses are scored by item, however many comparisons show them.
    items = len({item.item_id for item in job.items} if job.protocol == "score" else job.items) - job.few_shot
    return (
        f"{_count(job.n, unit(job))} by {' and '.join(voters(job))} on {of} {_count(items, 'item')}, "
        f"into the data set {job.dataset!r}"
    )


def proposed(job: Job, plan: Plan) -> str:
    """What a job would take: calls and price, before anything is sent."""
    if not plan.calls and not plan.further_calls:
        return f"Nothing is left to ask: {described(job)} are in the store already."
    price = "price unknown" if plan.cost is None else f"at most {upwards(plan.cost)} in all"
    more = f" and up to {plan.further_calls:,} more" if plan.further_calls else ""
    return f"{_count(plan.calls, 'call')}{more} to {', '.join(plan.hosts)}, {price}: {described(job)}."


def outcome(job: Job, progress: Progress) -> str:
    """How a run ended: what is there, what failed, what it cost."""
    missing = progress.planned - progress.answered
    begun = {
        "done": "Collected",
        "stopped": "Stopped",
        "failed": "The run failed",
    }.get(progress.state, "Collecting")
    if progress.state == "done" and missing:
        begun = "Not complete"
    said = [f"{begun}: {progress.answered:,} of {_count(progress.planned, 'request')} answered"]
    unusable = {name: n for name, n in progress.statuses.items() if name not in ("ok", "error") and n}
    if unusable:
        said.append(
            "in this run no verdict in "
            + " and ".join(f"{n:,} ({name})" for name, n in sorted(unusable.items()))
        )
    if missing:
        said.append(f"{missing:,} left, which another run asks for")
    cost = "price unknown" if progress.cost is None else f"cost {progress.cost:,.4g}"
    said.append(f"{_count(progress.calls, 'call')}, {cost}")
    return f"{'; '.join(said)}. {described(job)[:1].upper()}{described(job)[1:]}."


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
