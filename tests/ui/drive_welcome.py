#!/usr/bin/python3
"""Drives the welcome and the projects from outside: first start, a project that comes back at the next, a folder without pictures, the list of
recent projects and the way back from removing one. Run it by with_display.py --bus.

  drive_welcome.py TARMAC [--pictures FOLDER]"""
import os
import sys
import tempfile

from drive import Failed, Studio, poll, run_parts, sensitive

SIZE = "1360x850"


def open_nothing(tarmac, *args):
    return Studio(tarmac, *args, data=None)


def drive_first_start(tarmac, pictures, style):
    studio = open_nothing(tarmac, "--size", SIZE, *style)
    studio.says(r"Teach a network to see the road")
    studio.wait("image", "A demo road")
    if studio.find("button", "Open Other Project"):
        raise Failed("there are recent projects at a first start")
    pictures.take("8-welcome" + ("-dark" if style else ""), SIZE)
    if style:
        studio.end()
        return
    studio.click("button", r".*Try the Demo Roads")
    studio.wait("toggle", "Val 60")
    studio.says(r"460 of 460 pictures can be trained on")
    studio.end()


def drive_next_start(tarmac):
    """Page and project are there again; the page is not that of the first start."""
    studio = open_nothing(tarmac)
    studio.wait("toggle", "Val 60")
    studio.end()


def drive_recent(tarmac, pictures):
    empty = tempfile.mkdtemp(prefix="empty-", dir=os.environ["HOME"])
    studio = Studio(tarmac, "--size", SIZE, data=empty)
    studio.says(r"No pictures were found in “.*empty-.*”\. .*")
    studio.says(r"460 pictures")
    pictures.take("8-welcome-error", SIZE)
    studio.click("button", "Remove Demo roads from the list")
    studio.says(r"“Demo roads” left the list; its runs stay")
    poll("the list to close up", lambda: not studio.find("button", "Open Other Project"))
    studio.click("button", r".*Undo")
    studio.wait("button", "Open Other Project")
    studio.says(r"460 pictures")
    studio.end()


def drive_narrow(tarmac, pictures):
    empty = tempfile.mkdtemp(prefix="empty-", dir=os.environ["HOME"])
    for width in (720, 400):
        studio = Studio(tarmac, "--size", f"{width}x850", data=empty)
        studio.wait("button", r".*Try the Demo Roads", sensitive)
        pictures.take(f"8-welcome-{width}", f"{width}x850")
        studio.end()


def parts(tarmac, pictures):
    yield "first start", lambda: drive_first_start(tarmac, pictures, [])
    yield "next start", lambda: drive_next_start(tarmac)
    yield "recent projects", lambda: drive_recent(tarmac, pictures)
    yield "narrow", lambda: drive_narrow(tarmac, pictures)
    if pictures.folder:
        os.remove(os.path.join(os.environ["XDG_STATE_HOME"], "tarmac", "window.ini"))
        yield "first start, dark", lambda: drive_first_start(tarmac, pictures, ["--dark"])


if __name__ == "__main__":
    sys.exit(run_parts(parts))
