"""Questions to the store about direct scores: what each judge gave each response by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.counts import DirectScores
from core.store.row_scope import coded, numbered, row_scope
from core.store.scope import at_one_moment, by_judge, floats, ints, nothing
from core.votes import Selection

if TYPE_CHECKING:
    from core.store.database import Snapshot


@at_one_moment
def direct_scores(store: Snapshot, selection: Selection) -> dict[str, DirectScores]:
    """Direct scores of each judge, one row a (item, model, run), failed ones left out.

    Codes of items, models and categories are shared by all judges of the selection.

    Raises
    ------
    NoUsableVotes : no score with status ok is selected.
    UnknownName : a name that the store does not have, or a column that scores do not have.
    """
    selected = row_scope(store, selection, "scores")
    table = store.query(
        f"""select v.judge, v.item, v.run, v.score, c.name as category, m.name as model
            from scores v join models m on m.id = v.model left join categories c on c.id = v.category
            where v.status = 0 and {selected.filter}
            order by v.judge, v.item, m.name, v.run""",
        selected.params,
    )
    if not table.num_rows:
        raise nothing(store, selection, "scores")
    item, run, score = numbered(ints(table, "item")), ints(table, "run"), floats(table, "score")
    models, model = coded(table, "model")
    categories, category = coded(table, "category")
    return {
        judge: DirectScores(
            models=models,
            categories=categories,
            item=item[rows],
            category=category[rows],
            model=model[rows],
            run=run[rows],
            score=score[rows],
        )
        for judge, rows in by_judge(table, selected.judges).items()
    }
