"""What people see of the live service: pure functions of the core that give documents, run in the desk's thread."""
