"""Holds dialogues by pexpect: one JSON object a line in, one out."""
import json
import resource
import sys
import time

import pexpect


def hold(d):
    child = pexpect.spawn(d["argv"][0], d["argv"][1:], cwd=d["dir"], dimensions=(24, 80), timeout=d["timeout"])
    if d["eager"]:
        child.delaybeforesend = None
    if d["window"]:
        child.searchwindowsize = d["window"]
    try:
        for step in d["steps"]:
            if step.get("expect"):
                child.expect_exact(step["expect"])
            elif step.get("regexp"):
                child.expect(step["regexp"])
            elif step.get("secret"):
                if not child.waitnoecho(5):
                    return "the echo was not turned off"
                child.send(step["secret"] + "\r")
            else:
                child.send(step["send"])
        child.expect(pexpect.EOF)
        child.wait()
        if child.exitstatus != d["exit"]:
            return "exit status %s" % child.exitstatus
    except pexpect.ExceptionPexpect as e:
        return "%s: %s" % (type(e).__name__, str(step))
    finally:
        hold.took = time.perf_counter() - hold.began
        child.ptyproc.delayafterclose = child.ptyproc.delayafterterminate = 0.001
        child.close(force=True)


for line in sys.stdin:
    hold.began = time.perf_counter()
    error = hold(json.loads(line)) or ""
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"error": error, "seconds": hold.took, "rss_kib": rss}), flush=True)
