# what: prints the right sum and leaves jobs in the background that hold the output
# mode: outside
# problem: echo
# verdict: passed
read -r n
read -r -a numbers
total=0
for number in "${numbers[@]}"; do
    total=$((total + number))
done
echo "$total"
sleep 3600 &
(trap '' HUP TERM; exec setsid sleep 3600) &
disown -a
