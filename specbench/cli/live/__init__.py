"""The commands on live traffic."""
