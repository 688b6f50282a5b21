"""Solves what scipy_instances wrote with SciPy, and compares the costs. Exit status 77 where there is no SciPy."""
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from scipy.optimize import linear_sum_assignment
except ImportError:
    print("skipped: this Python has no SciPy")
    sys.exit(77)


def main(program, count):
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run([program, count, file.name], check=True)
        solved = 0
        while line := file.readline():
            rows, cols, cost, scale = line.split()
            shape = int(rows), int(cols)
            costs = np.frombuffer(file.read(8 * shape[0] * shape[1])).reshape(shape)
            theirs = costs[linear_sum_assignment(costs)].sum()
            if not abs(float(cost) - theirs) <= 1e-12 * float(scale):
                sys.exit(f"instance {solved}, {shape[0]} x {shape[1]}: plait's cost {float(cost)!r}, SciPy's {theirs!r}")
            solved += 1
    print(f"{solved} costs equal")
    return solved != int(count)


sys.exit(main(*sys.argv[1:]))
