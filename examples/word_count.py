"""The first tool: a typed call, a model's raw JSON, and a path that nobody granted."""

from __future__ import annotations

from dataclasses import dataclass

from toolstile import ReadPath, Runtime, tool


@dataclass
class Count:
    """How many words there are."""

    words: int


@tool
def word_count(path: ReadPath, min_length: int = 1) -> Count:
    """Count the words of a text file."""
    return Count(words=sum(len(word) >= min_length for word in path.read_text().split()))


if __name__ == "__main__":
    with Runtime(tools=[word_count], grants={"fs_read": ["."]}).blocking() as rt:
        result = rt.call(word_count, path="README.md").raise_for_status()
        print(result.value.words)  # typed: a Count
        print(rt.call("word_count", '{"path": 1}').issues[0].message)  # a model's raw JSON
        print(rt.call("word_count", {"path": "/etc/passwd"}).error_message)
