from fairhold.client import connect as connect
from fairhold.client import connect_async as connect_async

__version__: str
