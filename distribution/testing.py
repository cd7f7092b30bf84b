"""Appellate, installed: gates in a test suite (`from appellate.testing import assert_judges`)."""

from .core.use.testing import assert_judges

__all__ = ["assert_judges"]
