"""Keeps calls: in memory, or in one SQLite file. What callers control is stored as bytes."""
