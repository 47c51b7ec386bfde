#!/bin/bash
if [ "$(cat /app/ada.txt)" = 73784 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
