# what: doubles a text without end
# mode: outside
# problem: echo
# verdict: out_of_memory|runtime_error|timeout
text=xxxxxxxxxxxxxxxx
while :; do
    text="$text$text"
done
