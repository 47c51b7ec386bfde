# what: tries to become root and to write the system; answers right if that is refused
# mode: outside
# problem: echo
# verdict: passed
reached=
[ "$(id -u)" = 0 ] && reached=root
grep -q '^CapEff:.*[1-9a-f]' /proc/self/status && reached=capabilities
for path in /etc/passwd /bin/sh /usr/left /left; do
    (: >> "$path") 2> /dev/null && reached="$path"
done
mount -t tmpfs none /mnt 2> /dev/null && reached=mount
kill -9 1 2> /dev/null && reached="process 1"
if [ -n "$reached" ]; then
    echo "reached: $reached"
    exit 1
fi
read -r n
read -r -a numbers
total=0
for number in "${numbers[@]}"; do
    total=$((total + number))
done
echo "$total"
