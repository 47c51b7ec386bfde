# what: an empty answer
# verdict: no_code
# build: yes
SOURCE = ""
