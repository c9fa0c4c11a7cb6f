"""What is said of a dataset: in the notes of a run, and by `bins`."""
