"""A model's raw JSON, checked without a runtime: every fault with its place and its repair."""

from __future__ import annotations

from typing import Annotated, Literal

from toolstile import Registry, tool

City = Annotated[str, "A city's name."]


@tool
def forecast(city: City, days: int = 3, unit: Literal["c", "f"] = "c") -> str:
    """Say what the weather will be."""
    return f"{city}: dry for {days} days, 20 {unit}"


FROM_A_MODEL = (
    '{"city": "Bern"}',
    '{"city": "Bern", "days": "3"}',
    '{"city": "Bern", "city": "Basel"}',
    '{"city": "Bern", "days": NaN}',
    '{"citty": "Bern", "unit": "k"}',
)

if __name__ == "__main__":
    registry = Registry()
    registry.register(forecast)
    for text in FROM_A_MODEL:
        checked = registry.check("forecast", text)
        print(text)
        print(
            "  valid, with defaults filled in:" if checked.ok else "  refused", checked.value or ""
        )
        for issue in checked.issues:
            print(f"  {issue.path or '(whole)'}: {issue.message} ({issue.hint})")
