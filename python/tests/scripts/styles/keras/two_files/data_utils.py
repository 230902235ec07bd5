import numpy as np


def load_dataset(samples, split=0.8):
    rng = np.random.default_rng(99)
    y = rng.integers(0, 3, samples)
    x = rng.normal(size=(samples, 5)) + 1.5 * np.eye(5)[y]
    cut = int(split * samples)
    return (x[:cut], y[:cut]), (x[cut:], y[cut:])


def normalize(x):
    mu, sigma = x.mean(axis=0), x.std(axis=0)
    return (x - mu) / sigma, mu, sigma
