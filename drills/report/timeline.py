"""The timeline as a picture: payments settled and requests repeated in each second, with the marks of the drill."""

from collections import Counter
from xml.sax.saxutils import escape

from evidence import Evidence
from measures import Round, end_of_load, settlements

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 1000, 300, 46, 92, 40
COLOURS = {
    "fault": "#c0392b", "detected": "#d35400", "approved": "#8e44ad", "fenced": "#7f8c8d", "promoted": "#2980b9",
    "settled": "#27ae60",
}


def draw(evidence: Evidence, rounds: list[Round]) -> str:
    times = settlements(evidence)
    start = min([mark["at"] for mark in evidence.marks] + times, default=0)
    if times:
        start = times[0]
    end = max([end_of_load(evidence)] + [at for each in rounds for at in each.phases.values()] + [start + 1000])
    scale = (WIDTH - LEFT - 10) / (end - start)

    def x(at: int) -> float:
        return LEFT + (at - start) * scale

    settled = Counter((at - start) // 1000 for at in times if at <= end)
    repeated = Counter(
        (line["at"] - start) // 1000 for line in evidence.journal
        if line["event"] == "again" and start <= line["at"] <= end)
    top = max([1, *settled.values()])
    most_repeated = max([1, *repeated.values()])
    base, full = HEIGHT - BOTTOM, HEIGHT - BOTTOM - TOP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="11">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="16" font-size="13">{escape(evidence.drill["name"])}: payments settled (green) and '
        f'requests sent again (red, at most {most_repeated}) in each second</text>',
    ]
    for second in range((end - start) // 1000 + 1):
        left, width = x(start + second * 1000), max(0.5, 1000 * scale - 0.5)
        for counts, most, colour in ((settled, top, "#a9dfbf"), (repeated, most_repeated, "#e6b0aa")):
            if counts[second]:
                height = full * counts[second] / most * (1.0 if colour == "#a9dfbf" else 0.35)
                parts.append(
                    f'<rect x="{left:.1f}" y="{base - height:.1f}" width="{width:.1f}" height="{height:.1f}" '
                    f'fill="{colour}"/>')
    parts += marks(rounds, x, base)
    parts += axis(start, end, x, base, top)
    return "\n".join(parts + ["</svg>", ""])


def marks(rounds: list[Round], x, base: int) -> list[str]:
    """With many rounds the faults alone are named."""
    parts = []
    for each in rounds:
        names = each.phases if len(rounds) <= 3 else {"fault": each.fault}
        for place, (name, at) in enumerate(sorted(names.items(), key=lambda item: item[1])):
            y = 32 + 10 * (place % 6)
            colour = COLOURS[name]
            parts.append(
                f'<line x1="{x(at):.1f}" y1="{y}" x2="{x(at):.1f}" y2="{base}" stroke="{colour}" stroke-width="1"/>')
            if len(rounds) <= 3:
                side = 'text-anchor="end" dx="-3"' if x(at) > WIDTH * 0.8 else 'dx="3"'
                parts.append(
                    f'<text x="{x(at):.1f}" y="{y + 8}" fill="{colour}" {side}>{name} '
                    f'+{(at - each.fault) / 1000:.1f} s</text>')
    return parts


def axis(start: int, end: int, x, base: int, top: int) -> list[str]:
    span = (end - start) / 1000
    every = next((each for each in (1, 2, 5, 10, 20, 30, 60, 120, 300, 600) if span / each <= 14), 1800)
    parts = [f'<line x1="{LEFT}" y1="{base}" x2="{WIDTH - 10}" y2="{base}" stroke="black"/>']
    for second in range(0, int(span) + 1, every):
        at = start + second * 1000
        parts.append(f'<text x="{x(at):.1f}" y="{base + 15}" text-anchor="middle">{second} s</text>')
    parts.append(f'<text x="{LEFT - 6}" y="{TOP + 8}" text-anchor="end">{top}/s</text>')
    parts.append(f'<text x="{LEFT - 6}" y="{base}" text-anchor="end">0</text>')
    return parts
