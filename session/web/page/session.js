// A session's page: its head, what it asks, its terminal, panels beside it, time bar and keys for fingers.
import { cast } from './cast.js';
import { get, patch, post, remove, there } from './net.js';
import { Changes, Commands, failed, Jobs, Search, showAsking } from './panels.js';
import { asks, draft, elapsed, ports, state, store, title } from './store.js';
import { phone, Term } from './term.js';
import { TimeBar } from './timebar.js';
import { button, copyText, dialog, duration, h, loading, say, some, svg, toast, visible, when } from './ui.js';

// save has the browser keep what a request for something of a session answers with, or what is made of it.
async function save(s, what, query, ext, made = (answer) => answer.blob()) {
  try {
    const link = h('a', { href: URL.createObjectURL(await made(await get(`sessions/${s.id}/` + what, query, { raw: true }))), download: s.name.replace(/[^\w.-]+/g, '_') + '.' + ext });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  } catch (err) { failed(err); }
}

const escape = (leave) => (e) => { if (e.key === 'Escape') leave(); };

export class SessionPage {
  constructor(link, id, { alone, theme }) {
    Object.assign(this, { link, id, alone, theme });
    this.el = h('main', { class: 'session', 'aria-label': 'Session' });
    const clock = setInterval(() => { if (!document.hidden) this.update(); }, 1000); // times go on
    this.off = [store.on('change', () => this.update()), () => clearInterval(clock)];
    this.update();
  }

  get s() { return store.sessions.get(this.id); }

  end() {
    for (const off of this.off) off();
    clearTimeout(this.telling);
    this.time?.end();
    this.panel?.end?.();
    this.term?.end();
  }

  update() {
    const { s } = this;
    if (!s) {
      if (this.term) this.term.tell('This session is gone.');
      else this.el.replaceChildren(store.loaded ? h('p', { class: 'none', text: 'No such session, or this login may not see it.' }) : loading('Loading the session…'));
      return;
    }
    if (!this.term) this.build(s);
    const [kind, word] = state(s);
    this.dot.className = 'dot ' + kind;
    this.name.textContent = visible(s.name);
    const a = s.activity, took = elapsed(s), left = took && new Date(a.due) - Date.now();
    const time = s.ended ? when('ended', s.ended) : when('started', s.created), ran = took > 2000 && duration(took), now = [word === 'running' && ran ? word + ' ' + ran : word, word !== 'running' && ran, left > 1000 && duration(left) + ' left'].filter(Boolean).join(' · ');
    const told = [ports(s), title(s) !== s.name ? title(s) : '', s.cwd, `${s.cols}×${s.rows}`].filter(Boolean).join(' · ');
    if (this.told !== (this.told = now + time.textContent + told)) this.sub.replaceChildren(visible(now), ' · ', time, ' · ' + visible(told));
    this.sub.title = (s.ports ?? []).map((p) => `${p.unix ?? p.address + ' ' + p.port}: ${p.program ?? p.pid}`).join('\n');
    const p = a?.running ? a.progress : s.progress;
    this.bar.hidden = !p || s.state !== 'running';
    if (p) {
      this.bar.className = 'progress ' + p.state;
      this.bar.firstChild.style.width = (p.state === 'indeterminate' ? 30 : p.percent) + '%';
      this.bar.setAttribute('aria-valuenow', p.percent);
    }
    this.problems.textContent = [a?.errors && some(a.errors, 'error'), a?.warnings && some(a.warnings, 'warning')].filter(Boolean).join(', ');
    this.problems.hidden = !this.problems.textContent;
    this.problems.className = 'chip ' + (a?.errors ? 'bad' : 'wants');
    this.drafted.textContent = draft(s);
    this.drafted.hidden = !draft(s);
    this.attention(s);
    this.panel?.tick?.();
    if (this.keyRow) this.keyRow.hidden = s.state !== 'running';
    document.title = (kind === 'wants' ? '● ' : '') + this.name.textContent + ' · longterm';
  }

  build(s) {
    this.dot = h('span', { class: 'dot' });
    this.name = h('h1');
    this.sub = h('span', { class: 'what' });
    this.bar = h('div', { class: 'progress', role: 'progressbar', 'aria-label': 'Progress', hidden: true }, h('span'));
    this.problems = h('button', { class: 'chip', hidden: true, title: 'Show the first', onclick: () => {
      const at = this.s.activity?.first_error?.offset;
      if (at !== undefined) this.goTo(String(at));
    } });
    this.drafted = h('button', { class: 'chip', hidden: true, title: 'Show the file changes of its draft', onclick: () => this.open('changes') });
    const head = h('header', { class: 'head' }, !this.alone && h('a', { class: 'ib back', href: '#/', title: 'All sessions' }, button('', 'back').firstChild),
      h('div', { class: 'who' }, h('span', { class: 'name' }, this.dot, this.name, !store.may('type') && h('span', { class: 'chip', text: 'read only' })), this.sub), this.drafted, this.problems,
      (!this.alone || store.may('look')) && button('Search', 'search', () => this.open('search')),
      button('Commands', 'list', () => this.open('commands')),
      button('Time', 'clock', () => {
        this.toggleTime();
        this.time?.range.focus();
      }, { 'aria-pressed': 'false' }),
      button('Fit to width', 'fit', () => this.term.setFit(this.term.fit === 'fit' ? 'auto' : 'fit')),
      button('More', 'more', (e) => this.menu(e.currentTarget)));
    this.timeButton = head.querySelector('[title=Time]');
    this.asking = h('div', { class: 'asking' });
    this.term = new Term(this.link, s, { may: store.me.may, to: {
      drawn: (t) => {
        this.time?.arrived();
        this.announce(t);
      },
      behind: (ms) => {
        clearTimeout(this.catching);
        if (this.late.hidden = ms < 1500) return;
        this.late.textContent = duration(ms) + ' behind';
        this.catching = setTimeout(() => { this.late.hidden = true; }, ms); // another one comes until then, or this was the newest
      },
      state: () => this.update(),
      leave: (e) => this.leave(e),
    } });
    this.late = h('div', { class: 'late', hidden: true });
    const end = h('button', { class: 'to-end', 'aria-label': 'To the end', onclick: () => this.term.bottom() }, button('', 'down').firstChild);
    this.side = h('aside', { class: 'panel', hidden: true, 'aria-label': 'Panel', onkeydown: escape(() => this.open('')) });
    this.timePlace = h('div', { onkeydown: escape(() => this.toggleTime()) });
    this.stage = h('div', { class: 'stage' }, this.term.el, this.late, end);
    this.el.replaceChildren(head, this.bar, this.asking, h('div', { class: 'middle' }, this.stage, this.side), this.timePlace, ...phone.matches && store.may('type') ? [this.keyRow = this.keys()] : []);
    this.term.start();
    requestAnimationFrame(() => this.toTerm());
  }

  // toTerm has the terminal be what keys are for, where that brings no keyboard up.
  toTerm() { if (!phone.matches) this.term?.focus(); }

  leave(e) {
    if (e.key === 'Home') [...document.querySelectorAll('.list a[aria-current], .head a, .head button')].find((el) => el.offsetParent).focus(); // a small window has no list
    else this.onstep?.(e.key === 'ArrowUp' ? -1 : 1);
    e.preventDefault();
  }

  // attention shows what waits for a person, with its answers.
  attention(s) {
    showAsking(this.asking, [...(s.needs_approval ?? []).map((id) => store.approvals.get(id)).filter(Boolean), ...asks(s) ? [s] : []]);
  }

  // announce tells screen readers what was added, when it has come to rest, or has not for seconds. A row that was drawn anew
  // with the same text in the place of another is none; one below another that says the same is.
  announce({ screen }) {
    clearTimeout(this.telling);
    if (screen.alt || screen.at !== undefined) return;
    const rows = () => screen.rows.slice(0, (screen.cursor?.y ?? 0) + 1).filter((r) => r.text);
    this.heard ??= rows();
    this.since ??= Date.now();
    this.telling = setTimeout(() => {
      const now = rows(), was = this.heard, stays = was.findIndex((r) => now.includes(r)); // what was above it has left the screen
      const added = now.filter((r) => !was.some((w, i) => w === r || i > stays && w.text === r.text && !now.includes(w)));
      this.heard = now;
      this.since = null;
      if (added.length) say(added.slice(-8).map((r) => r.text).join('\n'));
    }, Math.min(400, this.since + 3000 - Date.now()));
  }

  open(what) {
    this.panel?.end?.();
    this.panel = null;
    const same = this.shown === what || !what;
    this.shown = same ? '' : what;
    this.side.hidden = same;
    if (same) {
      this.side.replaceChildren();
      this.toTerm();
      return;
    }
    const go = (at, s, time) => this.goTo(at, time);
    const make = { search: () => new Search(this.id, go), commands: () => new Commands(this.id, go, this.term), jobs: () => new Jobs(this.id), changes: () => new Changes(this.id) };
    this.panel = make[what]();
    const tab = (name, text) => h('button', { role: 'tab', 'aria-selected': String(name === what), text, onclick: () => { if (name !== what) this.open(name); } });
    this.side.replaceChildren(h('div', { class: 'tabs' }, h('div', { class: 'grow', role: 'tablist' }, tab('commands', 'Commands'), tab('search', 'Search'), !this.alone && tab('jobs', 'Jobs'), (draft(this.s) || what === 'changes') && tab('changes', 'Changes')),
      button('Close', 'close', () => this.open(''))), this.panel.el);
    this.side.querySelector('[aria-selected=true]').focus(); // the terminal keeps Tab
    this.panel.focus?.();
  }

  toggleTime(on = !this.time) {
    this.timeButton.setAttribute('aria-pressed', String(on));
    if (on === !!this.time) return;
    if (on) {
      this.time = new TimeBar(this.term, this.s);
      this.timePlace.append(this.time.el);
    } else {
      this.time.end();
      this.time.el.remove();
      this.time = null;
      this.toTerm();
    }
  }

  // goTo shows the screen when output had come to an offset.
  goTo(at, time) {
    this.toggleTime(true);
    this.time.offset(at, time);
    if (innerWidth < 800) this.open('');
  }

  menu(from) {
    const { s } = this, type = store.may('type') && s.state === 'running', manage = store.may('manage');
    const act = (text, fn) => h('button', { role: 'menuitem', text, onclick: () => { close(); fn(); } });
    const close = () => {
      m.remove();
      removeEventListener('pointerdown', outside, true);
      from.focus();
    };
    const outside = (e) => { if (!m.contains(e.target)) close(); };
    const m = h('div', { class: 'menu', role: 'menu', onkeydown: (e) => {
      const all = [...m.querySelectorAll('button')], by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
      if (by) {
        e.preventDefault();
        all[(all.indexOf(document.activeElement) + by + all.length) % all.length].focus();
      } else if (e.key === 'Escape' || e.key === 'Tab') close();
    } },
    type && act('Run a command…', () => this.exec()),
    type && act('Make it as large as this window', () => {
      const { cols, rows } = this.term.resize();
      toast(`${s.name} is ${cols}×${rows} now`);
    }),
    innerWidth < 500 && [act('Search…', () => this.open('search')), act('Fit to width', () => this.term.setFit(this.term.fit === 'fit' ? 'auto' : 'fit'))],
    act('Larger text', () => this.term.setZoom(this.term.zoom + 0.15)), act('Smaller text', () => this.term.setZoom(this.term.zoom - 0.15)),
    h('hr'),
    act('Download picture', () => save(s, 'screen/png', { theme: this.theme(), at: this.term.screen.at, scale: 2 }, 'png')),
    act('Download text', () => save(s, 'screen/text', { at: this.term.screen.at, max_output: -1 }, 'txt')),
    act('Download recording', () => save(s, 'records', {}, 'cast', async (answer) => new Blob(cast(await answer.text(), s.name)))), // an asciicast of its history, as export makes it
    this.shares() && [h('hr'), act('Share…', async () => (await import('./rare.js')).share({ get, post, remove, h, svg, copyText, dialog, when, failed, loading }, s))],
    manage && [h('hr'), act('Rename…', () => this.edit('name')), act('Labels…', () => this.edit('labels')),
      ...s.state === 'running' ? [act('End…', () => this.sure('End', 'What it started ends, too. What it printed is kept.', () => post(`sessions/${s.id}/kill`)))] : [
        act('Start again…', () => this.sure('Start', s.command, () => post(`sessions/${s.id}/restore`, { command: true }), false)),
        act('Forget…', () => this.sure('Forget', 'Its history is removed for good.', () => remove(`sessions/${s.id}`).then(() => { location.hash = '#/'; })))]]);
    this.el.append(m);
    const box = from.getBoundingClientRect();
    Object.assign(m.style, { top: box.bottom + 4 + 'px', right: Math.max(8, innerWidth - box.right) + 'px' });
    m.querySelector('button').focus();
    addEventListener('pointerdown', outside, true);
  }

  // shares says whether the login may share the session: one with all rights, of this machine, that hides nothing.
  shares() {
    const { me } = store;
    return !there && !me.session && !me.label && !me.masked && ['look', 'type', 'approve', 'manage'].every((right) => store.may(right));
  }

  exec() {
    dialog('Run in ' + this.s.name, [{ name: 'line', label: 'Command' }], 'Run', async ({ line }) => {
      const r = await post(`sessions/${this.id}/exec`, { line, on_approval: 'return', background: true });
      toast(r.message ?? (r.state === 'needs_approval' ? 'It waits for an approval.' : 'Started'));
    }, { note: 'Typed at its prompt; its status is told when it ends.' });
  }

  edit(what) {
    const { s } = this;
    const had = Object.entries(s.labels ?? {}), naming = what === 'name';
    dialog(naming ? 'Rename' : 'Labels', [{ name: 'v', label: naming ? 'Name' : 'key=value, separated by spaces', value: naming ? s.name : had.map((l) => l.join('=')).join(' ') }], 'Save', ({ v }) =>
      patch(`sessions/${s.id}`, naming ? { name: v } : { labels: { ...Object.fromEntries(had.map(([k]) => [k, ''])),
        ...Object.fromEntries(v.split(/\s+/).filter(Boolean).map((p) => [p.split('=')[0], p.split('=').slice(1).join('=')])) } }));
  }

  // sure does something with the session once a person has said so.
  sure(action, note, act, danger = true) { dialog(`${action} ${this.s.name}?`, [], action, act, { danger, note }); }

  // keys is a row of keys that soft keyboards lack.
  keys() {
    const { term } = this, { keyboard } = term;
    const one = (text, onclick, props) => h('button', { text, tabIndex: -1, onpointerdown: (e) => e.preventDefault(), onclick, ...props });
    const key = (text, k, label = /\w/.test(text) ? text : k) => one(text, () => {
      const { ctrl, alt } = keyboard.sticky;
      term.type({ t: 'key', k: (ctrl ? 'C-' : '') + (alt ? 'M-' : '') + k });
      keyboard.release();
    }, { 'aria-label': label });
    const hold = (text, name) => [one(text, () => {
      keyboard.sticky = { ...keyboard.sticky, [name]: !keyboard.sticky[name] };
      show(keyboard.sticky);
      term.focus();
    }), name];
    const holds = [hold('Ctrl', 'ctrl'), hold('Alt', 'alt')];
    const show = (now) => { for (const [b, name] of holds) b.setAttribute('aria-pressed', !!now[name]); };
    keyboard.onsticky = show;
    show(keyboard.sticky);
    const paste = h('button', { text: 'Paste', tabIndex: -1, onclick: async () => {
      try { term.paste(await navigator.clipboard.readText()); } catch { toast('The browser does not allow reading the clipboard.', true); }
    } });
    return h('div', { class: 'keys', role: 'toolbar', 'aria-label': 'Keys' }, key('Esc', 'Escape'), key('Tab', 'Tab'), ...holds.map(([b]) => b), key('←', 'Left'), key('↓', 'Down'), key('↑', 'Up'), key('→', 'Right'),
      key('^C', 'C-c'), key('|', '|'), key('/', '/'), key('-', '-'), key('~', '~'), key('PgUp', 'PageUp'), key('PgDn', 'PageDown'), key('Home', 'Home'), key('End', 'End'), paste);
  }
}
