"""The words of the contract that are ordered or numbered."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Self


class Word(IntEnum):
    """A number in the seeds, a lower-case word in our JSON."""

    @property
    def word(self) -> str:
        """How it is written in JSON, YAML and on the command line."""
        return self.name.lower()

    @classmethod
    def of(cls, word: str) -> Self:
        """The member written as `word`. Raises ValueError naming the choices."""
        for member in cls:
            if member.word == word:
                return member
        choices = ", ".join(member.word for member in cls)
        raise ValueError(f"'{word[:64]}' is none of: {choices}")


class Risk(Word):
    """How much harm a category can do when misused (LEX-DEF section 4.3)."""

    LOW = 0
    MEDIUM = 1
    MEDIUM_HIGH = 2
    HIGH = 3


# ACODE's name for tools without a category of their own: a view of `system`.
GENERAL = "general"


class Category(Word):
    """What a tool works on; the integers are LEX's."""

    FILE_SYSTEM = 0
    NETWORK = 1
    DATABASE = 2
    CODE_EXECUTION = 3
    EXTERNAL_API = 4
    KNOWLEDGE = 5
    COMMUNICATION = 6
    SYSTEM = 7

    @classmethod
    def of(cls, word: str) -> Self:
        """The category written as `word`. Raises ValueError naming the choices."""
        return super().of(cls.SYSTEM.word if word == GENERAL else word)

    @property
    def risk(self) -> Risk:
        """The risk LEX gives the category."""
        return _RISKS[self]


_RISKS = {
    Category.FILE_SYSTEM: Risk.MEDIUM,
    Category.NETWORK: Risk.MEDIUM_HIGH,
    Category.DATABASE: Risk.MEDIUM,
    Category.CODE_EXECUTION: Risk.HIGH,
    Category.EXTERNAL_API: Risk.MEDIUM,
    Category.KNOWLEDGE: Risk.LOW,
    Category.COMMUNICATION: Risk.MEDIUM,
    Category.SYSTEM: Risk.LOW,
}


class IsolationLevel(Word):
    """How far a tool's code is kept from the host; each level includes the one below."""

    NONE = 0
    STANDARD = 1
    STRICT = 2
    RESTRICTED = 3


class LicenceTier(Word):
    """Licence tiers, lowest first."""

    CORE = 0
    WRITER_PRO = 1
    TEAMS = 2
    ENTERPRISE = 3


class SideEffect(StrEnum):
    """What a tool declares that it may do."""

    NET_READ = "net_read"
    NET_WRITE = "net_write"
    FS_READ = "fs_read"
    FS_WRITE = "fs_write"
    DB_READ = "db_read"
    DB_WRITE = "db_write"
    PROCESS_SPAWN = "process_spawn"
    NONE = "none"

    @property
    def writes(self) -> bool:
        """True for effects that change something outside the call."""
        return self in _WRITES


_WRITES = frozenset(
    (SideEffect.NET_WRITE, SideEffect.FS_WRITE, SideEffect.DB_WRITE, SideEffect.PROCESS_SPAWN)
)


class Determinism(StrEnum):
    """How repeatable a tool's output is; only `pure` is ever answered from a cache."""

    PURE = "pure"
    DETERMINISTIC = "deterministic"
    MAYBE = "maybe"
    NON_DETERMINISTIC = "non_deterministic"


class ResultType(StrEnum):
    """What kind of output a tool gives."""

    OBJECT = "object"
    ARRAY = "array"
    STRING = "string"
    BINARY = "binary"
    STREAM = "stream"


class Status(Word):
    """How a call ended; the integers are LEX-RES's."""

    SUCCESS = 0
    TIMEOUT = 1
    CANCELLED = 2
    REQUIRES_CONFIRMATION = 3
    PERMISSION_DENIED = 10
    LICENSE_REQUIRED = 11
    VALIDATION_ERROR = 20
    OUTPUT_VALIDATION_FAILED = 21
    FAILED = 30
    TOOL_NOT_FOUND = 31
    RATE_LIMITED = 32
    SANDBOX_ERROR = 40
    SECURITY_VIOLATION = 41
    RESOURCE_LIMIT_EXCEEDED = 42


class Verdict(StrEnum):
    """What the gate answers."""

    DENY = "deny"
    ASK = "ask"
    STAGE = "stage"
    ALLOW = "allow"


class Enforcer(StrEnum):
    """Who holds a tool to the bounds of a right."""

    KERNEL = "kernel"  # whatever the tool's code does
    HANDLE = "handle"  # as long as the tool's code uses its handles
    ACCEPTED = "nobody (accepted)"  # the operator has said by name that this will do
    NOBODY = "nobody"


class EffectsState(StrEnum):
    """What became of a call's effects."""

    NONE = "none"
    DISCARDED = "discarded"
    COMMITTED = "committed"
    UNKNOWN = "unknown"
