"""`python -m neutra`, and `neutra` where a wheel was installed: this process becomes the command."""

import os
import sys

from .bundled import bundled_command, environment


def main() -> None:
    bundled = bundled_command()
    if bundled:
        os.execve(bundled, ["neutra", *sys.argv[1:]], environment())
    from .command import NeutraError, find_command

    try:
        command = find_command()
    except NeutraError as error:
        sys.exit(f"neutra: error: {error}")
    os.execv(command, ["neutra", *sys.argv[1:]])


if __name__ == "__main__":
    main()
