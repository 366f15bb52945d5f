"""Keys, guard, kernel: where a call goes."""

from pictures.svg import (ACCENT, BG, FAINT, FG, LINE, PANEL, WIDTH, Svg,
                          path_through, text_width)

ROW, TRUNK, KEYS, MOST_ROWS = 46, 20, 40, 8
PLAIN = {"rx": 13, "fill": PANEL, "stroke": LINE}
STRONG = {"rx": 4, "fill": BG, "stroke": ACCENT}
WEAK = {"rx": 4, "fill": BG, "stroke": FAINT, "stroke_dasharray": "4 3"}
SMALL = {"fill": FAINT, "font_size": 11}


def in_words(how):
    """"own: CPU" in words."""
    kind, _, key = how.partition(": ")
    fixed = {"missing": "no kernel: NotImplementedError", "own": "own kernel",
             "fallback": "one for every operator"}
    if kind != "alias":
        return fixed.get(kind, how)
    if key.startswith("Composite"):
        return "made of other operators"
    return "records, then calls on" if key == "Autograd" else f"kernel of {key}"


def fitted(path, width):
    """The end of a path that is so wide."""
    while text_width(path, 11) > width and "/" in path[4:]:
        path = "…" + path[path.index("/", 4):]
    return path


def rows_of(dispatch):
    """(keys, how, place, guarded): the keys that one kernel serves."""
    rows = {}
    for key, how, kernel in dispatch:
        parts = kernel.split(", ")
        place = "" if parts[0] == "guarded" else parts[0]
        rows.setdefault((in_words(how), place, "guarded" in parts),
                        []).append(key)
    return [(keys, *row) for row, keys in rows.items()][:MOST_ROWS]


def keys_text(keys):
    """"CPU, Meta", "CPU and 3 more"."""
    whole = ", ".join(keys)
    if text_width(whole, 12) <= 110:
        return whole
    return f"{keys[0]} and {len(keys) - 1} more"


def dispatch_svg(dispatch):
    rows = rows_of(dispatch)
    if not rows:
        return ""
    widths = [text_width(keys_text(row[0]), 12.5) + 18 for row in rows]
    guard = KEYS + max(widths) + 18
    kernel = guard + (70 if any(row[3] for row in rows) else 6)
    width = WIDTH - kernel - 6
    middles = [34 + ROW * k + ROW / 2 for k in range(len(rows))]
    keys = "; ".join(", ".join(row[0]) for row in rows)
    svg = Svg(40 + ROW * len(rows), "dispatch",
              f"Where a call goes, by its highest key: {keys}")
    svg.open(fill="none", stroke=FAINT, stroke_width=1.25)
    svg.path(path_through([(TRUNK, 28), (TRUNK, middles[-1])]))
    for y, w, (_, _, _, guarded) in zip(middles, widths, rows):
        svg.arrow((TRUNK, y), (KEYS, y))
        svg.arrow((KEYS + w, y), (guard if guarded else kernel, y))
        if guarded:
            svg.arrow((guard + 48, y), (kernel, y))
    svg.close()
    svg.rect((6, 4), 50, 26, **PLAIN)
    svg.text((31, 21), "call", fill=FG, text_anchor="middle")
    for y, w, (names, how, place, guarded) in zip(middles, widths, rows):
        svg.rect((KEYS, y - 13), w, 26, **PLAIN)
        svg.text((KEYS + w / 2, y + 4), keys_text(names), fill=FG,
                 text_anchor="middle")
        if guarded:
            svg.rect((guard, y - 11), 48, 22, **WEAK)
            svg.text((guard + 24, y + 4), "guard", text_anchor="middle",
                     **SMALL)
        svg.rect((kernel, y - 20), width, 40, **(STRONG if place else WEAK))
        if place:
            svg.text((kernel + 10, y - 3), how, fill=FG)
            svg.text((kernel + 10, y + 13), fitted(place, width - 20), **SMALL)
        else:
            svg.text((kernel + 10, y + 4), how, **SMALL)
    return svg.finish()
