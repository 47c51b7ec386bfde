# what: a body that is not indented
# problem: double
# verdict: syntax_error
# build: yes
SOURCE = "def double(x):\nreturn 2 * x\n"
