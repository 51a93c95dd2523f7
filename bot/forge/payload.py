"""What all answers of a forge have in common, and all that a session hands in."""

from pydantic import BaseModel, ConfigDict


class Payload(BaseModel):
    """Fields that brat reads; unknown ones are ignored, and nothing is changed."""

    model_config = ConfigDict(extra="ignore", frozen=True)
