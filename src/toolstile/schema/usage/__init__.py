"""Guidance of a tool for models (AGN section 7.2): checked, and written where there is none."""
