"""GitHub Copilot CLI: one JSON object a line; the form is not documented.

https://docs.github.com/en/copilot/concepts/agents/about-copilot-cli
"""

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from runner.box.supervisor import Stream
from runner.engines.engine_events import (
    Result,
    Said,
    Session,
    Usage,
    agent,
    decoded,
    error,
    errors,
    program,
    tool,
)
from runner.engines.row import (
    Abilities,
    Call,
    Row,
    Vendor,
    plain_model,
    server,
    vendor_of,
)

_USAGE = "usage.json"


_UNKNOWN = re.compile(r"Tool '([^']{1,100})' does not exist")


class _Outcome(Struct, frozen=True):
    code: str | None = None
    message: str | None = None


class _Data(Struct, frozen=True):
    content: str | None = None
    toolName: str = ""  # noqa: N815  theirs
    arguments: object = None
    error: _Outcome | str | None = None
    errorType: str = ""  # noqa: N815  theirs
    message: str | None = None
    statusCode: int | None = None  # noqa: N815  theirs
    failureKind: str = ""  # noqa: N815  theirs
    errorMessage: str | None = None  # noqa: N815  theirs


class _Line(Struct, frozen=True):
    type: str
    data: _Data = _Data()
    sessionId: str = ""  # noqa: N815  theirs
    exitCode: int | None = None  # noqa: N815  theirs


class _Tokens(Struct, frozen=True):
    inputTokens: int = 0  # noqa: N815  theirs
    outputTokens: int = 0  # noqa: N815  theirs
    cacheReadTokens: int = 0  # noqa: N815  theirs


class _Metric(Struct, frozen=True):
    usage: _Tokens = _Tokens()


class _Left(Struct, frozen=True):
    modelMetrics: dict[str, _Metric] = {}  # noqa: N815  theirs


def read(stream: Stream, text: str) -> Iterator[Said]:
    """Understand one line."""
    line = decoded(text, _Line) if stream == "out" else None
    match line:
        case None:
            yield from program(text)
        case _Line(type="assistant.message"):
            yield from agent(line.data.content)
        case _Line(type="tool.execution_start"):
            yield tool(line.data.toolName, line.data.arguments)
        case _Line(
            type="tool.execution_complete", data=_Data(error=_Outcome() as found)
        ):
            yield from _refused(found, line.data.toolName)
        case _Line(type="model.call_failure"):
            down = "connection: " if line.data.failureKind == "transport" else ""
            yield error(down + (line.data.errorMessage or ""), line.data.statusCode)
        case _Line(type="session.error"):
            said = f"{line.data.errorType}: {line.data.message or ''}"
            yield from errors(said, line.data.statusCode)
        case _Line(type="result"):
            yield Session(id=line.sessionId)
            yield Result(ok=line.exitCode == 0)
        case _:
            return


def _refused(found: _Outcome, name: str) -> Iterator[Said]:
    unknown = _UNKNOWN.match(found.message or "")
    if unknown or found.code == "denied":
        yield tool(unknown[1] if unknown else name or "tool", refused=True)


def recount(text: str) -> Iterator[Said]:
    """Understand the file of `--usage-output-file`."""
    left = decoded(text, _Left)
    for model, metric in (left.modelMetrics if left else {}).items():
        used = metric.usage
        yield Usage(
            model=model,
            input_tokens=max(0, used.inputTokens - used.cacheReadTokens),
            cached_tokens=used.cacheReadTokens,
            output_tokens=used.outputTokens,
        )


def _argv(call: Call) -> tuple[str, ...]:
    vendor = vendor_of(ROW, call)
    if vendor and vendor.dialect != "copilot" and not call.spec.model:
        raise ValueError(
            "The engine copilot needs a model when it does not use GitHub's own, such "
            'as model = "openai/gpt-5".'
        )
    model = ("--model", plain_model(call, vendor)) if call.spec.model and vendor else ()
    return (
        "copilot",
        *("--allow-all", "--no-ask-user"),  # the box is the limit, not the question
        *_offered(call.spec.tools),
        *("--output-format", "json", "--no-color"),
        *("--usage-output-file", str(call.home / _USAGE)),
        *model,
        *call.spec.args,
    )


def _offered(tools: tuple[str, ...]) -> tuple[str, ...]:
    return (f"--available-tools={','.join(tools)}",) if tools else ()


def _sets(call: Call) -> Mapping[str, str]:
    common = {
        "COPILOT_HOME": str(call.home / ".copilot"),
        "COPILOT_CACHE_HOME": str(call.home / ".cache"),
        "COPILOT_AUTO_UPDATE": "false",
    }
    vendor = vendor_of(ROW, call)
    if vendor is None or vendor.dialect == "copilot":
        return common
    return {
        **common,
        "COPILOT_OFFLINE": "true",
        "COPILOT_MODEL": plain_model(call, vendor),
        _URL: server(vendor, call),
        "COPILOT_PROVIDER_API_KEY": call.key.value if call.key else "",
        "COPILOT_PROVIDER_TYPE": (
            "anthropic" if vendor.dialect == "anthropic" else "openai"
        ),
    }


_URL = "COPILOT_PROVIDER_BASE_URL"

ROW = Row(
    name="copilot",
    argv=_argv,
    read=read,
    vendors=(
        Vendor("copilot", "COPILOT_GITHUB_TOKEN"),
        Vendor("chat", "OPENAI_API_KEY", _URL, path="/v1", models=("openai/",)),
        Vendor("anthropic", "ANTHROPIC_API_KEY", _URL, models=("anthropic/",)),
    ),
    sets=_sets,
    leaves=_USAGE,
    recount=recount,
    can=Abilities(
        resume="--resume=ID",
        usage="file",
        tools="bash, view, apply_patch",
        limits="With GitHub's own models the agent holds a GitHub token, which should "
        "be allowed Copilot requests and nothing else. It unpacks 235 MB into each "
        "home.",
    ),
    install="npm install -g @github/copilot",
    sample_model="openai/gpt-4o",
)
