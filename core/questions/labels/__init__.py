"""Which label do the votes give?"""
