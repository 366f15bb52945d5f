"""The common part of the peers in Python, which measure and report by it.

A peer gives the functions of its library: `wait` for the device, `make_event`,
and `elapsed`, the milliseconds between two events.
"""

import statistics
import sys
import time

SMOKE = "--smoke" in sys.argv


def report(name, nanoseconds):
    print(f"{name}\t{nanoseconds:.1f}", flush=True)


class Clock:
    def __init__(self, wait, make_event, elapsed):
        self.wait = wait
        self.make_event = make_event
        self.elapsed = elapsed

    def host_time(self, f):
        calls, batches = (5, 2) if SMOKE else (400, 30)
        times = []
        for _ in range(batches + 1):
            self.wait()
            begin = time.perf_counter_ns()
            for _ in range(calls):
                f()
            times.append((time.perf_counter_ns() - begin) / calls)
        self.wait()
        return statistics.median(times[1:])

    def device_time(self, f):
        turns, calls = (1, 1) if SMOKE else (9, 5)
        begin, end = self.make_event(), self.make_event()
        for _ in range(3):
            f()
        times = []
        for _ in range(turns):
            self.wait()
            begin.record()
            for _ in range(calls):
                f()
            end.record()
            self.wait()
            times.append(self.elapsed(begin, end) * 1e6 / calls)
        return statistics.median(times)

    def step_time(self, f):
        steps, turns, first = (1, 1, 1) if SMOKE else (20, 5, 5)
        for _ in range(first):
            f()
        times = []
        for _ in range(turns):
            self.wait()
            begin = time.perf_counter_ns()
            for _ in range(steps):
                f()
            self.wait()
            times.append((time.perf_counter_ns() - begin) / steps)
        return statistics.median(times)
