"""How people talk to the bot, and what of their words goes on. Pure.

`grammar` hears commands in a comment, `verbs` says what each of them means and may be,
`cleaning` makes text from outside fit for an agent's eyes.
"""
