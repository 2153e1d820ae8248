from tests.architecture.coverage import gaps, statements, uncovered


def test_every_rule_is_cited_by_code_and_test_and_every_citation_is_a_rule() -> None:
    assert gaps() == []


def test_every_statement_is_covered_by_a_rule() -> None:
    assert uncovered() == []


def test_the_statements_are_counted_whole() -> None:
    assert len(statements()) == len(set(statements())) == 47 + 93 + 30 + 15 + 23
