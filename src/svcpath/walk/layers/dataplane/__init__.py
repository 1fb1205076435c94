"""Question 6: does the client's node carry the packet to a usable endpoint and back?"""
