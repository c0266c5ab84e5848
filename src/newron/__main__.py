"""``python -m newron``: the same as ``newron``."""

from newron.command.application import main

if __name__ == "__main__":
    main()
