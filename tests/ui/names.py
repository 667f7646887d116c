#!/usr/bin/python3
"""Every control and picture of every page has a name in AT-SPI. Run it by with_display.py --bus.

  names.py TARMAC"""
import sys

from drive import Atspi, DEMO, Failed, Studio, name_of, poll, run_parts, walk

CONTROLS = {Atspi.Role.PUSH_BUTTON, Atspi.Role.TOGGLE_BUTTON, Atspi.Role.CHECK_BOX, Atspi.Role.SLIDER, Atspi.Role.SPIN_BUTTON, Atspi.Role.COMBO_BOX,
            Atspi.Role.IMAGE, Atspi.Role.LIST, Atspi.Role.TABLE, Atspi.Role.LIST_ITEM}
PAGES = ("data", "train", "evaluate", "predict", "devices")


def path_of(node):
    """Names and roles from the window down, to find it by."""
    parts = []
    while node and len(parts) < 5:
        parts.append(f"{node.get_role_name()} “{name_of(node)}”")
        node = node.get_parent()
    return " < ".join(parts)


def nameless(studio):
    """Controls without a name. The icon inside a named control, and the row inside a named row, are part of it."""
    for node in walk(studio.app):
        if node.get_role() not in CONTROLS or name_of(node).strip():
            continue
        parent = node.get_parent()
        within = parent and (parent.get_role() in CONTROLS or parent.get_role() == Atspi.Role.FILLER) and node.get_role() in (Atspi.Role.IMAGE, Atspi.Role.LIST_ITEM)
        if not within:
            yield path_of(node)


def check(tarmac, page, size):
    studio = Studio(tarmac, "--page", page, "--size", size, *DEMO)
    poll("the page", lambda: sum(1 for _ in walk(studio.app)) > 30)
    studio.says(r"Demo roads|Start|No .*|Nothing .*|.*cores?.*")
    found = sorted(set(nameless(studio)))
    seen = sum(1 for node in walk(studio.app) if node.get_role() in CONTROLS)
    studio.end()
    if seen < 15:
        raise Failed(f"only {seen} controls were seen")
    if found:
        raise Failed("without a name: " + "; ".join(found))


def parts(tarmac, pictures):
    for page in PAGES:
        yield page, lambda page=page: check(tarmac, page, "1360x850")


if __name__ == "__main__":
    sys.exit(run_parts(parts))
