"""Real outputs of real engines, heard as the witness hears them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.box.supervisor import Stream
from runner.engines import ENGINES
from runner.engines.engine_events import Cost, RateLimit, Said, ToolUse, Usage
from runner.engines.output_reader import OutputReader, Report
from runner.engines.row import Row

SAMPLES = Path(__file__).parent / "samples"
STREAMS: tuple[tuple[Stream, str], ...] = (("err", "stderr"), ("out", "stdout"))


def row_of(sample: str) -> Row:
    """Return the row of a sample's engine: its name up to `-` or `@`."""
    name = sample.replace("@", "-").partition("-")[0]
    return ENGINES["claude-code" if name == "claude" else name]


def written(sample: str, stream: str) -> str:
    path = SAMPLES / f"{sample}.{stream}"
    return path.read_text("utf-8") if path.exists() else ""


@dataclass(frozen=True)
class Heard:
    said: Sequence[Said]
    report: Report

    @property
    def tokens(self) -> tuple[int, int]:
        """Tokens that went in, from a cache or not, and that came out."""
        used = [each for each in self.said if isinstance(each, Usage)]
        into = sum(each.input_tokens + each.cached_tokens for each in used)
        return into, sum(each.output_tokens for each in used)

    @property
    def usd(self) -> float:
        return sum(each.usd for each in self.said if isinstance(each, Cost))

    @property
    def tools(self) -> list[str]:
        used = (each for each in self.said if isinstance(each, ToolUse))
        return [f"{'!' * each.refused}{each.name}" for each in used]

    @property
    def waits(self) -> list[RateLimit]:
        return [each for each in self.said if isinstance(each, RateLimit)]


def listened(
    row: Row, *pieces: str | tuple[Stream, str], left: str = "", code: int | None = 0
) -> Heard:
    """Let an engine have written pieces, and `left` where it notes what it used."""
    said: list[Said] = []
    hearing = OutputReader(row, said.append)
    for each in pieces:
        hearing.feed(*(("out", each) if isinstance(each, str) else each))
    hearing.close(left)
    return Heard(said, hearing.report(code))


def heard(sample: str, left: str = "") -> Heard:
    pieces = [(stream, written(sample, name)) for stream, name in STREAMS]
    return listened(row_of(sample), *pieces, left=left)
