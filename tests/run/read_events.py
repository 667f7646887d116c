"""Prints what TensorBoard sees in a run's folder: one line "TAG STEP VALUE" for each point it would draw, after purging.

  read_events.py RUN_FOLDER
"""
import logging
import sys

logging.disable(logging.CRITICAL)
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # noqa: E402

accumulator = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0, "tensors": 0})
accumulator.Reload()
for tag in sorted(accumulator.Tags()["scalars"]):
    for point in accumulator.Scalars(tag):
        print(tag.replace(" ", "_"), point.step, repr(point.value))
