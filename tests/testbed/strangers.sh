# What others took of the machine: sourced by tests that measure rates.
#
# A shaper whose timer comes late loses rate for good, so a rate says something about the
# testbed only as far as the machine was there. On virtual machines it often is not,
# while nothing runs: such time is counted as stolen. What runs niced makes way and is not
# counted: a testbed has to keep its rates beside it (tools/check computes so meanwhile).

# Sets $taken: seconds of the processors that are gone, but for niced ones, and that were
# not used by what this shell started and waited for. (No $(...) around it: a subshell has no children.)
count_taken()
{
    times >"$work/times"
    taken=$(awk -v hz="$(getconf CLK_TCK)" '
        FNR == 1 { file++ }
        file == 1 && FNR == 2 {
            for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); own += 60 * t[1] + t[2] }
        }
        file == 2 && /^cpu / { print ($2 + $4 + $7 + $8 + $9) / hz - own }' \
        "$work/times" /proc/stat)
}

# strangers_begin, then strangers_end: sets $share, the part of one processor that others
# took between.
strangers_begin()
{
    count_taken
    taken_before=$taken begun=$EPOCHREALTIME
}

strangers_end()
{
    count_taken
    share=$(awk -v taken="$taken" -v before="$taken_before" -v now="$EPOCHREALTIME" \
        -v begun="$begun" 'BEGIN {
            share = (taken - before) / (now - begun)
            printf "%.3f\n", (share < 0 ? 0 : share)
        }')
}
