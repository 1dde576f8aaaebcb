"""`--plugin`: modules, files and package folders, and what the user sees of a broken one."""

from __future__ import annotations

import sys

import pytest

PACKAGE = {
    "__init__.py": "from emu_core import hookimpl\n\n\n@hookimpl\ndef sqemu_explanations():\n"
    "    from .texts import TEXTS\n\n    return TEXTS\n",
    "texts.py": 'from given_package.words import WORD\n\nTEXTS = {"given.id": WORD + "\\ndo: nothing"}\n',
    "words.py": 'WORD = "a word of a package"\n',
}


@pytest.fixture
def package(tmp_path):
    """A package folder whose modules import each other, relatively and by name."""
    folder = tmp_path / "given_package"
    folder.mkdir()
    for name, text in PACKAGE.items():
        (folder / name).write_text(text)
    yield folder
    for name in [m for m in sys.modules if m.partition(".")[0] == "given_package"]:
        del sys.modules[name]


def test_a_package_folder(sqemu, package):
    """Its modules are found although the folder is on no path; a second time it is the same package."""
    for _ in range(2):
        assert "a word of a package" in sqemu("explain", "given.id", "--plugin", package).out


def test_a_given_plugin_is_listed(sqemu, package):
    """`sqemu plugins list --plugin` shows it beside the installed ones."""
    assert "given by the caller" in sqemu("plugins", "list", "--plugin", package).out


def test_two_packages_of_one_name(sqemu, package, tmp_path):
    """The second one cannot be told from the first, so it is refused."""
    other = tmp_path / "other" / "given_package"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text(PACKAGE["__init__.py"])
    sqemu("explain", "given.id", "--plugin", package)
    refused = sqemu("explain", "given.id", "--plugin", other, "--json")
    assert (refused.code, refused.error["error"]) == (2, "plugin.import")
    assert str(package) in refused.error["what"]


def test_a_package_that_fails_is_not_half_imported(sqemu, package):
    """After the mistake is repaired the package can be loaded."""
    init = package / "__init__.py"
    init.write_text("import nothing_of_that_name\n")
    broken = sqemu("explain", "given.id", "--plugin", package, "--json")
    assert (broken.code, broken.error["error"]) == (2, "plugin.import")
    assert "nothing_of_that_name" in broken.error["what"]
    init.write_text(PACKAGE["__init__.py"] + "\n")
    assert sqemu("explain", "given.id", "--plugin", package).code == 0


HOOK = "from emu_core import hookimpl\n\n\n@hookimpl\ndef {signature}:\n    {body}\n"
BROKEN = {
    "raises": ("sqemu_chips()", "return 1 / 0", "plugin.raised", "sqemu_chips raised ZeroDivisionError"),
    "nothing": ("sqemu_chips()", "return None", "plugin.raised", "sqemu_chips must give Chip records, not NoneType"),
    "text": ("sqemu_chips()", "return 'chips'", "plugin.raised", "sqemu_chips must give Chip records, not str"),
    "wrong class": ("sqemu_chips()", "return [3]", "plugin.raised", "sqemu_chips must give Chip records, not int"),
    "signature": ("sqemu_chips(nothing)", "return []", "plugin.invalid", "sqemu_chips has no argument 'nothing'"),
    "compiler": ("sqemu_compile(graph)", "return graph['no']", "plugin.raised", "sqemu_compile raised KeyError: 'no'"),
    "answer": ("sqemu_compile(chip)", "return chip", "plugin.answer", "sqemu_compile must answer with a Compiled"),
    "loader": ("sqemu_load(blob)", "return blob.no", "plugin.raised", "sqemu_load raised AttributeError"),
    "engines": ("sqemu_engines(device)", "return device", "plugin.raised", "sqemu_engines must give Handler records"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_plugin_is_one_message(sqemu, probe, broken):
    """Exit code 2 and one error object that names plugin and hook; `sqemu` itself checks that there is no traceback."""
    signature, body, id_, what = BROKEN[broken]
    file = probe / "broken_plugin.py"
    file.write_text(HOOK.format(signature=signature, body=body))
    run = sqemu(
        "run", probe / "probe.json", "--inputs", probe / "in3.npz", "--outputs", probe / "o.npz", "--plugin", file,
        "--json",
    )  # fmt: skip
    assert (run.code, run.error["error"]) == (2, id_)
    assert what in run.error["what"]
    assert run.error["where"] == "plugin broken_plugin (given by the caller)"
