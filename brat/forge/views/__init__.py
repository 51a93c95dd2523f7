"""Records as GitHub's API writes them: no rule, no state, only shape.

The fields are those that GitHub's OpenAPI description asks for; tests/contract judges.
"""
