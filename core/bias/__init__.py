"""What decides a verdict beside the answers: order, length, family, and changes of the items."""
