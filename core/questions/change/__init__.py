"""What moved since then?"""
