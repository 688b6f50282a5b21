#!/usr/bin/env python3
"""Times merge methods as PyTorch kernels beside plait, on the same checkpoints, one thread; see README.md.

The kernels are written from the published formulas and, as the usual tools do, make one pass over memory per operation,
in the element type of the checkpoints.
"""
import argparse
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

import torch  # noqa: E402  the variables have to be set before

TYPES = {"F32": torch.float32, "BF16": torch.bfloat16, "F16": torch.float16}
WEIGHTS = [0.6, 0.4]


def save(path, name, tensor):
    type_name = next(n for n, t in TYPES.items() if t == tensor.dtype)
    data = tensor.contiguous().view(torch.int16 if tensor.element_size() == 2 else torch.int32).numpy().tobytes()
    header = json.dumps({name: {"dtype": type_name, "shape": list(tensor.shape), "data_offsets": [0, len(data)]}})
    header += " " * (-len(header) % 8)
    path.write_bytes(struct.pack("<Q", len(header)) + header.encode() + data)


def load(path, name):
    data = bytearray(path.read_bytes())
    (length,) = struct.unpack_from("<Q", data)
    entry = json.loads(data[8 : 8 + length])[name]
    begin, end = entry["data_offsets"]
    words = torch.frombuffer(data, dtype=torch.uint8, offset=8 + length + begin, count=end - begin)
    return words.view(TYPES[entry["dtype"]]).view(entry["shape"])


def deltas(base, models):
    return [m - base for m in models]


def weighted(parts):
    stacked = torch.stack(parts)
    weights = torch.tensor(WEIGHTS, dtype=stacked.dtype).view(-1, *[1] * parts[0].dim())
    return stacked * weights, weights


def agreeing(parts):
    """The mean of what has the elected sign."""
    weights = torch.tensor(WEIGHTS if len(parts) == 2 else [1.0] * len(parts), dtype=parts[0].dtype)
    weights = weights.view(-1, *[1] * parts[0].dim())
    stacked = torch.stack(parts) * weights
    majority = (stacked.sum(dim=0) >= 0).to(stacked.dtype) * 2 - 1
    mask = stacked.sign() == majority
    total = (stacked * mask).sum(dim=0)
    divisor = (weights * mask).sum(dim=0)
    divisor[divisor == 0] = 1
    return total / divisor


def keep_ranks(delta, first, last):
    """Zero all but the elements from the first-th largest magnitude to before the last-th."""
    magnitudes = delta.abs().view(-1)
    if magnitudes.dtype == torch.bfloat16:
        magnitudes = magnitudes.float()
    order = torch.argsort(magnitudes, descending=True)
    mask = torch.zeros_like(magnitudes)
    mask[order[first:last]] = 1
    return delta * mask.view(delta.shape).to(delta.dtype)


def same_sum(before, after):
    l1_before, l1_after = before.abs().sum(), after.abs().sum()
    return after * (l1_before / l1_after) if l1_before > 1e-7 and l1_after > 1e-7 else after


def average(_, models):
    stacked = torch.stack(models)
    weights = torch.ones(len(models), dtype=stacked.dtype).view(-1, *[1] * models[0].dim())
    return (stacked * weights).sum(dim=0) / weights.sum(dim=0)


def task_arithmetic(base, models):
    return base + weighted(deltas(base, models))[0].sum(dim=0)


def ties(base, models):
    kept = int(0.2 * base.numel())
    return base + agreeing([keep_ranks(d, 0, kept) for d in deltas(base, models)])


def breadcrumbs(base, models):
    kept, dropped = int(0.9 * base.numel()), int(0.01 * base.numel())
    return base + weighted([keep_ranks(d, dropped, dropped + kept) for d in deltas(base, models)])[0].sum(dim=0)


def drop(delta, probability):
    mask = torch.bernoulli(probability)
    return same_sum(delta, delta * mask.to(delta.dtype))


def dare(base, models):
    parts = [drop(d, torch.full(d.shape, 0.5, dtype=torch.float32)) for d in deltas(base, models)]
    return base + torch.stack(parts).sum(dim=0)


def della(base, models):
    parts = []
    for d in deltas(base, models):
        order = torch.argsort(d.abs().float(), dim=1)
        ranks = torch.zeros(d.shape, dtype=torch.float32)
        ranks.scatter_(1, order, torch.arange(d.shape[1], dtype=torch.float32).expand(d.shape))
        parts.append(drop(d, 0.35 + 0.3 * ranks / (d.shape[1] - 1)))
    return base + agreeing(parts)


METHODS = [average, task_arithmetic, ties, breadcrumbs, dare, della]
RANDOM = {"dare", "della"}  # their masks differ, so that results cannot be compared element by element


def best_ms(method, base, models, repeats):
    best, result = math.inf, None
    for _ in range(repeats):
        start = time.process_time()
        result = method(base, models)
        best = min(best, time.process_time() - start)
    return 1e3 * best, result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", help="the program merge_peer")
    parser.add_argument("--rows", type=int, default=2048)
    parser.add_argument("--cols", type=int, default=4096)
    parser.add_argument("--types", nargs="+", default=["F32", "BF16"], choices=list(TYPES))
    parser.add_argument("--rounds", type=int, default=3, help="of plait and PyTorch in turn; the best counts")
    options = parser.parse_args()
    torch.set_num_threads(1)
    is_wrong = False
    print(f"PyTorch {torch.__version__}, {options.rows} x {options.cols}, 2 models and a base, CPU ms, one thread")
    print(f"{'':24}{'plait':>10}{'PyTorch':>10}{'ratio':>8}")
    for type_name in options.types:
        torch.manual_seed(1)
        base = torch.randn(options.rows, options.cols).mul(0.02).to(TYPES[type_name])
        models = [base + torch.randn(base.shape).mul(0.003).to(base.dtype) for _ in range(2)]
        plait_ms, torch_ms, results = {}, {}, {}
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            files = []
            for name, tensor in zip(("base", "a", "b"), (base, *models)):
                files.append(folder / f"{name}.safetensors")
                save(files[-1], "w", tensor)
            (folder / "out").mkdir()
            for _ in range(options.rounds):
                run = subprocess.run([options.peer, *files, folder / "out"], check=True, capture_output=True, text=True)
                for line in map(json.loads, run.stdout.splitlines()):
                    plait_ms[line["method"]] = min(line["ms"], plait_ms.get(line["method"], math.inf))
                for method in METHODS:
                    name = method.__name__
                    ms, results[name] = best_ms(method, base, models, 1)
                    torch_ms[name] = min(ms, torch_ms.get(name, math.inf))
            for name, ms in plait_ms.items():
                peer = torch_ms[name.split(".")[0]]
                print(f"{name + ' ' + type_name:24}{ms:10.1f}{peer:10.1f}{peer / ms:8.1f}")
                if name in RANDOM or "." in name:
                    continue
                found = load(folder / "out" / f"{name}.safetensors", "w")
                error = (found.float() - results[name].float()).abs()
                allowed = 3e-2 if type_name == "BF16" else 1e-5
                # Of equal magnitudes at the cut the argsort may have taken others.
                share = (error > allowed * results[name].float().abs() + 1e-6).float().mean().item()
                if share > (1e-3 if type_name == "F32" else 2e-2):
                    print(f"    {name}: {share:.2%} of the elements differ")
                    is_wrong = True
    return 1 if is_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
