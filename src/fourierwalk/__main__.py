"""``python -m fourierwalk``."""

import sys

from fourierwalk.cli import main

if __name__ == "__main__":
    sys.exit(main())
