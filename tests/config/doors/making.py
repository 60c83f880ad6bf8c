"""Tokens of the API, made for tests."""

from config.doors import tokens
from config.doors.models import ApiToken


def new_token(name="atlas", **columns):
    token = ApiToken(name=name, **columns)
    secret = tokens.give_secret(token)
    token.save()
    return token, secret
