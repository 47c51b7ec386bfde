# what: a program that ends in the middle, as an answer cut by the token limit does
# verdict: syntax_error
# build: yes
SOURCE = "def double(x):\n    if x > 0:\n        return (2 *"
