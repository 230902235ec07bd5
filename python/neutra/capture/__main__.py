"""`python -m neutra.capture SCRIPT`: makes a program of a training script."""

import sys

from .cli import main
from .recorders import all_recorders

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], all_recorders()))
