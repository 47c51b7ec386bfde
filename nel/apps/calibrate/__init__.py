"""`nel judge calibrate`: measures a judge by labels of people."""
