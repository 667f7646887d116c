#!/usr/bin/python3
"""Drives the Devices page through AT-SPI: without a GPU, with two of a stand-in library, with one that does not tell all. Run it by
with_display.py --bus.

  drive_devices.py TARMAC [--pictures FOLDER]

TARMAC_FAKE_NVML: the stand-in of tests/monitor."""
import os
import re
import sys
import time

from drive import Atspi, DEMO, Failed, Studio, poll, run_parts, walk


def open_page(tarmac, *args, **env):
    return Studio(tarmac, "--page", "devices", *args, *DEMO, **env)


def row(studio, pattern):
    """A row of the list of devices by its accessible name."""
    return studio.wait("row", pattern)


def choose(studio, pattern):
    if not row(studio, pattern).get_action_iface().do_action(0):
        raise Failed(f"{pattern} cannot be chosen")


def go(studio, page):
    """To a page by the keys that its row in the sidebar tells."""
    keys = []

    def told():
        for node in walk(studio.app):
            m = node.get_role() == Atspi.Role.LIST_ITEM and re.fullmatch(page + r" \(Alt\+(\d)\)", node.get_description() or "")
            if m:
                keys.append(m[1])
        return keys

    poll(f"the row of {page}", told)
    studio.key("Alt", keys[0])


def gone(studio, role, name):
    poll(f"{name} to go", lambda: not studio.find(role, name))


def described(studio, label, pattern):
    image = studio.wait("image", label)
    poll(f"{label} to say {pattern}", lambda: re.fullmatch(pattern, image.get_description() or ""))


def thread_switches(pid):
    """How often the thread that takes readings was switched to so far."""
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/comm") as f:
            if f.read().strip() != "tm-devices":
                continue
        with open(f"/proc/{pid}/task/{task}/status") as f:
            return sum(int(line.split()[1]) for line in f if "ctxt_switches" in line)
    raise Failed("nobody takes readings")


def drive_without(tarmac, pictures, style):
    studio = open_page(tarmac, "--size", "1360x850", *style, TARMAC_NVML="/nonexistent")
    suffix = "-dark" if style else ""
    row(studio, r"GPU, none found")
    row(studio, r"Processor, [\d–].* cores?")
    row(studio, r"Memory, .* of .*")
    row(studio, r"Disk, .* read")
    studio.says(r"Trains here")
    described(studio, "Load", r"Load \d+\u2009%, last minute")
    studio.wait("row", r"Good: Convolution agrees with the reference, .*")
    studio.says(r"\d+ of \d+ good")
    studio.says(r"Memory texture|OpenGL pixel buffer")
    pictures.take("8-devices" + suffix, "1360x850")
    studio.click("button", "Show Readings as Table")
    studio.wait("button", "Copy as CSV")
    studio.says(r"0\u2009s ago")
    studio.key("Escape")
    gone(studio, "button", "Copy as CSV")
    studio.click("button", "Run Checks")
    studio.says(r"\d+ of \d+ good")
    choose(studio, r"GPU, none found")
    studio.says(r"No NVIDIA GPU")
    studio.says(r"(?s)Training uses the processor.*NVIDIA.*")
    pictures.take("8-devices-none" + suffix, "1360x850")
    studio.click("button", "Look Again")
    described(studio, "Load", r"Load \d+\u2009%, last minute")
    # Nobody looks, nobody samples.
    go(studio, "Data")
    time.sleep(2)
    before = thread_switches(studio.process.pid)
    time.sleep(3)
    if thread_switches(studio.process.pid) != before:
        raise Failed("readings are taken although the page is hidden")
    go(studio, "Devices")
    poll("readings to be taken again", lambda: thread_switches(studio.process.pid) > before)
    studio.end()


def drive_two(tarmac, fake, pictures):
    studio = open_page(tarmac, "--size", "1360x850", TARMAC_NVML=fake, FAKE_NVML="")
    row(studio, r"GPU 0, 62\u2009% · 61\u2009°C")
    row(studio, r"GPU 1, 17\u2009% · 44\u2009°C")
    studio.says(r"NVIDIA Fake 100")
    studio.says(r"GPU 0 · .*heat.*")
    described(studio, "Utilisation", r"Utilisation 62\u2009%, last minute")
    described(studio, "Power", r"Power 250\u2009W, last minute")
    studio.wait("row", r"Compute capability, 9\.0")
    studio.wait("row", r"bf16, in hardware")
    choose(studio, r"GPU 1, .*")
    studio.says(r"NVIDIA Fake 200")
    described(studio, "Utilisation", r"Utilisation 17\u2009%, last minute")
    pictures.take("8-devices-gpu", "1360x850")
    studio.end()


def drive_quiet(tarmac, fake):
    """No reading is “not available”, never 0."""
    studio = open_page(tarmac, "--size", "1360x850", TARMAC_NVML=fake, FAKE_NVML="quiet")
    row(studio, r"GPU 0, not available · 61\u2009°C")
    described(studio, "Utilisation", r"Utilisation not available, last minute")
    described(studio, "Power", r"Power not available, last minute")
    described(studio, "Temperature", r"Temperature 61\u2009°C, last minute")
    studio.end()


def drive_narrow(tarmac, pictures):
    studio = open_page(tarmac, "--size", "400x800", TARMAC_NVML="/nonexistent")
    row(studio, r"Memory, .*")
    pictures.take("8-devices-narrow-list", "400x800")
    choose(studio, r"Memory, .*")
    studio.wait("button", "Copy Readings")
    described(studio, "In use", r"In use .*, last minute")
    pictures.take("8-devices-narrow", "400x800")
    studio.click("button", "Back")
    row(studio, r"Memory, .*")
    studio.end()


def parts(tarmac, pictures):
    fake = os.environ["TARMAC_FAKE_NVML"]
    yield "without a GPU", lambda: drive_without(tarmac, pictures, [])
    yield "two GPUs", lambda: drive_two(tarmac, fake, pictures)
    yield "a quiet GPU", lambda: drive_quiet(tarmac, fake)
    yield "narrow", lambda: drive_narrow(tarmac, pictures)
    if pictures.folder:
        yield "without a GPU, dark", lambda: drive_without(tarmac, pictures, ["--dark"])


if __name__ == "__main__":
    sys.exit(run_parts(parts))
