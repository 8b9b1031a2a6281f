"""A text that spells nothing."""

from __future__ import annotations


class SpellingError(ValueError):
    """A text does not spell what it should; `hint` says what to write instead."""

    def __init__(self, message: str, hint: str) -> None:
        self.message = message
        self.hint = hint
        super().__init__(f"{message} ({hint})")
