"""Uses each method of docs/clients/longterm.py. Arguments: the socket, the URL, a token of level read, the daemon's pid."""
import os
import re
import signal
import sys
import threading

from longterm import Error, Longterm, keys, secret

socket, url, token, pid = sys.argv[1:5]
lt = Longterm(path=socket)
shell = lt.start(argv=["bash", "--norc"], name="shell", cwd="/", labels={"made": "here"})
assert shell["state"] == "running" and lt.session("shell")["id"] == shell["id"]
assert [s["name"] for s in lt.sessions("made=here")] == ["shell"] and lt.sessions("made=elsewhere") == []

done = lt.exec("shell", "echo one; (exit 7)", timeout=30)
assert done["exit_code"] == 7 and done["output"] == "one\n", done
same = lt.exec("shell", "echo twice", job="the-job")
assert lt.exec("shell", "echo twice", job="the-job")["output"] == same["output"] == "twice\n"
assert lt.job("the-job")["state"] and [j["id"] for j in lt.jobs(session="shell")][-1] == "the-job"
assert lt.run(argv=["sh", "-c", "echo ran; exit 3"])["exit_code"] == 3

# Rules answer prompts of a line and of a command: texts, keys, and a secret that the terminal does not show.
os.environ["CHECK_SECRET"] = "sesame"
asks = "printf 'Name: '; read -r name; stty -echo; printf 'Password: '; read -r p; stty echo; echo; echo \"$name ${#p}\"; exit 4"
rules = {"Name: ": "ann", re.compile("[Pp]assword: $"): secret("env:CHECK_SECRET"), "never": keys("<C-c>")}
answered = lt.run(line=asks, timeout=60, respond=rules)
assert answered["exit_code"] == 4 and answered["output"].endswith("\nann 6\n"), answered
answered = lt.exec("shell", "(" + asks + ")", timeout=60, respond=rules)
assert answered["exit_code"] == 4 and answered["output"].endswith("\nann 6\n"), answered
assert lt.run(line="exit 5", respond=rules)["exit_code"] == 5
early = lt.run(line="printf 'Name: '; read -r n; echo got $n; sleep 600", respond=rules, yield_after=0.2)
assert early["state"] == "running", early
lt.stop(early["job"], grace=0.1)

lt.send("shell", "printf 'name? '; read name; echo hello $name", enter=True)
assert lt.wait("shell", text="name? ")["fired"]
lt.send("shell", "wörld", enter=True)
assert lt.wait("shell", {"kind": "text", "text": "hello wörld"})["fired"] and "hello wörld" in lt.screen("shell")
assert "hello wörld" in lt.output("shell")["text"] and lt.screen("shell", format=None)["rows"]
assert lt.wait("shell", text="never", timeout=0.05)["fired"] == []

# Events continue after a given one, on another connection and from another daemon.
events = lt.events()
first = next(e for e in events if e["kind"] == "listening")
other = lt.start(argv=["sleep", "600"], name="other", cwd="/")
assert any(e["kind"] == "created" for e in iter(lambda: next(events), None) if e.get("session", {}).get("name") == "other")
again = lt.events(after=first["seq"])
assert next(again)["kind"] == "listening" and next(e for e in again if e["kind"] == "created")["session"]["id"] == other["id"]

remote = Longterm(url=url, token=token)
assert remote.session("shell")["name"] == "shell"
for client, code in ((remote, "denied"), (Longterm(url=url, token=token + "x"), "unauthorized")):
    try:
        client.send("shell", "x")
        raise AssertionError("it typed")
    except Error as err:
        assert err.code == code, err

lt.subscribe("ci", kinds=["job"])
slow = lt.run(argv=["sh", "-c", "sleep 1; echo slowly; exit 5"], background=True)
os.kill(int(pid), signal.SIGKILL)
ended = lt.job(slow["job"], wait=60, max_output=1000)
assert ended["state"] == "done" and ended["result"]["exit_code"] == 5 and ended["result"]["output"] == "slowly\n", ended
assert next(e for e in events if e["kind"] in ("lost", "job"))
assert lt.exec("shell", "echo still $?")["exit_code"] == 0

# Completions are kept for a client that was away, until it acknowledges them.
missed = lt.completions("ci", wait=30)
assert [(c["job"], c["exit_code"]) for c in missed["completions"]][:1] == [(slow["job"], 5)], missed
assert lt.completions("ci")["completions"][0] == missed["completions"][0]
each = lt.each("ci", wait=30)
assert next(each)["job"] == slow["job"]
second = lt.run(argv=["sh", "-c", "exit 6"])
assert any(c["job"] == second["job"] and c["exit_code"] == 6 for c in iter(lambda: next(each), None))
each.close()  # the newest is not acknowledged
again = lt.each("ci", wait=0)
assert [c["job"] for c in again] == [second["job"]]
assert lt.completions("ci")["completions"] == [] and [s["name"] for s in lt.subscriptions()] == ["ci"]
lt.unsubscribe("ci")

# After its yield time a call returns the output so far.
early = lt.run(line="echo early; sleep 600", yield_after=0.2)
assert early["state"] == "running" and lt.job(early["job"])["state"] == "running", early
lt.stop(early["job"], grace=0.1)

# A user allows a line of an agent.
agent = Longterm(path=socket, agent="py")
asked = threading.Thread(target=lambda: results.append(agent.exec("shell", "touch /dev/null", policy="readonly")))
results = []
asked.start()
while not lt.approvals():
    pass
lt.answer(lt.approvals()[0]["id"], "once")
asked.join()
assert results[0]["exit_code"] == 0, results

for wrong, code in ((lambda: lt.session("none"), "not_found"), (lambda: lt.exec("other", "true"), "busy"), (lambda: lt.run(argv=["/none"]), "no_program")):
    try:
        wrong()
        raise AssertionError("it was not refused: " + code)
    except Error as err:
        assert err.code == code and err.hint and err.message in str(err), err

assert lt.kill("other")["state"] == "exited"
lt.remove("other")
lt.stop(lt.run(argv=["sleep", "600"], background=True)["job"], grace=0.1)
print("ok the end")
