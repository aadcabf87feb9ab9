"""`packbelt`, the package: a sorted face, each name of which is there whatever was imported before."""

import pytest

import packbelt


def test_all_is_sorted_and_is_what_dir_says():
    assert list(packbelt.__all__) == sorted(packbelt.__all__)
    assert dir(packbelt) == packbelt.__all__


@pytest.mark.parametrize("name", packbelt.__all__)
def test_each_name_is_there_and_documented(name):
    thing = getattr(packbelt, name)
    assert name == "__version__" or (thing.__doc__ or "").strip()


def test_no_other_name_is():
    with pytest.raises(AttributeError, match="has no attribute 'opne'"):
        packbelt.opne  # noqa: B018 - the access is the test


@pytest.mark.parametrize(
    "before",
    [
        "",
        "import packbelt.turn",
        "import packbelt.turn.turn",
        "from packbelt import Turn",
        "packbelt.AgentHandle",
    ],
)
def test_turn_is_callable_whatever_was_imported_before(process, before):
    """It is also the name of a subpackage, which Python binds to the same attribute."""
    program = (
        f"import packbelt\n{before}\nmade = packbelt.turn(packbelt.load(), None, 'orchestrator')\n"
        "import packbelt.turn as package\n"
        "assert isinstance(made, package.Turn) and isinstance(made, packbelt.Turn)\n"
        "assert made.belt['use_mcp_server'].state == 'direct'\n"
    )
    done = process("-c", program)
    assert (done.returncode, done.stderr) == (0, "")


def test_errors_derive_from_one():
    errors = [getattr(packbelt, name) for name in packbelt.__all__ if name.endswith("Error")]
    assert len(errors) > 5
    assert all(issubclass(error, packbelt.PackbeltError) for error in errors)
