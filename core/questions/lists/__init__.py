"""What are rankings of lists worth?"""
