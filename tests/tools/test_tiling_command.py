"""`sqemu tiling cgdr`: output, JSON keys, refusals, variants, sweeps, options that do not go together."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.cmd_tiling import _SPELLINGS, _VARIANTS

ROOT = Path(__file__).parents[2]
BASE = ("tiling", "cgdr", "--t", "192", "--hv", "8", "--dv", "80")
EXAMPLE = (
    *BASE,
    "--chip",
    "ascend310p3",
    "--b",
    "1",
    "--hqk",
    "8",
    "--dk",
    "80",
    "--g",
    "--scale",
    "0.11180339887498949",
)
HEX = (
    "080000000000040000ce0300c00000000800000050000000080000005000000040000000030000000100000000000000010000002ef9e43d"
    "5000000000000000"
)
LINE = (
    "ChunkGatedDeltaRule tiling: T=192, chunkSize=64, numChunks=3, hqk=8, dk=80, hv=8, dv=80, scaleValue=0.111803, "
    "ubSize=262144, vStep=80, blockDim=8, outQueue=12800, tbuf=125312, restBytes=249344"
)


class TestText:
    def test_example(self, sqemu):
        """The example shows the numbers, the sum on paper, the bytes in hex and fields, and the debug line."""
        found = sqemu(*EXAMPLE)
        assert found.code == 0
        words = [line.split() for line in found.out.splitlines()]
        for row in (["bucket", "80"], ["vStep", "80"], ["tbuf", "125312"], ["workspace", "33554432"], ["ubRestBytes"]):
            assert any([word for word in line if word in row] == row for line in words)
        assert "tbuf = 40960 + 16384 + 40960 + 256 + 320 + 320 + 256 + 256 + 25600 = 125312" in found.out
        assert LINE in found.out
        shown = "".join("".join(line[1:]) for line in words if line and line[0] in ("0000", "0010", "0020", "0030"))
        assert shown == HEX

    def test_defaults(self, sqemu):
        """Without more options there is one sequence, as many key heads as value heads, no g, scale 1, a 310P3."""
        out = sqemu(*BASE, "--dk", "80").out
        assert out.startswith("ChunkGatedDeltaRule on ascend310p3: 310P, final version")
        assert "T 192, B 1, Hqk 8, Hv 8, dk 80, dv 80, no g, scale 1; 8 cores, UB 262144 bytes" in out

    def test_cores_and_ub_come_from_the_chip(self, sqemu):
        """On a 910B3 the tiling sees 40 cores and 196608 bytes, and a note says that it is as ported."""
        found = sqemu(*BASE, "--dk", "80", "--chip", "ascend910b3")
        assert "40 cores, UB 196608 bytes" in " ".join(found.out.split())
        assert "as ported" in found.err

    def test_flags_replace_figures(self, sqemu):
        """`--ub` and `--cores` replace what the chip says."""
        assert "3 cores, UB 138111 bytes" in sqemu(*BASE, "--dk", "80", "--ub", "138111", "--cores", "3").out

    def test_why(self, sqemu):
        """`--why` adds the reasons in words."""
        out = " ".join(sqemu(*EXAMPLE, "--why").out.split())
        assert "tbuf 153088 instead of 125312, 27776 bytes more" in out
        assert "Why bucket dk 80 is above 64 and at most 80" in out

    def test_a_key_head_that_does_not_exist(self, sqemu):
        """Three key heads for eight value heads are told, since compile and op refuse them."""
        assert "would read key head 3 of 3" in sqemu(*BASE, "--dk", "80", "--hqk", "3").err

    def test_sums_that_wrap(self, sqemu):
        """A width that fits only because 32-bit sums wrap is told."""
        found = sqemu(*BASE, "--dk", str(1 << 30))
        assert found.code == 0
        assert "sums of this shape wrap" in found.err


class TestJson:
    def test_keys_and_values(self, sqemu):
        """The object has exactly the documented keys, in order, with integers."""
        (found,) = sqemu(*EXAMPLE, "--json").objects
        assert found == {
            "bucket": 80, "align_k": 80, "v_step": 80, "v_tiles": 1, "tiling_key": 1, "block_dim": 8,
            "out_queue": 12800, "tbuf": 125312, "rest_bytes": 249344, "workspace_need": 1253376,
            "workspace": 33554432, "tiling_data": HEX, "pad_size": 0, "num_chunks": 3, "path": "cube",
        }  # fmt: skip
        keys = (
            "bucket align_k v_step v_tiles tiling_key block_dim out_queue tbuf rest_bytes workspace_need workspace "
            "tiling_data pad_size num_chunks path"
        )
        assert " ".join(found) == keys

    def test_910b_has_the_same_keys(self, sqemu):
        """What the 910B operator does not derive is null."""
        (found,) = sqemu(
            *BASE, "--dk", "64", "--variant", "910b", "--scale", "1", "--chip", "ascend910b3", "--json"
        ).objects
        assert (found["bucket"], found["v_step"], found["tiling_key"], found["block_dim"]) == (None, None, 0, 20)
        assert len(found) == 15

    def test_reasons_and_map(self, sqemu):
        """With `--why` and `--map` more lines follow, an object each."""
        first, *more = sqemu(*EXAMPLE, "--json", "--why", "--map").objects
        assert first["bucket"] == 80
        assert {"bucket", "path"} <= {each["why"] for each in more if "why" in each}
        places = [each for each in more if "map" in each]
        assert {"map": "ub", "region": "chunkK", "offset": 12800, "size": 20480, "used": 20480} in places
        assert {"map": "workspace", "region": "states", "offset": 0, "size": 204800, "used": 204800} in places


class TestRefusals:
    def test_what_does_not_fit(self, sqemu):
        """Exit 1, and the message names the budget and the missing bytes: 183040 needed of 131072."""
        found = sqemu(*BASE, "--dk", "256", "--ub", "131072")
        assert (found.code, found.out) == (1, "")
        assert "no V tile fits into UB" in found.err
        assert "51968 more than the 131072" in found.err

    def test_as_json(self, sqemu):
        """The refusal is one object with budget and bytes as integers."""
        found = sqemu(*BASE, "--dk", "256", "--ub", "131072", "--json")
        assert found.code == 1
        assert (found.error["error"], found.error["budget"]) == ("tiling.does-not-fit", "UB")
        assert (found.error["over_bytes"], found.error["needed_bytes"]) == (51968, 183040)
        assert found.error["remedy"].startswith("use a smaller dk")

    @pytest.mark.parametrize(
        ("options", "said"),
        [(("--dk", "129", "--variant", "910b", "--scale", "1"), "Dk is 129, 1 more than the 128")],
    )
    def test_other_refusals(self, sqemu, options, said):
        """A limit of the 910B operator is refused with exit 1."""
        found = sqemu(*BASE, *options, "--json")
        assert (found.code, found.error["error"]) == (1, "tiling.refused")
        assert said in found.error["what"]


class TestUsage:
    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (("tiling", "cgdr", "--dk", "80"), "give --t, --hv, --dv"),
            ((*BASE,), "give --dk"),
            ((*BASE, "--dk", "0"), "not in the range"),
            ((*BASE, "--dk", "80", "--sweep", "dk=1..3"), "--dk and --sweep dk"),
            ((*BASE, "--sweep", "dk=1..3", "--why"), "about one shape"),
            ((*BASE, "--dk", "80", "--variant", "910b"), "give --scale"),
            ((*BASE, "--dk", "80", "--chunk-size", "32"), "always 64"),
            ((*BASE, "--dk", "80", "--variant", "1107"), "1107"),
            (("tiling", "other"), "other"),
            ((*BASE, "--dk", "80", "--chip", "ascend0"), "ascend0"),
        ],
    )
    def test_wrong_command_lines(self, sqemu, options, said):
        """What is missing, contradictory or unknown is said, with exit 2."""
        found = sqemu(*options)
        assert found.code == 2
        assert said in found.err

    @pytest.mark.parametrize(
        "sweep", ["dk", "dk=", "dk=3..1", "dk=1..9:0", "zz=1..3", "dk=0..3", "dk=a..b", "dk=1..8193",
                  "dk=1..9999999999", "scale=1..2", "dk=1,,2", "ub=0..9", "cores=0,1"],
    )  # fmt: skip
    def test_bad_sweeps(self, sqemu, sweep):
        """Each unreadable range is refused with the id that `sqemu explain` knows."""
        found = sqemu(*BASE, "--sweep", sweep, "--json")
        assert (found.code, found.error["error"]) == (2, "option.sweep")

    @pytest.mark.parametrize("value", ["0", "-1"])
    @pytest.mark.parametrize("option", ["t", "b", "hqk", "hv", "dk", "dv", "ub", "cores", "chunk-size"])
    def test_numbers_start_at_one(self, sqemu, option, value):
        """No size, count or figure of the platform may be zero or negative; exit 2 names the option."""
        found = sqemu(*BASE, "--dk", "80", f"--{option}", value)
        assert found.code == 2
        assert f"'--{option}'" in found.err

    @pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
    @pytest.mark.parametrize("more", [(), ("--json",)])
    def test_a_scale_that_is_no_number(self, sqemu, value, more):
        """The operator takes any float, so it is tiled; a note says what comes of it."""
        found = sqemu(*BASE, "--dk", "80", "--scale", value, *more)
        assert found.code == 0
        assert f"note: --scale {value}: " in found.err


class TestVariants:
    @pytest.mark.parametrize(
        ("variant", "tbuf", "key"),
        [("final", 125312, 1), ("three-bucket", 153088, 1), ("1108", 125056, 0), ("!1108", 125056, 0),
         ("first", 124736, 0)],
    )  # fmt: skip
    def test_tbuf_of_dk_80(self, sqemu, variant, tbuf, key):
        """Each version has its own budget for Dk = Dv = 80; the first two are published log values."""
        (found,) = sqemu(*BASE, "--dk", "80", "--variant", variant, "--json").objects
        assert (found["tbuf"], found["tiling_key"]) == (tbuf, key)

    def test_names_are_those_of_the_table(self):
        """The names that the command line knows are those of the versions."""
        from emu_plugins.cgdr.tiling_variants import ALIASES, VARIANTS

        assert tuple(VARIANTS) == _VARIANTS
        assert tuple(ALIASES) == _SPELLINGS

    def test_chunk_size_of_the_first(self, sqemu):
        """Variant first takes a chunk size, and says that it knows one sequence."""
        found = sqemu(*BASE, "--dk", "80", "--variant", "first", "--chunk-size", "32", "--b", "4", "--json")
        assert found.objects[0]["num_chunks"] == 6
        assert "one sequence only" in found.err

    def test_first_that_does_not_fit(self, sqemu):
        """Variant first goes on where nothing fits, and a note gives the bytes beyond UB."""
        found = sqemu(*BASE, "--dk", "600", "--variant", "first", "--map")
        assert found.code == 0
        assert "pass the end of UB by" in found.err
        assert "pass the end of UB by" in found.out

    def test_910b_text(self, sqemu):
        """The 910B tiling shows its workspace term by term; on a 310P a note says that it is not made for it."""
        found = sqemu(*BASE, "--dk", "64", "--variant", "910B", "--scale", "1", "--map", "--why")
        assert "Workspace, term by term" in found.out
        assert "108 bytes, then the matmul library's" in found.out
        assert "fused cores" in found.err


class TestDebugLineOfARun:
    def test_same_text_on_standard_error(self, sqemu, monkeypatch):
        """With CGDR_DEBUG_LOG=1 a run prints the line that `tiling` shows, at compile time and on the device."""
        case = ROOT / "tests/data/cgdr/c11_dk16_dv16_tiny_varlen.npz"
        shape = ("--t", "139", "--b", "3", "--hv", "2", "--dk", "16", "--dv", "16", "--g", "--scale", "0.25")
        shown = sqemu("tiling", "cgdr", *shape).out
        monkeypatch.setenv("CGDR_DEBUG_LOG", "1")
        found = sqemu("op", "cgdr", "--inputs", case)
        assert found.code == 0
        lines = [line for line in found.err.splitlines() if line.startswith("ChunkGatedDeltaRule tiling: ")]
        assert len(lines) == 2
        assert set(lines) == {line.strip() for line in shown.splitlines() if "tiling: " in line}


class TestSweep:
    def test_runs_of_equal_outcomes(self, sqemu):
        """Dk 1 to 256 is a row per bucket, and then one per 16 columns."""
        out = sqemu(*BASE, "--sweep", "dk=1..256").out
        firsts = [line.split()[0] for line in out.splitlines()[3:]]
        assert firsts[:6] == ["1..64", "65..80", "81..96", "97..128", "129..144", "145..160"]
        assert len(firsts) == 12

    def test_json_lines(self, sqemu):
        """Each value is an object: the swept number and the keys of a tiling."""
        found = sqemu(*BASE, "--sweep", "dk=63,64,65,79,80,81,95,96,97,127,128,129", "--json").objects
        assert [each["bucket"] for each in found] == [64, 64, 80, 80, 80, 96, 96, 96, 128, 128, 128, 0]
        assert list(found[0])[:2] == ["dk", "bucket"]
        assert found[0]["dk"] == 63

    @pytest.mark.parametrize(
        ("sweep", "key", "values"),
        [("hv=1..9:4", "block_dim", [1, 5, 8]), ("b=1,2", "workspace_need", [335872, 671744]),
         ("cores=1,2", "block_dim", [1, 1]), ("t=63..65", "num_chunks", [1, 1, 2])],
    )  # fmt: skip
    def test_other_numbers(self, sqemu, sweep, key, values):
        """Every dimension and platform figure can be swept; 25600 bytes of state and 131072 of staging per head."""
        given = {"--t": "192", "--hv": "1", "--dv": "80", "--dk": "80"}
        given.pop("--" + sweep.partition("=")[0], None)
        options = [part for pair in given.items() for part in pair]
        if sweep.startswith("b="):
            values = [25600 + 131072, 2 * (25600 + 131072)]
        found = sqemu("tiling", "cgdr", *options, "--sweep", sweep, "--json").objects
        assert [each[key] for each in found] == values

    def test_values_that_do_not_fit(self, sqemu):
        """Values that do not fit are shown with their bytes; the exit code is 0 as long as one fits."""
        found = sqemu(*BASE, "--dk", "256", "--sweep", "ub=131072,262144")
        assert found.code == 0
        assert "does not fit, over by 51968" in found.out
        lines = sqemu(*BASE, "--dk", "256", "--sweep", "ub=131072,262144", "--json").objects
        assert (lines[0]["ub"], lines[0]["over_bytes"], lines[1]["v_step"]) == (131072, 51968, 48)

    def test_notes_about_the_chip(self, sqemu):
        """A sweep says once that the 310P tiling on a 910B is as ported."""
        found = sqemu(*BASE, "--sweep", "dk=1..3", "--chip", "ascend910b3", "--json")
        assert len(found.objects) == 3
        assert found.err.count("note: ") == 1

    def test_nothing_fits(self, sqemu):
        """When no value fits the exit code is 1."""
        assert sqemu(*BASE, "--dk", "256", "--sweep", "ub=2048..4096:2048").code == 1

    def test_910b(self, sqemu):
        """The 910B tiling is swept over its workspace, and refuses what is beyond its limits."""
        out = sqemu(*BASE, "--variant", "910b", "--scale", "1", "--sweep", "dk=127..129").out
        assert "workspace used" in out
        assert "refused" in out.splitlines()[-1]
