"""`brat completion SHELL`: a script by which a shell completes brat's words.

The words and options are in the script, made from what may stand at each place of the
command line. Convoys, tasks and sessions are asked for as somebody types, which takes
less than loading the command line would.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal

import click
from msgspec import Struct

Kind = Literal["", "convoys", "tasks", "sessions", "subjects"]
"""What a shell asks brat for; empty: any word, or a file."""

_KINDS: Final[Mapping[str, Kind]] = {
    "convoy": "convoys",
    "number": "tasks",
    "about": "subjects",
}


class Value(Struct, frozen=True):
    """What is given to an option or as an argument."""

    kind: Kind = ""
    choices: tuple[str, ...] = ()


class Place(Struct, frozen=True):
    """The words typed so far, and what may follow."""

    path: tuple[str, ...]
    words: tuple[str, ...]
    """The commands below."""
    options: tuple[str, ...]
    values: Mapping[str, Value]
    """Of the options that take one."""
    argument: Value


def places(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[Place]:
    """Yield each place of the command line, from its root or the command at a path."""
    below = command.commands if isinstance(command, click.Group) else {}
    options = [each for each in command.params if isinstance(each, click.Option)]
    given = [each for each in command.params if isinstance(each, click.Argument)]
    yield Place(
        path=path,
        words=tuple(below),
        options=("--help", *(name for one in options for name in _names(one))),
        values={
            name: _value(each, path)
            for each in options
            if not each.is_flag
            for name in _names(each)
        },
        argument=_value(given[0], path) if given else Value(),
    )
    for name, each in below.items():
        yield from places(each, (*path, name))


def _names(option: click.Option) -> tuple[str, ...]:
    return (*option.opts, *option.secondary_opts)


def _value(param: click.Parameter, path: tuple[str, ...]) -> Value:
    if isinstance(param.type, click.Choice):
        return Value(choices=tuple(param.type.choices))
    if param.name == "name" and path[0] in ("convoy", "session"):
        return Value("convoys" if path[0] == "convoy" else "sessions")
    return Value(_KINDS.get(param.name, ""))


_BASH: Final = """\
# Completes the words of brat; made by: brat completion {shell}
_brat() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}
    local at= word= i= repo=. convoy= kind= offered= given=
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${{COMP_WORDS[i]}}
        case $word in
            --repo) repo=${{COMP_WORDS[i+1]}} ;;
            --convoy) convoy=${{COMP_WORDS[i+1]}} ;;
        esac
        case "$at/$word" in
            {paths}) at=$at/$word ;;
        esac
    done
    case "$at $prev" in
{values}
        *)
            case $at in
{places}
            esac
            case $cur in
                -*) offered=$given kind= ;;
            esac
            ;;
    esac
    if [ -n "$kind" ]; then
        offered="$offered $(brat __complete "$kind" "$repo" "$convoy" 2>/dev/null)"
    fi
    COMPREPLY=($(compgen -W "$offered" -- "$cur"))
}}
complete -o default -F _brat brat"""
_ZSH: Final = """\
#compdef brat
autoload -U +X compinit && compinit -u
autoload -U +X bashcompinit && bashcompinit
"""
_FISH: Final = """\
# Completes the words of brat; made by: brat completion fish
function __brat_at
    set -l at
    for word in (commandline -opc)[2..]
        switch "$at/$word"
            case {paths}
                set at "$at/$word"
        end
    end
    test "$at" = "$argv[1]"
end
function __brat_values
    set -l typed (commandline -opc)
    set -l repo .
    set -l convoy ''
    for i in (seq 2 (math (count $typed) - 1))
        switch $typed[$i]
            case --repo
                set repo $typed[(math $i + 1)]
            case --convoy
                set convoy $typed[(math $i + 1)]
        end
    end
    brat __complete $argv[1] $repo $convoy 2>/dev/null
end
complete --command brat --no-files
"""


def script_of(shell: str, places: Iterable[Place]) -> str:
    """Return the script of `bash`, `zsh` or `fish`; safe to read in more than once."""
    known = tuple(places)
    if shell == "fish":
        paths = " ".join(_typed(each) for each in known if each.path)
        return _FISH.format(paths=paths) + "\n".join(_fish(known))
    values, words = [], []
    for each in known:
        at, kind = _typed(each), each.argument.kind
        offered = " ".join((*each.words, *each.argument.choices))
        told = f"offered='{offered}' given='{' '.join(each.options)}' kind={kind}"
        words.append(f"                '{at}') {told} ;;")
        for option, value in each.values.items():
            what = f"kind={value.kind}" if value.kind else "return 0"
            if value.choices:
                what = f"offered='{' '.join(value.choices)}'"
            values.append(f"        '{at} {option}') {what} ;;")
    own = _BASH.format(
        shell=shell,
        paths="|".join(_typed(each) for each in known if each.path),
        values="\n".join(values),
        places="\n".join(words),
    )
    return f"{_ZSH}{own}" if shell == "zsh" else own


def _typed(place: Place) -> str:
    return "".join(f"/{word}" for word in place.path)


def _fish(places: Iterable[Place]) -> Iterator[str]:
    for place in places:
        begin = f"complete --command brat --condition '__brat_at \"{_typed(place)}\"'"
        if words := (*place.words, *place.argument.choices):
            yield f"{begin} --arguments '{' '.join(words)}'"
        if place.argument.kind:
            yield f"{begin} --arguments '(__brat_values {place.argument.kind})'"
        for option in place.options:
            yield f"{begin} {_fish_option(option, place.values.get(option))}"


def _fish_option(option: str, value: Value | None) -> str:
    name = option.lstrip("-")
    way = "--long-option" if option.startswith("--") else "--short-option"
    if value is None:
        return f"{way} {name}"
    if value.choices:
        return f"{way} {name} --exclusive --arguments '{' '.join(value.choices)}'"
    if value.kind:
        return f"{way} {name} --exclusive --arguments '(__brat_values {value.kind})'"
    return f"{way} {name} --require-parameter --force-files"
