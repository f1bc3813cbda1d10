# SPDX-License-Identifier: Apache-2.0
"""Gives PyTorch's own parser random settings strings and writes down the results, for settings_comparison.h.

Each line: "refused", or the values that a snapshot contains, a tab, the string. Brackets in lists are always correct, because PyTorch
ignores stray ones and we refuse them.
"""
import random
from typing import Any, Callable, List

NUMBERS = ("0", "1", "2", "3", "7", "8", "16", "19", "20", "21", "32", "64", "100", "128", "1024", "2048", "64MB", "-1", "+32", "1.5", "x", "",
           "0x40", "131072", "2147483648", "99999999999999999999")
FRACTIONS = ("0", "0.1", ".5", "0.99", "1", "1.0", "1.1", "-0.1", "5e-1", "nan", "inf", "0.5x", "x", "", "1e-400")
TRUTHS = ("True", "True", "False", "False", "true", "0", "")
COMMON = {"max_split_size_mb": NUMBERS, "garbage_collection_threshold": FRACTIONS, "expandable_segments": TRUTHS, "backend": ("native", "x"),
          "release_lock_on_cudamalloc": TRUTHS, "release_lock_on_hipmalloc": TRUTHS, "pinned_use_cuda_host_register": TRUTHS,
          "pinned_use_hip_host_register": TRUTHS, "pinned_num_register_threads": NUMBERS, "pinned_use_background_threads": TRUTHS,
          "max_non_split_rounding_mb": NUMBERS, "roundup_power2_divisions": NUMBERS, "roundup_bypass_threshold_mb": NUMBERS,
          "max_split_size": NUMBERS, "foo": TRUTHS}
NEWER = {"large_segment_size_mb": NUMBERS, "per_process_memory_fraction": FRACTIONS, "graph_capture_record_stream_reuse": TRUTHS,
         "throw_on_cudamalloc_oom": TRUTHS, "pinned_reserve_segment_size_mb": NUMBERS, "pinned_max_round_threshold_mb": NUMBERS,
         "pinned_max_cached_size_mb": NUMBERS, "pinned_free_catch_all": TRUTHS, "expandable_segments_reserve": ("0.5", "40G", "x"),
         "expandable_segments_reserve_by_class": ("[a:0.5]", "[a:0.5,b:40G]", "[]", "[a:x]")}
RESET = "expandable_segments:False,release_lock_on_cudamalloc:False,max_non_split_rounding_mb:32"


def divisions(r: random.Random) -> str:
    entries = []
    for _ in range(r.randrange(5)):
        key = r.choice(("1", "4", "64", "256", "1024", "65536", "131072", ">", ">", "3", "0", "x"))
        entries.append(key + ":" + r.choice(("0", "1", "2", "4", "8", "16", "3", "8x", "")))
    return "[" + ",".join(entries) + r.choice(("]", "]", "]", "]", "]", ",]"))


def settings(r: random.Random, newest: bool) -> str:
    known = {**COMMON, **NEWER} if newest else {**COMMON, "large_segment_size_mb": NUMBERS}
    entries = []
    for _ in range(r.choice((1, 1, 1, 2, 3, 4))):
        key = r.choice(sorted(known))
        value = divisions(r) if key == "roundup_power2_divisions" and r.random() < 0.7 else r.choice(known[key])
        entries.append(key + r.choice((":", ":", ":", ":", ":", ":", ":", " : ", "=")) + value)
    text = r.choice((",", ",", ",", ",", ",", ",", ", ", ",,", " ")).join(entries)
    return text + r.choice(("", "", "", "", "", ",", " "))


def values(told: Any) -> str:
    listed: List[Any] = [told["max_split_size"], f"{told['garbage_collection_threshold']:.17g}", int(told["expandable_segments"]),
                         int(told["release_lock_on_cudamalloc"])]
    listed += [told["roundup_power2_divisions"][str(1 << bucket)] for bucket in range(16)]
    return " ".join(str(value) for value in listed)


def write(path: str, seed: int, count: int, newest: bool, change: Callable[[str], None], tell: Callable[[], Any]) -> None:
    """`change` passes a string to PyTorch, which raises if it refuses it. `tell` returns the settings as PyTorch's snapshots contain them."""
    r = random.Random(seed)
    reset = RESET + (",large_segment_size_mb:20" if newest else "")
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(count):
            # A refused string may have changed some settings before the error. After this reset, all of them are known again.
            change(reset)
            file.write(f"{values(tell())}\t{reset}\n")
            text = settings(r, newest)
            try:
                change(text)
                told = values(tell())
            except (ValueError, RuntimeError, IndexError):
                told = "refused"
            file.write(f"{told}\t{text}\n")
