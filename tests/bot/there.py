"""What must be there, for tests that go on with it."""

from typing import TypeVar

Thing = TypeVar("Thing")


def there(thing: Thing | None) -> Thing:
    """Return what is not None."""
    assert thing is not None
    return thing
