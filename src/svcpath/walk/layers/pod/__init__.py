"""Question 5: does a direct connection to the Pod's address work, from the same client?"""
