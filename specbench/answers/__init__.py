"""After the load: answers that are missing are asked of both arms, and the baseline is asked what it thinks of all of them."""
