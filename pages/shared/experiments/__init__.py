"""The parts of the Experiments page, one module a tab."""
