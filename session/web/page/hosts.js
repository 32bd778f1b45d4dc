// Sessions of other hosts, below those of this one: of the fleet's, and of those that the configuration names for ssh. Each
// leads to the page of its host, which who serves this one passes on; what waits there for a person is answered here, too,
// all are searched, and tiles show their screens. What it needs of the page's modules it is given: this file is loaded by
// who may use it.
const most = 200; // sessions that are shown; a filter finds others among those that are asked for
const asked = 1000;
const every = 5000, rarely = 60000; // ms
const atOnce = 4; // hosts that are asked
const opened = 'longterm.ssh';

// fill has an element show these, with the focus where it was.
function fill(el, children) {
  const links = () => [...el.querySelectorAll('a')], at = links().find((a) => a === document.activeElement)?.href;
  el.replaceChildren(...children);
  if (at) links().find((a) => a.href === at)?.focus({ preventScroll: true });
}

// each does something with all of a list, a few at a time.
function each(list, fn) {
  const rest = [...list], work = async () => { while (rest.length) await fn(rest.shift()); };
  return Promise.all(Array.from({ length: atOnce }, work));
}

const wayTo = (name) => `h/${encodeURIComponent(name)}/`;

// as has a session of another host be as those of this one are.
const as = (host, way) => (s) => ({
  ...s, host, way, name: host + '/' + s.name, created: s.since ?? '', exit_code: s.exit_code ?? null, needs_approval: Array(s.approvals ?? 0),
  needs_input: s.needs_input && { kind: s.needs_input }, shell: s.needs_input === 'prompt' ? { phase: 'prompt' } : undefined,
});

export class Others {
  // given: modules' get, h, some, url, state, listed, toSession, store and Link; whether there is a fleet, and hosts over ssh.
  constructor(given) {
    const { h, ssh } = Object.assign(this, given, { all: [], filter: '', shown: '', links: new Map() });
    this.list = h('div');
    this.hosts = ssh.map(({ host }) => ({ host, way: wayTo('ssh:' + host), all: [] }));
    this.el = h('div', { class: 'items others', role: 'group', 'aria-label': 'Other hosts', hidden: !ssh.length }, this.list);
    if (ssh.length) this.open();
    document.addEventListener('visibilitychange', () => { if (!document.hidden) this.again(); });
    addEventListener('hashchange', () => { if (this.wide()) this.again(); });
    this.again();
  }

  again() {
    if (this.fleet) this.look();
    for (const v of this.hosts) this.reach(v);
  }

  // open makes what opens the hosts over ssh: none is connected to before. It stays as it was left.
  open() {
    const { h } = this;
    this.over = h('div');
    this.details = h('details', { open: !!localStorage.getItem(opened), ontoggle: () => {
      localStorage.setItem(opened, this.details.open ? 1 : '');
      if (!this.details.open) this.forget();
      this.draw(this.filter);
      this.again();
    } }, h('summary', { class: 'note' }, 'Hosts over ssh ', h('span', { class: 'count', text: this.hosts.length })), this.over);
    this.el.append(this.details);
  }

  // offer has a page ask the hosts over ssh, too, where they are not open.
  offer(el, then) {
    const had = el.querySelector('.offer');
    if (!this.details || this.details.open) had?.remove();
    else if (!had) el.append(this.h('button', { class: 'more offer', text: 'Ask hosts over ssh, too', onclick: (e) => {
      this.details.open = true;
      e.target.remove();
      then?.();
    } }));
  }

  // wide says that hosts are asked for approvals that belong to no session yet.
  wide() { return location.hash.startsWith('#/approvals'); }

  // look asks what there is, as often as that costs little, and not while nobody looks.
  async look() {
    clearTimeout(this.timer);
    if (document.hidden || this.looking) return;
    const began = performance.now();
    let pause = every;
    this.looking = true;
    try {
      this.all = (await this.get('fleet/sessions', { others: true, limit: asked })).map((s) => as(s.host, wayTo(s.host))(s));
      this.lost = '';
      const ask = new Set(this.wide() ? (await this.fleetHosts()).map(([host]) => host) : this.all.filter((s) => !s.away && s.needs_approval.length).map((s) => s.host));
      for (const a of this.store.far.values()) if (!a.ssh) ask.add(a.host);
      await each(ask, (host) => this.approvals(host, wayTo(host)));
    } catch (err) {
      if (err.status === 401) return; // the page begins anew
      if (err.code === 'no_fleet' || err.status === 403) [this.all, this.lost, pause] = [[], '', rarely];
      else this.lost = err.message; // what was there is shown as it was
    }
    this.looking = false;
    this.draw(this.filter);
    this.timer = setTimeout(() => this.look(), Math.max(pause, 20 * (performance.now() - began)));
  }

  // fleetHosts are the hosts of the fleet that are there, but for this one, with the ways to them.
  async fleetHosts() {
    return (await this.get('fleet/hosts')).filter((v) => !v.here && v.state === 'connected').map(({ host }) => [host, wayTo(host)]);
  }

  // approvals asks a host what waits for a person there; of one that does not answer nothing does.
  async approvals(host, way, ssh) {
    const all = await this.get(way + 'approvals').catch(() => []), { far } = this.store;
    for (const [k, a] of far) if (a.way === way) far.delete(k);
    if (ssh && !this.details.open) return; // it was closed meanwhile
    for (const a of all) if (a.state === 'pending') far.set(way + a.id, { ...a, host, way, ssh, name: host + (a.name ? '/' + a.name : '') });
    this.store.emit('change');
  }

  // forget has what waits on hosts over ssh shown no more: nobody asks them from here on.
  forget() {
    const { far } = this.store;
    for (const [k, a] of far) if (a.ssh) far.delete(k);
    this.store.emit('change');
  }

  // reach asks a host over ssh likewise, while they are open; one that cannot be reached is tried rarely.
  async reach(v) {
    clearTimeout(v.timer);
    if (document.hidden || !this.details.open || v.busy) return;
    const began = performance.now();
    v.busy = true;
    try {
      v.all = (await this.get(`hosts/${encodeURIComponent(v.host)}/sessions`)).map(as(v.host, v.way));
      v.why = '';
    } catch (err) {
      if (err.status === 401) return;
      v.why = err.message + (err.hint ? '; ' + err.hint : '');
      v.all = v.all.map((s) => ({ ...s, away: true }));
    }
    await this.approvals(v.host, v.way, true);
    v.busy = false;
    this.draw(this.filter);
    v.timer = setTimeout(() => this.reach(v), Math.max(v.why ? rarely : every, 20 * (performance.now() - began)));
  }

  // live are the sessions that have screens to be shown.
  live(filter) {
    const found = (all) => this.listed(filter, all.filter((s) => !s.away));
    return [...found(this.all), ...this.details?.open ? this.hosts.flatMap((v) => found(v.all)) : []];
  }

  // link is the connection to a host, made when a screen of it is shown first; rest closes those that show none any more.
  link(way) {
    let l = this.links.get(way);
    if (!l) {
      this.links.set(way, l = new this.Link(way));
      l.connect();
    }
    return l;
  }

  rest() {
    clearTimeout(this.resting);
    this.resting = setTimeout(() => {
      for (const [way, l] of this.links) {
        if (l.subs.size) continue;
        l.close();
        this.links.delete(way);
      }
    }, 5000);
  }

  // search has the other hosts search, and shows what each finds as it comes.
  async search(s, query, signal) {
    const { h } = this, ssh = this.details?.open ? this.hosts.map((v) => [v.host, v.way, v.why]) : [];
    const fleet = this.fleet ? await this.fleetHosts().catch(() => []) : [];
    if (signal.aborted) return;
    this.offer(s.el, () => s.run());
    const left = new Set([...fleet, ...ssh].map(([host]) => host)), note = h('p', { class: 'note', role: 'status' });
    const tell = () => { note.textContent = left.size ? 'Other hosts search: ' + [...left].slice(0, 8).join(', ') + (left.size > 8 ? ' …' : '') : ''; };
    tell();
    s.far.append(note);
    await each([...fleet, ...ssh], async ([host, way, why]) => {
      if (signal.aborted) return;
      let found;
      try {
        found = !why && await this.get(way + 'search', query, { signal });
      } catch (err) { why = err.message; }
      if (signal.aborted) return;
      left.delete(host);
      tell();
      if (why || found.hits.length) note.before(h('h2', { class: 'note' }, h('b', { text: host }), ' ', why || this.some(found.hits.length, found.next ? 'newest line' : 'line')),
        h('div', {}, (found?.hits ?? []).map((hit) => s.entry({ ...hit, way, name: host + '/' + hit.name })),
          found?.next && h('a', { class: 'more', href: this.url(way + '#/search/' + encodeURIComponent(s.field.value)).href, text: 'All of ' + host })));
    });
  }

  draw(filter) {
    this.filter = filter;
    const { h } = this, all = this.listed(filter, this.all), shown = JSON.stringify([filter, all.length, all.slice(0, most), this.lost, this.details?.open, this.hosts.map((v) => [v.all, v.why])]);
    if (shown === this.shown) return;
    this.shown = shown;
    this.el.hidden = !this.all.length && !this.hosts.length;
    fill(this.list, this.all.length ? [h('h2', {}, h('span', { text: 'Other hosts' + (this.lost ? ', as they were' : ''), title: this.lost }), h('span', { class: 'count', text: all.length })),
      ...all.slice(0, most).map((s) => this.item(s)), ...(all.length > most ? [h('p', { class: 'note', text: `and ${all.length - most} more; filter to find them` })] : [])] : []);
    if (this.details?.open) fill(this.over, this.hosts.flatMap((v) => {
      const [kind, word] = v.why ? ['bad', 'cannot be reached'] : v.why === '' ? ['good', 'connected'] : ['idle', 'connecting'];
      return [this.row(!v.why && this.url(v.way).href, v.host, v.why, kind, word), ...this.listed(filter, v.all).slice(0, most).map((s) => this.item(s))];
    }));
    this.store.emit('change'); // tiles show them, too
  }

  item(s) { return this.row(!s.away && this.toSession(s.way, s.id), s.name, s.command, ...this.state(s)); }

  row(href, name, what, kind, word) {
    const { h } = this;
    return h(href ? 'a' : 'div', { class: 'item', href },
      h('span', { class: 'dot ' + kind, title: word }),
      h('span', { class: 'who' }, h('b', { text: name }), h('span', { class: 'what', text: what ?? '', title: what })),
      h('span', { class: 'how' }, h('span', { class: 'word ' + kind, text: word })));
  }
}
