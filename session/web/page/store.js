// What the page knows: sessions, approvals (far: of other hosts, by way and id), the inbox's open and snoozed entries, and
// what the login may. others is what knows other hosts, where there are any.
import { emitter, get } from './net.js';
import { literal } from './ui.js';

export const store = { ...emitter(), sessions: new Map(), approvals: new Map(), far: new Map(), inbox: [], me: null, may: (what) => store.me?.may.includes(what) };

let due = false;
const changed = () => {
  if (due) return;
  due = true;
  queueMicrotask(() => requestAnimationFrame(() => {
    due = false;
    store.emit('change');
  }));
  if (document.hidden) setTimeout(() => { if (due) { due = false; store.emit('change'); } }, 500); // no frames then
};

// Kinds of waiting that ask a person something: prompts and an idle screen ask nothing.
export const asks = (s) => s.state === 'running' && s.needs_input && !s.needs_input.prompt && !['prompt', 'screen'].includes(s.needs_input.kind) ? s.needs_input : null;

// asked are the words that ask, of a reason why something is thought to.
export const asked = (why) => /: "(.*)"$/.exec(why)?.[1];

const agentAsks = (s) => s.state === 'running' && ['needs_input', 'needs_approval'].includes(s.agent_state?.state);

const calls = (s) => asks(s) || agentAsks(s) && !s.needs_approval?.length;

export const wants = (s) => !s.away && !!(s.needs_approval?.length || calls(s));

// elapsed is how long what runs in a session has run, in ms; 0: nothing runs.
export const elapsed = (s) => s.state === 'running' && s.activity?.running && s.shell?.phase !== 'prompt' ? s.activity.elapsed_ms + Date.now() - s.heard : 0;

export const title = (s) => s.title || s.shell?.command || s.command;

// wanted is what an approval is for; mayRun is that of the approval which a session waits for.
export const wanted = (a) => literal(a.line || a.argv?.join(' ') || a.path || a.kind);
export const mayRun = (s) => s.needs_approval?.map((id) => store.approvals.get(id)).filter(Boolean).map(wanted)[0];

// about is what a session asks, or what it is.
export const about = (s) => mayRun(s) || asked(asks(s)?.reason) || title(s);

// ports are the TCP ports on which a session's programs listen.
export const ports = (s) => [...new Set((s.ports ?? []).filter((p) => p.port && !p.inside_sandbox).map((p) => ':' + p.port))].join(' ');

// draft marks a session whose file changes are a draft, with their number.
export const draft = ({ draft: d }) => d && (d.changes || d.state === 'open') ? `draft(${d.changes ?? '?'})` : '';

// state is one word for how a session is, and what to colour it by.
export function state(s) {
  if (s.away) return ['idle', 'host away'];
  if (s.needs_approval?.length) return ['wants', 'needs approval'];
  if (asks(s)) return ['wants', asks(s).kind === 'password' ? 'asks for a password' : 'asks'];
  if (agentAsks(s)) return ['wants', s.agent_state.state === 'needs_input' ? 'agent asks' : 'agent needs approval'];
  if (s.state !== 'running') return s.stopped || s.exit_code === 0 ? ['good', 'done'] : ['bad', s.signal || (s.exit_code ? 'exit ' + s.exit_code : s.state)];
  if (s.agent_state?.state !== 'working' && s.shell?.phase === 'prompt') return ['idle', 'at its prompt']; // whatever is read yet of what ran
  return ['busy', 'running'];
}

// hear notes when it was told how long something has run.
const hear = (s) => {
  if (s?.activity) s.heard = Date.now();
  return s;
};

export function follow(link) {
  link.on('sessions', (m) => {
    if (m.first) store.sessions.clear();
    for (const s of m.list) store.sessions.set(s.id, hear(s));
    if (!m.more) store.loaded = true;
    changed();
  });
  link.on('approvals', (m) => {
    store.approvals = new Map(m.list.filter((a) => a.state === 'pending').map((a) => [a.id, a]));
    changed();
  });
  // What the session of the event before asks for (nothing any more, the same as last, or something else), or how far it is.
  link.on('short', (id, seq, data) => {
    const { asked, activity } = store.sessions.get(id) ?? {}, f = data.split(','), [, elapsed_ms, percent, errors, warnings, due] = f.map((n) => parseInt(n, 36));
    const [kind, part] = data[0] === '%' ?
      ['progress', { last_output: new Date().toISOString(), activity: { ...activity, progress: { state: 'normal', percent }, elapsed_ms, errors, warnings, due } }] :
      ['input', { needs_input: f.length < 3 ? null : { ...f[2] ? { kind: f[2], reason: f.slice(3).join() } : asked, since: seq }, ...f[1] && { activity: { ...activity, elapsed_ms } } }];
    link.emit('event', { seq, kind, session: { id, ...part } }, true);
  });
  link.on('event', (e, part) => {
    const asked = e.session?.needs_input ?? store.sessions.get(e.session?.id)?.asked;
    const s = part ? e.session = { ...store.sessions.get(e.session.id), ...hear(e.session) } : hear(e.session);
    if (e.kind === 'removed' && s) store.sessions.delete(s.id);
    else if (s) store.sessions.set(s.id, { ...s, asked });
    const a = e.approval;
    if (a) {
      if (a.state === 'pending') store.approvals.set(a.id, a);
      else store.approvals.delete(a.id);
    }
    store.emit('event', e);
    changed();
  });
}

// entryOf is the inbox's entry of an approval, or of a session that asks, here.
export const entryOf = (a) => store.inbox.find((e) => !a.way && (e.id === a.id || e.kind === 'question' && e.session === a.id));

const snoozed = (e) => e?.state === 'snoozed';

// waiting is what waits for a person: approvals, and sessions that ask something.
export const waiting = () => [...[...store.approvals.values(), ...store.far.values()].sort((a, b) => a.asked < b.asked ? -1 : 1), ...[...store.sessions.values()].filter(calls)].filter((a) => !snoozed(entryOf(a)));

// news are the open entries for which no program waits: ended runs, messages, new ports. hidden are the snoozed ones.
export const news = () => store.inbox.filter((e) => !snoozed(e) && !['approval', 'question'].includes(e.kind));
export const hidden = () => store.inbox.filter(snoozed);

let timer;

export async function loadInbox() {
  timer = clearTimeout(timer);
  if (!store.me) return; // logged out meanwhile
  store.inbox = await get('inbox', { state: 'open,snoozed' }).catch(() => []);
  store.emit('change');
}

// followInbox reads the inbox, again a second after it may have changed, and not while the page is hidden.
export function followInbox() {
  const soon = () => { if (!document.hidden) timer ??= setTimeout(loadInbox, 1000); };
  store.on('event', (e) => { if (['inbox', 'state', 'command', 'job', 'agent', 'input', 'removed', 'port-open', 'port-closed'].includes(e.kind)) soon(); });
  addEventListener('hashchange', soon); // a session that is shown has no news
  document.addEventListener('visibilitychange', soon);
  loadInbox();
}

// matches says whether a session has all words of a filter: in name, command, directory, title, labels, ports or state, as told or as its heading has it.
export function matches(s, filter) {
  const all = [s.name, s.command, s.cwd, s.title, s.shell?.command, state(s)[1], s.state, s.ended && 'ended', ports(s), draft(s), ...Object.entries(s.labels ?? {}).map(([k, v]) => k + '=' + v)].join(' ').toLowerCase();
  return filter.toLowerCase().split(/\s+/).every((w) => all.includes(w));
}

const rank = (s) => wants(s) ? 0 : s.state === 'running' ? 1 : 2;

export function listed(filter = '', all = store.sessions.values()) {
  return [...all].filter((s) => !filter || matches(s, filter))
    .sort((a, b) => rank(a) - rank(b) || (rank(a) === 2 ? (b.ended ?? '').localeCompare(a.ended ?? '') : a.created.localeCompare(b.created)));
}
