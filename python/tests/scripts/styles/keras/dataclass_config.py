from dataclasses import dataclass, field
from typing import List

import numpy as np
from tensorflow.keras import Sequential, layers, optimizers


@dataclass
class Config:
    hidden: List[int] = field(default_factory=lambda: [24, 12])
    activation: str = "relu"
    dropout: float = 0.1
    lr: float = 3e-3
    batch_size: int = 20
    epochs: int = 8


class Experiment:
    def __init__(self, config: Config):
        self.config = config
        self.model = self._build()

    def _build(self) -> Sequential:
        model = Sequential(name="experiment")
        model.add(layers.InputLayer(input_shape=(6,)))
        for i, units in enumerate(self.config.hidden):
            model.add(layers.Dense(units, activation=self.config.activation, name=f"hidden_{i}"))
            if self.config.dropout > 0:
                model.add(layers.Dropout(self.config.dropout))
        model.add(layers.Dense(1, name="output"))
        model.compile(
            optimizer=optimizers.Adam(learning_rate=self.config.lr),
            loss="mse",
            metrics=["mae"],
        )
        return model

    def run(self, x, y):
        return self.model.fit(
            x,
            y,
            validation_split=0.2,
            epochs=self.config.epochs,
            batch_size=self.config.batch_size,
            verbose=0,
        )


def main() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 6))
    y = x @ np.array([1.0, -2.0, 0.5, 0.0, 3.0, 1.0]) + 0.1 * rng.normal(size=200)
    history = Experiment(Config(lr=5e-3)).run(x, y)
    print(f"final val mae: {history.history['val_mae'][-1]:.3f}")


if __name__ == "__main__":
    main()
