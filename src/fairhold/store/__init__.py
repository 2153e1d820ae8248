"""The store of a service: the event log and the data kept with it, in one SQLite file.

with open_store(directory, cluster="bank", now=now) as … see `ports.Store`
check_store, backup_store : from another program, while a service uses the store
restore_store             : while none does
read_store                : its log, to be read alone
"""

from fairhold.store.copies import backup_store, check_store, restore_store
from fairhold.store.opening import open_store
from fairhold.store.reading import StoreReader, read_store
from fairhold.store.sqlite import SqliteStore

__all__ = [
    "SqliteStore",
    "StoreReader",
    "backup_store",
    "check_store",
    "open_store",
    "read_store",
    "restore_store",
]
