# what: the plain answer
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
