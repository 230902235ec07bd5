"""Stands in for TensorFlow: takes whatever a script does with it, and every model's metric is 0.5."""
import sys
from unittest.mock import MagicMock

__version__ = "2.15.0"
keras = random = MagicMock()
for module in ("callbacks", "layers", "models", "optimizers", "optimizers.legacy"):
    sys.modules["tensorflow.keras." + module] = MagicMock()
sys.modules["tensorflow.keras.models"].Sequential().evaluate.return_value = [1.0, 0.5]
