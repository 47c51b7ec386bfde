# what: reads what other processes hold; answers right if that is refused
# mode: outside
# problem: echo
# verdict: passed
for folder in /proc/[0-9]*; do
    if [ "$folder" = "/proc/$$" ] || [ -O "$folder" ] || [ ! -d "$folder" ]; then
        continue
    fi
    reached=
    (exec 3< "$folder/environ" && head -c 1 <&3 | grep -q .) 2> /dev/null && reached=environ
    (exec 3< "$folder/maps" && head -c 1 <&3 | grep -q .) 2> /dev/null && reached=maps
    ls "$folder/fd" > /dev/null 2>&1 && reached=fd
    ls "$folder/cwd/" > /dev/null 2>&1 && reached=cwd
    ls "$folder/root/" > /dev/null 2>&1 && reached=root
    if [ -n "$reached" ] && [ -d "$folder" ]; then
        echo "reached: $folder/$reached"
        exit 1
    fi
done
read -r n
read -r -a numbers
total=0
for number in "${numbers[@]}"; do
    total=$((total + number))
done
echo "$total"
