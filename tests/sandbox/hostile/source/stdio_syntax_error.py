# what: a script that does not parse
# mode: stdio
# problem: echo
# verdict: syntax_error
# build: yes
SOURCE = "n = int(input()\nprint(sum(map(int, input().split())))\n"
