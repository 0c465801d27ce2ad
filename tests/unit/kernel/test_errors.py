from kernel import errors


def test_an_error_has_three_parts() -> None:
    error = errors.Refused("no", why="policy", next_step="Ask Ann.")
    assert str(error) == "no: because policy. Ask Ann."
    assert error.as_result() == {"code": "refused", "message": "no: policy", "suggestion": "Ask Ann."}


def test_each_destination_has_its_own_code() -> None:
    kinds = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, errors.NightdeskError)]
    assert len({k.code for k in kinds}) == len(kinds) == 11
