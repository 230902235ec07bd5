"""`python -m neutra.fix SCRIPT`: small changes of a training script that make its model learn better."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
