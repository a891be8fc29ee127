# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of results as postal-compare leaves them, made from a seed: the same call gives the same folder."""

import datetime
import hashlib
import json
import math
import random

import sample_records

BEGIN = datetime.datetime(2026, 1, 1)
BEFORE = 3  # seconds of a run that are sampled before its load begins, and after it ends


def moment(seconds):
    return (BEGIN + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.") + f"{seconds % 1 * 1000:03.0f}Z"


def run_record(source, start, seconds, warmup, per_second, median_us):
    intervals = []
    for second in range(seconds):
        share = (0.6 if second < warmup else 1) * (1 + source.gauss(0, 0.04))
        messages = max(0, round(per_second * share))
        intervals.append({
            "start_s": float(second), "t_s": second + 1.0, "messages": messages, "bytes": messages * 5120,
            "errors": 0, "connections": messages // 10, "tls_connections": 0, "started": messages,
            "recipients": messages, "rejected": 0, "deferred": 0, "failed": 0, "in_doubt": 0,
            "message_p50_us": round(median_us * (1 + source.gauss(0, 0.02)), 1) if messages else None,
            "message_p99_us": round(median_us * 9 * (1 + source.gauss(0, 0.1)), 1) if messages else None,
            "warmup": second < warmup, "partial": False, "draining": False, "worker_busy": 0.31, "run_delay": 0.012,
            "message_p90_us": 48.896, "message_max_us": 50.394, "asked": None, "slip_p99_us": 2279.054,
            "loop_late_p99_us": None, "loop_late_max_us": 9544.526, "machine_idle": 0.0597, "machine_steal": 0.0,
            "cpu_pressure": 0.6494})
    messages = sum(each["messages"] for each in intervals if not each["warmup"])
    a_minute = messages / (seconds - warmup) * 60
    phase = sample_records.phase(sample_records.latencies(source, 400, median_us))
    # As many as the messages, spread alike.
    factor = max(1, messages // phase["count"])
    phase["count"] *= factor
    phase["buckets"] = "loglin64:" + ",".join(
        f"{index}*{int(count) * factor}" for index, count in
        (one.split("*") for one in phase["buckets"].removeprefix("loglin64:").split(",")))
    return {
        "schema": "postal-record/1", "program": "postal", "version": "1.0.0",
        "argv": ["postal", "-t", "12", "127.0.0.1:2525", "users"], "seed": 42, "started": moment(start),
        "duration_s": float(seconds), "warmup_s": float(warmup), "interval_s": 1.0, "measured_s": float(seconds - warmup),
        "host": {"name": "mx1.example.com", "kernel": "Linux 6.1.0-18-amd64", "cpus": 2, "memory_bytes": 8 << 30},
        "totals": {
            "started": messages, "messages": messages, "recipients": messages, "bytes": messages * 5120,
            "connections": messages // 10, "tls_connections": 0, "errors": 0, "rejected": 0, "deferred": 0, "failed": 0,
            "in_doubt": 0, "cpu_user_s": 2.5, "cpu_system_s": 3.25, "max_rss_bytes": 25 << 20},
        "rate": {"messages_per_minute": {"mean": a_minute, "stddev": 1.0, "min": a_minute, "max": a_minute,
                                         "ci95": None, "intervals": seconds - warmup}},
        "latency_us": {"message": phase if messages else {"count": 0}},
        "intervals": intervals,
        "generator": {"limited": False, "verdict": "none", "worker_busy": 0.41, "schedule_slip_p99_us": 120, "reason": ""},
        "errors": [], "thresholds": [], "options": {"sessions": 12}}


def grown(values):
    """What a counter says, one sample a second."""
    seen, sum_ = [0], 0.0
    for one in values:
        sum_ += max(0.0, one)
        seen.append(round(sum_, 4))
    return seen


def costs(source, start, seconds, per_second, flushes_a_message, device):
    samples = seconds + 2 * BEFORE
    load = [per_second if BEFORE <= at < BEFORE + seconds else 0 for at in range(samples)]
    noise = lambda: 1 + source.gauss(0, 0.03)
    of = lambda each: grown(rate * each * noise() for rate in load)
    whole = lambda values: [round(one) for one in values]
    of_program = lambda name, ms: {"name": name, "user_s": of(ms * 4e-4), "system_s": of(ms * 5e-4), "children_s": of(ms * 1e-4),
                                   "read_bytes": None, "write_bytes": whole(of(5120))}
    return {
        "schema": "postal-costs/1", "started": moment(start - BEFORE), "t_s": list(range(samples + 1)),
        "machine": {"user_s": of(1.2e-3), "system_s": of(1.6e-3), "iowait_s": of(0.4e-3), "steal_s": [0] * (samples + 1),
                    "idle_s": of(1e-3), "context_switches": whole(of(14)), "forks": whole(of(0.1)),
                    "dirty_bytes": [4096 * (at % 50) for at in range(samples + 1)], "writeback_bytes": None},
        "devices": [{"name": device, "reads": whole(of(0.01)), "sectors_read": whole(of(0.08)), "writes": whole(of(2.5)),
                     "sectors_written": whole(of(40)), "discards": [0] * (samples + 1),
                     "flushes": whole(of(flushes_a_message)), "flush_ms": whole(of(flushes_a_message * 3)),
                     "busy_ms": whole(of(0.9)), "queue_ms": whole(of(1.4))}],
        "programs": [of_program("postal", 1.0), of_program("postfix", 2.5)]}


def make(folder, variants=None, blocks=6, seconds=30, warmup=5, seed=42, change=None, same_as=None, scatter=0.01, **changes):
    """A folder of results. `variants` has each one's factor on the rate. `change(run, record, costs)` sees what is about to
    be written of each run; costs set to None by it, as {"schema": None}, are left out. `changes` are the record's own."""
    variants = variants or {"default": 1.0, "noatime": 1.004, "nobarrier": 1.31}
    names = list(variants)
    source = random.Random(seed)
    order = random.Random(seed)
    runs, begin = [], 0.0
    for block in range(1, blocks + 1):
        level = 100 * (1 + source.gauss(0, 0.03))
        for position, variant in enumerate(order.sample(range(len(names)), len(names))):
            begin += 20
            name = f"runs/b{block:02}-{position + 1}-" + "".join(c if c.isalnum() or c in ".+=" else "_" for c in names[variant])
            rate = level * variants[names[variant]] * math.exp(source.gauss(0, scatter))
            record = run_record(source, begin, seconds, warmup, rate, 2400 / variants[names[variant]])
            device = f"loop{len(runs) % 3}"  # whichever was free
            log = costs(source, begin, seconds, rate, 0.1 if "nobarrier" in names[variant] else 1.0, device)
            run = {"block": block, "position": position, "variant": variant, "state": "complete", "reason": "", "folder": name,
                   "started": moment(begin - BEFORE), "seconds": seconds + 12.5, "mounted": f"/dev/{device} /mnt ext4 rw,noatime 0 0",
                   "flush_median_s": 0.0021, "flush_max_s": 0.009, "caches": "dropped", "loads": [], "costs": None,
                   "devices": [device]}
            if change:
                change(run, record, log)
            (folder / name).mkdir(parents=True)
            if run["state"] == "complete":
                run["loads"] = [keep(folder, "delivery", f"{name}/delivery.json", record, indent=2)]
                if log["schema"]:
                    run["costs"] = keep(folder, "costs", f"{name}/costs.json", log)
            runs.append(run)
            begin += seconds + 12.5
    same_as = same_as or {}
    made = {
        "schema": "postal-experiment/1", "version": "1.0.0", "argv": ["postal-compare", "--blocks", str(blocks), "ext4.toml"],
        "title": "ext4 mount options", "started": moment(0), "ended": moment(begin), "end": "all blocks done", "analysis": None,
        "verdict": {"metric": "messages", "program": 0, "margin": 0.02, "confidence": 0.95, "max_errors": 0.01},
        "seed": seed, "duration_s": float(seconds), "warmup_s": float(warmup), "blocks": blocks, "until_width": None,
        "host": {"name": "mx1.example.com", "kernel": "Linux 6.1.0-18-amd64", "cpus": 2, "memory_bytes": 8 << 30},
        "versions": {"postal": "postal 1.0.0"}, "programs": ["delivery"],
        "variants": [{"name": name, "same_as": same_as.get(name), "values": {"options": name}} for name in names],
        "runs": runs, "file": "ext4.toml", "text": 'title = "ext4 mount options"\n\n[load]\nduration = "30s"\n'}
    made.update(changes)
    folder.mkdir(exist_ok=True)
    (folder / "experiment.json").write_text(json.dumps(made))
    return folder


def keep(folder, name, path, what, indent=None):
    text = json.dumps(what, separators=(",", ": " if indent else ":"), indent=indent)
    (folder / path).write_text(text)
    return {"name": name, "path": path, "sha256": hashlib.sha256(text.encode()).hexdigest()}
