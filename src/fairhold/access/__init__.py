"""Who somebody is and what he may do: nouns and questions, without I/O.

permissions : what can be allowed, and the roles that are there
document    : people, groups, roles and bindings as an access document says them
rights      : what one person may do, and what he sees of others
plan_scope  : whether a change of the plan stays within a part of the tree
provider    : an OpenID provider, and who somebody is by the claims of its tokens
notifications : how people are told of what happens; webhooks : where that may lead
tokens      : the text of a token, and what is kept of it
chain       : the records of what was done, each with the hash of all before it
"""
