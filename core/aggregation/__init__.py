"""Many votes of one comparison become one label: BTD and every other rule, and how good their
labels are.
"""
