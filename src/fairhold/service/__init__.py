"""The live service for others: HTTP over the desk, described by its OpenAPI document.

make_app : the application over a desk
serve    : the whole service, until somebody stops it
"""
