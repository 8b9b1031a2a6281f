"""Messages between host and child: a length, then JSON. Bounded on both sides.

The child is the less trusted side: whatever it sends is parsed strictly and may at worst end its
own run.
"""

from __future__ import annotations

import struct
from typing import Any, BinaryIO

import msgspec

_LENGTH = struct.Struct("!I")
# An output of 100 MB (the largest that is ever kept) and its envelope.
MAX_FRAME = 101 * 1024 * 1024


class BrokenFrame(ValueError):
    """The other side sent something that is no message."""


def encode(message: Any) -> bytes:
    """A message as it travels. Raises BrokenFrame where it is too large."""
    body = msgspec.json.encode(message)
    if len(body) > MAX_FRAME:
        raise BrokenFrame(f"a message of {len(body):,} bytes is over {MAX_FRAME:,}")
    return _LENGTH.pack(len(body)) + body


def length(head: bytes) -> int:
    """The length that four bytes announce. Raises BrokenFrame where it is out of bounds."""
    (size,) = _LENGTH.unpack(head)
    if size > MAX_FRAME:
        raise BrokenFrame(f"a message of {size:,} bytes is over {MAX_FRAME:,}")
    return int(size)


def decode(body: bytes) -> Any:
    """The message. Raises BrokenFrame where it is no JSON."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BrokenFrame("a message is no JSON") from error


def read(stream: BinaryIO) -> Any:
    """The next message of a blocking stream; None at its end."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    return decode(stream.read(length(head)))


HEAD_SIZE = _LENGTH.size
