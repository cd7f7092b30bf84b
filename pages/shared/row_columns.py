"""The questions about a dropped table of direct scores, rankings or choices: which column is what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.importers import Inspection, ReadOptions
from core.importers.shapes import SHAPES
from core.votes import AppellateError
from pages.shared.columns import RATERS, TITLES, column_box, look_at, words

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile


def row_options(file: UploadedFile, looks: Inspection, head: Any, row: Sequence[Any]) -> ReadOptions | None:
    """Options of such a table from the widgets of its panel; None while a column is missing."""
    import pandas as pd

    key = file.file_id
    shape = SHAPES[looks.format]
    head.caption(f"Recognised: {shape.line}. If these are votes on pairs, choose the format canonical.")
    options = ReadOptions(format=looks.format)
    if "rater_type" not in looks.mapping:
        rater = row[2].selectbox(
            "Raters are", list(RATERS), format_func=RATERS.__getitem__, key=f"{key}-rater"
        )
        options = replace(options, rater_type=rater)
    asked = tuple(dict.fromkeys((*shape.required, *shape.any_of, "run", "category")))
    with st.expander("Columns", expanded=bool(looks.missing)):
        mapping = {}
        for start in range(0, len(asked), 4):
            for place, name in zip(st.columns(4), asked[start : start + 4], strict=False):
                mapping[name] = column_box(name, looks, place, key)
        frame = pd.DataFrame([list(cells) for cells in looks.head], columns=list(looks.columns))
        st.dataframe(frame, hide_index=True, height=180, key=f"{key}-head", alt="First rows of the file")
    changed = tuple((name, to) for name, to in mapping.items() if to != looks.mapping.get(name, ""))
    options = replace(options, mapping=changed)
    looked = look_at(file, options)
    if isinstance(looked, AppellateError):
        st.text(words(looked))
        return None
    if looked.missing:
        wanted = ", ".join(TITLES.get(name, name) for name in looked.missing)
        st.text(f"Choose under “Columns” which column is: {wanted}.")
        return None
    return options
