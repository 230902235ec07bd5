import numpy as np

from data_utils import load_dataset, normalize
from networks.factory import create_network
import settings


def run():
    (x_train, y_train), (x_val, y_val) = load_dataset(settings.SAMPLES)
    x_train, mu, sigma = normalize(x_train)
    x_val = (x_val - mu) / sigma
    net = create_network(x_train.shape[1], settings.CLASSES, hidden=settings.HIDDEN)
    net.compile(
        loss=settings.LOSS,
        optimizer=settings.OPTIMIZER(learning_rate=settings.LEARNING_RATE),
        metrics=["accuracy"],
    )
    net.fit(x_train, y_train, validation_data=(x_val, y_val), **settings.FIT)
    return net.evaluate(x_val, y_val, verbose=0)


if __name__ == "__main__":
    print(np.round(run(), 3))
