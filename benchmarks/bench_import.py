"""How long `import toolstile` takes, as a ratio to an empty interpreter and to `import json`.

Each round starts one fresh interpreter of each kind, so that a busy machine slows all of them
alike; the median of the rounds counts. Milliseconds are this machine's; the ratios travel better.
An installed package has its bytecode, so the rounds may write it, whatever the shell forbids.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time

PROGRAMS = {
    "pass": "pass",
    "import json": "import json",
    "import asyncio": "import asyncio",
    "import toolstile": "import toolstile",
}


def seconds(program: str) -> float:
    """Wall time of one fresh interpreter that runs a program."""
    env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True, env=env)
    return time.perf_counter() - start


def measure(rounds: int) -> dict[str, float]:
    """Median seconds of each program; one round before is not counted, it fills the caches."""
    taken: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    for _ in range(rounds + 1):
        for name, program in PROGRAMS.items():
            taken[name].append(seconds(program))
    return {name: statistics.median(times[1:]) for name, times in taken.items()}


def main() -> None:
    """Print one line for each program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=21)
    median = measure(parser.parse_args().rounds)
    print(f"{'program':<18}{'ms':>8}{'x pass':>9}{'x json':>9}")
    for name, value in median.items():
        ratios = value / median["pass"], value / median["import json"]
        print(f"{name:<18}{value * 1000:>8.1f}{ratios[0]:>9.2f}{ratios[1]:>9.2f}")
    own = median["import toolstile"] - median["pass"]
    print(f"import toolstile alone: {own * 1000:.1f} ms (the aim is under 100 ms)")


if __name__ == "__main__":
    main()
