"""Who says what is right, which answers they looked at, and whether a judge follows them."""
