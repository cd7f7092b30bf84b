"""One dropped file: what it looks like, what only its owner knows, and what was read from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from core.errors import AppellateError, render
from core.files import part_of
from core.finding.wording import percent
from core.importers import (
    Inspection,
    ReadOptions,
    formats,
    mostly_rejected,
    paired_metrics,
    read,
    read_back,
    with_votes,
)
from core.importers.by_plan import PLAN
from core.importers.same_items import as_one
from core.labelling.join import join_labels
from core.labelling.labelled_rows import ANSWERS
from core.memory import give_back
from core.schema import FORMS, ImportResult
from core.store.browse import SAID, describe_import, reject_reasons, without_result
from core.store.load import LoadReport
from pages.sections.data.columns import (
    OPTIONS,
    TABLE,
    Table,
    look_at,
    plan_options,
    row_options,
    table_options,
)
from pages.shared import cached, numbers, uploads, widgets

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile


READ_BACK, IN_VIEW = 10, 3
MANY_LOST = 0.2
"""Share of rows that were not read whole from which loading has to be said once more."""
REJECTS_SHOWN = 1000
PANDALM = "pandalm"
_MODEL = ("model", "model that answered")
UNNAMED = {
    "arenahard": ("model_b", "baseline"),
    "llmbar": ("judge", "judge"),
    **dict.fromkeys(("kto", "wildbench", "wildbench_pairs"), ("judge", "judge")),
    **dict.fromkeys(("deepeval", "mlflow", "phoenix", "phoenix_evals", "langfuse"), _MODEL),
    **dict.fromkeys(("langsmith", "openai_evals", "lm_eval"), _MODEL),
}
"""What the files of a native format do not name: canonical column, and what it is called."""


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What was read of a file, described once however often the page is drawn.

    more : judgements of other kinds in the same file, and other files of an archive.
    """

    reading: ImportResult
    sentence: str
    examples: tuple[str, ...]
    reasons: pd.DataFrame
    more: tuple[Outcome, ...] = ()

    @classmethod
    def of(cls, reading: ImportResult, *others: ImportResult) -> Outcome:
        """Count the rejects of a reading and put some votes in words."""
        reasons = _worded(reject_reasons(reading), reading)
        examples = tuple(read_back(reading, READ_BACK))
        return cls(reading, describe_import(reading), examples, reasons, tuple(map(cls.of, others)))

    @property
    def all(self) -> tuple[Outcome, ...]:
        """This, and what else the file holds."""
        return (self, *self.more)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Dropped:
    """A file that was read, with the data set it shall go into (None: what the file says)."""

    file: UploadedFile
    outcome: Outcome
    dataset: str | None


@dataclass(frozen=True, slots=True, eq=False)
class _Result:
    """What came of loading a file.  empty : what is said of its rows without a verdict."""

    dropped: Dropped
    report: LoadReport | AppellateError
    more: tuple[LoadReport, ...] = ()
    empty: str = ""


def load(ready: Sequence[Dropped], *, again: bool = False) -> None:
    """Load files one by one; one that cannot be loaded leaves the store and the other files as they
    are.
    """
    opened: str | None = None
    progress = st.progress(0.0, "Loading")
    as_loaded = {} if again else _as_one(ready)
    for done, dropped in enumerate(ready, start=1):
        report: LoadReport | AppellateError
        more: list[LoadReport] = []
        store = cached.changeable_store()
        try:
            with store.together():
                report, *more = (
                    store.load(
                        as_loaded.get(id(outcome.reading), outcome.reading),
                        dataset=dropped.dataset,
                        on_conflict="replace" if again else "keep",
                        progress=part_of(
                            progress.progress, (done - 1) / len(ready), done / len(ready)
                        ),
                    )
                    for outcome in dropped.outcome.all
                )
            opened = opened or next(iter(report.datasets), None)
        except AppellateError as error:
            report, more = error, []
        _results()[dropped.file.file_id] = _result(dropped, report, more)
        progress.progress(done / len(ready), "Loading")
    give_back()
    if opened:
        widgets.open_dataset(opened)
    st.rerun()


def _as_one(ready: Sequence[Dropped]) -> dict[int, ImportResult]:
    """By identity, the readings of files that are to be one data set, as they are loaded: what
    several of them have is there once. Files of their own data sets are looked at one by one.
    """
    joined: dict[int, ImportResult] = {}
    for dataset in {dropped.dataset: None for dropped in ready if dropped.dataset}:
        own = [dropped.outcome.all for dropped in ready if dropped.dataset == dataset]
        readings = [outcome.reading for outcomes in own for outcome in outcomes]
        once = as_one(readings)
        joined |= {id(reading): one for reading, one in zip(readings, once, strict=True)}
    return joined


def _result(
    dropped: Dropped, report: LoadReport | AppellateError, more: Sequence[LoadReport]
) -> _Result:
    """What came of a file; what was read of it is let go of once it is stored as it is."""
    if isinstance(report, AppellateError):
        return _Result(dropped, report)
    reading, empty = dropped.outcome.reading, ""
    if report.loaded and not reading.gold_only and (number := without_result(reading)):
        holds, is_ = ("holds", "is") if number == 1 else ("hold", "are")
        empty = (
            f"{number:,} of the {reading.units:,} {FORMS[reading.kind].units} read {holds} no "
            f"{SAID[reading.kind]} (a failed call or an empty cell) and {is_} counted nowhere else."
        )
    if not _differs(report):
        cached.forget(dropped.file.file_id)
        stored = replace(reading, votes=reading.votes.schema.empty_table())
        dropped = replace(dropped, outcome=replace(dropped.outcome, reading=stored, more=()))
    return _Result(dropped, report, tuple(more), empty)


def _differs(report: LoadReport) -> bool:
    """Whether something of the file is stored with other content."""
    return report.conflicts > report.replaced


def count_loaded(files: Sequence[UploadedFile]) -> int:
    """How many of these files are in the store."""
    found = [_results().get(file.file_id) for file in files]
    return sum(isinstance(each.report, LoadReport) for each in found if each)


def forget_others(files: Sequence[UploadedFile]) -> None:
    """Let go of all that was kept of files that are no longer in the drop."""
    here = {file.file_id for file in files}
    table: Table | None = st.session_state.get(TABLE)
    cached.keep_only(here | ({table.file_id} if table else set()))
    uploads.keep_only(here)
    for gone in _results().keys() - here:
        del _results()[gone]


def _results() -> dict[str, _Result]:
    results: dict[str, _Result] = st.session_state.setdefault("load results", {})
    return results


def _show_result(dropped: Dropped, report: LoadReport, empty: str) -> None:
    st.text(report.sentence[:1].upper() + report.sentence[1:] + ".")
    if empty:
        st.text(empty)
    if _differs(report):
        what = "votes or gold labels" if report.kind == "votes" else FORMS[report.kind].units
        st.text(f"{report.conflicts:,} {what} are stored with other content; those stay.")
        if st.button("Replace them with this file's", key=f"{dropped.file.file_id}-replace"):
            load([dropped], again=True)
    _rejects(dropped.outcome, dropped.file.file_id)


def panel(file: UploadedFile, together: Sequence[UploadedFile]) -> Dropped | None:
    """Show a dropped file with all that can be said about how to read it; None until it can be
    loaded.

    together : all files of the drop, as outputs in the PandaLM format need the test set among them.
    """
    key = file.file_id
    with st.container(key=f"file-{key}", border=True, gap="xsmall"):
        st.text(file.name)
        result = _results().get(key)
        names = {found.name for found in cached.datasets()}
        if (
            result
            and isinstance(result.report, LoadReport)
            and not names.issuperset(result.report.datasets)
        ):
            # Deleted or renamed since: the file can be loaded again.
            result = _results().pop(key) and None
        if result and isinstance(result.report, LoadReport):
            _show_result(result.dropped, result.report, result.empty)
            for other in result.more:
                st.text(other.sentence[:1].upper() + other.sentence[1:] + ".")
            return None
        if result:
            st.text(render(result.report, OPTIONS))
        head = st.container()
        row = st.columns(4)
        format = row[0].selectbox("Format", ["auto", *formats()], key=f"{key}-format")
        looks = look_at(file, ReadOptions(format=format))
        if isinstance(looks, AppellateError):
            head.text(render(looks, OPTIONS))
            return None
        if looks.layout == PLAN and row[1].toggle(
            "Choose the columns by hand", key=f"{key}-by-hand"
        ):
            looks = look_at(file, ReadOptions(format=format, reader="old"))
            if isinstance(looks, AppellateError):
                head.text(render(looks, OPTIONS))
                return None
        if looks.layout == PLAN:
            chosen = plan_options(file, looks, format)
            if chosen is None:
                return None
            options = chosen
        elif looks.layout == "native":
            head.caption(f"Recognised: {formats()[looks.format]}")
            options = ReadOptions(format=format, mapping=_named(looks, row[1], key))
        else:
            chosen = (
                table_options(
                    file,
                    looks,
                    format,
                    head,
                    row,
                    lambda asked: _models(_read(file, together, asked)),
                )
                if looks.kind == "votes"
                else row_options(file, looks, head, row)
            )
            if chosen is None:
                return None
            options = chosen
        outcome = _read(file, together, options)
        if isinstance(outcome, AppellateError):
            st.text(render(outcome, OPTIONS))
            return None
        dataset = _dataset(outcome.reading, row[3], key)
        options, votes = _votes_of_scores(outcome, options, key)
        labels = _labels(outcome, options, key)
        if labels is None:
            return None
        outcome = replace(outcome, more=(*outcome.more, *votes, *labels))
        for number, each in enumerate(outcome.all):
            _show(each, f"{key}-{number}" if number else key)
        if problem := mostly_rejected(outcome.reading):
            st.text(render(problem, OPTIONS))
            return None
        if not _rest_is_wanted(outcome, key):
            return None
        _copy_as_python(file.name, options, dataset)
        has_votes = any(each.reading.votes.num_rows for each in outcome.all)
        return Dropped(file=file, outcome=outcome, dataset=dataset) if has_votes else None


def _votes_of_scores(
    outcome: Outcome, options: ReadOptions, key: str
) -> tuple[ReadOptions, tuple[Outcome, ...]]:
    """Votes that scores of two models come to, with the options that make them; none unasked."""
    readings = [each.reading for each in outcome.all]
    metrics = cached.kept(key, "paired metrics", options, lambda: paired_metrics(readings))
    if not metrics:
        return options, ()
    left, right = st.columns(2)
    metric = left.selectbox(
        "Make votes of the scores on",
        metrics,
        None,
        placeholder="no metric: scores alone",
        help="One judge scored two models on one item: the higher score is its vote, too",
        key=f"{key}-votes-of",
    )
    if metric is None:
        return options, ()
    margin = right.number_input(
        "Tie margin",
        min_value=0.0,
        value=options.tie_margin,
        help="Scores that differ by no more are a tie",
        key=f"{key}-votes-tie",
    )
    asked = replace(options, votes_of=metric, tie_margin=float(margin))

    def made() -> tuple[Outcome, ...] | AppellateError:
        try:
            every = with_votes(readings, asked)
        except AppellateError as error:
            return error
        return tuple(Outcome.of(reading) for reading in every if reading not in readings)

    votes = cached.kept(key, "votes of scores", asked, made)
    if isinstance(votes, AppellateError):
        st.text(render(votes, OPTIONS))
        return options, ()
    return asked, votes


def _rest_is_wanted(outcome: Outcome, key: str) -> bool:
    """Whether to load a file many of whose rows are not read whole, which are seldom any rows: said
    in the open with an example, and once more by the visitor.
    """
    reading, judged = outcome.reading, outcome.reading.judged
    if judged.lost <= MANY_LOST * judged.rows:
        return True
    worst = outcome.reasons.iloc[0]
    first = next(
        row
        for row in reading.rejects.to_pylist()
        if (row["row"], row["column"]) == (worst["first_row"], worst["column"])
    )
    would = [
        *(["be left out"] if judged.rejected else []),
        *(["lose their confidence"] if judged.unread else []),
    ]
    share = percent(judged.lost / judged.rows)
    with st.container(key=f"lost-{key}", border=True, gap="xsmall"):
        st.text(
            f"{judged.lost:,} of {judged.rows:,} rows would {' or '.join(would)} ({share}). "
            f"For example row {first['row']:,}, column {first['column']}: {first['value']!r}. "
            f"{worst['reason']}."
        )
        st.caption("What is left is no sample of the file. Mend the file, or say what they mean.")
        rest = judged.rows - judged.rejected
        return bool(
            st.checkbox(
                f"Load {'the other' if judged.rejected else 'all'} {rest:,} all the same",
                key=f"{key}-all-the-same",
            )
        )


def _labels(outcome: Outcome, options: ReadOptions, key: str) -> tuple[Outcome, ...] | None:
    """What people say of the same answers in another file; None while that cannot be joined."""
    if not any(each.reading.kind in ANSWERS for each in outcome.all):
        return ()
    with st.expander("People's labels in another file"):
        st.text("A sheet with a column of labels, and one of ids or the texts of the answers.")
        sheet = st.file_uploader("Sheet of labels", key=f"{key}-labels")
        if sheet is None:
            return ()
        column = st.text_input(
            "Column that names the answers", placeholder="found", key=f"{key}-labels-key"
        ).strip()
        try:
            joined = join_labels(
                [each.reading for each in outcome.all],
                (sheet.name, sheet.getvalue()),
                options,
                key=column or None,
            )
        except AppellateError as error:
            st.text(render(error, OPTIONS))
            return None
        st.text(joined.sentence)
    return tuple(Outcome.of(reading) for reading in joined.readings)


def _named(looks: Inspection, place: Any, key: str) -> tuple[tuple[str, str], ...]:
    """Name of what the format's files seldom hold: Arena-Hard's baseline; LLMBar's,
    KTO's and WildBench's judge.
    """
    if looks.format not in UNNAMED:
        return ()
    column, what = UNNAMED[looks.format]
    name = str(
        place.text_input(f"Name of the {what}", placeholder="as found", key=f"{key}-{what}")
    ).strip()
    return ((column, f"={name}"),) if name else ()


def _dataset(reading: ImportResult, place: Any, key: str) -> str | None:
    if reading.gold_only:
        names = [found.name for found in cached.stored()]
        chosen: str | None = place.selectbox(
            "Gold for data set",
            names,
            None,
            placeholder="found by its comparisons",
            key=f"{key}-dataset",
        )
        return chosen
    names = reading.votes["dataset"].unique().to_pylist()
    given = place.text_input(
        "Data set",
        placeholder=", ".join(map(str, names[:3])),
        help="Empty: as the file says",
        key=f"{key}-dataset",
    )
    return str(given).strip() or None


def _show(outcome: Outcome, key: str) -> None:
    """What was read: counts, some of them in words, rejects by reason and by row."""
    st.text(outcome.sentence)
    if outcome.examples:
        with st.container(border=True, key=f"readback-{key}", gap="xsmall"):
            st.caption("Is this what your file says?")
            st.text("\n".join(outcome.examples[:IN_VIEW]))
    notes = [render(note, OPTIONS) for note in outcome.reading.notes]
    if more := [*outcome.examples[IN_VIEW:], *notes]:
        with st.popover("How it was read", type="tertiary"):
            st.text("\n".join(more))
    _rejects(outcome, key, expanded=not outcome.reading.votes.num_rows)


def _copy_as_python(name: str, options: ReadOptions, dataset: str | None) -> None:
    code = (
        f"name = {name!r}  # with the test set before it, if this is an output in the PandaLM "
        "format\noptions = "
        f"ReadOptions({', '.join(widgets.arguments(options))})\n{widgets.OPEN_TO_CHANGE}\n"
        "for reading in read([(name, Path(name))], options):\n    print(store.load(reading, "
        f"dataset={dataset!r}).sentence)"
    )
    with st.expander("Copy as Python"):
        st.code(widgets.script(code), language="python")


def _rejects(outcome: Outcome, key: str, *, expanded: bool = False) -> None:
    """Rejects by reason and by row, to download."""
    rejects = outcome.reading.rejects
    if not rejects.num_rows:
        return
    reading = outcome.reading
    unread = f"; confidences not read: {reading.n_unread:,}" if reading.n_unread else ""
    with st.expander(f"Rejected: {reading.n_rejected:,}{unread}", expanded=expanded):
        st.dataframe(outcome.reasons, hide_index=True, alt="Rejects by reason")
        frame = _worded(rejects.slice(0, REJECTS_SHOWN).to_pandas(), outcome.reading)
        st.dataframe(frame, hide_index=True, height=220, alt="Rejected rows")
        st.caption("Row 1 is the first one below the header: row 2 of a spreadsheet.")
        if rejects.num_rows > REJECTS_SHOWN:
            st.caption(f"The first {REJECTS_SHOWN:,} rows; the files hold all of them.")
        numbers.downloads(rejects.to_pandas(), f"rejects-{key}")


def _worded(rejects: pd.DataFrame, reading: ImportResult) -> pd.DataFrame:
    """Rejects with this page's names of the options in their reasons."""
    worded = {str(reason): render(reason, OPTIONS) for reason in reading.reasons}
    return rejects.assign(reason=rejects["reason"].replace(worded))


def _read(
    file: UploadedFile, together: Sequence[UploadedFile], options: ReadOptions
) -> Outcome | AppellateError:
    looks = look_at(file, ReadOptions(format=options.format))
    alone = isinstance(looks, AppellateError) or looks.format != PANDALM
    beside = (
        [] if alone else [other for other in together if other is not file and _is_test_set(other)]
    )

    def reading() -> Outcome | AppellateError:
        shown = st.progress(0.0, "Reading")
        try:
            files = [(each.name, uploads.content(each)) for each in (*beside, file)]
            found = read(files, options, progress=shown.progress)
            return Outcome.of(*found[len(beside) :])
        except AppellateError as error:
            return error
        finally:
            shown.empty()

    return cached.kept(
        file.file_id, "reading", (options, tuple(other.file_id for other in beside)), reading
    )


def _models(outcome: Outcome | AppellateError) -> frozenset[str]:
    if isinstance(outcome, AppellateError):
        return frozenset()
    votes = outcome.reading.votes
    return frozenset(
        name for side in ("model_a", "model_b") for name in votes[side].unique().to_pylist()
    )


def _is_test_set(file: UploadedFile) -> bool:
    looks = look_at(file, ReadOptions())
    return isinstance(looks, Inspection) and looks.format == PANDALM and "cmp_key" in looks.columns
