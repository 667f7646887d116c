#!/usr/bin/python3
"""Drives the Evaluate page through AT-SPI, as drive.py does the others: two networks are trained from the terminal, one is scored in
the window, compared with the other, a cell of the confusion opened, a picture looked at.

  drive_evaluate.py TARMAC [--pictures FOLDER]"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from drive import Studio, poll, run_parts, sensitive  # noqa: E402

DEMO = ["--demo-size", "96x72", "--demo-train", "24", "--demo-val", "6"]


def drive_empty(tarmac):
    """Without a run there is nothing to evaluate, and a way to one."""
    studio = Studio(tarmac, "--size", "1360x850", "--page", "evaluate", *DEMO)
    studio.says("Nothing to Evaluate")
    studio.click("button", "Go to Train")
    studio.wait("button", "Start", sensitive)
    studio.end()


def train(tarmac, name, epochs):
    """A network of the same demo roads, where the window looks for it."""
    projects = os.path.join(os.environ["XDG_DATA_HOME"], "tarmac", "projects")
    known = [d for d in os.listdir(projects) if d.startswith("Demo roads-")] if os.path.isdir(projects) else []
    out = ["--out", os.path.join(projects, known[0], "runs")] if known else []
    subprocess.run([tarmac, "train", "demo", "--epochs", str(epochs), "--base", "4", "--name", name, *DEMO, *out], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def drive_scores(tarmac, pictures, style):
    suffix = "-dark" if style else ""
    studio = Studio(tarmac, "--size", "1360x850", "--page", "evaluate", *DEMO, *style)
    bars = studio.wait("image", "IoU by class")
    poll("scores kept by the terminal", lambda: "Road" in (bars.get_description() or ""))
    studio.says(r"0\.\d{3}")
    studio.says(r"95.%: 0\.\d{3} – 0\.\d{3}")
    confusion = studio.wait("image", "Confusion")
    poll("the selected cell in words", lambda: "called" in (confusion.get_description() or ""))
    studio.says(r".* % of .* pixels were called .*\.")
    studio.wait("image", "Calibration")
    studio.click("button", "Evaluate")  # once more, in the window
    poll("the scoring to end", lambda: studio.find("button", "Evaluate", sensitive) and not studio.find("button", "Cancel Evaluating"))
    studio.says(r"[\d.]+ img/s")
    pictures.take("8-evaluate" + suffix, "1360x850")

    studio.click("button", r"Show \d+ pictures? with this mistake")
    studio.says(r"\d+ pictures? with .* called .*")
    studio.click("button", "Show All")
    studio.says("prediction and errors")
    studio.click("toggle", "Show Confusion as Table")
    studio.wait("button", "Copy as CSV")
    studio.click("toggle", "Show Confusion as Table")
    studio.click("button", r"road-val-.*, IoU 0\.\d\d.*")
    studio.wait("image", "Errors")
    image = studio.wait("image", "Prediction")
    poll("the picture to be predicted", lambda: "percent" in (image.get_description() or ""))
    pictures.take("8-evaluate-picture" + suffix, "1360x850")
    studio.key("Escape")
    studio.end()


def drive_narrow(tarmac, pictures):
    studio = Studio(tarmac, "--size", "720x850", "--page", "evaluate", *DEMO)
    studio.wait("image", "IoU by class")
    studio.says(r"95.%: .*")
    pictures.take("8-evaluate-medium", "720x850")
    studio.end()
    studio = Studio(tarmac, "--size", "400x800", "--page", "evaluate", *DEMO)
    for view, shows in (("Classes", ("image", "IoU by class")), ("Confusion", ("image", "Confusion")), ("Worst", ("button", r"road-val-.*, IoU .*")),
                        ("Scores", ("image", "Calibration"))):
        studio.click("toggle", view)
        studio.wait(*shows)
        pictures.take("8-evaluate-narrow-" + view.lower(), "400x800")
    studio.end()


def parts(tarmac, pictures):
    def scores():
        train(tarmac, "quick", 1)
        train(tarmac, "longer", 4)
        drive_scores(tarmac, pictures, [])

    yield "empty", lambda: drive_empty(tarmac)
    yield "scores", scores
    yield "narrow", lambda: drive_narrow(tarmac, pictures)
    if pictures.folder:
        yield "scores, dark", lambda: drive_scores(tarmac, pictures, ["--dark"])


if __name__ == "__main__":
    sys.exit(run_parts(parts))
