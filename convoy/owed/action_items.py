"""Which item each action is a step of: what is refused or fails stays there. Pure."""

from convoy.model.asides import intent_item
from convoy.model.set_aside import (
    LOG,
    SWEEP,
    convoy_item,
    part_item,
    run_item,
    show_item,
    task_item,
)
from convoy.owed.actions import (
    Begin,
    Block,
    CancelCi,
    CancelRun,
    Choose,
    ClearWork,
    Collect,
    Defer,
    Do,
    Effect,
    Expire,
    LandPart,
    LookAgain,
    OfferPart,
    Prove,
    Reject,
    Show,
    Split,
    Staged,
    Stall,
    Sweep,
    TakeBack,
    TakeOut,
    TakeUp,
    Try,
)


def item_of(action: Staged) -> str:
    """Return the item whose step a staged action is."""
    match action:
        case Sweep():
            return SWEEP
        case Expire() | TakeUp():
            return LOG
        case (
            Begin()
            | Split()
            | Collect()
            | Try()
            | Prove()
            | Choose()
            | Reject()
            | LookAgain()
            | ClearWork()
            | Stall()
            | Block()
            | TakeOut()
            | TakeBack()
            | Defer()
        ):
            return task_item(action.convoy, action.task)
        case LandPart() | OfferPart():
            return part_item(action.convoy)
        case _:
            return convoy_item(action.convoy)


def item_of_effect(effect: Effect) -> str:
    """Return the item that an effect belongs to."""
    match effect:
        case Do(intent=intent):
            return intent_item(intent)
        case CancelRun(run=run) | CancelCi(run=run):
            return run_item(run)
        case Show(convoy=convoy, part=part):
            return show_item(convoy, part)
