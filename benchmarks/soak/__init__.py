"""`make soak`: half an hour of convoys while bots, runners and connections are killed.

One forge, three repositories and one `brat bot serve`, as processes of their own. A
convoy of 50 tasks is always under way in each repository. At the end every task must
have landed exactly once, and what the processes hold must not have grown.
"""
