"""Question 1: does the name resolve, with the application's own resolver?"""
