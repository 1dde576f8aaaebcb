"""The machine, and the public Python API of the product.

Everything a user or a plugin author imports is named here; names are resolved on first use, so that
importing the package is cheap.

>>> from emu_core import Device, compile_graph
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import formats as _formats

if not getattr(_formats, "IS_SQEMU", False):
    raise ImportError(
        f"emu_core needs the package 'formats' of sqemu, but 'formats' is {_formats.__file__}; "
        "remove that file from the Python path, or install sqemu in an environment of its own"
    )

if TYPE_CHECKING:
    from emu_core.api import compile_graph as compile_graph
    from emu_core.api import compile_with_report as compile_with_report
    from emu_core.checks import CheckSpec as CheckSpec
    from emu_core.checks import Finding as Finding
    from emu_core.checks import Level as Level
    from emu_core.chips import Chip as Chip
    from emu_core.chips import Latencies as Latencies
    from emu_core.cores import CorePool as CorePool
    from emu_core.cores import Demand as Demand
    from emu_core.deprecations import PluginDeprecationWarning as PluginDeprecationWarning
    from emu_core.device import Device as Device
    from emu_core.engines import Effect as Effect
    from emu_core.engines import Handler as Handler
    from emu_core.engines import Launch as Launch
    from emu_core.engines import Limit as Limit
    from emu_core.engines import Outcome as Outcome
    from emu_core.engines import Run as Run
    from emu_core.engines import Task as Task
    from emu_core.engines import Wait as Wait
    from emu_core.errors import DeviceFault as DeviceFault
    from emu_core.errors import EmulatorBug as EmulatorBug
    from emu_core.errors import GraphError as GraphError
    from emu_core.errors import InputError as InputError
    from emu_core.errors import LimitError as LimitError
    from emu_core.errors import OptionError as OptionError
    from emu_core.errors import PluginError as PluginError
    from emu_core.errors import Problem as Problem
    from emu_core.errors import Refusal as Refusal
    from emu_core.errors import SqemuError as SqemuError
    from emu_core.extensions import CommandSpec as CommandSpec
    from emu_core.extensions import DumpEntry as DumpEntry
    from emu_core.extensions import DumpView as DumpView
    from emu_core.extensions import ImporterSpec as ImporterSpec
    from emu_core.extensions import Observed as Observed
    from emu_core.extensions import ObserverSpec as ObserverSpec
    from emu_core.extensions import PassInput as PassInput
    from emu_core.extensions import PassSpec as PassSpec
    from emu_core.graph import Compiled as Compiled
    from emu_core.graph import CompileOptions as CompileOptions
    from emu_core.graph import TaskBlob as TaskBlob
    from emu_core.hookspecs import hookimpl as hookimpl
    from emu_core.journal import JournalEntry as JournalEntry
    from emu_core.journal import Writer as Writer
    from emu_core.kernels import AicpuKernelSpec as AicpuKernelSpec
    from emu_core.kernels import AicpuLaunch as AicpuLaunch
    from emu_core.kernels import CoreType as CoreType
    from emu_core.kernels import Cost as Cost
    from emu_core.kernels import KernelLaunch as KernelLaunch
    from emu_core.kernels import KernelSpec as KernelSpec
    from emu_core.kernels import Mix as Mix
    from emu_core.kernels import MixType as MixType
    from emu_core.kernels import PipeUse as PipeUse
    from emu_core.model import Model as Model
    from emu_core.model import Port as Port
    from emu_core.model import Result as Result
    from emu_core.operators import Arrays as Arrays
    from emu_core.operators import AttrSpec as AttrSpec
    from emu_core.operators import AttrValue as AttrValue
    from emu_core.operators import Case as Case
    from emu_core.operators import InputSpec as InputSpec
    from emu_core.operators import OperatorSpec as OperatorSpec
    from emu_core.operators import OutputSpec as OutputSpec
    from emu_core.operators import Placement as Placement
    from emu_core.operators import ShapeError as ShapeError
    from emu_core.operators import TensorInfo as TensorInfo
    from emu_core.origin import Origin as Origin
    from emu_core.plans import Acts as Acts
    from emu_core.plans import Clears as Clears
    from emu_core.plans import Fixed as Fixed
    from emu_core.plans import Holds as Holds
    from emu_core.plans import Sets as Sets
    from emu_core.plans import Waits as Waits
    from emu_core.plugins import PluginHost as PluginHost
    from emu_core.policies import PolicySpec as PolicySpec
    from emu_core.policies import Scope as Scope
    from emu_core.reports import Deadlock as Deadlock
    from emu_core.reports import Fault as Fault
    from emu_core.reports import Hazard as Hazard
    from emu_core.signals import Signal as Signal
    from emu_core.streams import Stream as Stream
    from emu_core.tiling import PlatformInfo as PlatformInfo
    from emu_core.tiling import StorageShape as StorageShape
    from emu_core.tiling import TensorDesc as TensorDesc
    from emu_core.tiling import TilingContext as TilingContext
    from emu_core.tiling import TilingError as TilingError
    from emu_core.tiling import TilingFunction as TilingFunction
    from emu_core.trace import EVENTS as EVENTS
    from emu_core.trace import Trace as Trace
    from emu_core.trace import drain as drain

_HOMES = {
    "api": "compile_graph compile_with_report",
    "checks": "CheckSpec Finding Level",
    "chips": "Chip Latencies",
    "cores": "CorePool Demand",
    "deprecations": "PluginDeprecationWarning",
    "device": "Device",
    "engines": "Effect Handler Launch Limit Outcome Run Task Wait",
    "errors": (
        "DeviceFault EmulatorBug GraphError InputError LimitError OptionError PluginError Problem Refusal SqemuError"
    ),
    "extensions": "CommandSpec DumpEntry DumpView ImporterSpec Observed ObserverSpec PassInput PassSpec",
    "graph": "Compiled CompileOptions TaskBlob",
    "hookspecs": "hookimpl",
    "journal": "JournalEntry Writer",
    "kernels": "AicpuKernelSpec AicpuLaunch CoreType Cost KernelLaunch KernelSpec Mix MixType PipeUse",
    "model": "Model Port Result",
    "operators": "Arrays AttrSpec AttrValue Case InputSpec OperatorSpec OutputSpec Placement ShapeError TensorInfo",
    "origin": "Origin",
    "plans": "Acts Clears Fixed Holds Sets Waits",
    "plugins": "PluginHost",
    "policies": "PolicySpec Scope",
    "reports": "Deadlock Fault Hazard",
    "signals": "Signal",
    "streams": "Stream",
    "tiling": "PlatformInfo StorageShape TensorDesc TilingContext TilingError TilingFunction",
    "trace": "EVENTS Trace drain",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)  # noqa: PLE0605 - derived from the table above; a test pins the names


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the attribute's own type
    """Import the module a public name lives in, on first use."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'emu_core' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"emu_core.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Public names."""
    return sorted(_HOME_OF)
