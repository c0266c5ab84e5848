"""How wide texts are, and how they are made to fit. Widths are those of Helvetica and Arial."""

from __future__ import annotations

import re
import unicodedata

from newron.formatting import clean

# Advance widths in thousandths of the size; other characters by what they are.
_REGULAR = {
    191: "'",
    222: "ijl‘’",
    260: "|",
    278: " !,./:;I[\\]ft\u00a0·ìíîï",
    333: "()-`r²³“”",
    334: "{}",
    350: "•",
    355: '"',
    389: "*",
    400: "°",
    469: "^",
    500: "Jcksvxyzç",
    549: "≤≥≠±",
    556: "#$0123456789?L_abdeghnopqu–€äöüàáâèéêëòóôùúûñå«»",
    578: "µαβ",
    584: "+<=>~−×",
    611: "FTZßø",
    618: "Σ",
    667: "&ABEKPSVXYÄÀÁÂÈÉÊÅ",
    722: "CDHNRUwΠÜÙÚÛÇÑ",
    778: "GOQÖÒÓÔØ",
    833: "Mm",
    889: "%æ",
    944: "W",
    1000: "—…→Æ",
    1015: "@",
}
_BOLD = {
    238: "'",
    278: " ,./I\\ijl\u00a0·ìíîï‘’",
    280: "|",
    333: "!()-:;[]`ft²³",
    350: "•",
    389: "*r{}",
    400: "°",
    474: '"',
    500: "z“”",
    549: "≤≥≠±",
    556: "#$0123456789J_aceksvxy–€äàáâèéêëçå«»",
    584: "+<=>^~−×",
    600: "Σ",
    611: "?FLTZbdghnopquöüßòóôùúûñøµαβ",
    667: "EPSVXYÈÉÊ",
    722: "&ABCDHKNRUΠÄÜÀÁÂÙÚÛÇÑÅ",
    778: "GOQwÖÒÓÔØ",
    833: "M",
    889: "%mæ",
    944: "W",
    975: "@",
    1000: "—…→Æ",
}
_WIDTHS = {character: width for width, row in _REGULAR.items() for character in row}
_BOLD_WIDTHS = {character: width for width, row in _BOLD.items() for character in row}
_ALPHABETS, _LETTER = 0x0780, 720  # Latin, Greek, Cyrillic, Hebrew, Arabic and neighbours
_WIDE, _EMOJI = 1000, 1400

_FSI, _PDI = "\u2068", "\u2069"
_JOINERS = "\u200b\u200c\u200d\ufe0e\ufe0f"
_DIRECTIONS = f"\u2066\u2067{_FSI}{_PDI}\u202a\u202b\u202c\u202d\u202e"
_ZERO = frozenset(_JOINERS + _DIRECTIONS)


def measure(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a text in pixels; of unusual characters at least that."""
    widths = _BOLD_WIDTHS if bold else _WIDTHS
    return sum(widths.get(c) or _guess_width(c) for c in text) * size / 1000.0


def _guess_width(character: str) -> int:
    if character in _ZERO or unicodedata.combining(character):
        return 0
    if ord(character) >= 0x1F000:
        return _EMOJI
    return _LETTER if ord(character) < _ALPHABETS else _WIDE


def fit(text: str, room: float, size: float, *, bold: bool = False) -> str:
    """Return the text, cut with an ellipsis so that it takes at most ``room`` pixels.

    >>> fit("resting blood pressure", 80, 11)
    'resting blood…'
    """
    if measure(text, size, bold=bold) <= room:
        return text
    left, total = 0, measure("…", size, bold=bold)
    for character in text:
        total += measure(character, size, bold=bold)
        if total > room:
            break
        left += 1
    while left and unicodedata.combining(text[left]):
        left -= 1  # never a letter without its accents
    kept = _drop_part_of_number(text, left).rstrip(" ,.·")
    return f"{kept}{_PDI if kept.count(_FSI) > kept.count(_PDI) else ''}…"


def _drop_part_of_number(text: str, left: int) -> str:
    """Return the beginning of a text that does not end within a number, where anything is left."""
    kept = text[:left]
    if re.match(r"\.?\d", text[left:]):
        return re.sub(r"(?<!\w)[+−-]?[\d.]*$", "", kept).rstrip() or kept
    return kept


def split(text: str, room: float, size: float) -> list[str]:
    """Return the text on at most two lines, each with an ellipsis if need be."""
    first, *words = text.split(" ")
    while words and measure(f"{first} {words[0]}", size) <= room:
        first = f"{first} {words.pop(0)}"
    lines = [first, " ".join(words)] if words else [first]
    return [fit(line, room, size) for line in lines]


def isolate(label: object) -> str:
    r"""Return a name that, written from the right, does not turn the text around it.

    >>> isolate("age")
    'age'
    >>> isolate("גיל") == "\u2068גיל\u2069"
    True
    """
    name = clean(label, directions=False)
    turns = any(unicodedata.bidirectional(c) in _TURNING for c in name)
    return f"{_FSI}{name}{_PDI}" if turns else name


_TURNING = frozenset({"R", "AL", "RLE", "RLO", "RLI", "LRE", "LRO", "LRI", "FSI"})
