"""What decides a verdict beside the answers: the order in which they are shown, and their length."""
