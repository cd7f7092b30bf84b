"""All questions of all judges."""
