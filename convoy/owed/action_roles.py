"""Which role does each action: a role of the bot does its own only. Pure."""

from typing import Literal

from convoy.owed.actions import (
    Action,
    Align,
    AlignConvoy,
    AskMerge,
    Begin,
    BeginPlan,
    Block,
    Build,
    BuildConvoy,
    BuildSync,
    CancelCi,
    CancelRun,
    Choose,
    ClearWork,
    Collect,
    CreateBase,
    Defer,
    Do,
    DropPart,
    Expire,
    HearDequeue,
    Land,
    LandConvoy,
    LandPart,
    LandSync,
    LookAgain,
    MakePlan,
    OfferPart,
    OpenAnother,
    Pause,
    Prove,
    Reject,
    Split,
    Stall,
    Sweep,
    TakeBack,
    TakeLanded,
    TakeOut,
    TakePart,
    Try,
    Wait,
)

Role = Literal["mayor", "witness", "refinery", "deacon"]

_ROLES: dict[type[Action], Role] = {
    MakePlan: "mayor",
    BeginPlan: "mayor",
    CreateBase: "mayor",
    Begin: "witness",
    Split: "mayor",
    Collect: "witness",
    CancelRun: "witness",
    CancelCi: "refinery",
    Build: "refinery",
    Try: "refinery",
    Prove: "refinery",
    Choose: "refinery",
    BuildSync: "refinery",
    LandSync: "refinery",
    BuildConvoy: "refinery",
    Align: "refinery",
    Land: "refinery",
    LandConvoy: "refinery",
    LandPart: "refinery",
    OfferPart: "refinery",
    TakePart: "refinery",
    DropPart: "refinery",
    AlignConvoy: "refinery",
    AskMerge: "refinery",
    Wait: "refinery",
    TakeLanded: "refinery",
    OpenAnother: "refinery",
    Reject: "refinery",
    LookAgain: "refinery",
    ClearWork: "refinery",
    Stall: "refinery",
    Block: "refinery",
    HearDequeue: "refinery",
    TakeOut: "refinery",
    TakeBack: "refinery",
    Defer: "witness",
    Pause: "witness",
    Sweep: "deacon",
    Expire: "deacon",
}


def role_of(action: Action) -> Role | None:
    """Return the role whose work the action is; None: any role's.

    The planning session is the mayor's, from its dispatch to its result.
    """
    if isinstance(action, Collect) and action.task == 0:
        return "mayor"
    if isinstance(action, Do):
        witness: Role = "witness" if action.intent.task else "mayor"
        kinds: dict[str, Role] = {
            "dispatch": witness,
            "pull": "refinery",
            "land": "refinery",
        }
        return kinds.get(action.intent.kind)
    return _ROLES.get(type(action))
