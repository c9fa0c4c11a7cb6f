"""Files for other tools: Prometheus rules and their tests, a Grafana dashboard, CloudWatch alarms, routes. It judges nothing."""
