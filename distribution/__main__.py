"""`python -m appellate`: the same as the command `appellate`."""

import sys

from .core.__main__ import console

sys.exit(console())
