"""No output makes a reader raise, and how it is cut does not matter."""

import json
from functools import cache

from hypothesis import given, settings, strategies as st

from runner.engines import ENGINES
from runner.engines.engine_events import Text
from runner.engines.output_reader import LINE_CHARS
from runner.engines.row import Row
from tests.runner.engines.hearing import SAMPLES, STREAMS, listened, row_of, written
from tests.world.cases import looped
from tests.world.patience import LINEAR, growth

ROWS = st.sampled_from(list(ENGINES.values()))
STREAM = st.sampled_from([stream for stream, _ in STREAMS])


@cache
def lines() -> list[tuple[str, str]]:
    names = sorted({path.name.rpartition(".")[0] for path in SAMPLES.glob("*.std*")})
    texts = ((name, written(name, end)) for name in names for _, end in STREAMS)
    return [(name, line) for name, text in texts for line in text.splitlines()]


def words(value: object) -> set[str]:
    """Return the keys that a JSON value has, at any depth."""
    if isinstance(value, dict):
        return set(value).union(*(words(each) for each in value.values()))
    return set().union(*map(words, value)) if isinstance(value, list) else set()


def parsed(line: str) -> object:
    try:
        return json.loads(line)
    except ValueError:
        return None


WORDS = st.sampled_from(sorted(words([parsed(line) for _, line in lines()])))
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=9) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner),
    max_leaves=9,
)


@settings(max_examples=200, deadline=None)
@given(ROWS, STREAM, st.text(max_size=200))
def test_any_text_is_survived(row: Row, stream: str, text: str) -> None:
    list(row.read("err" if stream == "err" else "out", text))
    listened(row, text, left=text)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_real_line_with_anything_in_it_is_survived(data: st.DataObject) -> None:
    name, line = data.draw(st.sampled_from(lines()))
    value = parsed(line)
    if isinstance(value, dict) and value:
        changed = dict(value)
        key = data.draw(st.sampled_from(sorted(value)))
        changed[key] = data.draw(ANY_JSON)
        line = json.dumps(changed)

    listened(row_of(name), line + "\n", left=line)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_output_may_be_cut_anywhere(data: st.DataObject) -> None:
    sample = data.draw(st.sampled_from(["claude-ok", "opencode-429", "gemini-ok"]))
    text = written(sample, "stdout")
    cut = data.draw(st.integers(0, len(text)))

    row = row_of(sample)
    assert listened(row, text[:cut], text[cut:]).said == listened(row, text).said


def test_what_is_no_json_is_kept_as_text_and_json_may_be_of_any_depth() -> None:
    for row in ENGINES.values():
        listened(row, '{"type":' + "[" * 100_000 + "\n")
    for name in ("claude-code", "codex", "opencode", "gemini", "copilot"):
        fault = "Segmentation fault"
        said = listened(ENGINES[name], f"{fault}\n").said
        assert said == [Text(text=fault, by="program")]


RESULT = '{"type":"result","subtype":"success","result":"'
LOGGED = 'level=ERROR message="stream error" '


@looped(
    *(("claude-code", RESULT, p, 25_000) for p in ("\\n", "- ", "\\n- ", "BRAT: ")),
    ("claude-code", RESULT, "BRAT: done -", 25_000),
    *(("opencode", LOGGED, p, 1_000) for p in (LOGGED[12:], "error.error=")),
)
def test_text_made_to_be_slow_is_read_in_one_pass(
    name: str, begun: str, piece: str, size: int
) -> None:
    def read(pieces: int) -> None:
        end = '"}\n' if begun == RESULT else ""
        listened(ENGINES[name], f"{begun}{piece * pieces}{end}")

    assert growth(read, size) < LINEAR


def test_a_line_without_end_does_not_fill_the_memory() -> None:
    said = listened(ENGINES["claude-code"], *["x" * (LINE_CHARS // 2)] * 5).said

    assert [len(each.text) for each in said if isinstance(each, Text)] == [
        *(3 * LINE_CHARS // 2, LINE_CHARS)
    ]
