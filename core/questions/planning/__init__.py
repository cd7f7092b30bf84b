"""How many votes and labels are needed?"""
