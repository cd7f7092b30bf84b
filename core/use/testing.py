"""Gates in a test suite: `assert_judges("votes.csv", "ece>0.1")` fails when a judge does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..auditing.options import AuditOptions
    from ..auditing.overall import UseName
    from ..auditing.results import Audit
    from ..importers import ReadOptions
    from ..schema import Selection


def assert_judges(
    votes: Any,
    *gates: str,
    strict: bool = False,
    use: UseName | None = None,
    selection: Selection | None = None,
    options: AuditOptions | None = None,
    reading: ReadOptions | None = None,
) -> Audit:
    """Audit files or tables and return the audit; gates are those of `--fail-if`, none is that of
    `--strict`, with `use` that of `--use`.

    Raises AssertionError with a line for each gate that fails, AppellateError for unusable input.
    """
    # The test that called is where pytest points to.
    __tracebackhide__ = True
    from ..auditing.options import AuditOptions
    from ..auditing.run import audit
    from ..importers import ReadOptions, read
    from ..importers.objects import as_files
    from ..reporting.gates import failures, parse_gate, strict_gates, with_gates
    from ..schema import Selection
    from ..store import Store

    parsed = [parse_gate(gate, strict=strict) for gate in gates] or strict_gates(use)
    parsed += [parse_gate(f"use.{use}!=yes")] if use and gates else []
    readings = read(as_files(votes, "votes"), reading or ReadOptions())
    with Store.holding(readings) as store:
        audited = audit(
            store, selection or Selection(), options or AuditOptions(), readings=readings
        )
    audited = with_gates(audited, parsed)
    if failed := failures(audited):
        raise AssertionError("\n".join(failed))
    return audited
