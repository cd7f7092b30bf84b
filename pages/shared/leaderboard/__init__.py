"""The parts of the Leaderboard page, one module a section."""
