"""The scripts by which shells complete brat's words; made from the table of places."""

from collections.abc import Iterable, Iterator
from typing import Final

from brat.commands.completion_table import Place, Value

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
    own = _BASH.format(
        shell=shell,
        paths="|".join(_typed(each) for each in known if each.path),
        values="\n".join(line for each in known for line in _bash_values(each)),
        places="\n".join(f"                {_bash(each)}" for each in known),
    )
    return f"{_ZSH}{own}" if shell == "zsh" else own


def _typed(place: Place) -> str:
    return "".join(f"/{word}" for word in place.path)


def _bash(place: Place) -> str:
    words = " ".join((*place.words, *place.argument.choices))
    given, kind = " ".join(place.options), place.argument.kind
    return f"'{_typed(place)}') offered='{words}' given='{given}' kind={kind} ;;"


def _bash_values(place: Place) -> Iterator[str]:
    for option, value in place.values.items():
        what = _offered(value) or "return 0"
        yield f"        '{_typed(place)} {option}') {what} ;;"


def _offered(value: Value) -> str:
    if value.choices:
        return f"offered='{' '.join(value.choices)}'"
    return f"kind={value.kind}" if value.kind else ""


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
