"""Policies: declared once, checked by name and value, with a scope."""

from __future__ import annotations

import pytest

from emu_core.errors import OptionError, PluginError
from emu_core.policies import CORE_POLICIES, PolicySet, PolicySpec, Scope

SPECS = (
    PolicySpec("order", Scope.COMPILE, "a", ("a", "b"), "which order"),
    PolicySpec("depth", Scope.DEVICE, "seed", ("seed", "platform"), "how deep", number=True, largest=4096),
    PolicySpec("seconds", Scope.DEVICE, "0", (), "how long", number=True, largest=60),
)


def test_defaults_hold_until_a_value_is_given():
    """Reading a policy gives the value in force."""
    policies = PolicySet(SPECS, {"depth": "9"})
    assert [policies[name] for name in ("order", "depth", "seconds")] == ["a", "9", "0"]
    assert [spec.name for spec in policies] == ["order", "depth", "seconds"]


def test_an_unknown_name_is_answered_with_the_near_one():
    """The user can copy the right one from the message; where none is near, it says who lists them."""
    with pytest.raises(OptionError, match="there is no policy 'dept'") as caught:
        PolicySet(SPECS, {"dept": "9"})
    assert caught.value.id == "policy.unknown"
    assert caught.value.remedy == "did you mean depth?"
    with pytest.raises(OptionError, match="`sqemu policies` lists them"):
        PolicySet(SPECS, {"xyzzy": "9"})


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("order", "c", "use a or b"),
        ("order", "", "use a or b"),
        ("order", "1", "use a or b"),
        ("depth", "4097", "use seed, platform or a number from 0 to 4096"),
        ("depth", "-1", "use seed, platform or a number from 0 to 4096"),
        ("depth", "٣", "use seed, platform or a number from 0 to 4096"),
        ("depth", "1e3", "use seed, platform or a number from 0 to 4096"),
        ("depth", "9" * 5000, "use seed, platform or a number from 0 to 4096"),
        ("depth", True, "use seed, platform or a number from 0 to 4096"),
        ("seconds", "seed", "use a number from 0 to 60"),
    ],
)
def test_a_bad_value_says_which_are_allowed(name, value, remedy):
    """Numbers are ASCII digits within the limit; everything else must be one of the words."""
    with pytest.raises(OptionError, match="is not allowed") as caught:
        PolicySet(SPECS, {name: value})
    assert (caught.value.id, caught.value.where, caught.value.remedy) == ("policy.value", f"policy {name}", remedy)


def test_an_integer_stands_for_its_digits():
    """Python callers may give the number itself."""
    assert PolicySet(SPECS, {"depth": 8})["depth"] == "8"


def test_given_tells_scopes_apart():
    """Only what was given explicitly is listed, by scope or all."""
    policies = PolicySet(SPECS, {"depth": "platform", "order": "a"})
    assert policies.given() == {"depth": "platform", "order": "a"}
    assert policies.given(Scope.COMPILE) == {"order": "a"}
    assert policies.given(Scope.LOAD) == {}


def test_with_values_makes_a_new_set():
    """The old set stays as it was."""
    first = PolicySet(SPECS, {"depth": "3"})
    second = first.with_values({"order": "b"})
    assert (first["order"], second["order"], second["depth"]) == ("a", "b", "3")


def test_a_name_declared_twice_is_a_plugin_error():
    """Two plugins cannot own one policy."""
    with pytest.raises(PluginError, match="policy order is declared twice") as caught:
        PolicySet((*SPECS, SPECS[0]))
    assert caught.value.id == "plugin.policy-clash"


def test_core_policies_are_of_device_scope_and_allow_their_default():
    """The names and defaults of the machine's own policies."""
    assert {spec.name: spec.check(spec.default) for spec in CORE_POLICIES} == {
        "prefetch_depth": "seed",
        "nop_model": "window",
        "stale_prefetch": "execute_copy",
        "context_preload": "start",
        "uninitialised_read": "hazard",
        "reexecute_keeps_patch": "on",
        "event_wait_timeout_s": "0",
        "ordering": "off",
        "block_order": "fifo",
        "failure_mode": "continue",
        "completion_reader": "prompt",
    }
    assert {spec.scope for spec in CORE_POLICIES} == {Scope.DEVICE}


def test_every_declared_policy_has_a_legal_default_and_a_summary(host):
    """Holds for the policies of all installed plugins."""
    for spec in host.policy_specs:
        assert spec.check(spec.default) == spec.default
        assert spec.summary
