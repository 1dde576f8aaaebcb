"""A page of SVG that grows downwards: boxes, lines and text in classes, with colours for light and dark viewers."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

WIDTH = 960
LEFT, RIGHT = 28, WIDTH - 28

_KIND_COLOURS = {
    "queue": "#a26d00", "K": "#2b6cb8", "square": "#7656b3", "V": "#1f8264", "state": "#b4532f", "row": "#7a828c",
    "slot": "#2b6cb8", "inter": "#1f8264", "system": "#7a828c",
}  # fmt: skip
_LIGHT = {"page": "#ffffff", "ink": "#1b1f24", "soft": "#5b6470", "rim": "#c4cad2", "void": "#f1f3f5", "bad": "#c43d3d"}
_DARK = {"page": "#14171b", "ink": "#e8ebef", "soft": "#9aa4b0", "rim": "#49515b", "void": "#20252b", "bad": "#ef6b6b"}

_HATCH = (
    '<defs><pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="8" height="8" class="hatch-back"/><rect width="2" height="8" class="hatch-line"/></pattern></defs>'
)


def short_bytes(size: int) -> str:
    """A size for a ruler: whole KiB or MiB where that is exact, else one decimal."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size // factor} {unit}" if size % factor == 0 else f"{size / factor:.1f} {unit}"
    return str(size)


class Page:
    """Elements from top to bottom; `text` gives the whole file."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._parts: list[str] = []
        self._y = 20.0

    def take(self, height: float) -> float:
        """Reserve `height` and give its upper edge."""
        top = self._y
        self._y += height
        return top

    def heading(self, text: str) -> None:
        """The title of the page."""
        self._parts.append(f'<text x="{LEFT}" y="{self.take(26) + 16:.1f}" class="ink title">{escape(text)}</text>')

    def section(self, text: str) -> None:
        """The title of a part."""
        self.take(18)
        self._parts.append(f'<text x="{LEFT}" y="{self.take(24) + 14:.1f}" class="ink section">{escape(text)}</text>')

    def note(self, text: str) -> None:
        """A line of smaller text."""
        self._parts.append(f'<text x="{LEFT}" y="{self.take(20) + 12:.1f}" class="soft">{escape(text)}</text>')

    def label(self, x: float, y: float, text: str, look: str, *, anchor: str = "middle") -> None:
        """Text at a point; `look` is `ink`, `soft` or `on` (on a coloured box)."""
        self._parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{look}" text-anchor="{anchor}">{escape(text)}</text>')

    def box(self, x: float, y: float, width: float, height: float, kind: str, tip: str, *, pale: bool = False) -> None:
        """A box in the colour of `kind`; `tip` shows when a pointer rests on it."""
        look = f"k-{kind}" + (" pale" if pale else "")
        inside = f"<title>{escape(tip)}</title>" if tip else ""
        self._parts.append(
            f'<rect x="{x:.2f}" y="{y:.2f}" width="{max(width, 1):.2f}" height="{max(height, 0):.2f}" '
            f"class={quoteattr(look)}>{inside}</rect>"
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, *, faint: bool = False, strong: bool = False) -> None:
        """A line: of a ruler, of a grid (`faint`), or a limit (`strong`)."""
        look = "limit" if strong else "grid" if faint else "tick"
        self._parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{look}"/>')

    def text(self) -> str:
        """The file."""
        height = int(self._y + 20)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" role="img" aria-label={quoteattr(self._title)}>'
        )
        title, ground = (
            f"<title>{escape(self._title)}</title>",
            f'<rect width="{WIDTH}" height="{height}" class="page"/>',
        )
        return "\n".join([head, title, f"<style>\n{_style()}\n</style>", _HATCH, ground, *self._parts, "</svg>", ""])


def _style() -> str:
    shapes = [
        "text { font: 12px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; }",
        "text.title { font-size: 18px; font-weight: 600; }",
        "text.section { font-size: 14px; font-weight: 600; }",
        "text.on { fill: #ffffff; pointer-events: none; }",
        *(f".k-{kind} {{ fill: {colour}; stroke-width: 1; }}" for kind, colour in _KIND_COLOURS.items()),
        ".k-refused { fill: url(#hatch); }",
        ".pale { fill-opacity: 0.35; }",
    ]
    return "\n".join([*shapes, *_theme(_LIGHT), "@media (prefers-color-scheme: dark) {", *_theme(_DARK), "}"])


def _theme(colours: dict[str, str]) -> list[str]:
    c = colours
    return [
        f".page {{ fill: {c['page']}; }}",
        f"text.ink {{ fill: {c['ink']}; }}",
        f"text.soft {{ fill: {c['soft']}; }}",
        f"rect[class^='k-'] {{ stroke: {c['page']}; }}",
        f"rect.k-free {{ fill: {c['void']}; stroke: {c['rim']}; }}",
        f".tick {{ stroke: {c['soft']}; }}",
        f".grid {{ stroke: {c['rim']}; stroke-width: 0.6; }}",
        f".limit {{ stroke: {c['bad']}; stroke-width: 1.6; }}",
        f".hatch-back {{ fill: {c['void']}; }}",
        f".hatch-line {{ fill: {c['bad']}; }}",
    ]
