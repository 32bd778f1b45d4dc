// Rows of spans drawn as elements on an exact grid: a piece of plain characters keeps to it by its letter spacing,
// everything else by a box of its width, and what must join its neighbours is drawn as a path. Only what changed is
// touched.
import { drawn, runPath } from './box.js';
import { show } from './images.js';
import { ascii } from './screen.js';
import { palette } from './tables_gen.js';
import { h, svg } from './ui.js';

const family = getComputedStyle(document.documentElement).getPropertyValue('--mono') || 'monospace';
const ctx = document.createElement('canvas').getContext('2d');

// Metrics are a font size as cells of whole device pixels.
export class Metrics {
  constructor(size, floor) {
    const ratio = devicePixelRatio || 1;
    const px = (x) => Math.max(1, floor ? Math.floor(x * ratio) : Math.round(x * ratio)) / ratio;
    ctx.font = this.font = size + 'px ' + family;
    this.size = size;
    this.advance = ctx.measureText('0'.repeat(100)).width / 100;
    this.w = px(this.advance);
    this.h = Math.max(1, Math.round(size * 1.25 * ratio)) / ratio;
    this.ratio = ratio;
    this.known = new Map();
  }

  // fits says whether a character is as wide as the font's others, so that it needs no box of its own.
  fits(ch) {
    let ok = this.known.get(ch);
    if (ok === undefined) {
      ctx.font = this.font;
      this.known.set(ch, ok = Math.abs(ctx.measureText(ch).width - this.advance) < 0.01);
    }
    return ok;
  }

  put(el) {
    const set = (k, v) => el.style.setProperty(k, v + 'px');
    set('--fs', this.size);
    set('--cw', this.w);
    set('--ch', this.h);
    set('--ls', this.w - this.advance);
  }
}

const hex = /^#[0-9a-f]{6}$/;
const color = (c, index) => !hex.test(c) ? '' : index < 16 && palette[index] === c ? `var(--c${index})` : c;

const looks = new WeakMap();

// look is a style as the page's own: colours after inverse and dim, classes, a link that is safe.
function look(st) {
  let k = looks.get(st);
  if (k) return k;
  const a = st.a ?? 0;
  let fg = color(st.f, st.fi), bg = color(st.b, st.bi);
  if (a & 16) [fg, bg] = [bg || 'var(--bg)', fg || 'var(--fg)'];
  if (a & 2) fg = `color-mix(in srgb,${fg || 'var(--fg)'} 60%,${bg || 'var(--bg)'})`;
  const cls = ['bold', '', 'italic', 'blink', '', 'conceal'].filter((name, i) => name && a & 1 << i);
  const lines = [st.u && 'underline', a & 64 && 'line-through', a & 128 && 'overline'].filter(Boolean).join(' ');
  const shapes = { double: 'double', curly: 'wavy', dotted: 'dotted', dashed: 'dashed' };
  k = { fg, bg, cls: cls.join(' '), lines, shape: shapes[st.u] ?? '', uc: color(st.uc), link: safeLink(st.l) };
  k.key = [k.fg, k.bg, k.cls, k.lines, k.shape, k.uc, k.link, st.i ?? ''].join('|');
  Object.assign(k, { pic: st.pic, part: st.i });
  k.bare = !/[^|]/.test(k.key);
  looks.set(st, k);
  return k;
}

// safeLink is a link that may be followed, or nothing: what a program wrote is hostile.
export function safeLink(text) {
  if (!text || text.length > 4096) return '';
  try {
    const u = new URL(text);
    return ['http:', 'https:', 'mailto:'].includes(u.protocol) ? u.href : '';
  } catch {
    return '';
  }
}

// pieces cuts a row into what is drawn alike: runs of plain text, runs of drawn characters, single boxes.
function pieces(row, m) {
  const out = [];
  for (const s of row.spans) {
    const k = look(s.st);
    let last = null, i = 0;
    if (k.pic) {
      out.push({ kind: 'p', text: s.text, n: s.n, k });
      continue;
    }
    if (!s.widths && ascii.test(s.text)) {
      out.push({ kind: 't', text: s.text, n: s.n, k });
      continue;
    }
    for (const ch of s.text) {
      const n = s.widths ? s.widths[i++] : 1;
      const cp = ch.codePointAt(0);
      if (n === 0 && last) { // joins the one before
        if (last.kind !== 'c') {
          const chars = [...last.text], base = chars.pop();
          if (chars.length) {
            Object.assign(last, { text: chars.join(''), n: last.n - 1 });
            out.push(last = { kind: 'c', text: base, n: 1, k });
          } else last.kind = 'c';
        }
        last.text += ch;
        last.open = true;
        continue;
      }
      const kind = n === 1 && drawn(cp) ? (cp >= 0x2591 && cp <= 0x2593 ? 's' + cp : 'd') : n === 1 && (cp < 127 || m.fits(ch)) ? 't' : 'c';
      if (last && last.kind === kind && kind !== 'c') {
        last.text += ch;
        last.n += n;
      } else out.push(last = { kind, text: ch, n, k });
    }
  }
  for (const p of out) p.key = p.kind + p.n + '|' + p.text + '|' + p.k.key;
  return out;
}

// dress gives an element the look of a piece.
function dress(el, { k, kind }) {
  el.className = (kind === 't' ? k.bg ? 't f ' : 't ' : kind === 'd' || kind[0] === 's' ? 'd ' : kind === 'p' ? 'd pic ' : 'c ') + k.cls;
  const st = el.style;
  st.color = k.fg;
  st.backgroundColor = k.bg;
  st.textDecorationLine = k.lines;
  st.textDecorationStyle = k.shape;
  st.textDecorationColor = k.uc;
}

function make(p, m) {
  const { k, text, kind } = p;
  if (kind === 't' && k.bare) return document.createTextNode(text);
  const el = document.createElement(k.link ? 'a' : 'span');
  if (k.link) Object.assign(el, { href: k.link, target: '_blank', rel: 'noopener noreferrer', tabIndex: -1, title: k.link });
  dress(el, p);
  if (kind !== 't') el.style.width = p.n * m.w + 'px';
  el.append(text);
  if (kind === 'p') show(el, k.pic, k.part, m);
  else if (kind !== 't' && kind !== 'c') {
    const w = Math.round(m.w * m.ratio), hh = Math.round(m.h * m.ratio), thin = Math.max(1, Math.round(m.size * m.ratio / 14));
    const { path, alpha } = runPath(text, w, hh, thin);
    el.append(svg('svg', { viewBox: `0 0 ${w * p.n} ${hh}`, 'aria-hidden': 'true', preserveAspectRatio: 'none' }, svg('path', { d: path, 'fill-opacity': alpha })));
  }
  return el;
}

// drawRow makes an element show a row.
export function drawRow(el, row, m) {
  if (el.row === row && el.m === m) return;
  const now = pieces(row, m), had = el.m === m ? el.pieces ?? [] : [];
  if (el.m !== m) el.replaceChildren();
  let i = 0;
  for (; i < now.length; i++) {
    if (had[i]?.key === now[i].key) continue;
    const node = el.childNodes[i], was = had[i]?.k, { k } = now[i];
    if (node && had[i].kind === 't' && now[i].kind === 't' && was.bare === k.bare && was.link === k.link) { // a new one is dearer
      if (was !== k) dress(node, now[i]);
      (node.firstChild ?? node).data = now[i].text;
    } else if (node) node.replaceWith(make(now[i], m));
    else el.append(make(now[i], m));
  }
  while (el.childNodes.length > now.length) el.lastChild.remove();
  const cls = 'row' + (row.flags & 2 ? ' wide' : row.flags & 4 ? ' top' : row.flags & 8 ? ' bottom' : '');
  if (el.className !== cls) el.className = cls;
  Object.assign(el, { row, m, pieces: now });
}

export const rowElement = () => h('div', { class: 'row' });

// Grid is a live screen as elements.
export class Grid {
  constructor() {
    this.rows = h('div', { class: 'rows' });
    this.cursor = h('div', { class: 'cursor', 'aria-hidden': 'true' });
    this.el = h('div', { class: 'grid' }, this.rows, this.cursor);
  }

  use(metrics) {
    this.m = metrics;
    metrics.put(this.el);
  }

  draw(screen) {
    const { rows } = this, want = screen.rows.length;
    for (const [top, bottom, k] of screen.scrolls) {
      if (bottom > rows.children.length || Math.abs(k) >= bottom - top) continue;
      const after = rows.children[bottom] ?? null;
      if (k > 0) for (let i = 0; i < k; i++) rows.insertBefore(rows.children[top], after);
      else for (let i = 0; i < -k; i++) rows.insertBefore(rows.children[bottom - 1], rows.children[top]);
    }
    screen.scrolls.length = 0;
    while (rows.children.length < want) rows.append(rowElement());
    while (rows.children.length > want) rows.lastChild.remove();
    for (let i = 0; i < want; i++) drawRow(rows.children[i], screen.rows[i], this.m);
    rows.style.width = screen.cols * this.m.w + 'px';
    this.place(screen);
  }

  place(screen) {
    const c = screen.cursor, el = this.cursor;
    el.hidden = !c?.visible || c.y >= screen.rows.length;
    if (el.hidden) return;
    const cell = screen.cell(c.x, c.y);
    el.className = `cursor ${c.shape}${c.blink ? ' blinks' : ''}`;
    el.textContent = c.shape === 'block' && !drawn(cell.text.codePointAt(0)) && !((cell.st.a ?? 0) & 32) ? cell.text : '';
    el.style.width = (c.shape === 'bar' ? Math.max(1, Math.round(this.m.size / 7)) : cell.n * this.m.w) + 'px';
    el.style.transform = `translate(${Math.min(c.x, screen.cols - 1) * this.m.w}px,${c.y * this.m.h}px)`;
  }
}

// selectedText is the text of the selection in rows of a screen: without padding, lines that were wrapped in one.
export function selectedText(root, selection) {
  if (!selection || selection.isCollapsed || !selection.rangeCount) return '';
  const range = selection.getRangeAt(0), out = [];
  for (const el of root.querySelectorAll('.row')) {
    if (!el.row || !range.intersectsNode(el)) continue;
    const part = document.createRange();
    part.selectNodeContents(el);
    if (el.contains(range.startContainer)) part.setStart(range.startContainer, range.startOffset);
    if (el.contains(range.endContainer)) part.setEnd(range.endContainer, range.endOffset);
    const text = part.toString();
    out.push(el.row.flags & 1 ? text : text.trimEnd() + '\n');
  }
  return out.join('').replace(/\n$/, '');
}
