"""Words that several reports share."""


def counted(count: int, what: str) -> str:
    """A number with its noun: ``1 core``, ``10,000 keys``."""
    return f"{count:,} {what}" + ("" if count == 1 else "s")
