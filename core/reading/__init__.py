"""Anybody's file as judgements: walk → facts → roles → plan → rows."""
