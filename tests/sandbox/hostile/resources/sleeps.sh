# what: ignores what it can and sleeps
# mode: outside
# problem: echo
# verdict: timeout
trap '' HUP INT TERM XCPU
while :; do
    sleep 3600
done
