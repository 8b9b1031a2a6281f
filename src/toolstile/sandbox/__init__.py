"""Runs one job in a process of its own. The code here cannot decide whether it may."""
