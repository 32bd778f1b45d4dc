// What goes to the daemon and comes from it: requests with the page's key, and one socket for all sessions that comes
// back by itself. docs/web-protocol.md is the contract.

import { again, came, picture } from './images.js';
import { readThin } from './screen.js';

export const emitter = () => {
  const all = new Map();
  return {
    on(kind, fn) {
      if (!all.has(kind)) all.set(kind, new Set());
      all.get(kind).add(fn);
      return () => all.get(kind).delete(fn);
    },
    emit(kind, ...args) { for (const fn of [...all.get(kind) ?? []]) fn(...args); },
  };
};

const base = new URL('.', document.baseURI);
export const url = (path) => new URL(path, base);

// there is the other host whose sessions this page is about, as the address has it; undefined: those of who serves it. Logins are the same.
export const there = /\/h\/([^/]+)\/$/.exec(base.pathname)?.[1];
const loginKey = 'longterm.key:' + base.pathname.slice(0, there && -there.length - 3);
// Where its key is kept: one for a single session, in a browser that is logged in already, is for its tab alone.
let kept = sessionStorage.getItem(loginKey) ? sessionStorage : localStorage;
let key = kept.getItem(loginKey);
let tunnel; // through a relay
let name; // the login's

const known = (login) => {
  ({ name } = login);
  return login;
};

// older says that the daemon has other files than those that this page is of. A relay has files of its own, and another host those of its version.
export const older = (m) => !tunnel && !there && m.page && !document.querySelector('[rel=icon]').href.includes(m.page);

export class Failure extends Error {
  constructor(status, body) {
    super(body?.message ?? (status ? 'The daemon answered ' + status : 'The daemon cannot be reached'));
    Object.assign(this, { status, code: body?.code, hint: body?.hint });
  }
}

export const session = emitter(); // "login": the page has to ask for one

const ended = () => {
  sessionStorage.removeItem(loginKey); // loaded anew, the tab is of the browser's other login
  session.emit('login');
};

async function ask(method, path, { body, file, query, raw, signal } = {}) {
  if (tunnel && file) throw new Failure(0, { message: 'Files cannot be stored through a relay' });
  const to = url(path), used = key;
  for (const [k, v] of Object.entries(query ?? {})) if ((v ?? '') !== '') to.searchParams.set(k, v);
  let answer;
  try {
    answer = tunnel ? await tunnel.ask(method, path + to.search, body, signal) : await fetch(to, {
      method, signal,
      headers: { ...(used && { 'Longterm-Page': used }), ...(file && { 'Content-Type': 'application/octet-stream' }), ...(body !== undefined && { 'Content-Type': 'application/json' }) },
      body: file ?? (body === undefined ? undefined : JSON.stringify(body)),
    });
  } catch (err) {
    if (err.name === 'AbortError') throw err;
    throw new Failure(0, tunnel && err);
  }
  if (answer.ok && raw) return answer;
  const text = await answer.text();
  let told;
  try { told = JSON.parse(text); } catch { /* there is none */ }
  if (answer.ok) return told;
  if (answer.status === 401 && path !== 'web/login') {
    const newer = kept.getItem(loginKey);
    if (!tunnel && newer && newer !== used) { // another tab has logged in anew: the cookie is that login's
      key = newer;
      return ask(method, path, { body, file, query, raw, signal });
    }
    ended();
  }
  throw new Failure(answer.status, told);
}

// v1 is where the API has a path, which may begin with the way to another host.
const v1 = (path) => path.replace(/^(h\/[^/]+\/)?/, '$1v1/');

// toSession is the address of a session, on another host by its way.
export const toSession = (way, id) => way ? url(way + '#/s/' + id).href : '#/s/' + id;
export const get = (path, query, more) => ask('GET', v1(path), { query, ...more });
export const post = (path, body = {}) => ask('POST', v1(path), { body });
export const putFile = (path, file) => ask('POST', v1(path), { file, query: { name: file.name || 'file' } });
export const patch = (path, body) => ask('PATCH', 'v1/' + path, { body });
export const remove = (path) => ask('DELETE', 'v1/' + path);

const relayName = 'longterm.relay';

const socketAt = (path) => {
  const to = url(path);
  to.protocol = to.protocol === 'https:' ? 'wss:' : 'ws:';
  return to;
};

// through logs in by a link of a relay. Its key is kept for as long as the tab.
async function through(secret) {
  sessionStorage.setItem(relayName, secret);
  const { Tunnel } = await import('./rare.js');
  tunnel = new Tunnel(socketAt('relay/join'), secret);
  return known(await ask('GET', 'web/me'));
}

export async function login(secret) {
  if (secret.relay) return through(secret.relay);
  const told = await ask('POST', 'web/login', { body: secret });
  key = told.key;
  sessionStorage.removeItem(loginKey);
  kept = told.session && localStorage.getItem(loginKey) ? sessionStorage : localStorage;
  kept.setItem(loginKey, key);
  return known(told);
}

export const me = () => sessionStorage.getItem(relayName) ? through(sessionStorage.getItem(relayName)) : key ? ask('GET', 'web/me').then(known) : Promise.reject(new Failure(401, { message: 'Not logged in' }));

// pushed is the id of the login's subscription to notifications in this browser, which the daemon sends. An argument sets it; '': none.
export const pushed = (id) => {
  const item = 'longterm.push:' + base.pathname + name;
  if (id === undefined) return localStorage.getItem(item);
  if (id) localStorage.setItem(item, id);
  else localStorage.removeItem(item);
};

export async function logout() {
  if (pushed()) await remove('push/' + pushed()).catch(() => {});
  pushed('');
  await ask('POST', 'web/logout', { body: {} }).catch(() => {});
  key = null;
  kept.removeItem(loginKey);
}

const silence = 45000; // ms after which there is no connection: the daemon says something sooner

// Link is the socket, of another host by its way. What subscribes is told of frames; what was typed and not answered is
// said again after a break, once.
export class Link {
  constructor(way = '') {
    Object.assign(this, emitter(), { way });
    this.state = 'connecting';
    this.after = 0;
    this.subs = new Map();
    this.pending = new Map();
    this.nextSub = this.nextQ = 1;
    this.delay = 500;
    this.unique = String(Math.random()) + Date.now();
    // A clock that stood still while a laptop slept has not told yet that the socket is none.
    const wake = () => {
      if (document.hidden) return;
      if (this.state === 'waiting') this.connect();
      else if (this.state === 'open' && Date.now() > this.patience) this.again(this.turn);
    };
    addEventListener('online', wake);
    document.addEventListener('visibilitychange', wake);
  }

  become(state, why) {
    this.state = state;
    this.emit('state', state, why);
  }

  // close ends the connection for good.
  close() {
    this.turn = null;
    clearTimeout(this.timer);
    clearTimeout(this.dead);
    this.ws?.close();
    this.become('over');
  }

  async connect() {
    clearTimeout(this.timer);
    this.become('connecting');
    const turn = this.turn = {};
    let ws;
    try {
      ws = tunnel ? await tunnel.dial() : new WebSocket(socketAt(this.way + 'web/socket'), ['longterm.page.1', 'ticket.' + (await ask('POST', this.way + 'web/ticket', { body: {} })).ticket]);
    } catch (err) {
      if (err.status !== 401) this.again(turn);
      return;
    }
    if (this.turn !== turn) return ws.close();
    this.ws = ws;
    this.styles = new Map();
    const greet = () => ws.send(JSON.stringify({ t: 'hello', brief: true, terse: true, ...(this.after && { after: this.after }) }));
    if (tunnel) greet();
    else ws.onopen = greet;
    ws.onmessage = (e) => { if (this.turn === turn) this.heard(e.data); };
    ws.onclose = (e) => {
      if (this.turn !== turn) return;
      if (e.code === 4001 && !this.way) { this.become('over'); ended(); return; }
      if (e.code === 1001) this.delay = 100;
      this.again(turn);
    };
    this.watch(turn);
  }

  // watch gives the connection up when nothing came for long: a laptop that slept has a socket that is none.
  watch(turn) {
    clearTimeout(this.dead);
    this.patience = Date.now() + silence;
    this.dead = setTimeout(() => this.again(turn), silence);
  }

  again(turn) {
    if (this.turn !== turn) return;
    this.turn = null;
    this.ws?.close();
    clearTimeout(this.dead);
    this.lost ??= Date.now();
    this.become('waiting');
    this.timer = setTimeout(() => this.connect(), this.delay * (0.75 + Math.random() / 2));
    this.delay = Math.min(this.delay * 2, 15000);
  }

  heard(data) {
    this.watch(this.turn);
    if (data[0] === '=') return this.typed(data);
    if ('!%'.includes(data[0])) return this.emit('short', this.last, this.after += parseInt(data.slice(1), 36), data);
    if (data[0] !== '{') return this.thin(data);
    const m = JSON.parse(data), sub = this.subs.get(m.id);
    switch (m.t) {
      case 'hello':
        this.delay = 500;
        this.lost = undefined;
        this.told = m;
        this.after ||= m.seq ?? 0;
        this.emit(m.t, m);
        this.become('open');
        for (const s of this.subs.values()) this.write({ t: 'sub', id: s.id, ...s.wants, ...s.had() });
        for (const p of this.pending.values()) this.write(p);
        again(this);
        break;
      case 'f': {
        if (m.reset) this.styles = new Map();
        this.define(m);
        if (sub) {
          sub.over = 0;
          sub.n = m.n;
          sub.v = m.v;
          sub.frame(m, this.styles);
        } else this.write({ t: 'ack', id: m.id, n: m.n });
        break;
      }
      case 'img':
        came(m, this);
        break;
      case 'gone':
        if (sub) sub.over = m; // what is still said of it is no news
        if (m.code !== 'unavailable') sub?.gone?.(m);
        else setTimeout(() => { if (sub?.over === m && this.subs.has(m.id)) this.write({ t: 'sub', id: m.id, ...sub.wants }); }, 1000); // it is being started again
        break;
      case 'ok':
        this.pending.delete(m.q);
        break;
      case 'err':
        this.pending.delete(m.q);
        if (!m.id || sub && !sub.over) this.emit('refused', m);
        break;
      case 'e': // what changed of a session: that of the event before, where it is not said
      case 'event': {
        const { event, s = this.last } = m, part = m.t === 'e';
        this.after = event.seq || this.after;
        if (part) event.session.id = s;
        this.last = event.session?.id ?? s;
        this.emit('event', event, part);
        break;
      }
      case 'sessions':
        if (m.first) this.after = this.told.seq ?? this.after; // what was missed is in the list
        this.emit(m.t, m);
        break;
      default:
        this.emit(m.t, m);
    }
  }

  define({ styles }) {
    for (const [id, st] of styles ?? []) {
      if (st.i) st.pic = picture(st.i[0], this);
      this.styles.set(id, st);
    }
  }

  // typed notes that what was typed in a subscription up to a message has arrived.
  typed(data) {
    const [id, q] = data.slice(1).split(',').map((n) => parseInt(n, 36));
    for (const [k, m] of this.pending) if (m.id === id && k <= q) this.pending.delete(k);
  }

  // thin takes a thin frame. One that does not fit what is drawn has the session shown anew.
  thin(data) {
    const id = parseInt(data, 36), sub = this.subs.get(id);
    try {
      const f = readThin(data);
      this.define(f); // for all: one that ended may have been the first to be told
      sub?.frame({ ...f, n: sub.n += 1, v: sub.v += f.grew }, this.styles);
    } catch {
      this.write({ t: 'unsub', id });
      if (!sub) return;
      this.write({ t: 'sub', id, ...sub.wants });
      for (const p of this.pending.values()) if (p.id === id) this.write(p); // it may not have been typed yet
    }
  }

  write(m) {
    if (this.state === 'open') this.ws.send(JSON.stringify(m));
  }

  // subscribe shows a session: wants is as the protocol's sub has it, had tells version and epoch of what is drawn.
  subscribe(wants, { frame, had = () => ({}), gone }) {
    const sub = { id: this.nextSub++, wants, frame, had, gone };
    this.subs.set(sub.id, sub);
    this.write({ t: 'sub', id: sub.id, ...wants });
    return {
      id: sub.id,
      change: (more) => {
        sub.wants = { ...sub.wants, ...more };
        for (const k of Object.keys(sub.wants)) if (sub.wants[k] === undefined) delete sub.wants[k];
        this.write({ t: 'sub', id: sub.id, ...sub.wants });
      },
      ack: (n) => this.write({ t: 'ack', id: sub.id, n }),
      end: () => {
        this.subs.delete(sub.id);
        this.write({ t: 'unsub', id: sub.id });
      },
    };
  }

  // type sends input that is to arrive once.
  type(id, m) {
    const q = this.nextQ++;
    const whole = { ...m, id, q, u: this.unique + ':' + q };
    this.pending.set(q, whole);
    this.write(whole);
  }
}
