"""A request asks for permission at the moment it is sent."""

import pytest

from jobs.errors import TooLate
from jobs.paid.clients import may_send
from tests.jobs.clients import answers


def test_a_request_that_may_not_leave_any_more_is_not_sent(service, client):
    def refuse():
        raise TooLate("Nothing was sent: the claim is gone.")

    before = may_send.set(refuse)
    try:
        with pytest.raises(TooLate, match="the claim is gone"):
            client.picture("model-7", "a castle", 20)
    finally:
        may_send.reset(before)

    assert service.ledger == []
    assert client.picture("model-7", "a castle", 20).raw == answers.png()
