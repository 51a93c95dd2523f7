"""The texts that people read on the forge. Pure: state in, Markdown out."""
