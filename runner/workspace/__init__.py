"""The agent's checkout, the witness's copy of it, and the commits of the work.

What fetches raises BadInput for what the forge does not give, and Unavailable where it
does not answer.
"""
