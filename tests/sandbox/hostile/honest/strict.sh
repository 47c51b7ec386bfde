# what: the answer under strict options, by a pipe, a function and a trap
# mode: outside
# problem: echo
# verdict: passed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/input"
total() { local sum=0 number; while read -r number; do sum=$((sum + number)); done; echo "$sum"; }
tail -n +2 "$folder/input" | tr ' ' '\n' | { grep -v '^$' || true; } | total
