#!/bin/bash
awk '$3 == 500 {print $2}' /data/access.log | sort | uniq -c | sort -rn | head -3 | awk '{print $2}' > /data/worst.txt
