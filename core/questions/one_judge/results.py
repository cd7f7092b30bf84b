"""What is made of the votes or scores for this question; evidence keeps each result once."""

from __future__ import annotations

from typing import Protocol

from ...finding.result import Result
from ...records import ByFile
from .method import FileDifference, between_files


class OfFiles(Protocol):
    """Evidence on votes or scores that may be of several files."""

    @property
    def by_file(self) -> ByFile | None:
        """What was said in each file, where there are several."""


def _between_files(evidence: OfFiles) -> FileDifference | None:
    return None if evidence.by_file is None else between_files(evidence.by_file)


BETWEEN_FILES = Result("between_files", _between_files)
"""The files between which it differs most."""
