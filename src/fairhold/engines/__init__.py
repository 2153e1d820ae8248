"""What runs the work; one module an engine, none knows another."""
