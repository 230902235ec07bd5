import argparse
import os

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf  # noqa: E402

ACTIVATIONS = {"relu": tf.nn.relu, "tanh": tf.nn.tanh}


def parse_args(argv=None):
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--layers", type=int, nargs="+", default=[20, 10])
    p.add_argument("--activation", choices=sorted(ACTIVATIONS), default="relu")
    p.add_argument("--lr", type=float, default=0.01)
    p.add_argument("--momentum", type=float, default=0.9)
    p.add_argument("--l2", type=float, default=1e-4)
    p.add_argument("--batch-size", type=int, default=25)
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--seed", type=int, default=42)
    return p.parse_args(argv)


def make_moons(n, rng):
    t = rng.uniform(0, np.pi, n)
    side = rng.integers(0, 2, n)
    x = np.stack([np.cos(t) + side, np.where(side, 0.5 - np.sin(t), np.sin(t))], axis=1)
    return (x + rng.normal(0, 0.1, x.shape)).astype(np.float32), side.astype(np.float32)


def main():
    args = parse_args()
    tf.keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    x, y = make_moons(300, rng)
    reg = tf.keras.regularizers.l2(args.l2)
    stack = [tf.keras.layers.Dense(n, activation=ACTIVATIONS[args.activation], kernel_regularizer=reg)
             for n in args.layers]
    model = tf.keras.Sequential(stack + [tf.keras.layers.Dense(1, activation="sigmoid")])
    opt = tf.keras.optimizers.SGD(learning_rate=args.lr, momentum=args.momentum, nesterov=True)
    model.compile(optimizer=opt, loss="binary_crossentropy", metrics=["accuracy"])
    model.fit(x[:240], y[:240], batch_size=args.batch_size, epochs=args.epochs,
              validation_data=(x[240:], y[240:]), verbose=0)
    print(model.evaluate(x[240:], y[240:], verbose=0))


if __name__ == "__main__":
    main()
