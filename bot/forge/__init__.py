"""Everything about GitHub, behind a few small objects.

Whatever asks the forge may raise `Unavailable` (it does not answer or is broken; a
later try may help, and a write may have arrived), its subclass `Limited`, and `Refused`
(it answers no). A docstring names them only where they mean something else besides.
"""
