"""How many votes and labels are enough, do labels carry over, and does another judge do better?"""
