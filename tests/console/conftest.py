from __future__ import annotations

from tests.service.conftest import bank

__all__ = ["bank"]
