"""Forks, threads and interrupts: nothing hangs, nothing crashes, nothing is left."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest

import sqlvalid as sv


def ari(_: int = 0) -> float:
    value: float = sv.score(sv.iris(), "km3", truth="species", indices="ari")["ari"].item()
    return value


# Polars does not work in a forked child, but other work there must not suffer from our use of it.
FORKING = """
import os, multiprocessing, sqlvalid as sv
sv.score(sv.iris(), "km3", truth="species", indices="ari")
child = os.fork()
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map_async(abs, range(-4, 0)).get(60) == [4, 3, 2, 1]
print("fine")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_forked_children_are_not_harmed() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKING], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.strip() == "fine", done.stderr[-2000:]


def test_spawned_children_work() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map_async(ari, range(2)).get(120) == [ari()] * 2


def test_threads_do_not_meet() -> None:
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ari, range(24))) == {ari()}


def test_threads_with_cursors_of_one_connection() -> None:
    con = duckdb.connect()
    con.register("frame", sv.iris())
    con.execute("CREATE TABLE iris AS FROM frame")

    def one(_: int) -> float:
        with con.cursor() as own:
            found = sv.score("iris", "km3", truth="species", indices="ari", con=own)
        value: float = found["ari"].item()
        return value

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(one, range(24))) == {ari()}
    con.close()


ENDLESS = """
import signal, duckdb, sqlvalid as sv
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the parent ignores
con = duckdb.connect()
rows = "SELECT hash(i) % 5 AS a, hash(-i) % 5 AS b FROM range(1000000000000) r(i)"
con.execute("CREATE VIEW t AS " + rows)
print("started", flush=True)
try:
    sv.score("t", "a", truth="b", con=con)
except KeyboardInterrupt:
    print("interrupted", con.sql("SELECT 1").fetchall(), flush=True)
"""


POINTS = ENDLESS.replace("hash(-i) % 5 AS b", "i / 7 AS x").replace('truth="b"', 'features="x"')


@pytest.mark.parametrize("code", [ENDLESS, POINTS], ids=["truth", "features"])
def test_an_interrupt_is_a_keyboard_interrupt(code: str) -> None:
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=-1, stderr=-1, text=True) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline().strip() == "started"
            time.sleep(1.0)
            child.send_signal(signal.SIGINT)  # once
            out, err = child.communicate(timeout=60)
        finally:
            child.kill()
    assert out.strip() == "interrupted [(1,)]", err[-2000:]
