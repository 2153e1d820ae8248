"""The addresses of the service, one module a subject. Annotations are read at run time here, by FastAPI."""
