# what: an answer of blanks, line breaks and a form feed
# problem: double
# verdict: no_code|runtime_error
# build: yes
SOURCE = " \n\t\n\f\n   "
