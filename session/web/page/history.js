// Rows above the screen, fetched as one scrolls: only those that can be seen have elements.
import { get } from './net.js';
import { drawRow, rowElement } from './grid.js';
import { picture } from './images.js';
import { ofLine } from './screen.js';
import { h } from './ui.js';

const chunk = 200;
const tallest = 8e6; // pixels: browsers' elements end somewhere above that

export class History {
  constructor(link, session, changed) {
    this.link = link;
    this.session = session;
    this.changed = changed; // the height did
    this.el = h('div', { class: 'history', role: 'region', 'aria-label': 'Scrollback' });
    this.shown = new Map();
    this.forget();
  }

  forget() {
    this.rows = new Map();
    this.loading?.abort();
    this.loading = new AbortController();
    this.asked = new Set();
    this.total = 0;
    this.at = undefined;
    this.draw(0, 0);
  }

  get lines() { return this.m ? Math.min(this.total, Math.floor(tallest / this.m.h)) : 0; }

  // first is the line at the top of what can be scrolled to.
  get first() { return this.total - this.lines; }

  query(range) {
    return get(`sessions/${this.session}/screen`, { scrollback: range, at: this.at, since: this.at === undefined ? 1e15 : undefined, screen: 'primary', pictures: true }, { signal: this.loading.signal });
  }

  row(l) { return ofLine(l, (key) => picture(key, this.link, { s: this.session, at: this.at })); }

  // measure asks how many lines there are now. Where the oldest ones were dropped, all have other places.
  async measure(at) {
    if (at !== this.at) {
      this.forget();
      this.at = at;
    }
    const signal = this.loading.signal;
    const s = await this.query('-1:').catch(() => null);
    if (!s || signal.aborted) return;
    const last = s.scrollback?.at(-1), total = last ? last.row + 1 : 0;
    const known = last && this.rows.get(last.row);
    if (total < this.total || total === this.total && known && known.text !== this.row(last).text) {
      this.rows.clear();
      this.asked.clear();
    }
    if (total !== this.total) {
      this.total = total;
      this.changed();
    }
    if (last) this.rows.set(last.row, this.row(last));
    this.again?.();
  }

  async load(n) {
    if (this.asked.has(n)) return;
    this.asked.add(n);
    this.onbusy?.(true);
    const signal = this.loading.signal, from = n * chunk, to = Math.min(this.total, from + chunk);
    try {
      const s = await this.query(`${from}:${to}`);
      if (signal.aborted) return;
      for (const l of s.scrollback ?? []) this.rows.set(l.row, this.row(l));
      if (to - from < chunk) this.asked.delete(n); // there may be more of it later
      this.again?.();
    } catch (err) {
      if (err.name !== 'AbortError') setTimeout(() => this.asked.delete(n), 1000);
    }
    this.onbusy?.(false);
    if (this.rows.size > 20000) { // far away ones can be asked for again
      for (const i of this.rows.keys()) if (Math.abs(i - from) > 5000) this.rows.delete(i);
      for (const c of this.asked) if (Math.abs(c * chunk - from) > 5000 - 2 * chunk) this.asked.delete(c);
    }
  }

  // draw shows the lines that are at these pixels from the top of the element.
  draw(top, bottom) {
    const { m, el } = this;
    if (!m) return;
    el.style.height = this.lines * m.h + 'px';
    const from = this.first + Math.max(0, Math.floor(top / m.h) - 10);
    const to = Math.min(this.total, this.first + Math.ceil(bottom / m.h) + 10);
    for (const [i, row] of this.shown) {
      if (i >= from && i < to && row.m === m) continue;
      row.remove();
      this.shown.delete(i);
    }
    let before = el.firstChild;
    for (let i = from; i < to; i++) {
      const line = this.rows.get(i);
      if (!line) {
        this.load(Math.floor(i / chunk));
        continue;
      }
      let row = this.shown.get(i);
      if (!row) {
        row = rowElement();
        row.style.top = (i - this.first) * m.h + 'px';
        el.insertBefore(row, before);
        this.shown.set(i, row);
      } else before = row.nextSibling;
      drawRow(row, line, m);
    }
    this.again = () => this.draw(top, bottom);
  }
}
