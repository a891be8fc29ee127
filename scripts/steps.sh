# SPDX-License-Identifier: GPL-3.0-or-later
# What scripts/test and scripts/test-sanitized are made of; they source it.
#
# A run is a row of steps, each under a heading. It goes on after a failure, so that one run shows all of them, and
# ends with a non-zero status if anything failed or if a kind of test ran no test at all.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2

python=/usr/bin/python3
# What Python compiles is kept, whatever the environment says: each of many workers would compile all tests again.
unset PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX=$PWD/build/python
failed=()
passed=0

# step NAME COMMAND...: runs it under a heading and remembers how it went.
step() {
    local name=$1 began=$SECONDS
    shift
    printf '\n== %s\n' "$name"
    if "$@"; then
        passed=$((passed + 1))
        printf '== %s: passed (%d s)\n' "$name" $((SECONDS - began))
    else
        failed+=("$name")
        printf '== %s: FAILED (%d s)\n' "$name" $((SECONDS - began))
        return 1
    fi
}

finish() {
    if [ ${#failed[@]} -eq 0 ]; then
        printf '\nAll %d steps passed in %d s.\n' "$passed" "$SECONDS"
        exit 0
    fi
    printf '\nFAILED in %d s: ' "$SECONDS"
    local IFS=,
    printf '%s\n' "${failed[*]}"
    exit 1
}

# Of the progress lines, "[1/300 ...] ...", one each 30 seconds; all other lines.
now_and_then() {
    local line next=$SECONDS
    while IFS= read -r line; do
        if [[ $line == \[+([0-9])/* ]]; then
            ((SECONDS >= next)) || continue
            next=$((SECONDS + 30))
        fi
        printf '%s\n' "$line"
    done
}

# build PRESET [OPTION...] [-- TARGET...]: warnings are errors in the release build; with sanitizers GCC 12 warns
# without a reason. A terminal sees what is compiled at the moment, a log how far it is now and then.
build() {
    local preset=$1 options=() targets=()
    shift
    while [ $# -gt 0 ] && [ "$1" != -- ]; do options+=("$1"); shift; done
    [ $# -gt 1 ] && targets=(--target "${@:2}")
    cmake --preset "$preset" -DPOSTAL_TESTS=ON -DPOSTAL_CCACHE=ON "${options[@]}" >/dev/null || return
    if [ -t 1 ]; then
        cmake --build --preset "$preset" "${targets[@]}"
    else
        NINJA_STATUS='[%f/%t, %p after %e s] ' cmake --build --preset "$preset" "${targets[@]}" | now_and_then
    fi
}
# unit_tests FOLDER: those of a folder of the build tree, two for each core, for some of them mostly wait.
unit_tests() {
    ctest --test-dir "$1" -j $((2 * $(nproc))) --progress --no-tests=error --output-on-failure --timeout 300
}
# Runs a command with a /tmp of its own in memory, where that may be: the tests make thousands of folders and throw them away,
# and what is synced there need not come onto a disk.
in_memory() {
    local available most used
    available=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)
    # A container may have less than its machine.
    if read -r most </sys/fs/cgroup/memory.max && [ "$most" != max ] && read -r used </sys/fs/cgroup/memory.current; then
        [ $(((most - used) >> 10)) -lt "${available:-0}" ] && available=$(((most - used) >> 10))
    fi 2>/dev/null
    if [ "$(id -u)" -eq 0 ] && [ "${available:-0}" -gt $((6 << 20)) ] && [[ $PWD/ != /tmp/* && ${POSTAL_BIN:-} != /tmp/* ]] &&
        unshare --mount mount -t tmpfs folders /tmp 2>/dev/null; then
        TMPDIR=/tmp unshare --mount sh -c 'mount -t tmpfs -o mode=1777,size="$1"k folders /tmp && shift && exec "$@"' sh \
            $((available / 2)) "$@"
    else
        "$@"
    fi
}
program_tests() { in_memory "$python" -m pytest -p no:cacheprovider -rs --durations=30 "$@"; }
# These mostly wait for each other: six of them for each core that this process may use. What Python makes of the tests is made
# before, by one process: each of many that find nothing would make all of it.
side_by_side() {
    compgen -G "$PYTHONPYCACHEPREFIX$PWD/tests/conftest*pytest*.pyc" >/dev/null ||
        "$python" -m pytest -p no:cacheprovider -q --collect-only "$@" >/dev/null || : # the run itself says what is wrong
    program_tests -q -n $((6 * $(nproc))) "$@"
}
