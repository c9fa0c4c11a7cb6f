"""Live periods in, a state out: figures, limits, break-even, drift, changes and the comparison of two arms. All pure."""
