exec {nel_in}<&3 {nel_out}>&4 3<&- 4>&-
@SOLUTION@
assert_equal() {
    [[ $1 == "$2" ]] || { echo "assertion failed: $1 is not $2" >&2; return 1; }
}
@TESTS@
# Each command of check must succeed; inside the program's own functions commands may fail as they like.
nel_failed() {
    builtin local status=$?
    [[ ${FUNCNAME[1]-} == @(check|main) && $BASH_SUBSHELL == 0 ]] || builtin return 0
    ((status > 125)) || builtin echo "assertion failed: line $1: $2" >&2
    builtin exit "$status"
}
builtin set -E
builtin trap - EXIT
builtin trap 'nel_failed "$LINENO" "$BASH_COMMAND"' ERR
check
builtin trap - EXIT ERR
IFS= builtin read -r nel_token <&"$nel_in" && builtin echo "$nel_token" >&"$nel_out"
builtin exit 0
