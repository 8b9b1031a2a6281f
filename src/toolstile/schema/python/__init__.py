"""Python's types as JSON Schema: hints resolved, types read, values written as JSON."""
