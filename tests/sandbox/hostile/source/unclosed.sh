# what: a script with an open quote
# mode: outside
# problem: echo
# verdict: syntax_error|runtime_error
read -r n
echo "$n
