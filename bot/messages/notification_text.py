"""The text for the webhook when something waits, or has landed. Pure."""

from typing import Final

from bot.settings.bot_settings import Settings
from convoy.model.state import Convoy
from convoy.model.work import Intent
from convoy.text import clean, counted, redacted, shortened

CHARS: Final = 3000
_LITERAL: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def notification_text(settings: Settings, convoy: Convoy, intent: Intent) -> str:
    """Return the notification; foreign text in it is escaped and mentions nobody.

    https://docs.slack.dev/messaging/formatting-message-text/#escaping
    """
    where = f"{settings.repository}#{convoy.issue}"
    page = f"{settings.git_url}/{settings.repository}/issues/{convoy.issue}"
    head = where if settings.sole else f"<{page}|{where}>"
    merged = sum(task.state == "merged" for task in convoy.tasks)
    told = intent.text or (
        f"landed: {merged} of {counted(len(convoy.tasks), 'task')} merged, "
        f"as {(convoy.landed or '')[:10]}"
    )
    begins = "waits for a person:\n" if intent.text else "has "
    said = shortened(redacted(clean(f"{convoy.name} {begins}{told}")), CHARS)
    return f"{head} {said.translate(_LITERAL)}"
