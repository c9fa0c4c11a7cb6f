"""What went wrong while a run lasted: engines that ended, stood still, or left requests without an answer."""
