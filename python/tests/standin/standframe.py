"""A framework of one class, for captures of scripts without Keras or PyTorch."""


class Model:
    def __init__(self, units: int = 2):
        self.units = units

    def fit(self, x: object, y: object, epochs: int = 1) -> list[float]:
        return [0.5] * epochs
