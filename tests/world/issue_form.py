"""A repository's issue form, as people write them."""

from typing import Final

FORM: Final = """\
name: Bug
body:
  - type: markdown
    attributes:
      value: "- label: Not an option"
  - type: checkboxes
    attributes:
      label: Platform
      options:
        - label: "Linux"
          required: true
        - label: I use [the docs](https://example.org/docs)  # all of them
        - required: true
          label: 'I searched'
        - label: >-
            It is
            new
        - {label: OK}
  - type: dropdown
    attributes:
      label: Version
      options: [1, 2]
"""
