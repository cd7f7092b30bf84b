"""Columns of a table of rules judged on held-out items, as several pages show it; Δ: first minus this."""

RULES = {
    "rule": "rule",
    "n": "n",
    "mae": "MAE",
    "mae_low": "low",
    "mae_high": "high",
    "mae_change": "ΔMAE",
    "mae_change_low": "ΔMAE low",
    "mae_change_high": "ΔMAE high",
    "drps": "DRPS",
    "drps_change": "ΔDRPS",
    "drps_change_low": "ΔDRPS low",
    "drps_change_high": "ΔDRPS high",
}
RULES_CAPTION = (
    "Rules on the same held-out comparisons; Δ is the first rule minus this one, below 0 the first is better"
)
