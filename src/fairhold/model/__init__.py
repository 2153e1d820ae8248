"""The nouns: frozen, without arrays, clock or I/O."""
