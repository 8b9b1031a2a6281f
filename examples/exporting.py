"""A tool in a provider's words, what these leave unsaid, and a model's arguments back from them."""

from __future__ import annotations

from typing import Annotated

from toolstile import tool
from toolstile.dialects import export


@tool
def find_flights(
    to: Annotated[str, {"pattern": "^[A-Z]{3}$", "maxLength": 3}],
    seats: int = 1,
    labels: dict[str, str] | None = None,
) -> list[str]:
    """Find flights.

    Args:
        to: The airport's three letters.
        seats: How many seats.
        labels: Notes of your own, by name.
    """
    return [f"{seats} to {to}"]


if __name__ == "__main__":
    strict = export(find_flights.definition, "openai-responses-strict")
    print(strict.json.decode())  # what the provider is sent
    for loss in strict.losses:
        print("enforced only here:", loss.path, loss.text)

    # Strict mode demands every parameter, so the model sends null for what it leaves out, and a
    # list of entries for free names. Here both become what the tool takes, and are checked.
    sent = '{"to": "LIS", "seats": null, "labels": {"entries": [{"name": "a", "value": "b"}]}}'
    checked = strict.check(sent)
    print(checked.value)
    assert checked.value == {"to": "LIS", "seats": 1, "labels": {"a": "b"}}

    refused = strict.check('{"to": "LISBON", "seats": null, "labels": null}')
    print(refused.issues[0].message)
    assert not refused.ok
