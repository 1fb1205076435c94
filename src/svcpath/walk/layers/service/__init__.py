"""Question 2: does the answer fit the Service's type, and is the Service what the client takes it for?"""
