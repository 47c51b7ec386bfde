"""Tests of nel.reports."""
