# what: prints the right sum and kills its process group
# mode: outside
# problem: echo
# verdict: runtime_error
read -r n
read -r -a numbers
total=0
for number in "${numbers[@]}"; do
    total=$((total + number))
done
echo "$total"
kill -9 0
