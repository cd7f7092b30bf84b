"""Does it repeat itself, and say what people say?"""
