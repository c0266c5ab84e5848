"""Small tables, in memory and in files."""

import numpy as np

COLOURS = ("blue", "green", "red")


def make_table(n: int = 60, seed: int = 0) -> list[list[str]]:
    """Make rows of text: yes from an age of 50 on, or if red; header first."""
    rng = np.random.default_rng(seed)
    rows = [["age", "colour", "sick"]]
    for i in range(n):
        age, colour = int(rng.integers(20, 80)), COLOURS[int(rng.integers(3))]
        sick = "yes" if age >= 50 or colour == "red" else "no"
        rows.append(["" if i % 20 == 7 else str(age), colour, sick])
    return rows


def write_csv(path, rows, delimiter=",", encoding="utf-8"):
    """Write rows of text without quotes."""
    text = "".join(delimiter.join(row) + "\n" for row in rows)
    path.write_bytes(text.encode(encoding))
    return path
