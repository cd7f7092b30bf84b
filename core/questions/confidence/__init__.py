"""Is its confidence worth anything?"""
