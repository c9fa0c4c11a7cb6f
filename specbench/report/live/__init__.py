"""Live traffic in formats: lines for people, one JSON object per window and arm, EMF, Prometheus text. Nothing is judged here."""
