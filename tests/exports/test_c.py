"""The C header, built by a C compiler: it predicts what the model predicts."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from exports.cases import make_case, make_cases, make_hostile, make_rule_cases
from newron.errors import InputError
from newron.exports.export import export
from newron.exports.text import has_text, label_text
from newron.model import Classes, Column, Model, Schema
from rules.networks import make_layer, make_monk2, make_step

CC = shutil.which("cc")
STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O0")
N_MODELS = 24
MAX_ROWS = 25

pytestmark = pytest.mark.skipif(CC is None, reason="no C compiler is installed")


def quote(text):
    return '"' + "".join(f"\\{byte:03o}" for byte in text.encode()) + '"'


def write_cell(value, column):
    """Write a value as an initializer of its field."""
    if column.categories is not None and has_text(column.categories):
        return "0" if value is None else quote(label_text(value))
    return "nan_" if value is None else float(value).hex()


def write_job(prefix, model, table, *, rules=None):
    """Write C that prints, in hexadecimal, what the header says of each row."""
    columns = model.schema.columns
    rows = [
        "{" + ", ".join(write_cell(x, c) for x, c in zip(row, columns, strict=True)) + "}"
        for row in table
    ]
    classes = isinstance(model.output, Classes)
    n_scores = model.output.n_scores
    lines = [
        f"static void run_{prefix}(double nan_) {{",
        "    (void)nan_;",
        f"    const {prefix}_row rows[] = {{{', '.join(rows)}}};",
        f"    for (int i = 0; i < {len(rows)}; i++) {{",
        f"        double scores[{n_scores}] = {{0}};",
        f"        {prefix}_scores(&rows[i], scores);",
        f'        for (int j = 0; j < {n_scores}; j++) printf("%a ", scores[j]);',
    ]
    if classes:
        lines += [
            f"        double shares[{prefix.upper()}_CLASSES] = {{0}};",
            f"        {prefix}_predict_proba(&rows[i], shares);",
            f'        for (int j = 0; j < {prefix.upper()}_CLASSES; j++) printf("%a ", shares[j]);',
            f'        printf("%d ", {prefix}_predict(&rows[i]));',
        ]
    if rules == "list":
        lines.append(f'        printf("%d ", {prefix}_rule(&rows[i]));')
    if rules == "points":
        lines += [
            f"        double x[{prefix.upper()}_COLUMNS];",
            f"        int holds[{prefix.upper()}_RULES + 1];",
            f"        {prefix}_read(&rows[i], x);",
            f'        printf("%d ", {prefix}_holds(x, holds));',
        ]
    return "\n".join([*lines, '        printf("\\n");', "    }", "}"])


def run(folder: Path, jobs, flags=STRICT, system=("stdio.h",)):
    """Build one program of all headers, run it, and give the words of each line by job."""
    parts, calls = [f"#include <{name}>" for name in system], []
    for k, (model, table, settings) in enumerate(jobs):
        prefix = f"m{k}"
        header = export(model, "c", name=prefix, **settings)
        header.save(folder / f"{prefix}.h")
        rules = settings.get("rules")
        form = None if rules is None else "points" if rules.form == "points" else "list"
        parts += [f'#include "{prefix}.h"', write_job(prefix, model, table, rules=form)]
        calls.append(f'    run_{prefix}(zero / zero); printf("--\\n");')
    parts += ["int main(void) {", "    volatile double zero = 0.0;", *calls, "    return 0;", "}"]
    (folder / "main.c").write_text("\n".join(parts))
    subprocess.run([CC, *flags, "-o", "main", "main.c"], cwd=folder, check=True)
    out = subprocess.run([folder / "main"], check=True, capture_output=True, text=True).stdout
    return [[line.split() for line in block.splitlines()] for block in out.split("--\n")[:-1]]


def check(case, lines):
    n = case.model.output.n_scores
    numbers = [[float.fromhex(word) for word in line] for line in lines]
    rows = slice(0, MAX_ROWS)
    scores = np.array([row[:n] for row in numbers])
    np.testing.assert_array_equal(scores, case.scores[rows], err_msg=case.name)
    if case.probabilities is not None:
        shares = np.array([row[n:-1] for row in numbers])
        np.testing.assert_array_equal(shares, case.probabilities[rows], err_msg=case.name)
        assert [int(line[-1]) for line in lines] == case.classes[rows], case.name


def make_jobs(cases):
    return [(case.model, case.table[:MAX_ROWS], {}) for case in cases]


def test_scores_probabilities_and_classes_have_the_same_bits(tmp_path):
    cases = make_cases(N_MODELS)
    for case, lines in zip(cases, run(tmp_path, make_jobs(cases)), strict=True):
        check(case, lines)


MACROS = (
    "NULL", "EOF", "NAN", "INFINITY", "I", "complex", "errno", "stdin", "DBL_MAX", "INT_MIN",
    "M_PI", "HUGE_VAL", "BUFSIZ", "SIGINT", "EXIT_FAILURE", "linux", "unix", "i386", "M0_CLASSES",
    "M0_EXACT", "NEWRON_M0_H", "int", "main", "isnan", "SIGMA", "null", "x", "row", "scores",
)  # fmt: skip
SYSTEM = ("complex.h", "errno.h", "limits.h", "math.h", "signal.h", "stdlib.h", "stdio.h")


@pytest.mark.parametrize("flags", [STRICT, ("-std=gnu11", "-Wall", "-Werror")])
def test_columns_may_have_the_names_of_macros(tmp_path, flags):
    n = len(MACROS)
    layer = make_layer(
        1, [0] * n, range(n), [1.0] * n, [0.5] * n,
        alpha=[float(k) for k in range(1, n + 1)], centre=[n * n / 4],
    )  # fmt: skip
    schema = Schema(tuple(Column(name, -1.0, 1.0) for name in MACROS))
    model = Model(schema, [layer], Classes(("NULL", "EOF")))
    table = np.random.default_rng(0).choice([0.0, 0.5, 1.0], (MAX_ROWS, n)).tolist()
    check(make_case("macros", model, table), run(tmp_path, [(model, table, {})], flags, SYSTEM)[0])
    header = (tmp_path / "m0.h").read_text()
    assert all(f"    double {name}; // " in header for name in ("NULL_", "SIGMA", "null", "isnan"))


def has_fused() -> bool:
    info = Path("/proc/cpuinfo")
    return info.exists() and " fma " in info.read_text()


@pytest.mark.skipif(not has_fused(), reason="the processor has no fused multiply-add")
def test_a_compiler_that_may_fuse_multiply_and_add_does_not(tmp_path):
    cases = make_cases(N_MODELS)[2:12]
    lines = run(tmp_path, make_jobs(cases), ("-std=gnu99", "-O2", "-mfma", "-ffp-contract=fast"))
    for case, told in zip(cases, lines, strict=True):
        check(case, told)


def test_the_deciding_rule_has_the_predicted_class(tmp_path):
    cases = make_rule_cases()
    jobs = [(c.model, c.table[:MAX_ROWS], {"rules": c.rules}) for c in cases]
    decided = 0
    for case, lines in zip(cases, run(tmp_path, jobs), strict=True):
        records = case.rules.to_records()
        for predicted, line in zip(case.predictions, lines, strict=False):
            if case.rules.form == "points":
                assert line[-1] == "1"  # inside the domain
            else:
                decided += 1
                assert records[int(line[-1])]["prediction"] == predicted
    assert decided > 200


def test_the_header_also_is_one_of_cpp(tmp_path):
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler is installed")
    case = make_hostile()
    export(case.model, "c", name="model", rules=True).save(tmp_path / "model.h")
    (tmp_path / "main.cpp").write_text('#include "model.h"\nint main() { return 0; }\n')
    flags = ("-std=c++17", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only")
    subprocess.run([compiler, *flags, "main.cpp"], cwd=tmp_path, check=True)


def test_what_breaks_the_order_of_operations_is_an_error(tmp_path):
    export(make_monk2(), "c", name="model").save(tmp_path / "model.h")
    (tmp_path / "main.c").write_text('#include "model.h"\nint main(void) { return 0; }\n')
    done = subprocess.run(
        [CC, "-ffast-math", "-fsyntax-only", "main.c"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "drop -ffast-math" in done.stderr


def test_a_number_beyond_the_limit_is_an_error(tmp_path):
    model = make_step(Column("t", 35.0, 42.0), 38.0)
    lines = run(tmp_path, [(model, [[1e301], [-1e301], [38.0]], {})])[0]
    assert [line[-1] for line in lines] == ["-1", "-1", "1"]


def test_a_label_that_would_end_early_is_an_error():
    column = Column("c", 0.0, 1.0, categories=("a\x00b", "c"))
    model = make_step(column, 0.0, levels=[[0.0, 1.0]])
    with pytest.raises(InputError, match="without the character NUL"):
        export(model, "c")
