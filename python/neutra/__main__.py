"""`python -m neutra`, and `neutra` where a wheel was installed: this process becomes the command."""

import os
import sys

from .bundled import bundled_command, environment


def main() -> None:
    command = bundled_command()
    if command is None:
        from .command import NeutraError, find_command

        try:
            command = find_command()
        except NeutraError as error:
            sys.exit(f"neutra: error: {error}")
    try:
        os.execve(command, ["neutra", *sys.argv[1:]], environment())
    except OSError as error:
        sys.exit(f"neutra: error: {command} can't be started: {error.strerror}")


if __name__ == "__main__":
    main()
