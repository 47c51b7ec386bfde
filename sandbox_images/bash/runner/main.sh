IFS= read -r @SECRET@_token <&3
exec {@SECRET@_out}>&4 3<&- 4>&-
@SECRET@_tests=$(<tests.sh)
>tests.sh
builtin source ./solution.sh
# What the program has made read-only could not be defined by the tests.
builtin unset -f check assert_equal || builtin exit 1
assert_equal() {
    [[ $1 == "$2" ]] || { echo "assertion failed: $1 is not $2" >&2; return 1; }
}
builtin eval "$@SECRET@_tests"
# Each command of check must succeed; inside the program's own functions commands may fail as they like.
@SECRET@_failed() {
    builtin local status=$?
    [[ ${FUNCNAME[1]-} == @(check|main) && $BASH_SUBSHELL == 0 ]] || builtin return 0
    ((status > 125)) || builtin echo "assertion failed: line $1: $2" >&2
    builtin exit "$status"
}
builtin set -E
builtin trap - EXIT
builtin trap '@SECRET@_failed "$LINENO" "$BASH_COMMAND"' ERR
check
builtin trap - EXIT ERR
builtin echo "$@SECRET@_token" >&"$@SECRET@_out"
builtin exit 0
