"""A missing SDK: one line that says what to install."""

from packbelt.model import PackbeltError


class MissingSDKError(PackbeltError, ImportError):  # type: ignore[misc]  # `name` is a text in both
    """An adapter's SDK cannot be imported."""


def need(package: str, *, extra: str, cause: ImportError | None = None) -> MissingSDKError:
    """The error for an SDK that cannot be imported, to be raised by its adapter.

    Args:
        package: the SDK's distribution on the package index.
        extra: packbelt's extra that brings it.
        cause: what its import raised.
    """
    why = f" ({cause})" if cause is not None and str(cause) else ""
    return MissingSDKError(
        f"{package} cannot be imported{why}", mend=f"pip install 'packbelt[{extra}]'", name=package
    )
