# what: a script with an open quote
# mode: stdio
# problem: echo
# verdict: syntax_error|runtime_error
read -r n
echo "$n
