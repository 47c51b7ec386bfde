# what: replaces itself by a program that succeeds
# mode: outside
# problem: echo
# verdict: wrong
exec true
