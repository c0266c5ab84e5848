"""Mutations: small damage to bytes, to texts of words, and to JSON by its structure."""

import copy
import json
import random
from typing import Any

HOSTILE: list[Any] = [
    None, True, False, 0, 1, -1, 5, 2**31, 2**63, 10**400, 0.5, -0.0, 1e-320, 1e300, 1e308, "", "a",
    "a\0", "\ud800", "\u202e", "\u2028", "'\"`;--", "<script>", "x" * 5000, [], [[]], {}, {"": 0},
    [True, 1], [1e308, -1e308], ["a", "a\0"], list(range(1200)), "1e999", "input", "x1", "1.1",
]  # fmt: skip
BITS = [b"\0", b"\xff", b"\xf0\x9f", b"\r", b"\n", b"\t", b",", b";", b'"', b"'", b"(", b")"]
BITS += [b"1e999999999", b"9" * 5000, b"(" * 400, b" " * 5000, b"NaN", b"-", b"\xe2\x80\xa8"]


def mutate_bytes(data: bytes, rng: random.Random, bits: list[bytes] = BITS) -> bytes:
    """Flip, cut, double, insert or exchange a few bytes."""
    for _ in range(rng.choice([1, 1, 2, 4])):
        i = rng.randrange(len(data) + 1)
        j = min(len(data), i + rng.choice([1, 2, 5, 50]))
        bit = rng.choice(bits)
        data = rng.choice(
            [
                data[:i] + data[j:],
                data[:j] + data[i:],
                data[:i] + bit + data[i:],
                data[:i] + bit + data[j:],
                data[:i] + bytes([rng.randrange(256)]) + data[i + 1 :],
                data[:i],
            ]
        )
    return data


def mutate_words(data: bytes, rng: random.Random, words: list[bytes]) -> bytes:
    """Drop, double, exchange or insert whole words."""
    parts = data.split(b" ")
    for _ in range(rng.choice([1, 1, 2, 3])):
        i, j = rng.randrange(len(parts)), rng.randrange(len(parts))
        change = rng.randrange(4)
        if change == 0 and len(parts) > 1:
            del parts[i]
        elif change == 1:
            parts.insert(i, rng.choice(words))
        elif change == 2:
            parts[i] = rng.choice(words)
        else:
            parts[i], parts[j] = parts[j], parts[i]
    return b" ".join(parts)


def mutate_json(data: bytes, rng: random.Random) -> bytes:
    """Change a document at a few nodes: replaced, dropped, doubled, exchanged, wrapped."""
    try:
        document = json.loads(data)
    except ValueError:
        return mutate_bytes(data, rng)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        nodes = list(_list_nodes(document))
        if not nodes:
            break
        parent, key = rng.choice(nodes)
        _change_node(parent, key, nodes, rng)
    return json.dumps(document).encode()


def _list_nodes(value: Any) -> list[tuple[Any, Any]]:
    """List every node as its parent and its key."""
    found: list[tuple[Any, Any]] = []
    keys = value.keys() if isinstance(value, dict) else range(len(value))
    if isinstance(value, dict | list):
        for key in list(keys):
            found.append((value, key))
            if isinstance(value[key], dict | list):
                found += _list_nodes(value[key])
    return found


def _change_node(parent: Any, key: Any, nodes: list[tuple[Any, Any]], rng: random.Random) -> None:
    change = rng.randrange(6)
    if change <= 1:
        parent[key] = copy.deepcopy(rng.choice(HOSTILE))
    elif change == 2:
        del parent[key]
    elif change == 3 and isinstance(parent, list):
        parent.insert(key, copy.deepcopy(parent[key]))
    elif change == 4:
        other, there = rng.choice(nodes)
        parent[key] = copy.deepcopy(other[there])
    elif isinstance(parent[key], int | float) and abs(parent[key]) < 1e300:
        parent[key] *= rng.choice([-1, 2, 1e10, 1e-10, 1e200])
    else:
        parent[key] = [parent[key]]
