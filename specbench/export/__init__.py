"""Files for other tools: Prometheus rules with their tests, a Grafana dashboard, CloudWatch alarms, routes. Nothing is judged here."""
