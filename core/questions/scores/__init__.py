"""What are scores of single answers worth?"""
