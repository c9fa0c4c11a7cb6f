"""What is said of the answers of both arms: their findings, and what a report shows of them."""
