"""What an answer consists of beside its times: its tool calls, and whether its form is what the request asked for."""
