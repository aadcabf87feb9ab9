"""What happens in a fleet, told once: the event log and OpenTelemetry's spans."""
