"""How long the product takes, beside what a user would write instead: `python -m benchmarks`."""
