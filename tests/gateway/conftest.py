import pytest
from gateway_helpers import Home, alive


@pytest.fixture
def home(tmp_path):
    """A workspace; no server that was started for it may outlive its test."""
    made = Home(tmp_path / "home")
    yield made
    assert alive(made) == []
