"""Sign-in by an OpenID provider: nothing of it is asked before the access document names one.

asking   : requests to the provider, bounded in time and size
keys     : its addresses and its keys, which are kept
checking : a token of it → who that is
granting : codes, devices and refresh tokens in exchange for tokens
door     : the addresses below `/console/sign-in`, for browsers and for `fairhold login`
"""
