"""Which requests were dealt, begun and reported, so that none is lost quietly."""

from specbench.load.fleet.ledger import BegunRequest, Tally, WorkerLedger


def ledger() -> WorkerLedger:
    book = WorkerLedger()
    book.deal([4, 5, 6])
    book.begin([BegunRequest(4, 0, 100), BegunRequest(5, 1, 110)])
    return book


def test_what_was_begun_and_not_reported_is_lost() -> None:
    """The third was never begun, so nobody knows that it was sent."""
    book = ledger()
    book.report([4])

    assert book.lost() == (BegunRequest(5, 1, 110),)


def test_a_record_may_come_before_the_news_of_its_beginning() -> None:
    """They travel on different ways."""
    book = WorkerLedger()
    book.deal([7])
    book.report([7])

    book.begin([BegunRequest(7, 0, 100)])

    assert book.lost() == ()


def test_sums_that_agree_are_the_same_requests() -> None:
    """All that was sent was reported, and all that was dealt arrived; what was never begun is no loss."""
    book = ledger()
    book.report([4, 5])

    assert book.agrees(dealt=Tally(3, 15), sent=Tally(2, 9), reported=Tally(2, 9))


def test_a_missing_record_shows() -> None:
    """The worker sent two, one arrived."""
    book = ledger()
    book.report([4])

    assert not book.agrees(dealt=Tally(3, 15), sent=Tally(2, 9), reported=Tally(2, 9))


def test_a_request_that_never_reached_its_worker_shows() -> None:
    """The master dealt three, the worker has two."""
    book = ledger()
    book.report([4, 5])

    assert not book.agrees(dealt=Tally(2, 9), sent=Tally(2, 9), reported=Tally(2, 9))


def test_another_request_of_the_same_count_shows() -> None:
    """The sum of the indices tells them apart."""
    book = ledger()
    book.report([4, 6])

    assert not book.agrees(dealt=Tally(3, 15), sent=Tally(2, 9), reported=Tally(2, 9))
