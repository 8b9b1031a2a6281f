"""A foreign definition comes in: every change that made it fit is listed."""

from __future__ import annotations

from toolstile import Registry, adopt

# As an MCP server lists it: another draft, a name that is not snake_case, a default that can
# never be used because the property is required.
FOREIGN = {
    "name": "get-forecast",
    "description": "The forecast of a city.",
    "inputSchema": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "city": {"type": "string", "default": "Bern"},
            "days": {"type": "integer", "minimum": 1, "maximum": 7},
        },
        "required": ["city"],
    },
}

if __name__ == "__main__":
    adopted = adopt(FOREIGN)
    for change in adopted.changes:
        print(f"{change.path}: {change.text}")

    registry = Registry()
    registry.register(adopted.definition)
    for arguments in ('{"city": "Bern", "days": 3}', '{"city": "Bern", "day": 3}'):
        checked = registry.check("get_forecast", arguments)
        print(checked.ok, *(f"{issue.message} ({issue.hint})" for issue in checked.issues))
