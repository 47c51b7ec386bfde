# what: doubles a text without end
# mode: stdio
# problem: echo
# verdict: out_of_memory|runtime_error|timeout
text=xxxxxxxxxxxxxxxx
while :; do
    text="$text$text"
done
