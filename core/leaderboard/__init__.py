"""Models ranked by their votes against an anchor or by direct scores, and how far boards can be
trusted.
"""
