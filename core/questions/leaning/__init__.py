"""Does it favour length, its own family, or a change that should not matter?"""
