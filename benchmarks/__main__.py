"""`make bench`: what the client reports beside what was sent, which writes RESULTS.md, then the analysis of a large run."""

import sys

from benchmarks import analysis, fidelity

if __name__ == "__main__":
    sys.exit(max(fidelity.main(["--write", *sys.argv[1:]]), analysis.main()))
