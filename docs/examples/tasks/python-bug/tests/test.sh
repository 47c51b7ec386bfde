#!/bin/bash
python3 /tests/test_intervals.py
