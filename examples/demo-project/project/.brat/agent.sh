#!/bin/sh
# The demo's agent: plays back one prepared patch a task, without a model or a network.
# brat's runner starts it in the task's checkout and sets
#   BRAT_TASK, BRAT_ATTEMPT   numbers, from 1
#   BRAT_PROMPT               a file with what a real agent would be told
# BRAT_DEMO_PACE is how long it pretends to think, in seconds (default 1).
# Three first attempts go wrong on purpose: task 4's fix is wrong, task 5 loses its
# machine, and tasks 6 and 7 write to the same place of the changelog, so that the one
# which lands second conflicts: its second attempt finds its own work merged into what
# has landed, with git's markers where the two meet.
set -eu
export LC_ALL=C

: "${BRAT_TASK:?is set by the runner}" "${BRAT_ATTEMPT:?is set by the runner}"
: "${BRAT_PROMPT:?is set by the runner}"

say() {
    printf 'agent: %s\n' "$1"
}

apply() {
    git apply ".brat/patches/$1.patch"
    rm known_bugs/"$BRAT_TASK"-*
}

# Takes what already stands there into account, so that it works on every base, and gives
# the same text whichever of two entries comes first.
note() {
    awk -v entry="- $1" '
        /^## Unreleased$/ { print; getline; print; due = 1; next }
        due && ($0 !~ /^- / || $0 > entry) {
            print entry
            if ($0 ~ /^## /) print ""
            due = 0
        }
        { print }
    ' CHANGELOG.md >CHANGELOG.new
    mv CHANGELOG.new CHANGELOG.md
}

# Whether an earlier attempt's work is here already, and conflicts.
meets_a_conflict() {
    grep -q '^<<<<<<<' CHANGELOG.md
}

# Keeps both sides of the conflict, and puts this task's entry where it belongs.
make_whole() {
    grep -vxF -e "- $1" CHANGELOG.md | grep -Ev '^(<<<<<<< |=======$|>>>>>>> )' >CHANGELOG.new
    mv CHANGELOG.new CHANGELOG.md
    note "$1"
}

record() {
    if meets_a_conflict; then
        make_whole "$1"
    else
        apply "$BRAT_TASK"
        note "$1"
    fi
}

lose_the_machine() {
    say "half-way through $1 the machine goes away"
    head -n 12 "$1" >half
    mv half "$1"
    exec sleep 86399 # until the demo takes the machine away, as brat/demo/machine.py does
}

say "task $BRAT_TASK, attempt $BRAT_ATTEMPT: $(head -n 1 "$BRAT_PROMPT")"
sleep "${BRAT_DEMO_PACE:-1}"

case "$BRAT_TASK/$BRAT_ATTEMPT" in
4/1) apply 4-wrong ;;
5/1) lose_the_machine auth/roles.py ;;
6/*)
    record 'Fixed: a name with a line break made two entries in the audit log.'
    ;;
7/*)
    record 'Fixed: the API documents left out the role editor.'
    ;;
[1-5]/*) apply "$BRAT_TASK" ;;
*)
    say "there is no task $BRAT_TASK in the demo" >&2
    exit 2
    ;;
esac
say "done; bugs left on this branch: $(find known_bugs -type f 2>/dev/null | wc -l | tr -d ' ')"
