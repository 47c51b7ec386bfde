# what: an explanation in place of a program
# problem: double
# verdict: syntax_error
# build: yes
SOURCE = "Sure! To double a number, multiply it by two. Let me know if you need more.\n"
