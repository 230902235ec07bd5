"""Makes the .npy and .npz files of this folder, and seeds for the fuzzer, with NumPy (2.4.6 was used).

usage: make_arrays.py, in this folder
"""
import pathlib

import numpy as np

TYPES = "|b1 |i1 <i2 >i2 <i4 >i4 <i8 >i8 |u1 <u2 >u2 <u4 >u4 <u8 >u8 <f2 >f2 <f4 >f4 <f8 >f8"


def values(descr):
    """2 x 3 numbers: -2..3, from 0 for unsigned ones, and a half more for floats."""
    kind = descr[1]
    numbers = np.arange(6).reshape(2, 3) - (2 if kind in "if" else 0) + (0.5 if kind == "f" else 0)
    return (numbers % 2 == 1 if kind == "b" else numbers).astype(descr)


def with_version(name, version):
    with open(name, "wb") as file:
        np.lib.format.write_array(file, np.arange(3, dtype="<i4"), version)


np.savez("types.npz", **{name.replace("|", "=").replace("<", "le_").replace(">", "be_").replace("=", ""): values(name)
                         for name in TYPES.split()})
np.savez_compressed("parts.npz",
                    x_train=np.arange(2000, dtype="<u2").reshape(500, 4), y_train=np.arange(500, dtype="<i4") % 10,
                    x_test=np.arange(40, dtype="<u2").reshape(10, 4), y_test=np.arange(10, dtype="<i4"))
i, j, k = np.ogrid[0:2, 0:3, 0:4]
np.save("fortran.npy", np.asfortranarray((100 * i + 10 * j + k).astype("<i2")))
np.save("vector.npy", np.array([3, 1, 2], dtype="<i8"))
with_version("version2.npy", (2, 0))
with_version("version3.npy", (3, 0))
np.save("half.npy", np.array([0, 1, -2, 65504, 6e-8, 6.1035e-5, 1 / 3, np.inf, -np.inf, np.nan], dtype="<f2"))

np.save("objects.npy", np.array([[1, 2], [3]], dtype=object), allow_pickle=True)
np.save("structure.npy", np.zeros(2, dtype=[("a", "<f4"), ("b", "<i4")]))
np.save("complex.npy", np.zeros(2, dtype="<c8"))
np.save("text.npy", np.array(["a", "bc"]))
np.save("scalar.npy", np.float64(3))
np.save("empty.npy", np.zeros((0, 3)))

seeds = pathlib.Path("../../fuzz/corpus/npy")
for name in ("fortran", "vector", "version2"):
    (seeds / name).write_bytes(pathlib.Path(name + ".npy").read_bytes())
(seeds / "header").write_text("{'descr': '>u1', 'fortran_order': True, 'shape': (2, 4, 8), }")
