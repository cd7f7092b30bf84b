"""From no labels to a verdict: which item to label next, and what the labels so far show."""
