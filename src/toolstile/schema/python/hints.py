"""Annotations as objects: strings evaluated, wrappers taken off."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Final, NewType, NotRequired, Required, TypeAlias
from weakref import WeakKeyDictionary

from toolstile.model.spelling import SpellingError

Names: TypeAlias = Mapping[str, Any]

# Wrappers that say something about a member, not about its type. ReadOnly is Python 3.13's.
_WRAPPERS = (Final, Required, NotRequired, getattr(typing, "ReadOnly", Final))

_local_names: WeakKeyDictionary[Callable[..., Any], Names] = WeakKeyDictionary()


class HintError(SpellingError):
    """An annotation cannot be understood; `hint` says what to write instead."""


def remember_names(function: Callable[..., Any], names: Names) -> None:
    """Keep the local names that a function's annotations may mean, as long as it lives."""
    kept = {name: value for name, value in names.items() if _may_be_hint(value)}
    if kept:
        _local_names[function] = kept


def names_of(function: Callable[..., Any]) -> Names:
    """The local names that were kept for a function."""
    return _local_names.get(function, {})


def _may_be_hint(value: Any) -> bool:
    alias = typing.get_origin(value) is not None or is_alias(value)
    return isinstance(value, (type, NewType)) or alias


def hints_of(owner: Callable[..., Any] | type, names: Names) -> dict[str, Any]:
    """The annotations of a function or class as objects, with their `Annotated` extras.

    Raises:
        HintError: a name in them means nothing where it is written.
    """
    try:
        return typing.get_type_hints(owner, localns=dict(names) or None, include_extras=True)
    except NameError as error:
        reason = f"the annotations of {owner.__qualname__} use a name that is not there"
        hint = f"define or import '{error.name}' before it, and not only for type checkers"
        raise HintError(reason, hint) from None
    except Exception as error:  # noqa: BLE001 - an annotation is an expression of the author's
        reason = f"the annotations of {owner.__qualname__} cannot be read"
        raise HintError(reason, f"correct them; reading them gave {type(error).__name__}") from None


def unwrap(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """The type behind `Annotated`, `NewType`, `Required` and their like; inner extras first."""
    extras: tuple[Any, ...] = ()
    while True:
        if typing.get_origin(hint) is Annotated:
            hint, extras = hint.__origin__, (*hint.__metadata__, *extras)
        elif isinstance(hint, NewType):
            hint = hint.__supertype__
        elif typing.get_origin(hint) in _WRAPPERS:
            (hint,) = typing.get_args(hint)
        else:
            return hint, extras


def origins(hint: Any) -> Iterator[Any]:
    """What stands around a type: Annotated, Required and their like, the outermost first."""
    while (origin := typing.get_origin(hint)) is Annotated or origin in _WRAPPERS:
        yield origin
        hint = typing.get_args(hint)[0]


def is_alias(hint: Any) -> bool:
    """True for what `type X = ...` makes (Python 3.12, or typing_extensions)."""
    return type(hint).__name__ == "TypeAliasType"


def is_union(hint: Any) -> bool:
    """True for `A | B`, `Union[A, B]` and `Optional[A]`."""
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def alternatives(hint: Any) -> tuple[Any, ...]:
    """The members of a union that are not None, in the order written."""
    return tuple(member for member in typing.get_args(hint) if member is not types.NoneType)


def mark_of(hint: Any) -> Mapping[str, str] | None:
    """What `x-toolstile` says of a handle type (`toolstile.authoring.handles`); None of others."""
    return getattr(hint, "__toolstile__", None) if isinstance(hint, type) else None
