"""Our tables of tools, resources and prompts in the SDK's types."""

import mcp_types as types

from bot.mcp.mcp_resources import RESOURCES
from bot.mcp.prompts import PROMPTS
from bot.mcp.tool import Tool

JSON = "application/json"


def tool(row: Tool) -> types.Tool:
    """Return a tool as clients see it."""
    return types.Tool(
        name=row.name,
        title=row.title,
        description=row.help,
        input_schema=row.schema,
        annotations=types.ToolAnnotations(
            read_only_hint=not row.writes,
            destructive_hint=row.ends,
            idempotent_hint=not row.writes,
            open_world_hint=False,
        ),
    )


def resources(convoys: tuple[tuple[str, str], ...]) -> list[types.Resource]:
    """Return what can be read; `convoys`: the name and address of each live one."""
    fixed = [
        types.Resource(
            name=each.name, uri=each.uri, description=each.tool.help, mime_type=JSON
        )
        for each in RESOURCES
        if not each.is_form
    ]
    named = [
        types.Resource(
            name=name, uri=uri, description=f"The convoy {name}.", mime_type=JSON
        )
        for name, uri in convoys
    ]
    return [*fixed, *named]


def templates() -> list[types.ResourceTemplate]:
    """Return the forms of addresses."""
    return [
        types.ResourceTemplate(
            name=each.name,
            uri_template=each.uri,
            description=each.tool.help,
            mime_type=JSON,
        )
        for each in RESOURCES
        if each.is_form
    ]


def prompts() -> list[types.Prompt]:
    """Return every prompt."""
    return [
        types.Prompt(
            name=each.name,
            title=each.title,
            description=each.help,
            arguments=[
                types.PromptArgument(name=name, description=text, required=True)
                for name, text in each.takes.items()
            ],
        )
        for each in PROMPTS
    ]
