"""Files at the edge, and standard streams that misbehave."""

from __future__ import annotations

import errno
import json
import os
import signal
import stat
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from emu_core.errors import InputError
from tools.failures import report
from tools.files import Outputs
from tools.npz import NpzArrays, write_npz


def command(probe, *arguments, shell=""):
    """A command line of the product for a shell."""
    given = " ".join(str(a) for a in arguments)
    return subprocess.run(
        ["bash", "-c", f"{sys.executable} -m tools.cli {given} {shell}"],
        cwd=probe, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.fixture
def here(probe, monkeypatch):
    """The folder of the probe as working directory of child processes, with this checkout importable."""
    source = os.environ.get("PYTHONPATH", "")
    root = str(Path.cwd())
    if not os.environ.get("SQEMU_TEST_INSTALLED"):
        monkeypatch.setenv("PYTHONPATH", f"{root}{os.pathsep}{source}" if source else root)
    return probe


class TestOutputs:
    def test_nothing_before_commit_everything_after(self, tmp_path):
        """A file appears under its name only when all are committed."""
        with Outputs() as outputs:
            outputs.write(str(tmp_path / "deep/a"), b"1", within=str(tmp_path / "deep"))
            assert not (tmp_path / "deep/a").exists()
            outputs.commit()
        assert (tmp_path / "deep/a").read_bytes() == b"1"
        assert [p.name for p in (tmp_path / "deep").iterdir()] == ["a"]

    def test_a_folder_that_is_missing_is_named(self, tmp_path, monkeypatch):
        """A mistyped path makes no folder: the first one that is missing is named as it was typed."""
        monkeypatch.chdir(tmp_path)
        with Outputs() as outputs:
            for refuse in (outputs.check, outputs.begin):
                with pytest.raises(InputError, match="the folder not does not exist; make the folder first") as caught:
                    refuse("not/there/a")
                assert caught.value.id == "output.file"
            with pytest.raises(InputError, match="the folder not does not exist"):
                outputs.write("not/there/sub/a", b"", within="not/there")
        assert list(tmp_path.iterdir()) == []

    def test_folders_that_were_made_go_again(self, tmp_path):
        """Nothing is left of a folder that an option names when its files are not written after all."""
        with Outputs() as outputs:
            outputs.write(str(tmp_path / "d/e/a"), b"1", within=str(tmp_path / "d"))
            outputs.discard()
        assert list(tmp_path.iterdir()) == []

    def test_an_exception_removes_what_was_begun(self, tmp_path):
        """Leaving with an error leaves neither the file nor its temporary one."""
        outputs = Outputs()
        with outputs:
            outputs.write(str(tmp_path / "a"), b"1")
            outputs.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
        assert list(tmp_path.iterdir()) == []

    def test_links_stay_links(self, tmp_path):
        """The target of a symbolic link is replaced, the link stays."""
        (tmp_path / "target").write_bytes(b"old")
        (tmp_path / "link").symlink_to("target")
        with Outputs() as outputs:
            outputs.write(str(tmp_path / "link"), b"new")
            outputs.commit()
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "target").read_bytes() == b"new"

    def test_pipes_are_written_to(self, tmp_path):
        """A named pipe stays a pipe and its reader gets the bytes."""
        os.mkfifo(tmp_path / "pipe")
        reader = subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE)
        with Outputs() as outputs:
            outputs.write(str(tmp_path / "pipe"), b"through")
            outputs.commit()
        assert reader.communicate(timeout=10)[0] == b"through"
        assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)

    def test_mode_is_kept(self, tmp_path):
        """An existing file keeps its permissions."""
        (tmp_path / "a").write_bytes(b"")
        (tmp_path / "a").chmod(0o640)
        with Outputs() as outputs:
            outputs.write(str(tmp_path / "a"), b"1")
            outputs.commit()
        assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640

    @pytest.mark.parametrize("name", ["", "-", ".", "sub/", "file/x"])
    def test_impossible_names(self, tmp_path, monkeypatch, name):
        """Empty names, standard output, folders and files used as folders are refused."""
        monkeypatch.chdir(tmp_path)
        (tmp_path / "file").write_bytes(b"")
        with Outputs() as outputs, pytest.raises(InputError) as caught:
            outputs.write(name, b"")
        assert caught.value.id == "output.file"

    def test_inputs_and_twice_the_same_are_refused(self, tmp_path):
        """An output is neither an input of the command nor another of its outputs."""
        (tmp_path / "in").write_bytes(b"keep")
        with Outputs(never=(str(tmp_path / "in"), "-")) as outputs:
            with pytest.raises(InputError, match="is an input"):
                outputs.write(str(tmp_path / "in"), b"")
            outputs.write(str(tmp_path / "a"), b"")
            with pytest.raises(InputError, match="two outputs"):
                outputs.write(str(tmp_path / "a"), b"")
        assert (tmp_path / "in").read_bytes() == b"keep"


class TestNpz:
    def test_names_are_exact(self, tmp_path):
        """Arrays called x, x.npy and file keep their own data."""
        arrays = {name: np.array([i]) for i, name in enumerate(("x", "x.npy", "file"))}
        write_npz(tmp_path / "a.npz", arrays)
        found = NpzArrays(str(tmp_path / "a.npz"))
        assert {name: found[name].tolist() for name in found} == {"x": [0], "x.npy": [1], "file": [2]}

    def test_same_arrays_same_bytes(self, tmp_path):
        """Writing twice gives the same file."""
        for name in ("a", "b"):
            write_npz(tmp_path / name, {"y": np.arange(5)})
            time.sleep(0.01)
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()

    def test_only_what_is_asked_for_is_read(self, tmp_path):
        """A damaged array that nobody asks for does not matter."""
        with zipfile.ZipFile(tmp_path / "a.npz", "w") as zipped:
            zipped.writestr("junk.npy", b"not an array")
        np.savez(tmp_path / "b.npz", x=np.ones(2))
        with zipfile.ZipFile(tmp_path / "b.npz", "a") as zipped:
            zipped.writestr("junk.npy", b"not an array")
        assert NpzArrays(str(tmp_path / "b.npz"))["x"].tolist() == [1, 1]

    @pytest.mark.parametrize(
        "member",
        [
            b"hello",
            b"",
            b"\x93NUMPY\x01\x00\x06\x00{     ",
            b"\x93NUMPY\x01\x00\x06\x00((((((",
            b"\x93NUMPY\x01\x00\x4e\x00{'descr': '<f4', 'fortran_order': False, 'shape': (" + b"9" * 20 + b",), }\n",
            b"\x93NUMPY\x01\x00\x46\x00{'descr': '<f4', 'fortran_order': False, 'shape': (True,), }         \n",
        ],
    )
    def test_damaged_members(self, tmp_path, member):
        """Whatever a member holds instead of an array, it is an error about this file."""
        with zipfile.ZipFile(tmp_path / "a.npz", "w") as zipped:
            zipped.writestr("x.npy", member)
        with pytest.raises(InputError) as caught:
            _ = NpzArrays(str(tmp_path / "a.npz"))["x"]
        assert (caught.value.id, caught.value.where) == ("input.npz", str(tmp_path / "a.npz"))

    def test_other_members_are_no_arrays(self, tmp_path):
        """A member that is not an npy file is no array."""
        with zipfile.ZipFile(tmp_path / "a.npz", "w") as zipped:
            zipped.writestr("readme.txt", b"hello")
        with pytest.raises(InputError, match="no array"):
            _ = NpzArrays(str(tmp_path / "a.npz"))["readme.txt"]

    @pytest.mark.parametrize("as_field", [False, True])
    def test_objects_are_named_as_such(self, tmp_path, as_field):
        """An array of Python objects, alone or as a field, is no damage: the error says what it holds."""
        dtype = np.dtype([("element", "O")]) if as_field else np.dtype("O")
        np.savez(tmp_path / "a.npz", x=np.zeros(2, dtype), y=np.ones(1))
        arrays = NpzArrays(str(tmp_path / "a.npz"))
        with pytest.raises(InputError, match="array x holds Python objects, not numbers") as caught:
            _ = arrays["x"]
        assert caught.value.id == "input.npz"
        assert arrays["y"].tolist() == [1]

    def test_one_array(self, tmp_path):
        """A plain npy file is told from an npz."""
        np.save(tmp_path / "a.npy", np.ones(1))
        with pytest.raises(InputError, match="one array, not an npz"):
            NpzArrays(str(tmp_path / "a.npy"))


class TestFailures:
    def test_a_failure_without_a_name_is_not_put_on_standard_output(self, capsys):
        """An error of the operating system that names no file is told as such while standard output still works."""
        assert report(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), as_json=True, debug=False) == 2
        told = json.loads(capsys.readouterr().err)
        assert (told["error"], told["where"]) == ("file", "")
        assert told["what"] == "a file cannot be read or written: No space left on device"

    @pytest.mark.parametrize("unbuffered", ["", "1"])
    def test_a_full_standard_output_is_named(self, here, monkeypatch, unbuffered):
        """Text that standard output does not take is reported as that, in one line, with and without a buffer."""
        monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
        found = command(here, "explain 0x91 >/dev/full")
        assert found.returncode == 2
        assert found.stderr.startswith("error file: standard output: cannot be written: No space left on device")
        assert found.stderr.count("\n") == 1

    def test_devices_come_before_files(self, tmp_path):
        """A device that refuses its bytes leaves every file as it was."""
        (tmp_path / "a").write_bytes(b"old")
        with Outputs() as outputs:
            outputs.write(str(tmp_path / "a"), b"new")
            outputs.write("/dev/full", b"lost")
            with pytest.raises(InputError, match="/dev/full: cannot be written: No space left"):
                outputs.commit()
        assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("a", b"old")]


class TestStreams:
    def test_a_closed_reader_does_not_stop_a_run(self, here):
        """The outputs of a run are written although nobody reads its text, and its exit code stays."""
        found = command(
            here, "run probe.json --inputs in3.npz --times 30 --outputs o.npz", shell="| true; echo ${PIPESTATUS[0]}"
        )
        assert found.stdout == "0\n"
        assert len(list(here.glob("o.*.npz"))) == 30
        failing = "run probe.json --policy nop_count=0 --inputs in3.npz --json"
        assert command(here, failing, shell="| true; echo ${PIPESTATUS[0]}").stdout == "1\n"

    @pytest.mark.parametrize(
        ("line", "code"),
        [
            ("run probe.json --inputs in3.npz >&-", 0),
            ("explain 0x91 >&-", 0),
            ("run - <&-", 2),
            ("run nothing.json 2>/dev/full", 2),
            ("run nothing.json >&- 2>&-", 2),
        ],
    )
    def test_closed_streams(self, here, line, code):
        """Streams that are closed or full from the start change no exit code and cause no traceback."""
        found = command(here, line)
        assert found.returncode == code
        assert "Traceback" not in found.stderr

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
    def test_signals_leave_nothing_behind(self, here, number):
        """A command that is told to end removes what it began and exits with 128 + signal (130 for Ctrl-C)."""
        (here / "out").mkdir()
        running = subprocess.Popen(
            [sys.executable, "-m", "tools.cli", "run", "probe.json", "--inputs", "in3.npz", "--times", "20000",
             "--outputs", "out/o.npz", "--trace", "out/t.jsonl", "--record", "out/r.sqr"],
            cwd=here, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert [running.stdout.readline()[:4] for _ in range(20)] == [b"run "] * 20
        running.send_signal(number)
        running.communicate(timeout=20)
        assert running.returncode == 128 + number
        assert list((here / "out").iterdir()) == []

    def test_two_outputs_of_one_name(self, sqemu, probe):
        """Outputs, trace and record that would be one file are refused before anything runs or is written."""
        given = ("run", probe / "probe.json", "--inputs", probe / "in3.npz", "--json")
        for names in (("--outputs", "--record"), ("--outputs", "--trace"), ("--trace", "--record")):
            found = sqemu(*given, names[0], probe / "same", names[1], probe / "same")
            assert (found.code, found.out, found.error["error"]) == (2, "", "output.file")
            assert not (probe / "same").exists()

    def test_ascii_terminals(self, here, monkeypatch):
        """A terminal that claims to know ASCII only changes nothing."""
        monkeypatch.setenv("PYTHONIOENCODING", "ascii")
        found = command(here, "run probe.json --inputs in3.npz")
        assert (found.returncode, found.stdout[:10]) == (0, "run 1: ok,")


class TestRunWithOddArrays:
    def test_shapes_that_do_not_go_together_name_their_file(self, sqemu, probe):
        """An operator that refuses the shapes of the second file is told with that file."""
        graph = json.loads((probe / "probe.json").read_text())
        graph["inputs"][0]["shape"] = [-1]
        (probe / "any.json").write_text(json.dumps(graph))
        np.savez(probe / "none.npz", x=np.zeros(0, "f4"), n=np.ones(1, "i4"))
        inputs = ("--inputs", probe / "in3.npz", "--inputs", probe / "none.npz")
        found = sqemu("run", probe / "any.json", *inputs, "--json")
        assert (found.code, found.error["error"]) == (2, "run.shape")
        assert found.error["where"] == f"{probe / 'none.npz'}: operator probe0"

    def test_long_series_keep_no_history(self, sqemu, probe):
        """Each execution's events are written and forgotten: the trace has all of them, in order."""
        sqemu(
            "run", probe / "probe.json", "--inputs", probe / "in3.npz", "--times", "5", "--trace", probe / "t.jsonl",
            "--quiet",
        )  # fmt: skip
        starts = [e for e in map(json.loads, (probe / "t.jsonl").read_text().splitlines()) if e.get("phase") == "start"]
        assert [e["run"] for e in starts] == [1, 2, 3, 4, 5]

    def test_text_reference(self, sqemu, tmp_path):
        """A reference that holds text is refused by name."""
        np.savez(tmp_path / "c.npz", x=np.zeros(4, "f4"), n=np.ones(1, "i4"), y=np.array(["a"] * 4))
        found = sqemu("op", "probe", "--inputs", tmp_path / "c.npz", "--verify", "--json")
        assert (found.code, found.error["error"]) == (2, "case.value")

    def test_one_element_is_rounding(self, sqemu, tmp_path):
        """A single float16 element may be off by half an ulp, which is more than the limit for whole tensors."""
        one = {n: np.ones((1, 1, 1), "f2") for n in ("query", "key", "value")}
        state, lengths = np.full((1, 1, 1, 1), 0.777, "f2"), np.ones(1, "i4")
        more = {"beta": np.full((1, 1), 0.333, "f2"), "initial_state": state, "actual_seq_lengths": lengths}
        np.savez(tmp_path / "c.npz", **one, **more, scale=np.float32(0.377))
        assert sqemu("op", "cgdr", "--inputs", tmp_path / "c.npz", "--verify").code == 0
