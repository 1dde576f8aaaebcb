"""The whole layer on the device against float64, against transformers, and as files for the command."""

from __future__ import annotations

import json

import numpy as np
import pytest

from emu_core import PluginHost
from emu_plugins.accuracy import normalised_rms
from tools import cli

LIMIT = 2e-3
"""Normalised RMS. One rounding to float16 is 2.1e-4; the layer has about ten of them on the way to y."""


def test_prefill_and_decode_meet_the_definition(ran, example, layer_reference):
    """70 tokens, then one more from the states they left, are the layer computed token by token in float64."""
    sizes, (found, _) = example.Layer(), ran
    reference = layer_reference(sizes, example.weights(sizes))
    for name in ("gdn_prefill", "gdn_decode"):
        outputs = found[name]
        assert normalised_rms(outputs["y"], reference.run(outputs["hidden"])) < LIMIT
        assert normalised_rms(outputs["new_conv_state"][0], reference.window.T) < LIMIT
        assert normalised_rms(outputs["new_state"][0], reference.state.transpose(0, 2, 1)) < LIMIT


def test_one_token_without_its_states_is_something_else(ran, example, layer_reference):
    """The decoding step depends on both states: a layer without a past differs by far more than the limit."""
    sizes, (found, _) = example.Layer(), ran
    fresh = layer_reference(sizes, example.weights(sizes))
    assert normalised_rms(found["gdn_decode"]["y"], fresh.run(found["gdn_decode"]["hidden"])) > 100 * LIMIT


def test_the_files_run_with_the_command(ran, capsys):
    """`sqemu run` on the written graph and inputs gives the bytes that the script got."""
    found, folder = ran
    out = folder / "out.npz"
    files = [str(folder / "gdn_decode.json"), "--inputs", str(folder / "gdn_decode.npz"), "--outputs", str(out)]
    given = [] if "GdnLinear" in PluginHost().operators else ["--plugin", "emu_plugins.layer"]
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", *files, *given])
    assert ended.value.code == 0, capsys.readouterr()
    with np.load(out) as arrays:
        for name in ("y", "new_conv_state", "new_state"):
            assert arrays[name].tobytes() == found["gdn_decode"][name].tobytes()


@pytest.mark.parametrize("chip", ["ascend910b3", "ascend910_9362", "ascend950pr_9599"])
def test_chips_with_more_cores_than_there_are_tokens_for_give_the_same(ran, chip, tmp_path, capsys):
    """More blocks, some of them without a token; each token's arithmetic is that of its row alone."""
    found, folder = ran
    for name in ("gdn_prefill", "gdn_decode"):
        out = tmp_path / f"{name}.npz"
        files = [str(folder / f"{name}.json"), "--inputs", str(folder / f"{name}.npz"), "--outputs", str(out)]
        with pytest.raises(SystemExit) as ended:
            cli.main(["run", *files, "--chip", chip])
        assert ended.value.code == 0, capsys.readouterr()
        with np.load(out) as arrays:
            assert normalised_rms(arrays["y"], found[name]["y"]) < 1e-3


def test_the_graph_of_the_docs_is_the_one_the_script_makes(ran, example):
    """docs/examples/gdn_prefill.json is the prefill graph, byte for byte."""
    _, folder = ran
    shown = (example.Path(example.__file__).parent / "gdn_prefill.json").read_bytes()
    assert shown == (folder / "gdn_prefill.json").read_bytes()
    assert json.loads(shown)["constants"][0]["data"] == {"npz": "gdn_weights.npz", "key": "in_proj_qkvz"}


@pytest.mark.filterwarnings("ignore")
def test_against_the_layer_of_transformers(ran, example):
    """Prefill and decode are 71 tokens of transformers' Qwen3NextGatedDeltaNet with the same weights, in float32."""
    torch = pytest.importorskip("torch")
    config_module = pytest.importorskip("transformers.models.qwen3_next.configuration_qwen3_next")
    modeling = pytest.importorskip("transformers.models.qwen3_next.modeling_qwen3_next")
    sizes, (found, _) = example.Layer(), ran
    config = config_module.Qwen3NextConfig(
        hidden_size=sizes.hidden, linear_num_key_heads=sizes.key_heads, linear_num_value_heads=sizes.value_heads,
        linear_key_head_dim=sizes.key_width, linear_value_head_dim=sizes.value_width,
        linear_conv_kernel_dim=sizes.taps, rms_norm_eps=sizes.eps, num_hidden_layers=1, hidden_act="silu",
    )  # fmt: skip
    theirs = modeling.Qwen3NextGatedDeltaNet(config, 0).float().eval()
    names = {
        "in_proj_qkvz": "in_proj_qkvz.weight", "in_proj_ba": "in_proj_ba.weight", "conv1d": "conv1d.weight",
        "a_log": "A_log", "dt_bias": "dt_bias", "norm": "norm.weight", "out_proj": "out_proj.weight",
    }  # fmt: skip
    arrays = {names[key]: torch.from_numpy(array.astype(np.float32)) for key, array in example.weights(sizes).items()}
    arrays["conv1d.weight"] = arrays["conv1d.weight"][:, None]
    theirs.load_state_dict(arrays)
    runs = [found[name] for name in ("gdn_prefill", "gdn_decode")]
    hidden = np.concatenate([run["hidden"] for run in runs]).astype(np.float32)
    with torch.no_grad():
        expected = theirs(torch.from_numpy(hidden)[None])[0].numpy()
    assert normalised_rms(runs[0]["y"], expected[:-1]) < LIMIT
    assert normalised_rms(runs[1]["y"], expected[-1:]) < LIMIT
