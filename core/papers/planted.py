"""What the demo was drawn with, of the items whose claims it bears on (data/README.md)."""

_ALIKE = (
    "strengths that add up, but for a circle of sim-hazel, sim-birch and sim-elm. The two anchors "
    "that met every model rank alike; the three of the circle do not"
)
_NOISE = (
    "all judges repeat themselves well enough to be strong; sim-judge-boaster is the noisiest and "
    "the first to leave"
)
PLANTED = {
    "TH Tables 5, 7, change": "a fuser that follows the surest verdicts in nine of ten "
    "comparisons, and its own model, sim-judge-boaster, in the others",
    "RAEE §2.3": _NOISE,
    "RAEE Table 2": "scores and votes of one quality, and two lenient judges: their scores differ "
    "by that, their votes do not",
    "RAEE Figure 2, right": _ALIKE,
    "RAEE Table 5": _ALIKE,
    "RAEE B.8": "1.5 natural-log odds around the circle of sim-hazel, sim-birch and sim-elm, which "
    "also bend the triangles that two of them form with an anchor; all others add up",
    "RAEE Figure 3": _NOISE,
    "RAEE Table 9, Figure 4": "half of gold is a tie and votes of a prompt are averaged, so the "
    "published error is too wide",
    "RAEE E.1": _ALIKE,
}
"""Name of an item → what was planted, in the demo alone."""
