"""A state that was kept is the same again, or is not believed."""

import sys
from pathlib import Path

import pytest

from convoy.log import record
from convoy.log.record import Reading
from convoy.model.state import Moment, State
from grite.errors import Corrupt
from tests.convoy.stories import Story, story
from tests.world.cases import looped
from tests.world.program import ran
from tests.world.rules import NAME, Rules, spec


def reading(rules: Rules, *faults: str) -> Reading:
    return Reading(rules.state, faults, events=7)


@story
def test_what_was_kept_is_the_same_again(tell: Story) -> None:
    kept = reading(tell(), "a fault")

    read = record.decode_reading(record.encode_reading(kept))

    assert read.state == kept.state
    assert read.faults == kept.faults
    assert read.events == 0
    # Not part of being equal, and yet it is the convoys' age.
    assert [*read.state.convoys] == [*kept.state.convoys]


def test_another_process_understands_it(tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    file.write_bytes(record.encode_reading(reading(Rules().planned(spec(1)))))
    program = (
        "from pathlib import Path; import convoy.log.record; "
        "print(*convoy.log.record.decode_reading("
        f"Path({str(file)!r}).read_bytes()).state.convoys)"
    )

    assert ran([sys.executable, "-c", program], check=True).stdout == f"{NAME}\n"


@looped(
    (b'"v":2', b'"v":3', "a different version"),
    (b'"form":"', b'"form":"x', "a different version"),
    (b'"state":{', b'"state":[', "cannot be read"),
    (b'"at_hand":{', b'"at_hand":{"a":1,', "cannot be read"),
    (b'"order":[', b'"order":["a",', "does not match its convoys"),
    (b'"checksum":"', b'"checksum":"0', "damaged"),
    (b'"commit":"', b'"commit":"","x":"', "belongs to no commit"),
)
def test_what_is_not_understood_whole_is_not_believed(
    old: bytes, new: bytes, fault: str
) -> None:
    known = reading(Rules().planned(spec(1)))
    data = record.encode_reading(known)
    assert data == record.encode_reading(known)
    assert data.count(old) >= 1

    with pytest.raises(Corrupt, match=fault):
        record.decode_reading(data.replace(old, new, 1))


@looped(
    *((data, "cannot be read") for data in (b"", b"{", b"[]", b"null", b"[" * 100_000)),
    (b'{"v":1,"form":"0","faults":[],"state":{}}', "a different version"),
)
def test_rubbish_is_not_believed(data: bytes, fault: str) -> None:
    with pytest.raises(Corrupt, match=fault):
        record.decode_reading(data)


def test_every_cut_is_noticed() -> None:
    data = record.encode_reading(Reading(State(moment=Moment("a" * 40, 1))))

    for end in range(len(data)):
        with pytest.raises(Corrupt):
            record.decode_reading(data[:end])
