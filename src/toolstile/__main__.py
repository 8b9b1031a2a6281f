"""`python -m toolstile` is `toolstile`."""

from __future__ import annotations

from toolstile.surfaces.cli.main import main

if __name__ == "__main__":
    main()
