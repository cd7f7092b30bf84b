"""How often is it right?"""
