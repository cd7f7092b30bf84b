"""What is asked of a judge, a folder each."""
