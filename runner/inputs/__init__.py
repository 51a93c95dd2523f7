"""The inputs of one job, from its environment and from file descriptors.

What reads them raises BadInput where one is missing or not what it may be.
"""
