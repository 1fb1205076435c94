"""Question 3: is there a usable endpoint, ready, else serving and terminating?"""
