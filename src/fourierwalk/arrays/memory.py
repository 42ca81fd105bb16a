"""The total and the free memory of the machine and of a GPU."""

from __future__ import annotations

from typing import Any

import array_api_compat as compat

from fourierwalk.arrays.library import is_remote


def accelerator_bytes(values: Any) -> int | None:
    """The total memory of the GPU that holds the values; None if they are not on a GPU."""
    if compat.is_torch_array(values) and values.device.type == "cuda":
        import torch

        return int(torch.cuda.get_device_properties(values.device).total_memory)
    if compat.is_cupy_array(values):
        return int(values.device.mem_info[1])
    return None


def accelerator_free_bytes(values: Any) -> float:
    """The free memory of the values' device, with the memory that the array library holds for reuse."""
    if not is_remote(values):
        return free_bytes()
    if compat.is_cupy_array(values):
        import cupy

        return float(values.device.mem_info[0] + cupy.get_default_memory_pool().free_bytes())
    import torch

    held = torch.cuda.memory_reserved(values.device) - torch.cuda.memory_allocated(values.device)
    return float(torch.cuda.mem_get_info(values.device)[0] + held)


def free_bytes() -> float:
    """The free memory of this machine; 4 GB if the machine does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            return 1024.0 * next(int(line.split()[1]) for line in file if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return 4e9
