# what: an empty answer
# problem: double
# verdict: no_code
# build: yes
SOURCE = ""
