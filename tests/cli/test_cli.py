"""The command line: what a user's mistake looks like, and an answer end to end on a small lake."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from graftjax import cli
from graftjax.console import parse_arguments, run_console
from graftjax.describe import answer, plan
from graftjax.errors import GraftError, UsageError
from graftjax.types import Operator, Synthesis, TableId

A, B, C, D, E = (TableId("db", name) for name in "abcde")


def _exit(function, capsys) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        run_console(function, "graftjax")
    captured = capsys.readouterr()
    return stop.value.code, captured.out, captured.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Expected one of"),
        (["nonsense"], "nonsense"),
        (["index"], "FOLDER"),
        (["index", "nowhere"], "nowhere: no such folder"),
        (["index", "nowhere", "--bogus", "3"], "--bogus"),
        (["search", "who?"], "--lake"),
        (["search", "who?", "--lake", "nowhere"], "--lake nowhere: no such folder"),
        (["search", "who?", "--lake", ".", "--L", "ten"], "--L"),
        (["search", "who?", "--lake", ".", "--L", "0"], "--L must be at least 1"),
        (["search", "who?", "--lake", ".", "--intents", "oracle"], "oracle"),
        (["inspect", "nowhere"], "nowhere: no such folder"),
        (["inspect", ".", "--most", "-1"], "--most can't be negative"),
        (["fuse", "who?"], "--lake"),
        (["fuse", "who?", "--lake", "nowhere"], "--lake nowhere: no such folder"),
        (["fuse", "who?", "--lake", ".", "--L", "0"], "--L must be at least 1"),
        (["fuse", "who?", "--lake", ".", "--join", "cross"], "cross"),
        (["fuse", "who?", "--lake", ".", "--columns", "some"], "some"),
        (["fuse", "who?", "--lake", ".", "--most-rows", "0"], "--most-rows must be at least 1"),
        (["fuse", "who?", "--lake", ".", "--tables", "nowhere"], "--tables nowhere: no such folder"),
        (["fuse", "who?", "--lake", ".", "--out", "x.xlsx"], "x.xlsx: the name must end with"),
        (["fuse", "who?", "--lake", ".", "--out", "x"], "x: the name must end with"),
        (["fuse", "who?", "--lake", ".", "--out", "/etc/passwd/x.csv"], "/etc/passwd is not a folder"),
        (["report", "who?", "--lake", "."], "--out"),
        (["report", "who?", "--lake", ".", "--out", "x.pdf"], "must end with .html"),
        (["report", "who?", "--lake", ".", "--out", "/etc/passwd/x.html"], "/etc/passwd is not a folder"),
        (["demo", "--L", "-1"], "--L must be at least 1"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(arguments, said, capsys):
    code, out, err = _exit(lambda: cli.run(arguments), capsys)
    assert code == 2
    assert out == ""
    assert err.startswith("graftjax: ")
    assert err.count("\n") == 1
    assert said in err


@pytest.mark.parametrize(
    ("error", "code"),
    [(UsageError("two\nlines"), 2), (GraftError("two\nlines"), 1), (KeyboardInterrupt(), 130)],
)
def test_exit_codes(error, code, capsys):
    def fail():
        raise error

    found, _, err = _exit(fail, capsys)
    assert found == code
    assert err == ("graftjax: interrupted\n" if code == 130 else "graftjax: two lines\n")


def test_a_device_that_is_not_there_is_one_line(capsys):
    """JAX_PLATFORMS=cuda on a machine without one used to end in a traceback."""

    def fail():
        raise RuntimeError("Unable to initialize backend 'cuda': no device\n(set JAX_PLATFORMS='' ...)")

    code, _, err = _exit(fail, capsys)
    assert code == 1
    assert err.startswith("graftjax: JAX can't start: Unable to initialize backend 'cuda'")
    assert err.count("\n") == 1
    with pytest.raises(RuntimeError, match="other"):
        run_console(lambda: (_ for _ in ()).throw(RuntimeError("other")), "graftjax")


def test_success_and_own_codes(capsys):
    assert _exit(lambda: None, capsys)[0] == 0
    assert _exit(lambda: 3, capsys)[0] == 3


def test_a_programming_error_is_not_hidden():
    def fail():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_console(fail, "graftjax")


def test_a_closed_pipe_is_no_traceback():
    code = "from graftjax.console import run_console\nrun_console(lambda: print('x\\n' * 200000), 'graftjax')"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 1
    assert said == ""


def test_help_lists_the_commands(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.run(["--help"])
    assert stop.value.code in (0, None)
    out = capsys.readouterr().out
    assert all(name in out for name in ("index", "train", "search", "fuse", "report", "inspect", "demo"))


def test_arguments_are_read():
    found = parse_arguments(cli.COMMANDS, ["search", "who?", "--lake", "x", "--L", "5", "--fill", "--json"])
    assert (found.question, str(found.lake), found.L, found.fill, found.json) == ("who?", "x", 5, True, True)


@pytest.mark.parametrize("option", ["--out", "--index"])
def test_the_place_of_an_index_goes_by_the_name_that_other_commands_give_it(option):
    """`graftjax index FOLDER --index PLACE` was refused, though train calls it so."""
    assert str(parse_arguments(cli.COMMANDS, ["index", "x", option, "y"]).out) == "y"


def _step(kind, anchor, new):
    return Operator(kind, anchor, new, (("id", "id"),), 0.5)


@pytest.mark.parametrize(
    ("tables", "steps", "expected"),
    [
        ((), (), ""),
        ((A,), (), "db/a"),
        ((A, B), (), "db/a ; db/b"),
        ((A, B), (_step("join", A, B),), "db/a ⋈ db/b"),
        (
            (A, C, B, D),
            (_step("join", A, C), _step("join", A, B), _step("union", C, D)),
            "db/b ⋈ db/a ⋈ (db/c ∪ db/d)",
        ),
        ((A, B, C, D), (_step("union", B, A), _step("union", C, D)), "(db/a ∪ db/b) ; (db/c ∪ db/d)"),
    ],
)
def test_plan(tables, steps, expected):
    assert plan(Synthesis(tables, steps, 0.0)) == expected


def test_an_empty_answer_gives_its_reason():
    assert (
        answer(Synthesis((), (), 0.0, notes=("the lake is empty",))) == "no tables\nnote: the lake is empty"
    )


@pytest.fixture
def lake(tmp_path):
    folder = tmp_path / "lake"
    folder.mkdir()
    people = "".join(f"{i},Person {i},{i % 5 + 1}\n" for i in range(1, 31))
    (folder / "employees.csv").write_text(f"employee_id,name,department_id\n{people}")
    departments = "".join(
        f"{i},{name}\n" for i, name in enumerate(("Sales", "Law", "Research", "Press", "IT"), 1)
    )
    (folder / "departments.csv").write_text(f"department_id,department_name\n{departments}")
    (folder / "broken.parquet").write_bytes(b"PAR1 not really")
    return folder


def test_index_inspect_and_search_a_folder(lake, tmp_path, capsys):
    pytest.importorskip("graftjax.search.engine", exc_type=ModuleNotFoundError)
    index = tmp_path / "index"
    assert cli.run(["index", str(lake), "--out", str(index)]) == 0
    out = capsys.readouterr().out
    assert "tables" in out
    assert "broken.parquet" in out
    assert cli.run(["inspect", str(index)]) == 0
    assert "broken.parquet" in capsys.readouterr().out
    question = "Which employees work in the Research department?"
    assert cli.run(["search", question, "--lake", str(index), "--L", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sorted(name for _, name in found["tables"]) == ["departments", "employees"]
    assert cli.run(["search", question, "--lake", str(lake), "--L", "3"]) == 0
    shown = capsys.readouterr().out
    assert "departments ⋈ employees" in shown or "employees ⋈ departments" in shown


@pytest.mark.parametrize("place", ["", "inner/index"])
def test_an_index_among_the_tables_is_refused(tmp_path, place):
    """The files of an index in its own lake were tables at the next run."""
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UsageError, match="among the tables"):
        cli.run(["index", str(tmp_path), "--out", str(tmp_path / place)])
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
