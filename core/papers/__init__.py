"""The tables and figures of the four papers, on a user's votes: one record per item."""
