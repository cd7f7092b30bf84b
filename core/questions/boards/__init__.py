"""Which model is better, and would another anchor say so?"""
