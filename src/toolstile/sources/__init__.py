"""Where tools come from: pure translators of what others wrote, and what packages offer.

Peers (the registry, the store) are unknown here: what is found is handed on as values.
"""
