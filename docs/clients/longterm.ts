/**
 * A client of longterm in one file without dependencies, for Node 22.18 or newer (older ones need --experimental-strip-types).
 * Copy it into your project.
 *
 *     import { Longterm } from "./longterm.ts";
 *
 *     const lt = new Longterm(); // the daemon's socket; or { url: "http://127.0.0.1:7718", token: "lt_…" }
 *     await lt.start({ name: "build", cwd: "/src" });
 *     const done = await lt.exec("build", "make test", { timeout_ms: 600_000 });
 *     console.log(done.exit_code, done.output);
 *
 * Requests and results are the JSON of the HTTP API (docs/openapi.json). Methods throw LongtermError with a code of
 * docs/errors.md. The daemon must run: `longterm daemon start`.
 */

import { randomUUID } from "node:crypto";
import * as http from "node:http";
import * as https from "node:https";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** JSON of the API: its fields are those of docs/openapi.json. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Json = any;
type Query = Record<string, string | number | boolean | undefined>;

export interface Options {
  /** The daemon's socket. */
  path?: string;
  /** URL of a daemon that serves TCP (http.listen). */
  url?: string;
  /** Token for url, of `longterm token new`. */
  token?: string;
  /** Label of the agent that makes the requests. */
  agent?: string;
  /** Time for which safe requests are retried while the daemon is being replaced; milliseconds. */
  patience?: number;
}

/** An error of the daemon. */
export class LongtermError extends Error {
  status: number;
  code: string;
  hint: string;
  retry: boolean;
  body: Json;

  constructor(status: number, body: Json) {
    super([body.message ?? "", body.hint ?? ""].filter(Boolean).join("; "));
    this.name = "LongtermError";
    this.status = status;
    this.code = body.code ?? "internal";
    this.hint = body.hint ?? "";
    this.retry = body.retry ?? false;
    this.body = body;
  }
}

/** Where the daemon's socket is. */
export function socketPath(): string {
  const env = process.env;
  if (env.LONGTERM_DIR) return join(resolve(env.LONGTERM_DIR), "run", "daemon.sock");
  if (env.XDG_RUNTIME_DIR && isAbsolute(env.XDG_RUNTIME_DIR)) return join(env.XDG_RUNTIME_DIR, "longterm", "daemon.sock");
  const state = env.XDG_STATE_HOME && isAbsolute(env.XDG_STATE_HOME) ? env.XDG_STATE_HOME : join(homedir(), ".local", "state");
  return join(state, "longterm", "run", "daemon.sock");
}

export class Longterm {
  private options: Options;
  private headers: Record<string, string> = { "Content-Type": "application/json" };
  private patience: number;

  constructor(options: Options = {}) {
    this.options = options;
    this.patience = options.patience ?? 30_000;
    if (options.token) this.headers.Authorization = "Bearer " + options.token;
    const agent = options.agent ?? process.env.LONGTERM_AGENT;
    if (agent) this.headers["Longterm-Agent"] = agent;
  }

  private open(method: string, path: string, body: string | undefined, signal?: AbortSignal): Promise<http.IncomingMessage> {
    const headers = { ...this.headers, "Content-Length": Buffer.byteLength(body ?? "") };
    const base = this.options.url ? new URL(this.options.url) : undefined;
    const how: http.RequestOptions = base
      ? { hostname: base.hostname, port: base.port, method, path, headers, signal }
      : { socketPath: this.options.path ?? socketPath(), method, path, headers: { ...headers, Host: "longterm" }, signal };
    return new Promise((answered, failed) => {
      const request = (base?.protocol === "https:" ? https : http).request({ ...how, agent: false }, answered);
      request.on("error", failed);
      request.end(body);
    });
  }

  /** Send any request of the API; path is below /v1. again allows retries (default: for GET). */
  async request(method: string, path: string, body?: Json, query: Query = {}, again = method === "GET"): Promise<Json> {
    const until = Date.now() + this.patience;
    const where = "/v1" + path + queryText(query);
    const sent = body === undefined ? undefined : JSON.stringify(body);
    for (;;) {
      let failed: unknown;
      try {
        const response = await this.open(method, where, sent);
        const data = await readAll(response);
        if ((response.statusCode ?? 500) < 400) {
          return response.headers["content-type"]?.startsWith("application/json") ? JSON.parse(data.toString()) : data;
        }
        const refused = refusal(response.statusCode ?? 500, data);
        if (!refused.retry) throw refused;
        failed = refused;
      } catch (err) {
        const code = (err as NodeJS.ErrnoException).code;
        const notDone = code === "ECONNREFUSED" || code === "ENOENT";
        if (err instanceof LongtermError || (!again && !notDone)) throw err;
        failed = err;
      }
      if (Date.now() > until) throw failed;
      await pause(50);
    }
  }

  // Sessions.

  /** Start a session: a shell, a shell that runs a line, or a program with its arguments (argv). */
  start(session: { line?: string; argv?: string[]; name?: string; cwd?: string; labels?: Record<string, string>; [more: string]: Json } = {}): Promise<Json> {
    return this.request("POST", "/sessions", { cwd: process.cwd(), env: environment(), ...session });
  }

  sessions(label?: string): Promise<Json[]> {
    return this.request("GET", "/sessions", undefined, { label });
  }

  session(session: string): Promise<Json> {
    return this.request("GET", at(session));
  }

  /** End a session's process and all its descendants. */
  kill(session: string, grace_ms?: number): Promise<Json> {
    return this.request("POST", at(session, "kill"), { grace_ms });
  }

  /** Remove a session and its history. */
  remove(session: string, force = false): Promise<Json> {
    return this.request("DELETE", at(session), undefined, { force });
  }

  // Lines and commands.

  /**
   * Run a line in a session's shell. The result has exit_code, output and state. With background, or after yield_ms, the line
   * continues as the job that the result names. A job id is never run twice.
   */
  exec(session: string, line: string, how: { timeout_ms?: number; background?: boolean; yield_ms?: number; job?: string; [more: string]: Json } = {}): Promise<Json> {
    return this.request("POST", at(session, "exec"), { job: randomUUID(), ...how, line }, {}, true);
  }

  /** Run a command in a new session, with the results and options of exec. */
  run(command: { line?: string; argv?: string[]; cwd?: string; timeout_ms?: number; background?: boolean; yield_ms?: number; job?: string; [more: string]: Json }): Promise<Json> {
    return this.request("POST", "/run", { job: randomUUID(), cwd: process.cwd(), env: environment(), ...command }, {}, true);
  }

  jobs(query: { session?: string; running?: boolean; limit?: number } = {}): Promise<Json[]> {
    return this.request("GET", "/jobs", undefined, query);
  }

  /** Return a job. With await_ms, first wait for its end, for that time at most. */
  job(job: string, query: { await_ms?: number; max_output?: number } = {}): Promise<Json> {
    return this.request("GET", "/jobs/" + encodeURIComponent(job), undefined, query);
  }

  stop(job: string, grace_ms?: number): Promise<Json> {
    return this.request("POST", "/jobs/" + encodeURIComponent(job) + "/stop", { grace_ms });
  }

  // Input, waiting, output.

  /** Type text unchanged, press keys (Enter, C-c, Up …), or paste. */
  send(session: string, input: { text?: string; enter?: boolean; keys?: string[]; paste?: string; secret?: boolean; id?: string }): Promise<Json> {
    return this.request("POST", at(session, "input"), { id: randomUUID(), ...input }, {}, true);
  }

  /** Wait for the first of some conditions, as in { kind: "text", text: "ready" }. After a timeout, fired is empty. */
  wait(session: string, conditions: Json | Json[], timeout_ms = 60_000): Promise<Json> {
    return this.request("POST", at(session, "wait"), { conditions: [conditions].flat(), timeout_ms }, {}, true);
  }

  /** Return the terminal's screen as text, ansi, html, svg … */
  async screen(session: string, format = "text"): Promise<string> {
    const shown = await this.request("GET", at(session, "screen/" + format));
    return shown.toString();
  }

  /** Return output from an offset as text, of max_output bytes at most: text, next and omitted. */
  output(session: string, from = 0, max_output?: number): Promise<Json> {
    return this.request("GET", at(session, "output/text"), undefined, { from, max_output });
  }

  // Events.

  /**
   * Yield events, without end or until signal aborts. After a lost connection it continues with the next event. After an event
   * of kind "lost", events are missing: read the state again.
   */
  async *events(how: { after?: number; output?: boolean; signal?: AbortSignal } = {}): AsyncGenerator<Json, void, void> {
    let after = how.after;
    let until = Date.now() + this.patience;
    for (;;) {
      let response: http.IncomingMessage | undefined;
      try {
        response = await this.open("GET", "/v1/events" + queryText({ after, output: how.output }), undefined, how.signal);
        if ((response.statusCode ?? 500) >= 400) throw refusal(response.statusCode ?? 500, await readAll(response));
        let rest = "";
        response.setEncoding("utf8");
        for await (const piece of response) {
          const lines = (rest + piece).split("\n");
          rest = lines.pop() ?? "";
          for (const line of lines) {
            if (!line.startsWith("data: ")) continue;
            const event = JSON.parse(line.slice(6));
            until = Date.now() + this.patience;
            if (event.seq) after = event.seq;
            yield event;
          }
        }
      } catch (err) {
        if (how.signal?.aborted) return;
        if (err instanceof LongtermError || Date.now() > until) throw err;
      } finally {
        response?.destroy();
      }
      await pause(50);
    }
  }

  // Completions: ends of jobs, lines and sessions, kept until they are acknowledged (docs/completions.md).

  /** Make a subscription that starts now, or return the existing one; kinds are job, command, session, input and approval. */
  subscribe(name: string, what: { kinds?: string[]; session?: string } = {}): Promise<Json> {
    return this.request("PUT", subscription(name), what, {}, true);
  }

  subscriptions(): Promise<Json[]> {
    return this.request("GET", "/subscriptions");
  }

  unsubscribe(name: string): Promise<Json> {
    return this.request("DELETE", subscription(name));
  }

  /**
   * Return completions that are not acknowledged, oldest first. wait_ms is the time for the first one, 50000 at most. Acknowledge the
   * result's cursor by acknowledge, or by ack of the next call, once they are processed; else they are returned again.
   */
  completions(name: string, how: { wait_ms?: number; ack?: number; after?: number; limit?: number; reader?: string; take?: boolean } = {}): Promise<Json> {
    return this.request("POST", subscription(name, "read"), how, {}, true);
  }

  /** Acknowledge completions up to a cursor: they are not returned again. */
  acknowledge(name: string, cursor: number, reader?: string): Promise<Json> {
    return this.request("POST", subscription(name, "ack"), { cursor, reader }, {}, true);
  }

  /**
   * Yield completions of a subscription, without end, or until there is none for wait_ms. A completion is acknowledged when the
   * next one is requested, so a program that dies in between gets it again. The newest reader has the subscription; an
   * earlier one gets an error (stale).
   */
  async *each(name: string, wait_ms = Infinity): AsyncGenerator<Json, void, void> {
    const reader = randomUUID();
    let until = Date.now() + wait_ms;
    for (let take = true; ; take = false) {
      const left = Math.min(45_000, Math.max(0, until - Date.now()));
      const got = await this.completions(name, { wait_ms: Math.floor(left), reader, take });
      for (const completion of got.completions) {
        yield completion;
        await this.acknowledge(name, completion.seq, reader);
      }
      if (got.completions.length > 0) until = Date.now() + wait_ms;
      else if (Date.now() >= until) return;
    }
  }

  approvals(query: { session?: string; all?: boolean } = {}): Promise<Json[]> {
    return this.request("GET", "/approvals", undefined, query);
  }

  /** Answer an approval. */
  answer(approval: string, answer: "once" | "session" | "always" | "reject", feedback?: string): Promise<Json> {
    return this.request("POST", "/approvals/" + encodeURIComponent(approval) + "/answer", { answer, feedback });
  }
}

function at(session: string, below = ""): string {
  return "/sessions/" + encodeURIComponent(session) + (below ? "/" + below : "");
}

function subscription(name: string, below = ""): string {
  return "/subscriptions/" + encodeURIComponent(name) + (below ? "/" + below : "");
}

function queryText(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return given.length ? "?" + new URLSearchParams(given.map(([name, value]) => [name, String(value)])) : "";
}

function environment(): string[] {
  return Object.entries(process.env).map(([name, value]) => name + "=" + value);
}

async function readAll(response: http.IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

function refusal(status: number, data: Buffer): LongtermError {
  try {
    const body = JSON.parse(data.toString());
    if (body && typeof body === "object") return new LongtermError(status, body);
  } catch {
    // no error of the daemon: its text is the message
  }
  return new LongtermError(status, { message: data.toString().slice(0, 200) });
}
