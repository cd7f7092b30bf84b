"""The parts of the Aggregation page, one module a tab or section."""
