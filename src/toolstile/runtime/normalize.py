"""Step 10: one form of every output, so that equal outputs have equal digests."""

from __future__ import annotations

from typing import Any

import msgspec

from toolstile.model.canonical import canonical, digest_bytes

# Of what is too large to be kept whole, this much is shown (LEX-RES section 5.2).
SHOWN_SHARE = 0.95


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """An output in normal form. `value` is a text preview where it was `truncated`."""

    value: Any
    data: bytes
    digest: str
    truncated: bool = False


def normalise(value: Any, max_output_size: int) -> Output:
    """RFC 8785 bytes and their digest; above the limit a preview that is valid JSON by itself.

    Raises:
        ValueError: the value is no JSON that can be stored (NaN, lone surrogates, huge integers).
    """
    data = canonical(value)
    if len(data) <= max_output_size:
        return Output(value=value, data=data, digest=digest_bytes(data))
    shown = data[: int(max_output_size * SHOWN_SHARE)].decode("utf-8", errors="ignore")
    return Output(value=shown, data=data, digest=digest_bytes(data), truncated=True)
