// Sessions of the fleet's other hosts, below those of this one. Each leads to the page of its host, which who serves
// this one passes on. What it needs of the page's modules it is given: this file is loaded by who may use it.
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

export class Others {
  constructor({ get, h, url }) {
    Object.assign(this, { get, h, url, all: [], filter: '', shown: '' });
    this.el = h('div', { class: 'items others', role: 'group', 'aria-label': 'Other hosts', hidden: true });
    document.addEventListener('visibilitychange', () => { if (!document.hidden && this.waits) this.look(); });
    this.look();
  }

  // look asks what there is, as often as that costs little, and not while nobody looks.
  async look() {
    clearTimeout(this.timer);
    this.waits = document.hidden;
    if (this.waits) return;
    const began = performance.now();
    let pause = every;
    try {
      this.all = (await this.get('fleet/sessions', { others: true, limit: asked })).sort((a, b) => rank(a) - rank(b));
      this.lost = '';
    } catch (err) {
      if (err.status === 401) return; // the page begins anew
      if (err.code === 'no_fleet' || err.status === 403) [this.all, this.lost, pause] = [[], '', rarely];
      else this.lost = err.message; // what was there is shown as it was
    }
    this.draw(this.filter);
    this.timer = setTimeout(() => this.look(), Math.max(pause, 20 * (performance.now() - began)));
  }

  draw(filter) {
    this.filter = filter;
    const { h } = this, words = filter.toLowerCase().split(/\s+/);
    const found = this.all.filter((s) => words.every((w) => [s.host + '/' + s.name, s.command, s.cwd, state(s)[1], ...Object.entries(s.labels ?? {}).map(([k, v]) => k + '=' + v)].join(' ').toLowerCase().includes(w)));
    const shown = JSON.stringify([found.length, found.slice(0, most), this.lost]);
    if (shown === this.shown) return;
    this.shown = shown;
    this.el.hidden = !this.all.length;
    const at = [...this.el.querySelectorAll('a')].indexOf(document.activeElement) < 0 ? '' : document.activeElement.href;
    this.el.replaceChildren(h('h2', {}, h('span', { text: 'Other hosts' + (this.lost ? ', as they were' : ''), title: this.lost }), h('span', { class: 'count', text: found.length })),
      ...found.slice(0, most).map((s) => this.item(s)), ...(found.length > most ? [h('p', { class: 'note', text: `and ${found.length - most} more; filter to find them` })] : []));
    if (at) [...this.el.querySelectorAll('a')].find((a) => a.href === at)?.focus({ preventScroll: true });
  }

  item(s) {
    const { h } = this, [kind, word] = state(s);
    return h(s.away ? 'div' : 'a', { class: 'item', ...(!s.away && { href: this.url(`h/${s.host}/#/s/${encodeURIComponent(s.id)}`).href }) },
      h('span', { class: 'dot ' + kind, title: word }),
      h('span', { class: 'who' }, h('b', { text: s.host + '/' + s.name }), h('span', { class: 'what', text: s.command })),
      h('span', { class: 'how' }, h('span', { class: 'word ' + kind, text: word })));
  }
}
