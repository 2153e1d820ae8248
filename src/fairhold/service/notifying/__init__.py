"""Sends what people are to be told, away from the desk.

courier : takes messages from the outbox and says what became of them
webhook : one by HTTP, signed, to addresses that are allowed
mail    : one by SMTP
trying  : how a try fails
wording : what happened, in a line
"""
