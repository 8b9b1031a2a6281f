"""The score as a small picture for a README."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

# Of a character in the font of such badges, in pixels; what is a little wide does not overlap.
CHARACTER = 6.6
GOOD, FAIR, POOR = "#2c7a3f", "#8a6100", "#a8322d"

_SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label={label}>
<title>{title}</title>
<rect width="{left}" height="20" fill="#444"/>
<rect x="{left}" width="{right}" height="20" fill="{colour}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
<text x="{left_middle}" y="14">{subject}</text>
<text x="{right_middle}" y="14">{score}</text>
</g>
</svg>
"""


def badge(right: int, of: int, subject: str = "malformed calls") -> str:
    """An SVG that says how many cases ended as the standard says."""
    score = f"{right} of {of}"
    left, width = _width(subject), _width(score)
    share = right / of if of else 0.0
    colour = GOOD if right == of and of else FAIR if share >= 0.9 else POOR
    return _SVG.format(
        width=left + width,
        left=left,
        right=width,
        colour=colour,
        label=quoteattr(f"{subject}: {score}"),
        title=escape(f"{subject}: {score}"),
        subject=escape(subject),
        score=escape(score),
        left_middle=left / 2,
        right_middle=left + width / 2,
    )


def _width(text: str) -> int:
    return round(len(text) * CHARACTER) + 10
