"""`start`: turns an issue into a convoy."""

from typing import Final

from bot.verbs import arguments as args
from bot.verbs.arguments import Argument
from bot.verbs.request_context import RequestContext
from bot.verbs.verb import NotPossible, Verb


async def _start(
    context: RequestContext,
    *,
    text: str = "",
    plan_only: bool = False,
    pattern: str = "",
    inputs: dict[str, str] | None = None,
) -> str:
    from bot.door.inbox import StartRequest as Labelled
    from bot.roles import mayor
    from bot.roles.admission import edited_since
    from bot.text.replies import EDITED_SINCE_SAID

    remark = context.asker.remark
    if remark is None:
        raise NotPossible("say it in a comment on the issue")
    bot = context.bot
    issue = await bot.github.issue(remark.issue)
    title, body = remark.title, remark.body
    if remark.at is not None:  # no delivery froze the issue's text
        if await edited_since(bot, issue, remark.at):
            raise NotPossible(EDITED_SINCE_SAID)
        title, body = issue.title, issue.body or ""
    labelled = Labelled(
        issue=issue.number,
        title=title,
        text=body,
        by=remark.by,
        added=text,
        pattern=pattern,
        inputs=inputs or {},
        plan_only=plan_only,
    )
    if why := await mayor.begin(bot, context.draft, labelled, issue):
        raise NotPossible(why)
    return "The convoy is being planned."


VERBS: Final = (
    Verb(
        name="start",
        place="issue",
        words=(
            Argument(
                name="plan_only",
                read=args.fixed("plan-only"),
                form="plan-only",
                needed=False,
                write=lambda _: "plan-only",
            ),
        ),
        options=(
            Argument(
                name="pattern", read=args.pattern, form="pattern=NAME", needed=False
            ),
        ),
        more=Argument(name="inputs", read=str, form="input=value ...", needed=False),
        text="may",
        help="Makes a convoy of the issue, as the label does; text is added to it. "
        "With `plan-only` its plan waits for your approval. With `pattern` it is "
        "planned by that template, which the inputs fill.",
        rule=_start,
    ),
)
