"""A small table as people have them, and variants of its file."""

import numpy as np

N_ROWS = 300


def houses(path, *, delimiter=",", decimal=".", n_rows=N_ROWS, seed=0, encoding="utf-8"):
    """Numbers with holes and thousands separators, words, dates, truth values, an identifier, a constant, a copy."""
    rng = np.random.default_rng(seed)
    area, town, sold = rng.uniform(30, 2000, n_rows), rng.integers(3, size=n_rows), rng.integers(3000, size=n_rows)
    garden = rng.random(n_rows) < 0.4
    price = 1000 + 3 * area + 500 * town + 200 * garden + 50 * rng.standard_normal(n_rows)
    lines = [delimiter.join(["id", "area", "town", "sold", "garden", "country", "price in cents", "price"])]
    for i in range(n_rows):
        number = "" if i % 17 == 5 else shown(area[i], decimal)
        fields = [
            f"H{i:05d}",
            number,
            ["Graz", "Łódź", "Zürich"][town[i]] if i % 23 else "NA",
            str(np.datetime64("2015-01-01") + sold[i]),
            str(bool(garden[i])).upper(),
            "EU",
            shown(100 * price[i], decimal),
            shown(price[i], decimal),
        ]
        lines.append(delimiter.join(f'"{field}"' if delimiter in field else field for field in fields))
    path.write_text("\n".join(lines) + "\n", encoding=encoding)
    return path


def shown(value, decimal):
    """With separators of thousands."""
    text = f"{value:,.6f}"
    return text if decimal == "." else text.translate(str.maketrans(",.", ".,"))
