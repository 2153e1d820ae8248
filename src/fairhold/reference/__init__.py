"""The rules of Fairhold once more, slow and exact, written from `docs/rules.md` alone."""
