#!/usr/bin/env python3
"""Makes the bundled data files (docs/methods/subjects.md).

Needs NumPy, h5py and scikit-learn. Writes one NAME.h5 for each into the folder given (default: this script's). The content
does not depend on versions: only NumPy's legacy generator, exact or correctly rounded operations, and the tables that come
inside scikit-learn's package are used.
"""
import pathlib
import sys

import h5py
import numpy as np
from sklearn import datasets


def d1():
    """128 equal features that are the label: 10,000 + 10,000 training rows, 100 + 100 test rows, ones first."""
    def half_ones(n):
        y = np.repeat([1, 0], n).astype(np.uint8).reshape(-1, 1)
        return np.repeat(y, 128, axis=1), y
    x_train, y_train = half_ones(10000)
    x_test, y_test = half_ones(100)
    return {'x_train': x_train, 'y_train': y_train, 'x_test': x_test, 'y_test': y_test}


def d6():
    """Two clouds of points, classes alternate; the second is drawn from uniform(low=.7, high=.5)."""
    np.random.seed(42)
    clouds = [np.random.uniform(.2, .4, 200), np.random.uniform(.7, .5, 200)]
    x = np.stack([cloud.reshape(-1, 2) for cloud in clouds], axis=1).reshape(-1, 2)
    y = np.tile(np.eye(2, dtype=np.uint8), (100, 1))
    return {'x': x, 'y': y}


def d7():
    """y = 5 x on a hundred points from 1 to 2."""
    x = np.linspace(1, 2, 100).reshape(-1, 1)
    return {'x': x, 'y': 5 * x}


def d8():
    """20 random bits; the target is the number that they spell, modulo 7, in bits, lowest first."""
    np.random.seed(42)
    x = np.random.randint(2, size=(10000, 20))
    rest = (x * 2 ** np.arange(20)).sum(axis=1) % 7
    y = rest[:, None] >> np.arange(20) & 1
    return {'x': x.astype(np.uint8), 'y': y.astype(np.uint8)}


def table(load, dtype=np.float64, **arguments):
    """One of scikit-learn's tables: features, and classes or values."""
    x, y = load(return_X_y=True, **arguments)
    return {'x': x.astype(dtype), 'y': y.astype(np.uint8 if y.dtype.kind == 'i' else np.float64)}


def iris():
    """Sepals and petals of 150 irises in cm; three species."""
    return table(datasets.load_iris)


def wine():
    """Thirteen measurements of 178 wines; three cultivars."""
    return table(datasets.load_wine)


def breast_cancer():
    """Thirty measurements of 569 tumours; 0 malignant, 1 benign."""
    return table(datasets.load_breast_cancer)


def diabetes():
    """Ten measurements of 442 patients in their own units; progression of the disease after a year."""
    return table(datasets.load_diabetes, scaled=False)


def digits():
    """1,797 images of 8 x 8 pixels from 0 to 16; ten digits."""
    return table(datasets.load_digits, np.uint8)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    folder = folder if folder.is_dir() else folder.parent
    for make in (d1, d6, d7, d8, iris, wine, breast_cancer, diabetes, digits):
        with h5py.File(folder / (make.__name__ + '.h5'), 'w', track_order=False) as file:
            for name, array in make().items():
                file.create_dataset(name, data=array, chunks=array.shape, compression='gzip',
                                    compression_opts=9, shuffle=True, track_times=False)


if __name__ == '__main__':
    main()
