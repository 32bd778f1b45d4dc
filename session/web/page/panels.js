// What stands beside a session: its commands, search in it, and jobs; and the pages of inbox, jobs and search over
// all sessions.
import { get, post, toSession } from './net.js';
import { asked, asks, entryOf, hidden, loadInbox, news, state, store, waiting, wanted } from './store.js';
import { button, copyText, dialog, duration, h, icon, literal, loading, say, sentence, some, toast, when, words } from './ui.js';

export const failed = (err) => { if (err.name !== 'AbortError') toast(words(err), true); };

// narrow is a page of its own around what others have beside them.
export const narrow = (label, el) => h('main', { class: 'page narrow', 'aria-label': label }, h('h1', { text: label }), el);

const none = (text) => h('p', { class: 'none', text });

const sign = (c) => c.state === 'running' ? ['busy', 'running'] : c.exit_code === 0 ? ['good', 'ok'] : c.exit_code === null ? ['idle', c.signal || 'unknown'] : ['bad', 'exit ' + c.exit_code];

// fill shows entries, those that are as they were in the elements that they had.
function fill(body, all, key, entry, nothing) {
  const focus = document.activeElement, was = body.shown ?? new Map();
  body.shown = new Map(all.map((one) => [key(one), was.get(key(one)) ?? entry(one)]));
  body.replaceChildren(...all.length ? body.shown.values() : [none(nothing)]);
  if (body.contains(focus)) focus.focus({ preventScroll: true }); // what is moved loses it
}

// commands lists what a session's shell ran, newest first.
export class Commands {
  constructor(id, go, term) {
    this.id = id;
    this.go = go;
    this.term = term;
    this.body = h('div', {}, loading());
    this.el = h('div', { class: 'panel-body' }, this.body);
    this.end = store.on('event', (e) => { if (e.kind === 'command' && e.session?.id === id) this.load(); });
    this.load();
  }

  async load() {
    const all = (await get('commands', { session: this.id, limit: 200 }).catch(failed) ?? []).sort((a, b) => b.n - a.n);
    fill(this.body, all, (c) => [c.n, c.state, c.exit_code].join(), (c) => this.entry(c), 'No commands.');
  }

  // tick has times go on.
  tick() { for (const el of this.body.children) el.tick?.(); }

  entry(c) {
    const [kind, word] = sign(c), took = h('span'), el = h('article', { class: 'entry' },
      h('button', { class: 'line', title: 'Show the screen when it ended', onclick: () => this.go(String(c.state === 'running' ? c.output_range.start : c.output_range.end), c.session, +new Date(c.started) + c.duration_ms) },
        h('span', { class: 'dot ' + kind, title: word }), h('code', { text: c.text })),
      h('div', { class: 'meta' },
        h('span', { class: 'word ' + kind, text: word }), took,
        c.started && when('started', c.started),
        c.activity?.errors > 0 && h('span', { class: 'word bad', text: some(c.activity.errors, 'error') }),
        h('span', { class: 'grow' }),
        button('Copy output', 'copy', () => this.copy(c)),
        this.term.types && button('Run again', 'play', () => this.term.type({ t: 'paste', text: c.text }))));
    el.tick = () => { took.textContent = 'took ' + duration(c.duration_ms); if (c.state === 'running') took.textContent = 'for ' + duration(Date.now() - new Date(c.started)); };
    el.tick();
    return el;
  }

  async copy(c) {
    try {
      const o = await get(`sessions/${this.id}/output/text`, { from: c.output_range.start, to: c.output_range.end, max_output: 4 << 20 });
      await copyText(o.text);
    } catch (err) { failed(err); }
  }
}

// marked is a line with what matches in it marked; ranges are in bytes of UTF-8.
function marked(hit) {
  const bytes = new TextEncoder().encode(hit.text), text = (a, b) => new TextDecoder().decode(bytes.subarray(a, b)), out = [];
  let at = 0;
  for (const [from, to] of hit.matches ?? []) {
    if (from < at) continue;
    out.push(text(at, from), h('mark', { text: text(from, to) }));
    at = to;
  }
  return [...out, text(at)];
}

// Search looks in one session, or in all.
export class Search {
  constructor(id, go, query = '') {
    this.id = id;
    this.go = go;
    this.field = h('input', { type: 'search', value: query, placeholder: id ? 'Search this session' : 'Search all sessions', autocomplete: 'off', spellcheck: false, oninput: () => this.soon() });
    this.note = h('p', { class: 'note', role: 'status' });
    this.body = h('div');
    this.far = h('div'); // what other hosts find
    this.regexp = h('input', { type: 'checkbox', onchange: () => this.run() });
    this.case = h('input', { type: 'checkbox', onchange: () => this.run() });
    this.el = h('div', { class: 'panel-body search' },
      h('form', { class: 'filter', role: 'search', onsubmit: (e) => { e.preventDefault(); this.run(); } }, icon('search'), this.field),
      h('div', { class: 'ticks' }, h('label', {}, this.regexp, 'Pattern'), h('label', {}, this.case, 'Case')), this.note, this.body, this.far);
    if (query) this.run();
  }

  focus() { this.field.focus(); }

  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.run(), 250);
  }

  async run(before) {
    const text = this.field.value;
    this.asking?.abort();
    const { signal } = this.asking = new AbortController();
    if (!before) this.far.replaceChildren();
    if (!text.trim()) {
      this.note.textContent = '';
      this.body.replaceChildren();
      return;
    }
    const query = { [this.regexp.checked ? 'regexp' : 'text']: text, case: this.case.checked || undefined, session: this.id, limit: 50, before };
    if (!this.id && !before) store.others?.search(this, query, signal);
    if (!before) this.note.replaceChildren(loading('Searching…'));
    try {
      const found = await get('search', query, { signal });
      if (!before) this.body.replaceChildren();
      this.body.append(...found.hits.map((hit) => this.entry(hit)));
      this.body.querySelector('.more')?.remove();
      if (found.next) this.body.append(h('button', { class: 'more', text: 'Older', onclick: () => this.run(found.next) }));
      const n = this.body.querySelectorAll('.entry').length;
      this.note.textContent = (n ? some(n, found.next ? 'newest line' : 'line') : 'Nothing found here.') + ' ' + (found.note ?? '');
    } catch (err) {
      if (err.name === 'AbortError') return;
      if (!before) this.body.replaceChildren(); // what another search found
      this.note.textContent = err.message;
    }
  }

  entry(hit) {
    return h('article', { class: 'entry' }, h('button', { class: 'line', title: 'Show the screen when this was printed', onclick: () => this.go(String(hit.to), hit.session, hit.time, hit.way) }, h('code', {}, marked(hit))),
      h('div', { class: 'meta' }, !this.id && h('span', { text: hit.name }), when('printed', hit.time)));
  }
}

// Jobs are lines and commands that were asked for.
export class Jobs {
  constructor(id) {
    this.id = id;
    this.body = h('div', {}, loading());
    this.el = h('div', { class: 'panel-body' }, this.body);
    this.end = store.on('event', (e) => { if (e.kind === 'job' || e.kind === 'command') this.load(); });
    this.load();
  }

  async load() {
    const all = (await get('jobs', { session: this.id }).catch(failed) ?? []).sort((a, b) => (b.started ?? '').localeCompare(a.started ?? ''));
    fill(this.body, all, (j) => [j.id, j.state, j.duration_ms].join(), (j) => this.entry(j), 'No jobs.');
  }

  entry(j) {
    const r = j.result, done = j.state === 'done';
    const [kind, word] = !done ? [j.state === 'needs_approval' ? 'wants' : 'busy', j.state.replace('_', ' ')] : r?.exit_code === 0 || r?.exit_unknown === 'none' ? ['good', 'ok'] : ['bad', r?.message ?? r?.state ?? 'done'];
    return h('article', { class: 'entry' }, h('a', { class: 'line', href: '#/s/' + j.session }, h('span', { class: 'dot ' + kind }), h('code', { text: j.line })),
      h('div', { class: 'meta' }, h('span', { class: 'word ' + kind, text: word }), h('span', { text: (done ? 'took ' : 'for ') + duration(j.duration_ms) }), j.started && when('started', j.started), !this.id && j.name && h('span', { text: j.name }),
        j.in_background && !done && h('span', { text: 'in background' }), h('span', { class: 'grow' }),
        !done && store.may('manage') && h('button', { class: 'small', text: 'Stop', onclick: () => post(`jobs/${j.id}/stop`).then(() => this.load(), failed) })));
  }
}

const bytes = (n) => {
  const unit = n < 1e3 ? 0 : n < 1e6 ? 1 : n < 1e9 ? 2 : 3, of = n / 1e3 ** unit;
  return (unit && of < 9.95 ? of.toFixed(1) : Math.round(of)) + ' ' + ['B', 'kB', 'MB', 'GB'][unit];
};

const diffLines = 2000; // shown of one change

// Changes are the file changes of a session's draft: their diffs, and what commits or discards them.
export class Changes {
  constructor(id) {
    this.id = id;
    this.head = h('div', { class: 'entry' });
    this.body = h('div', {}, loading());
    this.el = h('div', { class: 'panel-body changes' }, this.head, this.body);
    this.end = store.on('event', (e) => { if (e.session?.id === id && /^(draft-|state)/.test(e.kind)) this.load(); });
    this.load();
  }

  async load() {
    let d;
    const mark = store.sessions.get(this.id)?.draft;
    // A draft without changes is removed soon, and cannot be read then.
    if (mark && mark.changes !== 0) try { d = await get(`sessions/${this.id}/changes`); } catch (err) { if (err.code !== 'not_found') return failed(err); }
    this.show(d);
  }

  show(d) {
    this.draft = d;
    const all = d?.changes ?? [], ended = d && d.state !== 'open';
    this.head.hidden = !all.length;
    this.head.replaceChildren(h('p', { class: 'note', text: d && some(all.length, 'change') + ' in ' + d.roots.join(', ') + (ended ? '' : '. They are committed or discarded after the session has ended.') }),
      ...ended ? [h('div', { class: 'answers' }, this.act('Commit all'), this.act('Discard all'))] : []);
    fill(this.body, all, (c) => [c.root, c.path, c.kind, c.size, c.conflict, ended].join(), (c) => this.entry(c, ended), 'No changes.');
  }

  // act is a button that commits or discards a change, or all, after a question.
  act(text, c) {
    const commit = text.startsWith('Commit'), what = c ? c.path : some(this.draft.changes.length, 'change'), [verb] = text.split(' ');
    if (!store.may(commit ? 'approve' : 'manage')) return false;
    return h('button', { class: [c && 'small', !commit && 'danger'].filter(Boolean).join(' '), text, onclick: () => dialog(`${verb} ${what}?`, [], verb, async () => {
      const r = await post(`sessions/${this.id}/${commit ? 'commit' : 'discard'}`, { paths: c && [this.path(c)], expect: commit ? this.draft.id : undefined });
      toast(some(r.paths.length, 'change') + (commit ? ' committed' : ' discarded'));
      if (r.empty) this.show(); else this.load();
    }, { danger: !commit, note: commit ? 'The files themselves are changed.' : 'These changes are lost.' }) });
  }

  path(c) { return (c.root ?? this.draft.root) + '/' + c.path; }

  entry(c, ended) {
    const kind = c.conflict ? 'bad' : { added: 'good', deleted: 'bad' }[c.kind] ?? 'busy', diff = h('pre', { class: 'diff', hidden: true, tabIndex: 0 });
    const show = async () => {
      if (!(diff.hidden = !diff.hidden)) {
        try {
          const d = await get(`sessions/${this.id}/diff`, { path: this.path(c) }), lines = d.text.split('\n'), more = lines.length - diffLines;
          diff.replaceChildren(...lines.slice(0, diffLines).map((l) => h({ '+': 'ins', '-': 'del' }[l[0]] ?? 'span', { text: l + '\n' })), ...more > 0 ? [`… ${more} more lines`] : []);
        } catch (err) { failed(err); }
      }
    };
    return h('article', { class: 'entry' },
      h('button', { class: 'line', title: 'Show the difference', onclick: show }, h('span', { class: 'dot ' + kind, title: c.kind }), h('code', { text: (this.draft.roots.length > 1 ? this.path(c) : c.path) + (c.type === 'dir' ? '/' : '') })),
      h('div', { class: 'meta' }, h('span', { class: 'word ' + kind, text: c.kind }), c.type === 'file' && h('span', { text: bytes(c.size) }), c.conflict && h('span', { class: 'word bad', text: 'conflict: ' + c.conflict }), h('span', { class: 'grow' }),
        ended && [this.act('Commit', c), this.act('Discard', c)]), diff);
  }
}

// approval is one question with its answers: one tap each. What more than this once would be allowed by is shown by the first tap,
// and a rule can be edited there; the second one allows it.
export function approval(a, named) {
  const { way = '' } = a;
  const answer = async (answer, more) => {
    for (const b of el.querySelectorAll('button')) b.disabled = true;
    try {
      await post(way + `approvals/${a.id}/answer`, { answer, ...more });
      say(`${a.id} answered: ${answer}`);
      (way ? store.far : store.approvals).delete(way + a.id);
      store.emit('change');
    } catch (err) {
      failed(err);
      for (const b of el.querySelectorAll('button')) b.disabled = false;
    }
  };
  const why = h('input', { type: 'text', placeholder: 'Reason, for whoever asked', autocomplete: 'off' });
  const first = h('div', { role: 'status' });
  const by = (text, how, note, shown, edited) => shown && h('button', { text, onclick: () => {
    const rule = h('pre', { text: literal(shown), ...edited && { contenteditable: 'plaintext-only', role: 'textbox', 'aria-label': 'Rule' } });
    first.replaceChildren(h('p', { text: note }), rule, h('div', { class: 'answers' }, h('button', { text: 'Allow', onclick: () => answer(how, edited && rule.textContent !== literal(shown) && { rule: rule.textContent }) })));
  } });
  const { effects: known, why: reason, rule } = a.judgement ?? {}; // as Explain and Because of the API's Judgement
  const effects = known ?? (reason ? [reason] : []);
  const because = rule && `Rule "${rule}"` + (known && reason ? ': ' + reason : '');
  const el = h('article', { class: 'ask', 'aria-label': 'Approval ' + a.id },
    h('header', {}, h('span', { class: 'word ' + ({ high: 'bad', medium: 'wants' }[a.risk] ?? ''), text: a.risk + ' risk' }), h('b', { text: a.actor?.agent || a.actor?.token || 'You, or a program of yours' }),
      a.name && h(a.session ? 'a' : 'b', { href: toSession(way, a.session), text: a.name }), when('asked', a.asked)),
    h('pre', { text: wanted(a) }),
    h('ul', { class: 'effects', 'aria-label': 'Effects' }, ...effects.map(text => h('li', { text: literal(text) }))),
    h('p', { class: 'note' }, because ? because + '. ' : '', a.cwd ? 'In ' + a.cwd + '.' : '', a.count > 1 ? ` ${a.count} ask for this.` : ''),
    ...store.may('approve') ? [h('div', { class: 'answers' },
      h('button', { text: 'Allow once', onclick: () => answer('once') }),
      by('For this session', 'session', 'Allows in this session:', a.session && a.session_prefixes?.join('\n')),
      by('Always', 'always', 'Writes this rule, for everybody:', a.always_rule, true),
      h('button', { class: 'danger', text: 'Reject', onclick: () => answer('reject', why.value && { feedback: why.value }) }), why, named && later(a)), first]
      : [h('p', { class: 'note', text: 'This login may not answer.' })]);
  return el;
}

// showAsking shows what waits for a person, in the elements that it had: something may be half typed there.
export function showAsking(body, all, named) {
  const was = body.shown ?? new Map();
  body.shown = new Map();
  for (const a of all) {
    const needs = a.state !== 'pending' && asks(a), id = [a.way, a.id, needs?.kind, needs?.reason].join();
    let el = was.get(id);
    if (!el) body.append(el = a.state === 'pending' ? approval(a, named) : question(a, needs, named));
    body.shown.set(id, el);
    was.delete(id);
  }
  for (const el of was.values()) el.remove();
}

const small = (text, onclick) => h('button', { class: 'small', text, onclick });

// mark has the daemon mark an entry of the inbox, with what.
const mark = (id, what, body) => post(`inbox/${id}/${what}`, body).then(loadInbox);

const snooze = (id) => dialog('Snooze', [{ name: 'time', label: 'Hide for', options: ['1 h', '4 h', '24 h'] }], 'Snooze', ({ time }) => mark(id, 'snooze', { for_ms: parseInt(time) * 36e5 }));

// later hides what asks for a time.
const later = (a) => !a.way && store.may('manage') && small('Snooze', async () => {
  if (!entryOf(a)) await loadInbox(); // it is newer
  const e = entryOf(a);
  if (e) snooze(e.id);
});

const signs = { failed: 'bad', finished: 'good', port: 'busy' };

// entry is an entry of the inbox for which no program waits.
const entry = (e) => h('article', { class: 'entry' },
  h(e.session ? 'a' : 'div', { class: 'line', href: e.session && '#/s/' + e.session }, h('span', { class: 'dot ' + (signs[e.kind] ?? 'wants'), title: e.kind }), h('code', { text: e.text })),
  h('div', { class: 'meta' }, h('b', { text: e.name || 'removed' }), when(e.kind, e.since), h('span', { class: 'grow' }),
    store.may('manage') && [small('Snooze', () => snooze(e.id)), small('Done', () => mark(e.id, 'done').catch(failed))]));

// Inbox is the queue of what asks, and below it the news.
export class Inbox {
  constructor() {
    this.body = h('div', { class: 'asks' });
    this.news = h('div');
    this.more = h('button', { class: 'more', onclick: () => Promise.all(hidden().map((e) => mark(e.id, 'snooze', { for_ms: 0 }))).catch(failed) });
    this.el = narrow('Inbox', h('div', {}, this.body, this.news, this.more));
    this.end = store.on('change', () => this.draw());
    this.draw();
  }

  draw() {
    const all = waiting(), others = news(), n = hidden().length;
    showAsking(this.body, all, true);
    store.others?.offer(this.el);
    fill(this.news, others, (e) => [e.id, e.text].join(), entry, '');
    this.news.hidden = !others.length;
    this.more.hidden = !n || !store.may('manage');
    this.more.textContent = `Show ${n} snoozed`;
    this.empty ??= none('Nothing waits for you.');
    if (!all.length && !others.length) this.body.append(this.empty); else this.empty.remove();
  }
}

// question is what a program waits for, with what would answer it.
export function question(s, needs, named) {
  const type = (body) => post(`sessions/${s.id}/input`, body);
  const half = h('div', { class: 'answers' }); // what is said where an answer would be appended to what somebody typed
  const send = (body, done) => type({ ...body, fresh_line: true }).then(() => { done?.(); half.replaceChildren(); say('Answered'); }, (err) => {
    if (err.code !== 'busy') return failed(err);
    half.replaceChildren(h('b', { role: 'alert', text: sentence(err.message) + '.' }), h('button', { text: 'Clear it and answer', onclick: () => type({ keys: ['C-u'], force: true }).then(() => send(body, done), failed) }));
  });
  const why = (needs ?? s.agent_state).reason;
  const tap = (text, body, main) => h('button', { class: main && 'primary', text, onclick: () => send(body) });
  // word is yes or no in full where that is what the question has, and marked where Enter means it.
  const word = (text, main) => tap(text, { text: /\byes\b(?! or)/i.test(why) ? text.toLowerCase() : text[0].toLowerCase(), enter: true }, main.test(why));
  const kinds = { password: 'Asks for a password', confirm: 'Asks for a yes or no', menu: 'Asks to choose', text: 'Asks for input' };
  const form = () => {
    const secret = needs.kind === 'password';
    const field = h('input', { type: secret ? 'password' : 'text', 'aria-label': 'Answer', autocomplete: 'off', autocapitalize: 'off', spellcheck: false });
    return h('form', { onsubmit: (e) => {
      e.preventDefault();
      send({ text: field.value, enter: true, secret }, () => { field.value = ''; });
    } }, field, h('button', { class: 'primary', text: 'Send' }));
  };
  const answers = {
    confirm: () => /^[^"]*(key:|pager)/.test(why) ? [tap('Enter', { keys: ['Enter'] }, true)] : [word('Yes', /Y(es)?\/n/), word('No', /y(es)?\/N/)],
    menu: () => [tap('↑', { keys: ['Up'] }), tap('↓', { keys: ['Down'] }), tap('Choose', { keys: ['Enter'] }, true)],
  };
  return h('div', { class: 'question', role: 'status' }, named && h('a', { href: '#/s/' + s.id, text: s.name }), h('b', { text: needs ? kinds[needs.kind] ?? 'Waits for input' : sentence(state(s)[1]) }), why && h('span', { class: asked(why) ? 'note' : 'note why', text: asked(why) ?? why }),
    needs && store.may('type') && h('div', { class: 'answers' }, ...answers[needs.kind]?.() ?? [form()]), named && later(s), half);
}
