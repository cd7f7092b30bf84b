"""Is one name one judge?"""
