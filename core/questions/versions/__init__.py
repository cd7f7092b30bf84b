"""Is one version of a judge better than another?"""
