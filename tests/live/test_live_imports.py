import subprocess
import sys


def loaded(code):
    script = f"import sys\n{code}\nprint([n for n in ('mcp', 'anyio', 'asyncio', 'pydantic', 'httpx2') if n in sys.modules])"
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_trust_and_placeholders_import_neither_the_sdk_nor_an_event_loop():
    assert loaded("from packbelt.live import Trust, resolve, Secret, describe") == "[]"


def test_connecting_imports_the_sdk():
    assert "'mcp'" in loaded("from packbelt.live import connect_now")


def test_the_public_names_are_there():
    from packbelt import live

    assert [name for name in live.__all__ if getattr(live, name, None) is None] == []
    assert sorted(live.__all__) == dir(live)
