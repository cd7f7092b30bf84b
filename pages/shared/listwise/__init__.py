"""The parts of the Listwise page."""
