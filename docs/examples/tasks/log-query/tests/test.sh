#!/bin/bash
if [ "$(cat /app/slowest.txt)" = "10.0.0.4 33232" ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
