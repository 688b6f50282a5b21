#!/usr/bin/env python3
"""Times assignment solvers that Python can import beside plait, on the very same matrices; see README.md.

Every solver runs in a process of its own with a time limit, so that one that hangs or crashes costs only its cell.
"""
import argparse
import importlib
import importlib.metadata
import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
import time

# Name of the column, module, function, the type that it computes in, where its result has the columns of the rows.
# lap and lapx install the same module and cannot share an environment: hence the choice of interpreters.
SOLVERS = {
    "scipy": ("scipy.optimize", "linear_sum_assignment", "float64", 1),
    "lap": ("lap", "lapjv", "float64", 1),
    "lapjv": ("lapjv", "lapjv", "float32", 0),
    "lapjvx": ("lap", "lapjvx", "float64", 2),
    "lapjvs": ("lap", "lapjvs", "float32", 2),
    "lapjvc": ("lap", "lapjvc", "float64", 2),
    "lapjvh": ("lap", "lapjvh", "float32", 2),
    "lapjvr": ("lap", "lapjvr", "float32", 2),
}
SHORTEST = 1e-3  # seconds; the clock is a system call and, among many readings, has been seen to stand still
COMPILED = ("lemon", "dlib")  # timed by the program itself
ONE_THREAD = {**os.environ, **{v: "1" for v in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")}}


def available():
    """The solvers of this interpreter, each with the package that it comes from."""
    packages = importlib.metadata.packages_distributions()
    found = {}
    for name, (module, function, _, _) in SOLVERS.items():
        top = module.split(".")[0]
        if importlib.util.find_spec(top) and hasattr(importlib.import_module(module), function):
            versions = [f"{package} {importlib.metadata.version(package)}" for package in packages.get(top, [])]
            found[name] = ", ".join([*versions, function])
    return found


def measure(name, path, n, limit):
    import numpy as np

    module, function, dtype, at = SOLVERS[name]
    solve = getattr(importlib.import_module(module), function)
    costs = np.fromfile(path, np.float32).reshape(n, n)
    given = costs.astype(dtype)  # outside the clock: a user would have computed in that type
    best, total, runs, batch = math.inf, 0, 0, 1
    while total < 0.3 or (runs < 3 and total < limit / 4):
        start = time.process_time()
        for _ in range(batch):
            result = solve(given)
        spent = time.process_time() - start
        if spent < SHORTEST:
            batch *= 2
            continue
        best, total, runs = min(best, spent / batch), total + spent, runs + 1
    columns = np.asarray(result[at])
    if not np.array_equal(np.sort(columns), np.arange(n)):
        return {"failed": "no assignment"}
    chosen = costs[np.arange(n), columns].astype(np.float64)
    return {"ms": 1e3 * best, "cost": math.fsum(chosen)}


def ask(python, limit, *arguments):
    """The answer of this script's other half in a process of its own."""
    try:
        command = [python, os.path.abspath(__file__), "--worker", *map(str, arguments)]
        done = subprocess.run(command, env=ONE_THREAD, timeout=limit, capture_output=True, text=True)
    except subprocess.TimeoutExpired:
        return {"failed": f"over {limit:g} s"}
    if done.returncode < 0:
        return {"failed": f"signal {-done.returncode}"}
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["no message"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def cell(peer, plait_ms):
    if peer is None:
        return "-".rjust(18)
    if "failed" in peer:
        return peer["failed"][:16].rjust(18)
    return f"{peer['ms']:10.3f} {peer['ms'] / plait_ms:6.2f}x"


def summarise(rows, names):
    """Per solver: how much of the work it did, the mean ratio per size, the worst cost."""
    sizes = sorted({row["n"] for row in rows})
    print("\ngeometric mean of the ratios per size, over the matrices solved; worst cost above plait's, relative")
    print("solver".ljust(8), *(f"n={n}".rjust(14) for n in sizes), "worst".rjust(10))
    for name in names:
        line = name.ljust(8)
        for n in sizes:
            tried = [row for row in rows if row["n"] == n and name in row["peers"]]
            solved = [row["peers"][name]["ms"] / row["plait_ms"] for row in tried if "ms" in row["peers"][name]]
            mean = f"{math.exp(sum(map(math.log, solved)) / len(solved)):.2f}x" if solved else "-"
            line += f" {mean:>8} {len(solved):>2}/{len(tried):<2}"
        excess = [(row["peers"][name]["cost"] - row["cost"]) / (row["magnitude"] or 1)
                  for row in rows if "cost" in row["peers"].get(name, {})]
        print(line, f"{max(excess):10.1e}" if excess else "-".rjust(10))


def compare(options):
    pythons, versions = {}, {}
    for python in options.python or [sys.executable]:
        for name, version in ask(python, options.limit, "list").items():
            if name == "failed":
                sys.exit(f"{python}: {version}")
            pythons.setdefault(name, python)
            versions.setdefault(name, version)
    pythons = {name: pythons[name] for name in SOLVERS if name in pythons}
    names = [*pythons, *COMPILED]
    for name in pythons:
        print(f"{name:8}{versions[name]}, {SOLVERS[name][2]}")
    print("lemon   NetworkSimplex on doubles; dlib max_cost_assignment on integers; both only up to n = 1024")
    print(f"\nCPU time in ms, best of several runs; a peer's ratio is its time / plait's; limit {options.limit:g} s")
    print("family".ljust(14), "n".rjust(5), "stream".rjust(9), "plait".rjust(10), "streams".rjust(8),
          *(name.rjust(18) for name in names), flush=True)

    rows, notes, worse = [], [], []
    for n in options.sizes:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([options.program, folder, str(n), *options.families], env=ONE_THREAD,
                                  stdout=subprocess.PIPE, text=True, check=True)
            for row in map(json.loads, done.stdout.splitlines()):
                path = os.path.join(folder, f"{row['family']}_{n}.f32")
                peers = {name: ask(python, options.limit, name, path, n, options.limit)
                         for name, python in pythons.items()}
                for name in COMPILED:
                    found = {key: row.pop(f"{name}_{key}") for key in ("ms", "cost", "failed")
                             if f"{name}_{key}" in row}
                    if found:
                        peers[name] = found
                row["peers"] = peers
                rows.append(row)
                print(row["family"].ljust(14), f"{n:5}", f"{row['stream_ms']:9.4f}", f"{row['plait_ms']:10.3f}",
                      f"{row['plait_ms'] / row['stream_ms']:8.1f}",
                      *(cell(peers.get(name), row["plait_ms"]) for name in names), flush=True)
                for name, peer in peers.items():
                    where = f"{name} on {row['family']}, n = {n}: "
                    if "failed" in peer:
                        notes.append(where + peer["failed"])
                        continue
                    excess = (peer["cost"] - row["cost"]) / (row["magnitude"] or 1)
                    if abs(excess) > 1e-6:
                        notes.append(where + f"its cost is off by {excess:.1e} (relative)")
                    if excess < -1e-9:
                        worse.append(where + f"plait's cost is higher by {-excess:.1e} (relative)")

    summarise(rows, names)
    gap = max(row["gap"] / (row["magnitude"] or 1) for row in rows)
    print(f"\nlargest certified gap of plait, relative: {gap:.1e}")
    print(*(notes or ["no solver failed, and all costs agree to 1e-6"]), *worse, sep="\n")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"solvers": versions, "rows": rows}, file, indent=1)
    return 1 if worse else 0


def main():
    if sys.argv[1:2] == ["--worker"]:
        name, *rest = sys.argv[2:]
        print(json.dumps(available() if name == "list" else measure(name, rest[0], int(rest[1]), float(rest[2]))))
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the built match_hungarian_peer")
    parser.add_argument("sizes", nargs="*", type=int, default=[64, 256, 1024])
    parser.add_argument("--families", nargs="+", default=[], help="of bench/match/families.hpp, all when not given")
    parser.add_argument("--python", action="append", help="an interpreter that has solvers; may be repeated")
    parser.add_argument("--limit", type=float, default=60, help="seconds that a solver may take on one matrix")
    parser.add_argument("--json", metavar="FILE", help="keep all figures")
    return compare(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
