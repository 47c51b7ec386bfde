# what: a script that does not parse
# mode: outside
# problem: echo
# verdict: syntax_error
# build: yes
SOURCE = "n = int(input()\nprint(sum(map(int, input().split())))\n"
