"""What do judges make together?"""
