"""Does order decide?"""
