"""The straight line of a call, and what carries it."""
