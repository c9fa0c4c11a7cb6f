"""Live traffic after the verdict: what one arm did in a period, what the cited run says, and what is concluded."""
