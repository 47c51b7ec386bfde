# what: a body without its head
# problem: double
# verdict: syntax_error
# build: yes
SOURCE = "return 2 * x\n"
