"""`python -m specbench` is the command `specbench`."""

from specbench.cli.main import main

if __name__ == "__main__":
    main()
