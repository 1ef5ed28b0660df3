"""The C library, by ctypes: its structs, and its functions with their types."""

from __future__ import annotations

import ctypes
import os
import pathlib
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_char, c_char_p, c_double, c_int,
                    c_int64, c_size_t, c_ubyte, c_uint64, c_void_p)

SONAME = "libespalier.so.0"


class EspalierError(Exception):
    """What the library refused, in one sentence. `status` is its code."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Err(Structure):
    _fields_ = [("status", c_int), ("text", c_char * 512)]


class NodeSpec(Structure):
    _fields_ = [("name", c_char_p), ("site", c_char_p), ("kind", c_int),
                ("send_s", c_double), ("recv_s", c_double)]


class ReadOptions(Structure):
    _fields_ = [("size", c_size_t), ("format", c_int), ("bandwidth_path", c_char_p),
                ("model", c_int), ("switches", c_char_p), ("rate_unit", c_char_p),
                ("undirected", c_int), ("link_Bps", c_double)]


class Edge(Structure):
    _fields_ = [("source", c_int), ("target", c_int), ("first_hop", c_int),
                ("n_hops", c_int)]


class Tree(Structure):
    _fields_ = [("weight", c_double), ("root", c_int), ("n_targets", c_int),
                ("targets", POINTER(c_int)), ("n_edges", c_int), ("edges", POINTER(Edge)),
                ("steps", POINTER(c_int)), ("n_hops", c_int), ("hops", POINTER(c_int))]


class Plan(Structure):
    _fields_ = [("op", c_int), ("root", c_int), ("n_targets", c_int),
                ("targets", POINTER(c_int)), ("algo", c_char_p), ("size_bytes", c_double),
                ("slice_bytes", c_double), ("throughput_Bps", c_double),
                ("makespan_s", c_double), ("bound_Bps", c_double), ("plan_s", c_double),
                ("redundant", c_int), ("patience", c_double), ("n_trees", c_int),
                ("trees", POINTER(Tree)), ("schedule", c_void_p),
                ("makespan_bound_s", c_double)]


class Request(Structure):
    _fields_ = [("size", c_size_t), ("op", c_int), ("root", c_int),
                ("targets", POINTER(c_int)), ("n_targets", c_int), ("algo", c_char_p),
                ("size_bytes", c_double), ("slice_bytes", c_double), ("seed", c_uint64),
                ("budget_s", c_double), ("judge", c_void_p), ("judge_arg", c_void_p)]


class BoundOptions(Structure):
    _fields_ = [("size", c_size_t), ("method", c_int), ("gap", c_double),
                ("time_limit_s", c_double), ("what_if", c_int), ("progress", c_void_p),
                ("progress_arg", c_void_p), ("makespan", c_int)]


class Bottleneck(Structure):
    _fields_ = [("kind", c_int), ("owner", c_int), ("price", c_double), ("text", c_char_p)]


class WhatIf(Structure):
    _fields_ = [("kind", c_int), ("owner", c_int), ("estimate", c_double),
                ("gain", c_double), ("text", c_char_p)]


class Bound(Structure):
    _fields_ = [("throughput_Bps", c_double), ("slices_per_s", c_double),
                ("slice_bytes", c_double), ("reached_Bps", c_double), ("gap", c_double),
                ("solve_s", c_double), ("exact", c_int), ("reachable", c_int),
                ("n_trees", c_int), ("n_bottlenecks", c_int),
                ("bottlenecks", POINTER(POINTER(Bottleneck))), ("n_cut", c_int),
                ("cut", POINTER(c_int)), ("n_what_if", c_int),
                ("what_if", POINTER(POINTER(WhatIf))), ("text", c_char_p),
                ("makespan_s", c_double)]


class SimTransfer(Structure):
    _fields_ = [("source", c_int), ("target", c_int), ("tree", c_int), ("slice", c_int64),
                ("start_s", c_double), ("end_s", c_double), ("lost", c_int)]


OnTransfer = CFUNCTYPE(None, c_void_p, POINTER(SimTransfer))


class SimOptions(Structure):
    _fields_ = [("size", c_size_t), ("reality", c_void_p), ("size_bytes", c_double),
                ("slice_bytes", c_double), ("sharing", c_int), ("changes", c_void_p),
                ("n_changes", c_int), ("stops", c_void_p), ("n_stops", c_int),
                ("alpha_s", c_double), ("alpha", c_double), ("policy", c_int),
                ("resume", c_int), ("patience", c_double), ("timeout", c_double),
                ("no_repair", c_int), ("on_transfer", OnTransfer), ("arg", c_void_p),
                ("budget_s", c_double), ("progress", c_void_p), ("progress_arg", c_void_p)]


class SimResource(Structure):
    _fields_ = [("text", c_char_p), ("busy_s", c_double), ("utilisation", c_double)]


class SimResult(Structure):
    _fields_ = [("makespan_s", c_double), ("throughput_Bps", c_double), ("n_nodes", c_int),
                ("delivered_s", POINTER(c_double)), ("is_for", POINTER(c_ubyte)),
                ("n_for", c_int), ("lost", c_int), ("events", c_uint64),
                ("transfers", c_uint64), ("covered", c_int), ("raced_s", c_double),
                ("adopted", c_int), ("pauses", c_uint64), ("switches", c_uint64),
                ("n_resources", c_int), ("resources", POINTER(POINTER(SimResource)))]


# name: (result, arguments); those that give a status have `Err` as their last argument,
# and it is ours to hand over.
_STATUS = "status"
_P = c_void_p
_FUNCTIONS = {
    "esp_version": (c_char_p, []),
    "esp_builder_create": (_STATUS, [POINTER(_P)]),
    "esp_builder_free": (None, [_P]),
    "esp_builder_set_name": (_STATUS, [_P, c_char_p]),
    "esp_builder_set_model": (None, [_P, c_int]),
    "esp_builder_add_node": (_STATUS, [_P, POINTER(NodeSpec), POINTER(c_int)]),
    "esp_builder_add_link": (_STATUS, [_P, c_int, c_int, c_double, c_double,
                                       POINTER(c_int)]),
    "esp_builder_add_cable": (_STATUS, [_P, c_char_p, c_double, POINTER(c_int), c_int]),
    "esp_builder_build": (_STATUS, [_P, POINTER(_P)]),
    "esp_platform_free": (None, [_P]),
    "esp_platform_name": (c_char_p, [_P]),
    "esp_platform_model": (c_int, [_P]),
    "esp_platform_node_count": (c_int, [_P]),
    "esp_platform_link_count": (c_int, [_P]),
    "esp_platform_node_name": (c_char_p, [_P, c_int]),
    "esp_platform_node_site": (c_char_p, [_P, c_int]),
    "esp_platform_node_kind": (c_int, [_P, c_int]),
    "esp_platform_find_node": (c_int, [_P, c_char_p]),
    "esp_platform_link_from": (c_int, [_P, c_int]),
    "esp_platform_link_to": (c_int, [_P, c_int]),
    "esp_platform_link_latency_s": (c_double, [_P, c_int]),
    "esp_platform_link_bandwidth_Bps": (c_double, [_P, c_int]),
    "esp_platform_with_model": (_STATUS, [_P, c_int, POINTER(_P)]),
    "esp_platform_write": (_STATUS, [_P, c_char_p]),
    "esp_platform_read": (_STATUS, [c_char_p, POINTER(ReadOptions), POINTER(_P)]),
    "esp_platform_parse": (_STATUS, [c_char_p, c_size_t, c_char_p, POINTER(ReadOptions),
                                     POINTER(_P)]),
    "esp_platform_equal": (c_int, [_P, _P]),
    "esp_read_options_defaults_sized": (None, [POINTER(ReadOptions), c_size_t]),
    "esp_format_parse": (c_int, [c_char_p, POINTER(c_int)]),
    "esp_model_name": (c_char_p, [c_int]),
    "esp_model_parse": (c_int, [c_char_p, POINTER(c_int)]),
    "esp_op_name": (c_char_p, [c_int]),
    "esp_op_parse": (c_int, [c_char_p, POINTER(c_int)]),
    "esp_request_init_sized": (None, [POINTER(Request), c_size_t, c_int]),
    "esp_plan_make": (_STATUS, [_P, POINTER(Request), POINTER(POINTER(Plan))]),
    "esp_plan_free": (None, [POINTER(Plan)]),
    "esp_plan_read": (_STATUS, [c_char_p, _P, POINTER(POINTER(Plan))]),
    "esp_plan_write": (_STATUS, [POINTER(Plan), _P, c_char_p]),
    "esp_algorithm_count": (c_int, []),
    "esp_algorithm_name": (c_char_p, [c_int]),
    "esp_algorithm_family": (c_char_p, [c_int]),
    "esp_algorithm_summary": (c_char_p, [c_int]),
    "esp_algorithm_serves": (c_int, [c_int, c_int, c_int]),
    "esp_algorithm_applies": (c_int, [c_int, _P]),
    "esp_bound_options_defaults_sized": (None, [POINTER(BoundOptions), c_size_t]),
    "esp_bound_compute": (_STATUS, [_P, POINTER(Request), POINTER(BoundOptions),
                                    POINTER(POINTER(Bound))]),
    "esp_bound_free": (None, [POINTER(Bound)]),
    "esp_sim_options_defaults_sized": (None, [POINTER(SimOptions), c_size_t]),
    "esp_simulate": (_STATUS, [_P, POINTER(Plan), POINTER(SimOptions),
                               POINTER(POINTER(SimResult))]),
    "esp_sim_result_free": (None, [POINTER(SimResult)]),
    "esp_trace_create": (_STATUS, [POINTER(_P)]),
    "esp_trace_free": (None, [_P]),
    "esp_trace_add": (_STATUS, [_P, _P, c_char_p]),
    "esp_trace_changes": (_P, [_P, POINTER(c_int)]),
    "esp_trace_stops": (_P, [_P, POINTER(c_int)]),
    "esp_picture_write": (_STATUS, [_P, POINTER(Plan), c_char_p, c_char_p]),
}


def _beside() -> list[str]:
    """Where an installation has the library: LIB/python3/dist-packages/espalier is ours."""
    lib_folder = pathlib.Path(__file__).resolve().parents[3]
    return [str(path) for pattern in (SONAME, "*/" + SONAME)
            for path in sorted(lib_folder.glob(pattern))]


def _open() -> ctypes.CDLL:
    named = os.environ.get("ESPALIER_LIBRARY")
    for name in [named] if named else [*_beside(), SONAME]:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            why = error
    raise ImportError(f"cannot load the library of espalier ({why}): install it, or name "
                      "the file in ESPALIER_LIBRARY")


class _Functions:
    """The functions by their names; those that fail raise EspalierError."""

    def __init__(self) -> None:
        library = _open()
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(library, name)
            if result == _STATUS:
                function.restype, function.argtypes = c_int, [*arguments, POINTER(Err)]
                function = self._raising(function)
            else:
                function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    @staticmethod
    def _raising(function):
        def call(*arguments) -> None:
            err = Err()
            status = function(*arguments, byref(err))
            if status:
                raise EspalierError(status, err.text.decode("utf-8", "replace"))
        return call


lib = _Functions()
