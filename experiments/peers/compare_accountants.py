#!/usr/bin/env python3
"""Ask dpbounds and public privacy accountants the same questions and print a Markdown table.

    cargo build --release
    python3 experiments/peers/compare_accountants.py
    python3 experiments/peers/compare_accountants.py --peers dp-accounting,opacus --runs 5

Needs Python 3.11 or later with venv and pip; everything else goes into a virtual environment, whose
versions are pinned below. Every question is answered in a process of its own with a time limit, so
that an accountant that fails or does not end costs its own row only. README.md says how to read the
table.
"""

import argparse
import dataclasses
import functools
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Without its dependencies, torch above all: the accountants of opacus do not need it (see opacus_accountants below).
PINNED = ["dp-accounting==0.6.0", "prv-accountant==0.2.0", "numpy==2.4.6", "scipy==1.17.1"]
PINNED_ALONE = ["opacus==1.6.0"]

# One thread everywhere, so that CPU seconds can be compared.
ONE_THREAD = {
    name: "1"
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
}


@dataclasses.dataclass(frozen=True)
class Question:
    """What is asked. `kappa` asks for epsilon at delta, `epsilon` for the noise."""

    title: str
    n: int
    batch: int
    steps: int
    delta: float
    kappa: float | None = None
    epsilon: float | None = None
    # Fixed-size batches under replace-one; otherwise Poisson batches under add/remove.
    fixed: bool = False

    @property
    def rate(self):
        return self.batch / self.n


QUESTIONS = [
    Question("ε: q = 0.01, σ = 1, T = 1e3, δ = 1e-5", 10_000, 100, 1_000, 1e-5, kappa=1.0),
    Question("ε: q = 0.01, σ = 1, T = 1e5, δ = 1e-5", 10_000, 100, 100_000, 1e-5, kappa=1.0),
    Question("ε: q = 0.01, σ = 1, T = 1e6, δ = 1e-5", 10_000, 100, 1_000_000, 1e-5, kappa=1.0),
    Question("σ: ε = 1, q = 0.01, T = 1e3, δ = 1e-5", 10_000, 100, 1_000, 1e-5, epsilon=1.0),
    Question("ε: q = 0.001, σ = 0.5, T = 1e3, δ = 1e-5", 10_000, 10, 1_000, 1e-5, kappa=0.5),
    Question("ε: q = 0.00033, σ = 4, T = 1e4, δ = 1.1e-18", 1_000_000, 330, 10_000, 1.1e-18, kappa=4.0),
    Question(
        "ε: fixed size, replace-one, B/n = 0.01, κ = 2, T = 1e3, δ = 1e-5",
        10_000, 100, 1_000, 1e-5, kappa=2.0, fixed=True,
    ),
]


class NotOffered(Exception):
    """The accountant has no method for the question."""


# --- The peers. Each function returns (lower or None, value, upper or None) and runs in the worker. ---


def dp_accounting_event(question, noise):
    import dp_accounting

    gaussian = dp_accounting.GaussianDpEvent(noise)
    if question.fixed:
        sampled = dp_accounting.SampledWithoutReplacementDpEvent(question.n, question.batch, gaussian)
    else:
        sampled = dp_accounting.PoissonSampledDpEvent(question.rate, gaussian)
    return dp_accounting.SelfComposedDpEvent(sampled, question.steps)


def dp_accounting_answer(question, make, tolerance):
    import dp_accounting

    if question.epsilon is not None:
        return dp_accounting.calibrate_dp_mechanism(
            make, lambda noise: dp_accounting_event(question, noise),
            question.epsilon, question.delta, tol=tolerance,
        )
    # Its noise multiplier is in sensitivities: under replace-one the sum moves by two clipping norms.
    noise = question.kappa / 2 if question.fixed else question.kappa
    accountant = make()
    accountant.compose(dp_accounting_event(question, noise))
    return accountant.get_epsilon(question.delta)


def dp_accounting_pld(question):
    from dp_accounting import pld

    if question.fixed:
        raise NotOffered("no privacy-loss distribution of sampling without replacement")
    value = dp_accounting_answer(question, pld.PLDAccountant, 1e-4)
    return None, value, value


def dp_accounting_rdp(question):
    import dp_accounting
    from dp_accounting import rdp

    relations = dp_accounting.NeighboringRelation
    relation = relations.REPLACE_ONE if question.fixed else relations.ADD_OR_REMOVE_ONE
    make = functools.partial(rdp.RdpAccountant, neighboring_relation=relation)
    value = dp_accounting_answer(question, make, 1e-6)
    return None, value, value


def prv_accountant_prv(question, eps_error):
    from prv_accountant import PRVAccountant, PoissonSubsampledGaussianMechanism
    from prv_accountant.dpsgd import find_noise_multiplier

    if question.fixed:
        raise NotOffered("Poisson batches only")
    if question.epsilon is not None:
        value = find_noise_multiplier(
            sampling_probability=question.rate, num_steps=question.steps,
            target_epsilon=question.epsilon, target_delta=question.delta, eps_error=eps_error,
        )
        return None, float(value), float(value)
    accountant = PRVAccountant(
        [PoissonSubsampledGaussianMechanism(question.rate, question.kappa)],
        eps_error=eps_error, delta_error=question.delta / 1000,
        max_self_compositions=[question.steps],
    )
    return tuple(map(float, accountant.compute_epsilon(question.delta, [question.steps])))


@functools.cache
def opacus_accountants():
    """The accountants of opacus without its `__init__` files, which import torch."""
    import importlib.util
    import types

    # Modules of the accountants import one class of the optimizers, for annotations only.
    root = pathlib.Path(importlib.util.find_spec("opacus").origin).parent
    for name, path in (("opacus", root), ("opacus.accountants", root / "accountants")):
        module = types.ModuleType(name)
        module.__path__ = [str(path)]
        sys.modules[name] = module
    optimizers = types.ModuleType("opacus.optimizers")
    optimizers.DPOptimizer = object
    sys.modules["opacus.optimizers"] = optimizers
    from opacus.accountants.prv import PRVAccountant
    from opacus.accountants.rdp import RDPAccountant

    return PRVAccountant, RDPAccountant


def opacus_answer(question, kind):
    if question.fixed:
        raise NotOffered("Poisson batches only")

    def epsilon(noise):
        accountant = opacus_accountants()[kind]()
        accountant.history = [(noise, question.rate, question.steps)]
        return float(accountant.get_epsilon(question.delta))

    if question.epsilon is None:
        value = epsilon(question.kappa)
        return None, value, value
    # The bisection of opacus.accountants.utils.get_noise_multiplier, tolerance 0.01 as there.
    low, high = 0.0, 10.0
    reached = float("inf")
    while reached > question.epsilon:
        high *= 2
        reached = epsilon(high)
    while question.epsilon - reached > 0.01:
        middle = (low + high) / 2
        tried = epsilon(middle)
        if tried < question.epsilon:
            high, reached = middle, tried
        else:
            low = middle
    return None, high, high


def opacus_prv(question):
    return opacus_answer(question, 0)


def opacus_rdp(question):
    return opacus_answer(question, 1)


# Name of the package, then its methods with what to print.
PEERS = {
    "dp-accounting": {"PLD": dp_accounting_pld, "RDP": dp_accounting_rdp},
    "prv-accountant": {
        "PRV, error 0.1": lambda question: prv_accountant_prv(question, 0.1),
        "PRV, error 0.01": lambda question: prv_accountant_prv(question, 0.01),
    },
    "opacus": {"PRV": opacus_prv, "RDP": opacus_rdp},
}


# --- Processes ---


def worker(package, method, index, runs):
    """Answers one question several times and prints one JSON line. Imports are not measured."""
    import warnings

    warnings.filterwarnings("ignore")
    # Loaded before the clock starts.
    if package == "dp-accounting":
        import dp_accounting.pld  # noqa: F401
        import dp_accounting.rdp  # noqa: F401
    elif package == "prv-accountant":
        import prv_accountant.dpsgd  # noqa: F401
    else:
        opacus_accountants()
    answer, seconds, begun = None, [], time.monotonic()
    for _ in range(runs):
        start = time.process_time()
        try:
            answer = PEERS[package][method](QUESTIONS[index])
        except NotOffered as error:
            print(json.dumps({"absent": str(error)}))
            return
        except Exception as error:  # a peer may raise anything; the row says what
            print(json.dumps({"error": f"{type(error).__name__}: {error}"}))
            return
        seconds.append(time.process_time() - start)
        if time.monotonic() - begun > 60:
            break
    lower, value, upper = (None if side is None else float(side) for side in answer)
    row = {"lower": lower, "value": value, "upper": upper, "cpu": statistics.median(seconds)}
    print(json.dumps(row))


def ask_peer(python, package, method, index, options):
    command = [python, __file__, "--worker", package, method, str(index), "--runs", str(options.runs)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=options.timeout,
            env={**os.environ, **ONE_THREAD},
        )
    except subprocess.TimeoutExpired:
        return {"error": f"no answer within {options.timeout:g} s"}
    try:
        return json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, json.JSONDecodeError):
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"error": f"ended with status {done.returncode}: {last}"}


def ask_ours(question, options):
    """The CPU time is that of the whole command: start, answer, output."""
    command = [
        options.dpbounds, "account" if question.epsilon is None else "calibrate",
        "--n", str(question.n), "--batch", str(question.batch), "--steps", str(question.steps),
        "--delta", repr(question.delta), "--format", "json", "--method", "pld",
    ]
    if question.epsilon is None:
        command += ["--kappa", repr(question.kappa)]
    else:
        command += ["--epsilon", repr(question.epsilon)]
    if question.fixed:
        command += ["--sampler", "fixed", "--relation", "replace-one"]
    seconds = []
    for _ in range(options.runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=options.timeout,
                env={**os.environ, **ONE_THREAD},
            )
        except subprocess.TimeoutExpired:
            return {"error": f"no answer within {options.timeout:g} s"}
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        if done.returncode != 0:
            return {"error": done.stderr.strip() or f"status {done.returncode}"}
    result = json.loads(done.stdout)["results"][0]
    if result["value"] is None:
        return {"error": result["reason"]}
    sides = {side: result[side] for side in ("lower", "value", "upper")}
    return {**sides, "cpu": statistics.median(seconds)}


def environment(directory):
    """Path of a Python that has the peers; made on first use."""
    python = directory / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    marker, wanted = directory / "versions", "\n".join(PINNED + PINNED_ALONE)
    if not marker.is_file() or marker.read_text() != wanted:
        print(f"making the virtual environment {directory}", file=sys.stderr)
        venv.create(directory, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *PINNED], check=True)
        subprocess.run([*install, "--no-deps", *PINNED_ALONE], check=True)
        marker.write_text(wanted)
    return str(python)


# --- The table ---


def short(value):
    return "—" if value is None else f"{value:.6g}"


def line(title, name, row, ours):
    if "cpu" not in row:
        reason = row.get("absent") or row.get("error", "")
        reason = " ".join(reason.split()).replace("|", "/")
        kind = "not offered" if "absent" in row else "failed"
        return f"| {title} | {name} | {kind}: {reason[:110]} | — | — | — | — |"
    lower, value, upper = row["lower"], row["value"], row["upper"]
    bracket, width = "—", "—"
    if lower is not None and upper is not None:
        bracket = f"[{short(lower)}, {short(upper)}]"
        width = f"{(upper - lower) / abs(upper):.1e}" if upper else "—"
    ratio = "1"
    if row is not ours:
        ratio = f"{row['cpu'] / ours['cpu']:.2g}" if ours.get("cpu") else "—"
    return f"| {title} | {name} | {short(value)} | {bracket} | {width} | {row['cpu']:.3g} | {ratio} |"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dpbounds", default=str(ROOT / "target/release/dpbounds"),
                        help="the binary [default: target/release/dpbounds]")
    parser.add_argument("--peers", default=",".join(PEERS), help="comma-separated [default: all]")
    parser.add_argument("--venv", type=pathlib.Path, default=ROOT / "target/peers-venv",
                        help="virtual environment of the peers [default: target/peers-venv]")
    parser.add_argument("--runs", type=int, default=3, help="the CPU time is the median [default: 3]")
    parser.add_argument("--timeout", type=float, default=300.0,
                        help="seconds for all runs of an answer [default: 300]")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.runs < 1:
        parser.error("--runs: at least 1")
    if options.worker:
        package, method, index = options.worker
        return worker(package, method, int(index), options.runs)
    wanted = [name.strip() for name in options.peers.split(",") if name.strip()]
    for name in wanted:
        if name not in PEERS:
            parser.error(f"--peers: {name!r} is unknown; choose from {', '.join(PEERS)}")
    if not os.access(options.dpbounds, os.X_OK):
        parser.error(f"--dpbounds: {options.dpbounds} is missing; run cargo build --release")
    python = environment(options.venv) if wanted else None
    print("| question | accountant | value | bracket | relative width | CPU s | CPU / ours |")
    print("|---|---|---|---|---|---|---|")
    for index, question in enumerate(QUESTIONS):
        ours = ask_ours(question, options)
        print(line(question.title, "**dpbounds**", ours, ours), flush=True)
        for package in wanted:
            for method in PEERS[package]:
                row = ask_peer(python, package, method, index, options)
                print(line("", f"{package} {method}", row, ours), flush=True)


if __name__ == "__main__":
    main()
