"""Let `python -m tengen` be the command `tengen`."""

from tengen.cli import main

if __name__ == "__main__":
    main()
