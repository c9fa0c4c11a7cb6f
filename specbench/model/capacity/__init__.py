"""What a search for capacity asks and finds: values alone."""
