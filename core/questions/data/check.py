"""Are the votes whole: outputs without a verdict, and rows that could not be read."""

from __future__ import annotations

from dataclasses import replace

from ...finding.check import AnyEvidence, Check, CheckResult, Limits, Unknown, share_span, worse
from ...finding.evidence import Evidence
from ...finding.wording import count, percent
from ...schema import RowsRead
from ...stats.estimate import Estimate
from ...stats.intervals import n_distinct
from ..accuracy.method import missing_outputs


def _missing(evidence: Evidence) -> Estimate | Unknown:
    missing = missing_outputs(evidence.votes, evidence.outputs, level=evidence.level)
    return missing or Unknown("it has no output with a vote")


def _holds(evidence: Evidence) -> str:
    votes = evidence.votes
    labelled = 0 if votes is None else n_distinct(votes.labelled().item)
    gold = f"{count(labelled, 'item')} with gold" if labelled else "no gold label"
    return f"{count(evidence.about.n, 'vote')}, {gold}"


def _missing_sentence(evidence: Evidence, missing: Estimate) -> str:
    failed = evidence.about.failed
    have = "output has" if failed == 1 else "outputs have"
    text = f"{_holds(evidence)}; {failed:,} {have} no verdict"
    if missing.n >= evidence.limits["data"].items:
        text += f": {percent(missing.value, 1)} ({share_span(missing)})"
    return text


def _data(check: Check, evidence: Evidence) -> CheckResult:
    """The worse of outputs without a verdict and of rows of the files that were not read whole."""
    return with_rows(check, evidence, _outputs(check, evidence), evidence.counted.rows_read)


def with_rows(
    check: Check, evidence: AnyEvidence, outputs: CheckResult, read: RowsRead | None
) -> CheckResult:
    """The worse of a result on outputs and of the share of rows that were not read whole.

    The share is rejected rows, and rows without a confidence that could not be read, over all.
    """
    if read is None or not read.lost:
        return outputs
    # What the files are is seen whole: there is nothing to estimate.
    share = read.lost / read.rows
    rows = check.graded(
        evidence,
        Estimate(share, share, share, n=read.rows, level=evidence.level),
        figures=(
            f"{percent(share, 1)} of {count(read.rows, 'row')} of the files {read.were}, and what "
            "was kept is not a sample of them"
        ),
    )
    result = replace(worse(outputs, rows), sentence=f"{outputs.sentence} {rows.sentence}")
    if result.estimate is rows.estimate:
        # What was not read of a file is no fault of the judge.
        fault = f"cannot be judged: {percent(share)} of the rows were not read"
        result = replace(result, fault=fault)
    return result


def _outputs(check: Check, evidence: Evidence) -> CheckResult:
    about = evidence.about
    if about.n and not about.failed:
        return replace(
            check.unknown(evidence, Unknown("")),
            grade="ok",
            sentence=f"{_holds(evidence)}; every output has a verdict.",
            estimate=Estimate(0.0, n=0, level=evidence.level),
        )
    missing = check.estimate(evidence)
    if isinstance(missing, Unknown):
        failed = about.failed
        have = "output has" if failed == 1 else "outputs have"
        sentence = f"{_holds(evidence)}; {failed:,} {have} no verdict."
        return replace(check.unknown(evidence, missing), sentence=sentence)
    return check.graded(evidence, missing)


DATA = Check(
    name="data",
    title="readable",
    gravity=130,
    fault="often gives no verdict",
    subject="Completeness of the data",
    question="Does every output have a verdict, and was every row read?",
    page="start",
    limits=Limits("at_most", 0.02, 0.10, "Outputs without a verdict are not missing at random."),
    needs="votes",
    more_of="with an output",
    advice="Find out why outputs have no verdict, or rows were rejected, before you count the "
    "others.",
    estimate=_missing,
    sentence=_missing_sentence,
    compose=_data,
    decisive=True,
)


CHECKS: tuple[Check, ...] = (DATA,)
