# what: replaces itself by a program that succeeds
# mode: stdio
# problem: echo
# verdict: wrong
exec true
