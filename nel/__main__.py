"""Makes ``python -m nel`` the same as the ``nel`` command."""

from nel.cli.app import main

if __name__ == "__main__":
    main()
