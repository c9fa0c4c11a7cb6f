"""Live traffic from sockets to a state: where the figures come from, the periods, the state folder, the loop and its outputs."""
