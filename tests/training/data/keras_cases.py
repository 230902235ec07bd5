"""What make_conv_cases.py and make_layer_cases.py share: drawn numbers, and how arrays are written."""

import numpy as np


def draw(random, shape, decimals=2):
    return np.round(random.uniform(-1, 1, shape), decimals).astype("float32")


def flat(array):
    """The shortest decimals that give back every float."""
    return [float(str(v)) for v in np.asarray(array, "float32").ravel()]
