"""The highest rate at which limits of service hold, and how many machines that asks for."""
