"""Writes tests/data/ppi_means.json: PPI++ point estimates and λ by `ppi_py`.

python tests/methods/make_ppi_means.py, where ppi-python 0.2.3 is installed, which the tests do not
need.
"""

import json
from pathlib import Path

import numpy as np

SEED = 20240131
CASES = ((30, 100, 0.9), (40, 500, 0.5), (100, 60, 0.75), (35, 200, 0.0), (50, 50, -0.6))
"""Labelled pairs, others, and how far the judge's difference follows people's."""


def main() -> None:
    from ppi_py import ppi_mean_pointestimate

    rng = np.random.default_rng(SEED)
    cases = []
    for n, others, follows in CASES:
        people = rng.choice([-1.0, 0.0, 1.0], size=n + others, p=[0.2, 0.5, 0.3])
        own = rng.choice([-1.0, 0.0, 1.0], size=n + others, p=[0.1, 0.6, 0.3])
        same = rng.random(n + others) < abs(follows)
        judge = np.where(same, np.sign(follows) * people, own)
        y, f, rest = people[:n], judge[:n], judge[n:]
        tuned = float(np.squeeze(ppi_mean_pointestimate(y, f, rest)))
        ends = [float(np.squeeze(ppi_mean_pointestimate(y, f, rest, lam=x))) for x in (0.0, 1.0)]
        # The estimate is linear in λ, which the function does not return.
        weight = (tuned - ends[0]) / (ends[1] - ends[0])
        cases.append(
            {"people": y.tolist(), "judge": f.tolist(), "others": rest.tolist()}
            | {"estimate": tuned, "weight": weight}
        )
    place = Path(__file__).resolve().parents[1] / "data" / "ppi_means.json"
    lines = ",\n".join(json.dumps(case) for case in cases)
    place.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
