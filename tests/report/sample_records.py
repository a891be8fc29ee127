# SPDX-License-Identifier: GPL-3.0-or-later
"""Run records as the contract has them, made from a seed: the same call gives the same record."""

import json
import math
import random

FIRST_OCTAVE = 9


def bucket_of(ns):
    octave = max(FIRST_OCTAVE, min(39, int(ns).bit_length() - 1))
    return (octave - FIRST_OCTAVE) * 64 + (int(ns) >> (octave - 6)) - 64


def phase(values_us):
    values = sorted(values_us)
    counts = {}
    for value in values:
        index = bucket_of(value * 1000)
        counts[index] = counts.get(index, 0) + 1
    at = lambda q: round(values[min(len(values) - 1, math.ceil(q * len(values)) - 1)], 3)
    return {
        "count": len(values),
        "mean": sum(values) / len(values),
        "min": values[0],
        "p50": at(0.5),
        "p90": at(0.9),
        "p99": at(0.99),
        "p999": at(0.999),
        "max": values[-1],
        "buckets": "loglin64:" + ",".join(f"{i}*{n}" for i, n in sorted(counts.items())),
    }


def latencies(source, count, median_us):
    body = [median_us * math.exp(source.gauss(0, 0.25)) for _ in range(count)]
    tail = [median_us * 9 * math.exp(source.gauss(0, 0.5)) for _ in range(count // 40)]
    return body + tail


def record(seed=42, per_minute=14752, median_us=2400.0, minutes=10, **changes):
    source = random.Random(seed)
    intervals, elapsed = [], 0.0
    for number in range(minutes + 1):
        length = 60.0 if number < minutes else 21.5
        share = 0.72 if number == 0 else 1 + source.gauss(0, 0.02)
        slow = 3.0 if number == minutes * 2 // 3 else 1.0
        intervals.append({
            "start_s": elapsed,
            "t_s": elapsed + length,
            "messages": round(per_minute * share * length / 60 / (1.2 if slow > 1 else 1)),
            "bytes": round(per_minute * share * length / 60 * 5120),
            "errors": source.randrange(4),
            "connections": per_minute // 10,
            "tls_connections": 0,
            "message_p50_us": median_us * (1 + source.gauss(0, 0.02)),
            "message_p99_us": median_us * 14 * slow * (1 + source.gauss(0, 0.1)),
            "warmup": number == 0,
            "partial": length < 60,
            "worker_busy": 0.31 + source.random() / 10,
        })
        elapsed += length
    measured = [each for each in intervals if not each["warmup"]]
    messages = sum(each["messages"] for each in measured)
    rates = [each["messages"] for each in measured if not each["partial"]]
    mean = sum(rates) / len(rates)
    stddev = math.sqrt(sum((each - mean) ** 2 for each in rates) / (len(rates) - 1))
    half = 2.306 * stddev / math.sqrt(len(rates))
    service = latencies(source, 20000, median_us * 0.8)
    made = {
        "schema": "postal-record/1",
        "program": "postal",
        "version": "1.0.0",
        "argv": ["postal", "-t", "12", "-m", "10", "--duration", f"{minutes}m", "127.0.0.1:2525", "/tmp/my users"],
        "seed": seed,
        "started": "2026-01-01T00:00:00.000Z",
        "duration_s": elapsed,
        "warmup_s": 60.0,
        "interval_s": 60.0,
        "measured_s": elapsed - 60.0,
        "host": {"name": "mx1.example.com", "kernel": "Linux 6.1.0-18-amd64", "cpus": 2, "memory_bytes": 8 << 30},
        "totals": {
            "started": messages + 1700, "messages": messages, "recipients": messages, "bytes": messages * 5120,
            "connections": messages // 10, "tls_connections": 0, "errors": 1707, "rejected": 1204, "deferred": 451,
            "failed": 38, "in_doubt": 7, "cpu_user_s": 21.5, "cpu_system_s": 30.25, "max_rss_bytes": 25 << 20,
        },
        "rate": {"messages_per_minute": {
            "mean": mean, "stddev": stddev, "min": min(rates), "max": max(rates),
            "ci95": [mean - half, mean + half], "intervals": len(rates)}},
        "latency_us": {
            "connect": phase(latencies(source, 2000, 90)),
            "banner": phase(latencies(source, 2000, 300)),
            "ehlo": phase(latencies(source, 2000, 200)),
            "envelope": phase(latencies(source, 20000, median_us * 0.2)),
            "data": phase(latencies(source, 20000, median_us * 0.6)),
            "service": phase(service),
            "message": phase([each * 1.25 + 200 for each in service]),
        },
        "intervals": intervals,
        "generator": {"limited": False, "worker_busy": 0.41, "schedule_slip_p99_us": 120, "reason": ""},
        "errors": [
            {"stage": "rcpt", "code": 550, "enhanced": "5.1.1", "count": 1204, "sample": "550 5.1.1 <nobody@example.com>: no such user"},
            {"stage": "mail", "code": 451, "enhanced": "4.3.2", "count": 451, "sample": "451 4.3.2 queue is full, try again later"},
            {"stage": "connect", "code": 0, "enhanced": "", "reason": "refused", "count": 45, "sample": "connect to 127.0.0.1:2525: Connection refused"},
            {"stage": "end", "code": 0, "enhanced": "", "reason": "closed", "count": 7, "sample": "the server closed the connection before its final reply"},
        ],
        "thresholds": [
            {"expression": "p99(message)<1s", "value": 38000.0, "unit": "us", "passed": True},
            {"expression": "errors<1%", "value": 1.27, "unit": "%", "passed": False},
        ],
        "transcript": False,
        "options": {"sessions": 12, "size": "uniform:0..10K", "seed": seed, "pipelining": "auto", "tls": None,
                    "threshold": ["p99(message)<1s", "errors<1%"]},
    }
    for path, value in changes.items():
        at = made
        *folders, last = path.split("__")
        for folder in folders:
            at = at[folder]
        at[last] = value
    return made


def write(path, made):
    path.write_text(json.dumps(made))
    return path


def with_ranks(number, **changes):
    """The same of a run on many machines: rank 1 is the slowest, the last one is lost."""
    whole = record(**changes)
    source = random.Random(number)
    whole["ranks"] = []
    for rank in range(number):
        share = (0.8 if rank == 1 else 1.0) / number
        lost = rank == number - 1
        messages = [round(one["messages"] * share * (1 + source.gauss(0, 0.02))) for one in whole["intervals"]]
        if lost:
            messages = messages[:len(messages) // 2]
        whole["ranks"].append({
            "rank": rank, "host": f"gen{rank}", "workers": 2, "sessions": 50, "processors": 2, "machine_processors": 2,
            "wall_offset_s": 0.0 if rank == 0 else source.gauss(0, 0.01),
            "clock_offset_s": 0.0 if rank == 0 else source.gauss(0, 5000),
            "clock_bound_s": 0.0 if rank == 0 else 0.00004, "clock_drift": 0.0 if rank == 0 else source.gauss(0, 2e-5),
            "start_late_s": 0.00002 * (1 + source.random()), "missed_start": False,
            "totals": {"messages": sum(messages)}, "totals_with_warmup": {"messages": sum(messages)},
            "interval_messages": messages, "message_p50_us": 2400.0, "message_p99_us": 30000.0 + rank * 100,
            "ended": "" if lost else "duration", "done_s": None if lost else 620.0 + source.random(),
            "lost_s": 312.5 if lost else None, "unaccounted": 1234 if lost else 0,
            "verdict": "limit" if rank == 1 else "none", "reason": "a worker was 95 % busy" if rank == 1 else "",
            "worker_busy": 0.95 if rank == 1 else 0.4})
    return whole
