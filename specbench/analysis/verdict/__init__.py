"""From comparisons to findings, and from findings to the verdict."""
