"""Question 4: do port and protocol agree, from the Service's port to a listening socket?"""
