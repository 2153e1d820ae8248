"""The store of a service in a schema of a PostgreSQL database.

Statements, queries, checks and the layout are those of the SQLite store. Here is what differs: how one is connected,
how statements are said, who may write, and what becomes of a transaction whose end nobody saw.
"""
