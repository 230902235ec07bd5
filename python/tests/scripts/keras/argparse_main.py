"""A script with a command line and a main function."""

import argparse

import numpy as np
from tensorflow import keras


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.001)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--hidden", type=int, default=10)
    return parser.parse_args()


def main():
    args = parse()
    x = np.linspace(-1, 1, 100).reshape(-1, 1)
    y = x**2
    model = keras.models.Sequential()
    model.add(keras.layers.Dense(args.hidden, input_dim=1, activation="relu"))
    model.add(keras.layers.Dense(1))
    model.compile(optimizer=keras.optimizers.RMSprop(args.lr), loss="mse", metrics=["mae"])
    model.fit(x, y, batch_size=args.batch_size, epochs=args.epochs, verbose=2)


if __name__ == "__main__":
    main()
