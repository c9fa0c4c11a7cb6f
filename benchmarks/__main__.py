"""`make bench`: what the client reports beside what was sent (RESULTS.md), the analysis of a large run, and a large dataset."""

import sys

from benchmarks import analysis, dataset, fidelity

if __name__ == "__main__":
    sys.exit(max(fidelity.main(["--write", *sys.argv[1:]]), analysis.main(), dataset.main([])))
