"""Numbers as people read them, of any size."""

from decimal import Decimal

PREFIXES = ("", "k", "M", "G", "T", "P", "E")
LONGEST = 10**10
"""From here on digits are harder to count than an exponent is to read."""


def count_text(count: int) -> str:
    """A whole number with commas: 65,536; from 10^10 on to three digits: 2.59e+16."""
    return f"{count:,}" if count < LONGEST else f"{Decimal(count):.2e}"


def bytes_text(count: int) -> str:
    """Bytes to three digits: 980 B, 4.57 MB, 12.0 TB, 3.10e+29 B; 1 kB is 1,000 bytes."""
    if count < 1000:
        return f"{count} B"
    value = Decimal(f"{Decimal(count):.2e}")  # rounded first, so that 999,999 is 1.00 MB and not 1000 kB
    power = value.adjusted() // 3
    if power >= len(PREFIXES):
        return f"{value:.2e} B"
    return f"{value.scaleb(-3 * power):f} {PREFIXES[power]}B"


def bits_text(bits: int | float) -> str:
    """Bits of a parameter: 16 bits, 1 bit."""
    return f"{bits:g} {'bit' if bits == 1 else 'bits'}"
