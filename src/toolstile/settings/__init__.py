"""What a project has set: read from `.agent/config.yml`, the environment and arguments.

`load_settings` reads, `SettingsFile` reads again, `change_state` keeps what commands change.
"""

from __future__ import annotations

from toolstile.settings.loading import SettingsFile, load_settings
from toolstile.settings.places import make_private
from toolstile.settings.state import State, change_state, read_state, write_state
from toolstile.settings.values import (
    Agent,
    Features,
    Licence,
    Limits,
    McpServer,
    Retention,
    Secrets,
    Settings,
    Tools,
)

__all__ = [
    "Agent",
    "Features",
    "Licence",
    "Limits",
    "McpServer",
    "Retention",
    "Secrets",
    "Settings",
    "SettingsFile",
    "State",
    "Tools",
    "change_state",
    "load_settings",
    "make_private",
    "read_state",
    "write_state",
]
