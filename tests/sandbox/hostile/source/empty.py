# what: an empty answer
# problem: double
# verdict: no_code|runtime_error
# build: yes
SOURCE = ""
