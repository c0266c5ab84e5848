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


def write_xlsx(path, rows):
    """Write rows of texts and numbers as the smallest workbook that there is."""
    import zipfile
    from xml.sax.saxutils import escape

    def write(cell):
        if isinstance(cell, str):
            return f'<c t="inlineStr"><is><t>{escape(cell)}</t></is></c>' if cell else "<c/>"
        return f"<c><v>{cell}</v></c>"

    lines = "".join(f"<row>{''.join(map(write, row))}</row>" for row in rows)
    space, office = "http://schemas.openxmlformats.org", "officeDocument/2006/relationships"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{space}/package/2006/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{space}/package/2006/relationships"><Relationship '
        f'Id="r" Type="{space}/{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{space}/spreadsheetml/2006/main" '
        f'xmlns:r="{space}/{office}"><sheets><sheet name="People" sheetId="1" r:id="r"/></sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{space}/package/2006/relationships">'
        f'<Relationship Id="r" Type="{space}/{office}/worksheet" Target="worksheets/s.xml"/>'
        "</Relationships>",
        "xl/worksheets/s.xml": f'<worksheet xmlns="{space}/spreadsheetml/2006/main"><sheetData>'
        f"{lines}</sheetData></worksheet>",
    }
    with zipfile.ZipFile(path, "w") as book:
        for name, text in parts.items():
            book.writestr(name, text)
    return path
