"""Tests of episodes: samples that are answered in many steps."""
