"""`lock` and `unlock`: keeps a resource for a person."""

from typing import Final

from bot.text.visible_text import code_span
from bot.verbs import arguments as args
from bot.verbs.arguments import Argument
from bot.verbs.request_context import RequestContext
from bot.verbs.verb import Verb
from convoy.events.leases import FreeLease, RenewLease, TakeLease

_RESOURCE: Final = Argument(name="resource", read=args.resource, form="<resource>")

_TTL: Final = Argument(
    name="ttl",
    read=args.ttl,
    form="ttl=1h",
    needed=False,
    write=lambda length_s: f"{length_s}s",
)


def _lock(context: RequestContext, *, resource: str, ttl: int = args.LOCK_TTL_S) -> str:
    context.submit(
        TakeLease(
            resource=resource,
            holder=context.by,
            nonce=context.asker.nonce,
            now=context.draft.now,
            ttl_s=ttl,
        )
    )
    return f"{code_span(resource)} is yours for {ttl} s."


def _renew(
    context: RequestContext, *, resource: str, ttl: int = args.LOCK_TTL_S
) -> str:
    context.submit(
        RenewLease(
            resource=resource,
            holder=context.by,
            nonce=_nonce(context, resource),
            now=context.draft.now,
            ttl_s=ttl,
        )
    )
    return f"{code_span(resource)} is yours for {ttl} s from now."


def _unlock(context: RequestContext, *, resource: str) -> str:
    nonce = _nonce(context, resource)
    context.submit(FreeLease(resource=resource, holder=context.by, nonce=nonce))
    return f"{code_span(resource)} is free."


def _nonce(context: RequestContext, resource: str) -> str:
    held = context.draft.state.leases.get(resource)
    return held.nonce if held else ""


VERBS: Final = (
    Verb(
        name="lock",
        words=(_RESOURCE,),
        options=(_TTL,),
        help="Keeps a resource for you, one hour or as long as `ttl` says, at most "
        "`24h`: no task that needs it starts.",
        rule=_lock,
    ),
    Verb(
        name="renew",
        words=(_RESOURCE,),
        options=(_TTL,),
        help="Keeps a resource that you hold for longer, counted from now.",
        rule=_renew,
    ),
    Verb(
        name="unlock",
        words=(_RESOURCE,),
        help="Gives back a resource that you hold.",
        rule=_unlock,
    ),
)
