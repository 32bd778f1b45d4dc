// Sessions of other hosts, below those of this one: of the fleet's, and of those that the configuration names for ssh. Each
// leads to the page of its host, which who serves this one passes on. What it needs of the page's modules it is given: this
// file is loaded by who may use it.
const most = 200; // sessions that are shown; a filter finds others among those that are asked for
const asked = 1000;
const every = 5000, rarely = 60000; // ms

const asks = (s) => s.state === 'running' && (s.approvals || s.needs_input && !['prompt', 'screen'].includes(s.needs_input));

function state(s) {
  if (s.away) return ['idle', 'host away'];
  if (s.approvals) return ['wants', 'needs approval'];
  if (asks(s)) return ['wants', s.needs_input === 'password' ? 'asks for a password' : 'asks'];
  if (s.state === 'lost') return ['bad', 'lost'];
  if (s.state !== 'running') return s.exit_code === 0 ? ['good', 'done'] : ['bad', s.exit_code === undefined ? 'ended' : 'exit ' + s.exit_code];
  return s.needs_input === 'prompt' ? ['idle', 'at its prompt'] : ['busy', 'running'];
}

const rank = (s) => asks(s) ? 0 : s.state === 'running' ? 1 : 2;
const urgent = (all) => all.sort((a, b) => rank(a) - rank(b));
const found = (all, filter) => all.filter((s) => filter.toLowerCase().split(/\s+/).every((w) => [s.host + '/' + s.name, s.command, s.cwd, state(s)[1], ...Object.entries(s.labels ?? {}).map(([k, v]) => k + '=' + v)].join(' ').toLowerCase().includes(w)));

// fill has an element show these, with the focus where it was.
function fill(el, children) {
  const links = () => [...el.querySelectorAll('a')], at = links().find((a) => a === document.activeElement)?.href;
  el.replaceChildren(...children);
  if (at) links().find((a) => a.href === at)?.focus({ preventScroll: true });
}

export class Others {
  constructor({ get, h, url, fleet, ssh }) {
    Object.assign(this, { get, h, url, fleet, all: [], filter: '', shown: '', list: h('div') });
    this.hosts = ssh.map(({ host }) => ({ host, all: [] }));
    this.el = h('div', { class: 'items others', role: 'group', 'aria-label': 'Other hosts', hidden: !ssh.length }, this.list);
    if (ssh.length) this.open();
    document.addEventListener('visibilitychange', () => { if (!document.hidden) this.again(); });
    this.again();
  }

  again() {
    if (this.fleet) this.look();
    for (const v of this.hosts) this.reach(v);
  }

  // open makes what opens the hosts over ssh: none is connected to before.
  open() {
    const { h } = this;
    this.over = h('div');
    this.details = h('details', { ontoggle: () => { this.draw(this.filter); this.again(); } }, h('summary', { class: 'note' }, 'Hosts over ssh ', h('span', { class: 'count', text: this.hosts.length })), this.over);
    this.el.append(this.details);
  }

  // look asks what there is, as often as that costs little, and not while nobody looks.
  async look() {
    clearTimeout(this.timer);
    if (document.hidden) return;
    const began = performance.now();
    let pause = every;
    try {
      this.all = urgent(await this.get('fleet/sessions', { others: true, limit: asked }));
      this.lost = '';
    } catch (err) {
      if (err.status === 401) return; // the page begins anew
      if (err.code === 'no_fleet' || err.status === 403) [this.all, this.lost, pause] = [[], '', rarely];
      else this.lost = err.message; // what was there is shown as it was
    }
    this.draw(this.filter);
    this.timer = setTimeout(() => this.look(), Math.max(pause, 20 * (performance.now() - began)));
  }

  // reach asks a host over ssh likewise, while they are open; one that cannot be reached is tried rarely.
  async reach(v) {
    clearTimeout(v.timer);
    if (document.hidden || !this.details.open || v.busy) return;
    const began = performance.now();
    v.busy = true;
    try {
      v.all = urgent(await this.get(`hosts/${encodeURIComponent(v.host)}/sessions`));
      v.why = '';
    } catch (err) {
      if (err.status === 401) return;
      v.why = err.message + (err.hint ? '; ' + err.hint : '');
    }
    v.busy = false;
    this.draw(this.filter);
    v.timer = setTimeout(() => this.reach(v), Math.max(v.why ? rarely : every, 20 * (performance.now() - began)));
  }

  draw(filter) {
    this.filter = filter;
    const { h } = this, all = found(this.all, filter), shown = JSON.stringify([filter, all.length, all.slice(0, most), this.lost, this.details?.open, this.hosts.map((v) => [v.all, v.why])]);
    if (shown === this.shown) return;
    this.shown = shown;
    this.el.hidden = !this.all.length && !this.hosts.length;
    fill(this.list, this.all.length ? [h('h2', {}, h('span', { text: 'Other hosts' + (this.lost ? ', as they were' : ''), title: this.lost }), h('span', { class: 'count', text: all.length })),
      ...all.slice(0, most).map((s) => this.item(s)), ...(all.length > most ? [h('p', { class: 'note', text: `and ${all.length - most} more; filter to find them` })] : [])] : []);
    if (this.details?.open) fill(this.over, this.hosts.flatMap((v) => {
      const [kind, word] = v.why ? ['bad', 'cannot be reached'] : v.why === '' ? ['good', 'connected'] : ['idle', 'connecting'];
      return [this.row('ssh:' + v.host, v.host, v.why, kind, word, ''), ...found(v.all, filter).slice(0, most).map((s) => this.item({ ...s, away: !!v.why }, 'ssh:'))];
    }));
  }

  item(s, way = '') { return this.row(!s.away && way + s.host, s.host + '/' + s.name, s.command, ...state(s), '#/s/' + encodeURIComponent(s.id)); }

  row(to, name, what, kind, word, at) {
    const { h } = this;
    return h(to ? 'a' : 'div', { class: 'item', ...(to && { href: this.url(`h/${encodeURIComponent(to)}/${at}`).href }) },
      h('span', { class: 'dot ' + kind, title: word }),
      h('span', { class: 'who' }, h('b', { text: name }), h('span', { class: 'what', text: what ?? '', title: what })),
      h('span', { class: 'how' }, h('span', { class: 'word ' + kind, text: word })));
  }
}
