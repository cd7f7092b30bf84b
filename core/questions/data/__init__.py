"""Which outputs gave no verdict, and was every row read?"""
