"""Numbers in, plain sentences out: every cut-off, and what it makes a page say."""
