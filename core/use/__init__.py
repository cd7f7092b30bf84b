"""From the command line and in one call."""
