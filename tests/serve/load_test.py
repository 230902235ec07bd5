"""Load on neutra serve while searches write into its folder: scripts/check_serve --load runs it.

    load_test.py SECONDS

wrk asks for the listing and for a report, 32 connections each, while a reader checks that each answer is whole and that no counter goes
back, and memory, threads and open files are watched. Exits 1 when an answer was torn, a request failed, or memory went on growing.
"""
import http.client
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

from serving import Serving, start_search

CONNECTIONS = 32
GROWTH = 1.25  # from the first third of the time to the end; caches are full by then
COUNTERS = ("evaluations", "programs", "repairs", "seconds")


def resources(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    return {"memory": int(re.search(r"VmRSS:\s+(\d+)", status)[1]) * 1024,
            "threads": int(re.search(r"Threads:\s+(\d+)", status)[1]),
            "files": len(list(pathlib.Path(f"/proc/{process.pid}/fd").iterdir()))}


def read(port, stop, seen, problems):
    """Asks for the listing again and again."""
    last = {}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    while not stop.is_set():
        try:
            connection.request("GET", "/api/listing")
            response = connection.getresponse()
            body = response.read()
        except (http.client.HTTPException, OSError):
            connection.close()  # the server makes room for others
            continue
        if response.status != 200:
            problems.append(f"status {response.status}")
            continue
        for search in json.loads(body)["searches"]:
            counters = [search[name] for name in COUNTERS]
            if search["state"] == "damaged":
                problems.append(f"{search['name']}: {search['note']}")
            if any(now < before for now, before in zip(counters, last.get(search["name"], counters))):
                problems.append(f"{search['name']}: {last[search['name']]} became {counters}")
            last[search["name"]] = counters
            seen.add((search["name"], *counters))
    connection.close()


def main():
    seconds = int(sys.argv[1])
    problems, seen, stop = [], set(), threading.Event()
    with tempfile.TemporaryDirectory(prefix="neutra-load-") as name, Serving(name) as serving:
        folder = pathlib.Path(name)
        searches = [start_search("D7", folder / "D7.h5", 100_000), start_search("D6", folder / "D6.h5", 100_000)]
        while not (folder / "D7.h5").exists():
            time.sleep(0.1)
        reader = threading.Thread(target=read, args=(serving.port, stop, seen, problems))
        reader.start()
        loads = [subprocess.Popen(["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}", "--timeout", "30", serving.url + path],
                                  stdout=subprocess.PIPE, text=True) for path in ("/api/listing", "/report?name=D7.h5")]
        samples, begin = [], time.monotonic()
        while time.monotonic() - begin < seconds:
            time.sleep(0.2)
            samples.append(resources(serving.process))
        outputs = [load.communicate()[0] for load in loads]
        stop.set()
        reader.join()
        for search in searches:
            search.terminate()
            search.wait()
        code = serving.end()
    early, late = samples[:len(samples) // 3], samples[-(len(samples) // 3):]
    for what in ("memory", "threads", "files"):
        most = [max(sample[what] for sample in part) for part in (early, late)]
        print(f"{what}: at most {most[0]} in the first third, {most[1]} in the last")
        if most[1] > GROWTH * most[0]:
            problems.append(f"{what} grew from {most[0]} to {most[1]}")
    for output in outputs:
        print(output)
        if "Non-2xx" in output or re.search(r"Socket errors:.*(connect|read|write) [1-9]", output):
            problems.append("requests failed")
    print(f"{len(seen)} states of the searches were seen")
    if len(seen) < 3:
        problems.append("the searches didn't move")
    if code != 0:
        problems.append(f"the server ended with exit code {code}")
    for problem in problems[:20]:
        print("problem:", problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
