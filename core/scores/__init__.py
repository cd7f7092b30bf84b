"""Judges of single answers: do their scores, or their pass and fail, say what people say?"""
