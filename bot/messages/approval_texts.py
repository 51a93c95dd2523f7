"""Why an approval does not stand any more, as people read it. Pure."""

from typing import Final

NO_REVIEW: Final = "the forge does not show the review"
NO_COMMENT: Final = "the forge does not show the comment"
DISMISSED: Final = "the review was dismissed"
NOT_THE_PLAN: Final = "what the forge shows does not approve the plan"
NOT_THIS_COMMIT: Final = "what the forge shows does not approve this commit"
EDITED: Final = "the comment was edited since"
OLDER: Final = "it was given before there was this work"
TAKEN_BACK: Final = "a newer review asks for changes"
