"""Do raters agree: a judge with itself, with other judges, with people and with gold?"""
