# SPDX-License-Identifier: Apache-2.0
"""What the scripts beside it know of labelled jobs: the fields, and the scorer that says whether an answer is right."""
import importlib.util

HARD = ["model_name", "dataset", "distributed", "batch_size", "length", "precision", "optimizer",
        "params_scale", "pretrained"]
FIELDS = HARD + ["framework", "task_type", "model_type"]


def load_scorer(path):
    spec = importlib.util.spec_from_file_location("scorer", path)
    scorer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scorer)
    return scorer


def label_of(case, field):
    return case["labels"].get("epochs_or_steps" if field == "length" else field)
