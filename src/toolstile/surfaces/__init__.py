"""The doors of the house; each leads to the same line."""
