"""What can go wrong: named errors whose message says the place, the value and the remedy."""


class AppellateError(Exception):
    """Something the user gave cannot be used. The message names the place, the value and the remedy."""


class UnreadableFile(AppellateError):
    """The file is not what its format needs: encoding, compression, columns or structure."""


class AmbiguousLabels(AppellateError):
    """The labels can be read in more than one way and the user must say which."""


class NoUsableVotes(AppellateError):
    """Nothing is left to work on: no valid vote, or a filter that matches nothing."""


class UnknownName(AppellateError):
    """A dataset, judge, model, column or option that does not exist."""


class InvalidOption(AppellateError):
    """An option outside what its method allows."""


class TooFewLabels(AppellateError):
    """A method needs more labelled comparisons than there are."""


class StoreInUse(AppellateError):
    """Another process has the store file open."""
