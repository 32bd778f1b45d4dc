// Uses docs/clients/longterm.ts as a program does. Arguments: the socket, the URL, a token of level read, the daemon's pid.
import { deepStrictEqual as same, ok, rejects } from "node:assert";
import { Longterm, LongtermError } from "./longterm.ts";

const [path, url, token, pid] = process.argv.slice(2);
const lt = new Longterm({ path });
const shell = await lt.start({ argv: ["bash", "--norc"], name: "shell", cwd: "/", labels: { made: "here" } });
same([shell.state, (await lt.session("shell")).id], ["running", shell.id]);
same([(await lt.sessions("made=here")).length, (await lt.sessions("made=elsewhere")).length], [1, 0]);

const done = await lt.exec("shell", "echo one; (exit 7)", { timeout_ms: 30_000 });
same([done.exit_code, done.output], [7, "one\n"]);
const first = await lt.exec("shell", "echo twice", { job: "the-job" });
const second = await lt.exec("shell", "echo twice", { job: "the-job" });
same([first.output, second.output], ["twice\n", "twice\n"]);
same((await lt.jobs({ session: "shell" })).at(-1).id, "the-job");
same((await lt.run({ argv: ["sh", "-c", "echo ran; exit 3"] })).exit_code, 3);

await lt.send("shell", { text: "printf 'name? '; read name; echo hello $name", enter: true });
ok((await lt.wait("shell", { kind: "text", text: "name? " })).fired.length);
await lt.send("shell", { text: "wörld", enter: true });
ok((await lt.wait("shell", { kind: "text", text: "hello wörld" })).fired.length);
ok((await lt.screen("shell")).includes("hello wörld") && (await lt.output("shell")).text.includes("hello wörld"));
same((await lt.wait("shell", { kind: "text", text: "never" }, 50)).fired, []);

// What happens is told on where it was, by another connection and by another daemon.
const events = lt.events();
const next = async (from: typeof events, is: (e: { kind: string; seq: number; session?: { name: string } }) => boolean) => {
  for (;;) {
    const { value } = await from.next();
    if (is(value)) return value;
  }
};
const began = await next(events, (e) => e.kind === "listening");
await lt.start({ argv: ["sleep", "600"], name: "other", cwd: "/" });
await next(events, (e) => e.kind === "created" && e.session?.name === "other");
const abort = new AbortController();
const again = lt.events({ after: began.seq, signal: abort.signal });
await next(again, (e) => e.kind === "created" && e.session?.name === "other");
abort.abort();
same((await again.next()).done, true);

const refused = (code: string) => (err: unknown) => err instanceof LongtermError && err.code === code && err.message !== "";
const remote = new Longterm({ url, token });
same((await remote.session("shell")).name, "shell");
await rejects(remote.send("shell", { text: "x" }), refused("denied"));
await rejects(new Longterm({ url, token: token + "x" }).session("shell"), refused("unauthorized"));

await lt.subscribe("ci", { kinds: ["job"] });
const slow = await lt.run({ argv: ["sh", "-c", "sleep 1; echo slowly; exit 5"], background: true });
process.kill(Number(pid), "SIGKILL");
const ended = await lt.job(slow.job, { await_ms: 60_000, max_output: 1000 });
same([ended.state, ended.result.exit_code, ended.result.output], ["done", 5, "slowly\n"]);
await next(events, (e) => e.kind === "lost" || e.kind === "job");
await events.return();

// What ended is told also to who was away, until it is dealt with.
const missed = await lt.completions("ci", { wait_ms: 30_000 });
same([missed.completions[0].job, missed.completions[0].exit_code], [slow.job, 5]);
same((await lt.completions("ci")).completions[0], missed.completions[0]);
const each = lt.each("ci", 30_000);
same((await each.next()).value.job, slow.job);
const six = await lt.run({ argv: ["sh", "-c", "exit 6"] });
while ((await each.next()).value.job !== six.job);
await each.return(); // the newest is not acknowledged
const left: string[] = [];
for await (const c of lt.each("ci", 0)) left.push(c.job);
same(left, [six.job]);
same((await lt.completions("ci")).completions, []);
same((await lt.subscriptions()).map((s) => s.name), ["ci"]);
await lt.unsubscribe("ci");

// By its yield time a call answers with what there is.
const early = await lt.run({ line: "echo early; sleep 600", yield_ms: 200 });
same([early.state, (await lt.job(early.job)).state], ["running", "running"]);
await lt.stop(early.job, 100);

// A user allows what an agent wants.
const asked = new Longterm({ path, agent: "ts" }).exec("shell", "touch /dev/null", { policy: "readonly" });
let waiting: { id: string }[] = [];
while (waiting.length === 0) waiting = await lt.approvals();
await lt.answer(waiting[0].id, "once");
same((await asked).exit_code, 0);

await rejects(lt.session("none"), refused("not_found"));
await rejects(lt.exec("other", "true"), refused("busy"));
await rejects(lt.run({ argv: ["/none"] }), refused("no_program"));

same((await lt.kill("other")).state, "exited");
await lt.remove("other");
await lt.stop((await lt.run({ argv: ["sleep", "600"], background: true })).job, 100);
console.log("ok the end");
