// The list of sessions, and tiles with their screens in small.
import { Grid, Metrics } from './grid.js';
import { Screen } from './screen.js';
import { toSession } from './net.js';
import { about, draft, elapsed, listed, mayRun, ports, state, store, wants } from './store.js';
import { duration, h, icon, loading, some, visible, when } from './ui.js';

const groups = [['Needs you', wants], ['Running', (s) => s.state === 'running' && !wants(s)], ['Ended', (s) => s.state !== 'running']];

// word is a session's state, with how long what runs in it has run.
const word = (s) => state(s)[1] + (state(s)[1] === 'running' && elapsed(s) > 2000 ? ' ' + duration(elapsed(s)) : '');

// last is the time of a session that is worth showing.
const last = (s) => s.ended ? when('ended', s.ended) : s.last_output ? when('output', s.last_output) : when('started', s.created);

function item(s) {
  const [kind, name] = state(s);
  const p = s.activity?.running ? s.activity.progress : s.progress;
  const percent = p && p.state !== 'indeterminate' ? p.percent : null;
  const errors = s.activity?.errors;
  return h('a', { href: '#/s/' + s.id, class: 'item' },
    h('span', { class: 'dot ' + kind, title: name }),
    h('span', { class: 'who' }, h('b', { text: s.name }), h('span', { class: 'what' + (mayRun(s) ? ' run' : ''), title: about(s), text: [ports(s), draft(s), about(s)].filter(Boolean).join(' ') })),
    h('span', { class: 'how' },
      h('span', { class: 'word ' + kind, text: word(s) }),
      h('span', { class: 'when' }, errors ? some(errors, 'error') : percent !== null && !s.ended ? percent + ' % done' : last(s))),
    percent !== null && s.state === 'running' && h('span', { class: 'bar ' + (p.state === 'error' ? 'bad' : ''), style: { width: percent + '%' } }));
}

const margin = 30; // rows above and below what can be seen

const signature = (s) => [s.name, about(s), ports(s), draft(s), ...state(s), s.activity?.errors, s.activity?.progress?.percent, s.progress?.percent, s.ended, s.activity?.elapsed_ms].join('|');

export class List {
  constructor() {
    this.filter = '';
    this.items = new Map();
    this.body = h('div', { class: 'items' });
    this.search = h('input', { type: 'search', placeholder: 'Filter sessions', autocomplete: 'off', spellcheck: false, oninput: () => {
      this.filter = this.search.value.trim();
      this.draw();
      store.others?.draw(this.filter);
    }, onkeydown: (e) => {
      if (e.key === 'ArrowDown') this.body.querySelector('a')?.focus();
      if (e.key === 'Enter') this.body.querySelector('a')?.click();
    } });
    this.el = h('div', { class: 'list', role: 'navigation', 'aria-label': 'Sessions', onkeydown: (e) => this.arrows(e) }, h('div', { class: 'filter' }, icon('search'), this.search), this.body);
    this.body.addEventListener('scroll', () => { this.due ||= requestAnimationFrame(() => this.draw()); }, { passive: true });
    store.on('change', () => this.draw());
    setInterval(() => { if (!document.hidden) this.draw(true); }, 15000); // times go on
  }

  // join has what other hosts have below.
  join(others) {
    store.others = others;
    this.el.append(others.el);
    others.draw(this.filter);
  }

  arrows(e) {
    const by = e.key === 'ArrowDown' ? 1 : e.key === 'ArrowUp' ? -1 : 0;
    if (!by || e.target.tagName !== 'A') return;
    e.preventDefault();
    const all = [...this.el.querySelectorAll('.items a')], next = all[all.indexOf(e.target) + by];
    (next ?? (by < 0 ? this.search : e.target)).focus();
  }

  // draw changes what is not as it was. Only rows that are near what can be seen have elements.
  draw(all) {
    this.due = 0;
    const sessions = listed(this.filter), rows = [], want = [], { body } = this;
    for (const [name, is] of groups) {
      const part = sessions.filter(is);
      if (!part.length) continue;
      this.heads ??= {};
      const head = this.heads[name] ??= h('h2', {}, h('span', { text: name }), h('span', { class: 'count' }));
      head.lastChild.textContent = part.length;
      rows.push(head, ...part);
    }
    const tall = body.querySelector('a')?.offsetHeight || 52, seen = Math.ceil(body.clientHeight / tall) + 2 * margin;
    let from = Math.max(0, Math.min(Math.floor(body.scrollTop / tall) - margin, rows.length - seen)), to = from + seen;
    const at = rows.findIndex((s) => s.id && this.items.get(s.id)?.el === document.activeElement), ids = new Set();
    if (at >= 0) [from, to] = [Math.min(from, at), Math.max(to, at + 1)]; // who has the focus keeps it
    for (const s of rows.slice(from, to)) {
      if (!s.id) {
        want.push(s);
        continue;
      }
      ids.add(s.id);
      const sig = signature(s);
      let had = this.items.get(s.id);
      if (!had || had.sig !== sig || all) {
        const el = item(s), focused = had?.el === document.activeElement;
        if (had) had.el.replaceWith(el);
        this.items.set(s.id, had = { el, sig });
        if (focused) el.focus({ preventScroll: true });
      }
      if (s.id === this.current) had.el.setAttribute('aria-current', 'page'); else had.el.removeAttribute('aria-current');
      want.push(had.el);
    }
    body.style.setProperty('--above', from * tall + 'px');
    body.style.setProperty('--below', Math.max(0, rows.length - to) * tall + 'px');
    if (!want.length) want.push(store.loaded ? this.none ??= h('p', { class: 'none' }) : this.wait ??= loading('Loading sessions…'));
    if (this.none) this.none.textContent = this.filter ? 'No session has these words.' : 'No sessions yet. Start one here, or with longterm new in a terminal.';
    const focus = document.activeElement; // what is moved loses it
    for (const el of [...body.children]) if (!want.includes(el)) el.remove();
    want.forEach((el, i) => { if (body.children[i] !== el) body.insertBefore(el, body.children[i]); });
    if (body.contains(focus)) focus.focus({ preventScroll: true });
    const links = [...body.querySelectorAll('a')], stop = body.contains(focus) ? focus : links.find((a) => a.ariaCurrent) ?? links[0];
    for (const a of links) a.tabIndex = a === stop ? 0 : -1; // all are one step of Tab; arrows go through them
    for (const id of this.items.keys()) if (!ids.has(id)) this.items.delete(id);
  }
}

const readable = 9; // pixels: the least size of a tile's text

const mostLive = 32; // tiles that are live: a connection has 64 subscriptions

// Tiles are sessions' screens in small, live as far as they can be seen.
export class Tiles {
  constructor(link, list) {
    Object.assign(this, { link, list });
    this.tiles = new Map();
    this.body = h('div', { class: 'tiles' });
    this.el = h('main', { class: 'page', 'aria-label': 'Sessions as tiles' }, this.body);
    this.seen = new IntersectionObserver((all) => {
      for (const e of all) e.target.tile.show(e.isIntersecting);
    }, { rootMargin: '100px' });
    const draw = () => { this.due ||= requestAnimationFrame(() => this.draw()); };
    this.el.addEventListener('scroll', draw, { passive: true });
    this.sizes = new ResizeObserver(draw);
    this.sizes.observe(this.el);
    this.off = store.on('change', draw);
  }

  end() {
    this.off();
    cancelAnimationFrame(this.due);
    this.sizes.disconnect();
    this.seen.disconnect();
    for (const t of this.tiles.values()) t.show(false);
  }

  // draw has elements for the tiles near what can be seen, and for the one that has the focus.
  draw() {
    this.due = 0;
    const { body, el, tiles } = this, all = [...listed(this.list.filter), ...store.others?.live(this.list.filter) ?? []], key = (s) => (s.way ?? '') + s.id;
    const columns = getComputedStyle(body).gridTemplateColumns.split(' ').length, tall = (body.querySelector('a')?.offsetHeight || 216) + 14;
    const rows = Math.ceil(all.length / columns), most = Math.ceil(el.clientHeight / tall) + 4;
    let from = Math.max(0, Math.min(Math.floor(el.scrollTop / tall) - 2, rows - most)), to = from + most;
    const at = Math.floor(all.findIndex((s) => tiles.get(key(s))?.el === document.activeElement) / columns);
    if (at >= 0) [from, to] = [Math.min(from, at), Math.max(to, at + 1)];
    const want = all.slice(from * columns, to * columns), ids = new Set(want.map(key));
    body.style.padding = `${from * tall}px 0 ${Math.max(0, rows - to) * tall}px`;
    for (const [id, t] of tiles) {
      if (ids.has(id)) continue;
      this.seen.unobserve(t.el);
      t.show(false);
      t.el.remove();
      tiles.delete(id);
    }
    want.forEach((s, i) => {
      let t = tiles.get(key(s));
      if (!t) {
        tiles.set(key(s), t = new Tile(this, s));
        this.seen.observe(t.el);
      }
      t.about(s);
      if (body.children[i] !== t.el) body.insertBefore(t.el, body.children[i]);
    });
    if (!all.length) body.replaceChildren(store.loaded ? h('p', { class: 'none', text: 'No sessions.' }) : loading('Loading sessions…'));
    else body.querySelector(':scope > .none')?.remove();
    store.others?.offer(el);
  }
}

let lively = 0;

class Tile {
  constructor(all, s) {
    this.link = () => s.way ? store.others.link(s.way) : all.link;
    this.id = s.id;
    this.screen = new Screen();
    this.grid = new Grid();
    this.grid.use(new Metrics(12));
    this.wait = loading();
    this.view = h('div', { class: 'mini', 'aria-hidden': 'true' }, this.wait, this.grid.el);
    this.dot = h('span', { class: 'dot' });
    this.name = h('b');
    this.word = h('span', { class: 'word' });
    this.what = h('span');
    this.time = h('span', { class: 'when' });
    this.el = h('a', { href: toSession(s.way, s.id), class: 'tile' }, this.view, h('span', { class: 'foot' }, this.dot, this.name, this.word, this.what, this.time));
    this.el.tile = this;
  }

  about(s) {
    const [kind] = state(s);
    this.dot.className = 'dot ' + kind;
    this.word.className = 'word ' + kind;
    this.word.textContent = word(s);
    this.what.className = 'what' + (mayRun(s) ? ' run' : '');
    this.what.textContent = visible(about(s) ?? '');
    this.time.replaceChildren(last(s));
    this.name.textContent = visible(s.name);
    this.el.classList.toggle('calls', wants(s));
  }

  show(on) {
    if (!on) {
      if (this.sub) lively--;
      this.sub?.end();
      this.sub = null;
      store.others?.rest();
      return;
    }
    if (this.sub || lively >= mostLive) return;
    lively++;
    this.sub = this.link().subscribe({ s: this.id, kind: 'thumb' }, {
      had: () => this.screen.e ? { v: this.screen.v, e: this.screen.e } : {},
      frame: (f, styles) => {
        this.screen.apply(f, styles);
        requestAnimationFrame(() => {
          this.wait.remove();
          this.grid.draw(this.screen);
          this.scale();
          this.sub?.ack(f.n);
        });
      },
    });
  }

  // scale shows all columns if they can be read then, else those up to the cursor; of the rows those around it.
  scale() {
    const { m } = this.grid, { screen } = this, width = this.view.clientWidth - 16, height = this.view.clientHeight - 16; // without its padding
    const by = Math.min(1, Math.max(readable / m.size, width / (screen.cols * m.w))), tall = screen.rows.length * m.h * by;
    let last = screen.rows.length - 1;
    while (last > 0 && !screen.rows[last].text) last--;
    const lowest = Math.max(last, screen.cursor?.y ?? 0) + 1;
    const up = tall > height ? Math.max(0, Math.ceil(lowest - height / m.h / by - 0.01)) * m.h * by : 0; // none is cut in two
    const fit = Math.floor(width / m.w / by + 0.01), c = screen.cursor, left = c?.visible ? Math.max(0, Math.min(c.x + 1, screen.cols) - fit) * m.w * by : 0;
    this.view.classList.toggle('wider', screen.cols > fit);
    this.grid.el.style.transform = `translate(${-left}px, ${-up}px) scale(${by})`;
  }
}

