"""Makes reuters.npz, a small look-alike of Keras's file, and reuters.json, what Keras makes of it.

    python make_reuters.py      in this folder, with NumPy and Keras 3 (2.4.6 and 3.15 were used)
"""

import json
import os

import numpy as np
from keras.src.datasets import reuters

reuters.get_file = lambda fname, **_: fname  # the file here, not the one that it would fetch

random = np.random.RandomState(7)
texts = np.empty(30, dtype=object)
for i in range(len(texts)):
    texts[i] = random.randint(1, 40, random.randint(0, 8)).tolist()
np.savez("reuters.npz", x=texts, y=random.randint(0, 46, len(texts)))


def columns(rows, num_words):
    """Tokenizer(num_words).sequences_to_matrix(rows, mode="binary"), as columns that are 1."""
    return " | ".join(
        "".join(f"{word} " for word in sorted(set(row)) if word < num_words) for row in rows
    )


expected = []
for arguments in (
    {"num_words": 20, "seed": 42},
    {"num_words": 20, "seed": 42, "oov": True},
    {"num_words": 60, "seed": 113, "test_split": 0.3},
    {"num_words": 5, "seed": 0, "test_split": 0.5, "oov": True},
    {"num_words": 1000, "seed": 4294967295, "test_split": 0.1},
):
    num_words = arguments["num_words"]
    (x_train, y_train), (x_test, y_test) = reuters.load_data(
        os.path.abspath("reuters.npz"),
        num_words=num_words if arguments.get("oov") else None,
        test_split=arguments.get("test_split", 0.2),
        seed=arguments["seed"],
    )
    expected.append(
        {
            "arguments": arguments,
            "x_train": columns(x_train, num_words),
            "y_train": y_train.tolist(),
            "x_test": columns(x_test, num_words),
            "y_test": y_test.tolist(),
        }
    )
with open("reuters.json", "w") as file:
    json.dump(expected, file, indent=1)
    file.write("\n")
