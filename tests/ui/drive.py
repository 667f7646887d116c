#!/usr/bin/python3
"""Drives the studio from outside through AT-SPI, as a screen reader would: finds its real buttons by role and name, clicks them, and
checks what the window says. Run it by with_display.py --bus.

  drive.py TARMAC [--short] [--only PART] [--pictures FOLDER]

--short: start, one epoch, stop (for the other ways to draw). --pictures: also writes the picture series of tests/screens."""
import argparse
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
import warnings

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

DEADLINE = 90  # seconds; everything is polled, nothing is slept through
warnings.simplefilter("ignore", DeprecationWarning)
ROLES = {
    "button": (Atspi.Role.PUSH_BUTTON,),
    "toggle": (Atspi.Role.PUSH_BUTTON, Atspi.Role.TOGGLE_BUTTON),  # GTK 4.8 gives both kinds one role
    "label": (Atspi.Role.LABEL,),
    "image": (Atspi.Role.IMAGE,),
    "slider": (Atspi.Role.SLIDER,),
    "spin": (Atspi.Role.SPIN_BUTTON,),
    "item": (Atspi.Role.MENU_ITEM,),
    "row": (Atspi.Role.LIST_ITEM,),
    "entry": (Atspi.Role.TEXT, Atspi.Role.ENTRY),
    "switch": (Atspi.Role.CHECK_BOX, Atspi.Role.TOGGLE_BUTTON),
}


class Failed(Exception):
    pass


def on_screen(node):
    """GTK 4.8 sets no SHOWING state: what is allocated on the screen has a size."""
    component = node.get_component_iface()
    if component is None:
        return True
    extents = component.get_extents(Atspi.CoordType.WINDOW)
    return extents.width > 0 and extents.height > 0


def walk(node, depth=0):
    """Every accessible below @node that is on the screen."""
    try:
        n = node.get_child_count()
    except GLib.Error:
        return
    for i in range(n):
        try:
            child = node.get_child_at_index(i)
        except GLib.Error:
            continue
        try:
            if child is None or (depth > 0 and not on_screen(child)):
                continue
        except GLib.Error:
            continue
        yield child
        if depth < 40:
            yield from walk(child, depth + 1)


def sensitive(node):
    return node.get_state_set().contains(Atspi.StateType.SENSITIVE)


def clickable(node):
    """A menu button is two things of one name: only what is inside can be clicked."""
    action = node.get_action_iface()
    return sensitive(node) and action is not None and action.get_n_actions() > 0


def name_of(node):
    try:
        return node.get_name() or ""
    except GLib.Error:
        return ""


def poll(what, probe, seconds=DEADLINE):
    """Waits until @probe gives something true and returns it."""
    end = time.monotonic() + seconds
    while True:
        try:
            found = probe()
        except GLib.Error:
            found = None
        if found:
            return found
        if time.monotonic() > end:
            raise Failed(f"waited {seconds} s for {what}")
        time.sleep(0.2)


class Studio:
    """One running program and its accessible tree."""

    running = []

    def __init__(self, tarmac, *args, data="demo", **env):
        """@data: what to open; None: nothing."""
        Studio.running.append(self)
        self.process = subprocess.Popen([tarmac, *([data] if data else []), *args], env=dict(os.environ, **env))
        self.app = poll("the program to show up", self._find_app)

    def _find_app(self):
        if self.process.poll() is not None:
            raise Failed(f"the program ended with {self.process.returncode}")
        desktop = Atspi.get_desktop(0)
        for i in range(desktop.get_child_count()):
            app = desktop.get_child_at_index(i)
            if app and app.get_process_id() == self.process.pid and app.get_child_count() > 0:
                return app
        return None

    def find(self, role, name, also=lambda node: True):
        """The accessible of @role on the screen whose name matches the pattern @name."""
        for node in walk(self.app):
            if node.get_role() in ROLES[role] and re.fullmatch(name, name_of(node)) and also(node):
                return node
        return None

    def wait(self, role, name, also=lambda node: True, seconds=DEADLINE):
        return poll(f"{role} “{name}”", lambda: self.find(role, name, also), seconds)

    def click(self, role, name):
        node = self.wait(role, name, clickable)
        action = node.get_action_iface()
        if not action or not action.do_action(0):
            raise Failed(f"{role} “{name}” cannot be clicked")

    def set(self, name, value):
        """Types a number into the settings form."""
        node = self.wait("spin", name)
        node.get_value_iface().set_current_value(value)
        poll(f"{name} to be {value}", lambda: node.get_value_iface().get_current_value() == value)

    def says(self, pattern, seconds=DEADLINE):
        """Waits for a label that matches and returns the match."""

        def probe():
            for node in walk(self.app):
                if node.get_role() == Atspi.Role.LABEL:
                    m = re.fullmatch(pattern, name_of(node))
                    if m:
                        return m
            return None

        return poll(f"the words “{pattern}”", probe, seconds)

    def key(self, *keysyms):
        """Presses keys together, by X keysym."""
        for k in keysyms:
            Atspi.generate_keyboard_event(keycode(k), None, Atspi.KeySynthType.PRESS)
        for k in reversed(keysyms):
            Atspi.generate_keyboard_event(keycode(k), None, Atspi.KeySynthType.RELEASE)

    def end(self, how=signal.SIGTERM):
        if self.process.poll() is None and how:
            self.process.send_signal(how)
        try:
            code = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failed("the program does not end")
        if code not in (0, -15):
            raise Failed(f"the program ended with {code}")


# Keycodes of Xvfb's default map: enough for the few shortcuts pressed here.
KEYCODES = {"Control": 37, "Alt": 64, "w": 25, **{str(i): 9 + i for i in range(1, 10)}, "F5": 71, "F9": 75, "Escape": 9, "Shift": 50, "Left": 113, "Right": 114, "Prior": 112}


def keycode(name):
    return KEYCODES[name]


class Pictures:
    """Writes the window as a small PNG; does nothing without a folder or without ImageMagick."""

    def __init__(self, folder):
        self.folder = folder if folder and shutil.which("import") else None

    def take(self, name, size):
        if not self.folder:
            return
        time.sleep(0.7)  # what was clicked is on the screen with the next frames
        path = os.path.join(self.folder, name + ".png")
        subprocess.run(["import", "-window", "root", "-crop", size + "+0+0", "+repage", "-resize", "75%", "+dither", "-colors", "128",
                        "-depth", "8", "-strip", "-define", "png:compression-level=9", path], check=True)


def button_order(studio, *names):
    for n in names:
        studio.wait("button", n)


def response_times(studio, n=60):
    """How long the main loop takes to answer, in milliseconds."""
    frame = studio.app.get_child_at_index(0)
    times = []
    for _ in range(n):
        frame.clear_cache_single() if hasattr(frame, "clear_cache_single") else frame.clear_cache()
        begin = time.perf_counter()
        frame.get_child_count()
        frame.get_name()
        times.append((time.perf_counter() - begin) * 1e3)
        time.sleep(0.02)
    return times


DEMO = ["--demo-size", "96x72", "--demo-train", "80", "--demo-val", "8"]


def epoch(least):
    """The header once epoch @least has begun."""
    return rf"Epoch (?:[{least}-9]|\d\d+) of \d+.*"


def drive_live(studio):
    """Halves the rate while it runs and takes it back, and takes a batch back that waits for its epoch."""
    rate = studio.wait("spin", "Learning rate")
    rate.get_value_iface().set_current_value(rate.get_value_iface().get_current_value() / 2)
    studio.says(r"rate ÷ .* at step \d+")
    studio.says(r"1 live change")
    studio.click("button", "Undo Last Live Change")
    studio.says(r"No live changes")
    rate.get_value_iface().set_current_value(rate.get_value_iface().get_current_value() / 2)
    studio.says(r"1 live change")


def drive_range(studio, pictures, suffix):
    """Finds a rate before the start, and takes it."""
    studio.wait("toggle", "By Layer")
    studio.says(r".* a step · .* an epoch · .*")
    studio.click("button", "Find the Rate…")
    studio.wait("button", r"Use .*", sensitive)
    pictures.take("1-range" + suffix, "1360x850")
    studio.click("button", r"Use .*")
    studio.wait("button", "Find the Rate…", sensitive)


def drive_runs(studio):
    """The run that has ended stands in the sidebar: it gets a star, goes, and comes back."""
    studio.click("button", r"More of run-.*")
    studio.click("item", "Star")
    studio.says(r"★ run-.*")
    studio.click("button", r"More of run-.*")
    studio.click("item", "Delete")
    studio.says(r"Run removed")
    studio.says(r"None yet")
    studio.click("button", r"Undo( Undo)?")
    studio.says(r"★ run-.*")


def drive_scrubber(studio, pictures, suffix):
    """Goes back to the first epoch, swipes it against a later one, and comes back to now."""
    slider = studio.wait("slider", "Epoch of the prediction", sensitive)
    studio.says(r"now")
    slider.get_value_iface().set_current_value(1)
    studio.wait("toggle", "Compare Epochs", sensitive)
    studio.click("toggle", "Compare Epochs")
    studio.says(r"Epoch 1 \| 1")
    slider.get_value_iface().set_current_value(3)
    studio.says(r"Epoch 1 \| 3")
    studio.wait("slider", "Swipe between the two epochs").get_value_iface().set_current_value(30)
    studio.wait("button", "Epoch 1")
    pictures.take("2-swipe" + suffix, "1360x850")
    studio.click("toggle", "Compare Epochs")
    slider.get_value_iface().set_current_value(slider.get_value_iface().get_maximum_value())
    studio.says(r"now")
    studio.click("toggle", "Choose Probe Pictures")
    studio.says(r"6 of at most 12 chosen")
    studio.click("toggle", "Choose Probe Pictures")


def drive_training(tarmac, pictures, style):
    studio = Studio(tarmac, "--size", "1360x850", *DEMO, *style)
    suffix = "-dark" if style else ""
    studio.wait("button", "Start", sensitive)
    studio.says(r"Demo roads · ready to start")
    studio.wait("image", "Truth")
    if studio.find("button", "Stop and Keep Best", sensitive):
        raise Failed("Stop can be clicked before the start")
    studio.set("Epochs", 300)  # enough for all that follows on any machine
    pictures.take("1-before" + suffix, "1360x850")
    drive_range(studio, pictures, suffix)
    studio.set("Epochs", 300)

    studio.click("button", "Start")
    studio.wait("button", "Pause")
    studio.says(epoch(2))  # a whole epoch went by
    studio.says(r"Fixed for this run")
    times = response_times(studio)
    print(f"# answers while training: median {statistics.median(times):.1f} ms, longest {max(times):.1f} ms")
    if statistics.median(times) > 100:
        raise Failed("the window does not answer while training")

    studio.click("toggle", "Logarithmic Loss")
    studio.click("toggle", "Overlay and Classes")
    studio.click("toggle", "Hide Sky")
    studio.wait("toggle", "Show Sky")
    studio.click("toggle", "Show Sky")
    studio.click("toggle", "Overlay and Classes")
    studio.click("button", "Next Probe")
    studio.says(r"2 of 6")
    drive_live(studio)
    plot = studio.wait("image", "Loss and learning rate")
    poll("the plot's reading", lambda: "training" in (plot.get_description() or ""))
    studio.says(epoch(4))
    drive_scrubber(studio, pictures, suffix)
    pictures.take("2-during" + suffix, "1360x850")
    studio.click("toggle", "Show Curves as Table")
    studio.wait("button", "Copy as CSV")
    pictures.take("2-table" + suffix, "1360x850")
    studio.click("toggle", "Show Curves as Table")

    studio.click("button", "Pause")
    m = studio.says(r"Paused at epoch (\d+), step (\d+) of (\d+)\..*")
    button_order(studio, "Go On")
    studio.click("button", "One Step")
    steps = int(m[3])
    before = (int(m[1]) - 1) * steps + int(m[2])

    def stepped():
        n = studio.says(r"Paused at epoch (\d+), step (\d+) of (\d+)\..*", 5)
        return (int(n[1]) - 1) * steps + int(n[2]) == before + 1

    poll("one step more", stepped)
    pictures.take("3-paused" + suffix, "1360x850")
    studio.click("button", "Go On")
    studio.wait("button", "Pause")

    studio.click("button", "Stop and Keep Best")
    studio.says(r"Stopped at epoch \d+")
    studio.wait("button", "Start", sensitive)
    pictures.take("4-after" + suffix, "1360x850")
    drive_runs(studio)
    studio.end()


def drive_closing(tarmac):
    """Closing while training asks; Keep Training keeps it, Stop and Save leaves a checkpoint."""
    studio = Studio(tarmac, "--size", "1200x800", *DEMO)
    studio.set("Epochs", 300)
    studio.click("button", "Start")
    studio.says(r"Epoch \d+ of \d+.*")
    studio.key("Control", "w")
    studio.says(r"Stop training\?")
    studio.click("button", ".*Keep Training")
    time.sleep(2)  # GTK 4.8 crashes when a window is asked about while it is being destroyed
    studio.wait("button", "Pause")
    if studio.find("label", r"Stop training\?"):
        raise Failed("the question stays")
    studio.key("Control", "w")
    studio.says(r"Stop training\?")
    studio.click("button", ".*Stop and Save")
    studio.end(how=None)
    check_saved(1)


def drive_signal(tarmac):
    """SIGTERM saves and leaves."""
    studio = Studio(tarmac, *DEMO)
    studio.set("Epochs", 300)
    studio.click("button", "Start")
    studio.says(r"Epoch \d+ of \d+.*")
    studio.end(signal.SIGTERM)
    check_saved(2)


def check_saved(least):
    found = []
    for folder, _, files in os.walk(os.environ["XDG_DATA_HOME"]):
        found += [os.path.join(folder, f) for f in files if f == "last.safetensors" and os.path.getsize(os.path.join(folder, f)) > 0]
    if len(found) < least:
        raise Failed(f"{least} checkpoints were to be saved, {len(found)} are there")


def drive_narrow(tarmac, pictures):
    studio = Studio(tarmac, "--size", "720x850", *DEMO)
    studio.click("button", "Start")
    studio.says(epoch(3))
    pictures.take("6-medium", "720x850")
    studio.end()
    studio = Studio(tarmac, "--size", "400x800", *DEMO)
    studio.click("button", "Start")
    studio.says(epoch(3))
    for view, shows in (("Probe", ("image", "Prediction")), ("Speed", ("image", "Step timeline")), ("Settings", ("spin", "Learning rate")),
                        ("Curves", ("image", "Loss and learning rate"))):
        studio.click("toggle", view)
        studio.wait(*shows)
        pictures.take("7-narrow-" + view.lower(), "400x800")
    studio.click("button", "Back to Pages")
    studio.says(r"Demo roads")
    pictures.take("7-narrow-pages", "400x800")
    studio.end()


def drive_short(tarmac):
    studio = Studio(tarmac, *DEMO)
    studio.set("Epochs", 300)
    studio.click("button", "Start")
    studio.says(epoch(2))
    image = studio.wait("image", "Prediction")
    poll("the prediction in words", lambda: "percent" in (image.get_description() or ""))
    expected = os.environ.get("TARMAC_VIZ_EXPECT")
    if expected:
        studio.says(rf"(?s).*Pictures: {expected}, .*")
    studio.click("button", "Stop and Keep Best")
    studio.says(r"Stopped at epoch \d+")
    studio.end()


def run_parts(parts, *options):
    """Runs what parts(tarmac, pictures, arguments…) yields, pairs of name and function, as TAP."""
    p = argparse.ArgumentParser()
    p.add_argument("tarmac")
    for o in options:
        p.add_argument("--" + o, action="store_true")
    p.add_argument("--pictures")
    p.add_argument("--only", help="the parts whose names have this in them")
    a = p.parse_args()
    # Over the header, where no tooltip comes up; keys go to the window under the pointer, since there is no window manager.
    Atspi.generate_mouse_event(560, 20, "abs")
    all_parts = (part for part in parts(a.tarmac, Pictures(a.pictures), *(getattr(a, o) for o in options)) if not a.only or a.only in part[0])
    n = bad = 0
    for n, (name, part) in enumerate(all_parts, 1):
        try:
            Studio.running.clear()
            part()
            print(f"ok {n} - {name}", flush=True)
        except (Failed, GLib.Error, subprocess.CalledProcessError) as e:
            bad += 1
            print(f"not ok {n} - {name}\n# {e}", flush=True)
            for studio in Studio.running:  # one that stays would take the next one's windows
                studio.process.kill()
                studio.process.wait()
    print(f"1..{n}")
    return 1 if bad else 0


def parts(tarmac, pictures, short):
    if short:
        yield "short", lambda: drive_short(tarmac)
        return
    yield "training", lambda: drive_training(tarmac, pictures, [])
    yield "closing", lambda: drive_closing(tarmac)
    yield "signal", lambda: drive_signal(tarmac)
    yield "narrow", lambda: drive_narrow(tarmac, pictures)
    if pictures.folder:
        yield "training, dark", lambda: drive_training(tarmac, pictures, ["--dark"])


if __name__ == "__main__":
    sys.exit(run_parts(parts, "short"))
