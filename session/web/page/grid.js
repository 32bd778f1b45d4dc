// Rows of spans drawn as elements on an exact grid: a piece of plain characters keeps to it by its letter spacing,
// everything else by a box of its width, and what must join its neighbours is drawn as a path. Only what changed is
// touched. In a flood, where that is all, a canvas over the elements costs a third.
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

// pathOf is the path of a piece of drawn characters, in device pixels.
const pathOf = (text, m) => runPath(text, Math.round(m.w * m.ratio), Math.round(m.h * m.ratio), Math.max(1, Math.round(m.size * m.ratio / 14)));

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
    const { path, alpha } = pathOf(text, m);
    el.append(svg('svg', { viewBox: `0 0 ${Math.round(m.w * m.ratio) * p.n} ${Math.round(m.h * m.ratio)}`, 'aria-hidden': 'true', preserveAspectRatio: 'none' }, svg('path', { d: path, 'fill-opacity': alpha })));
  }
  return el;
}

// drawRow makes an element show a row.
export function drawRow(el, row, m) {
  if (el.row === row && el.m === m) return;
  const now = pieces(row, m), had = el.m === m ? el.pieces ?? [] : [];
  for (const p of now) p.key = p.kind + p.n + '|' + p.text + '|' + p.k.key;
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

// plain says that a row looks on a canvas as its elements do. Others are few: lines drawn at text, links, pictures, what
// blinks or is larger, and scripts from right to left, which no canvas writes in the order of cells.
const plain = (row) => row.plain ??= !(row.flags & 14 || /[\u0590-\u08ff\ufb1d-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u.test(row.text)) && row.spans.every(({ st }) => !(st.u || st.l || st.pic || st.a & 200));

// Grid is a live screen as elements, and in a flood on a canvas.
export class Grid {
  constructor() {
    this.rows = h('div', { class: 'rows' });
    this.cursor = h('div', { class: 'cursor', 'aria-hidden': 'true' });
    this.el = h('div', { class: 'grid' }, this.rows, this.cursor);
  }

  use(metrics) {
    this.m = metrics;
    metrics.put(this.el);
    this.lift();
  }

  // lift takes the canvas away, and has no other for so many frames.
  lift(frames = 0) {
    clearTimeout(this.calm);
    this.run = -frames;
    this.canvas?.remove();
    this.canvas = null;
    this.el.classList.remove('flat');
  }

  // rest has the elements show what the canvas does.
  rest(frames) {
    const { canvas } = this;
    this.lift(frames);
    if (canvas) this.draw(this.screen);
  }

  // flood says whether it is drawn on the canvas: more than half of the rows were new with each of the last frames, of which
  // there are ten a second or more. Of fewer, elements take a fifth of the thread at most, and can be pointed at.
  flood({ rows, cols }) {
    const { m } = this, now = performance.now(), had = new Set(this.was);
    this.was = [...rows];
    if (rows.filter((r) => !had.has(r)).length > rows.length / 2) {
      this.run = this.canvas || now - this.last < 100 ? this.run + 1 : 0;
      this.last = now;
      clearTimeout(this.calm);
      if (this.run > 2) this.calm = setTimeout(() => this.rest(), 150);
    }
    return this.run > 2 && 'letterSpacing' in ctx && cols * m.w * rows.length * m.h * m.ratio ** 2 < 1 << 24; // larger ones are not to be had everywhere
  }

  // held is for what is selected of the rows: called once they are drawn anew, it selects the same where that stands by then.
  // Where neither end is there any more nothing is selected. What it had before it was cut is whole: the text that it is.
  held({ rows, scrolls }) {
    const s = getSelection(), had = [...this.rows.children];
    if (s.isCollapsed || !s.containsNode(this.rows, true)) return;
    let kept, cut;
    const end = (node, at) => {
      let y = had.findIndex((el) => el.contains(node));
      if (y < 0) return kept = () => [node, at]; // it is above the screen
      const el = had[y];
      let piece = [...el.childNodes].findIndex((n) => n.contains(node));
      for (const [top, bottom, by] of scrolls) {
        if (y < top || y >= bottom) continue;
        y = Math.min(y - by, bottom - 1);
        if (y < top) [y, piece, at, cut] = [top, -1, 0, 1];
      }
      kept ||= rows[y] === el.row;
      return () => {
        const to = this.rows.children[y] ?? this.rows, n = to.childNodes[piece], text = n?.firstChild ?? n ?? to;
        return [text, Math.min(at, (text.data ?? text.childNodes).length)];
      };
    };
    const from = end(s.anchorNode, s.anchorOffset), to = end(s.focusNode, s.focusOffset);
    if (cut || !kept) this.whole ||= selectedText(document, s);
    return () => kept ? s.setBaseAndExtent(...from(), ...to()) : s.removeAllRanges();
  }

  // draw shows a screen; still: as elements, which can be selected.
  draw(screen, still) {
    const { rows } = this, want = screen.rows.length, held = this.held(screen);
    this.screen = screen;
    if (still || held) this.lift();
    const flat = this.flood(screen);
    if (!flat) for (const [top, bottom, k] of screen.scrolls) {
      if (bottom > rows.children.length || Math.abs(k) >= bottom - top) continue;
      const after = rows.children[bottom] ?? null;
      if (k > 0) for (let i = 0; i < k; i++) rows.insertBefore(rows.children[top], after);
      else for (let i = 0; i < -k; i++) rows.insertBefore(rows.children[bottom - 1], rows.children[top]);
    }
    screen.scrolls.length = 0;
    while (rows.children.length < want) rows.append(rowElement());
    while (rows.children.length > want) rows.lastChild.remove();
    rows.style.width = screen.cols * this.m.w + 'px';
    const all = !flat || this.paint(screen);
    screen.rows.forEach((row, y) => {
      const el = rows.children[y], over = flat && !plain(row);
      if (all || over) drawRow(el, row, this.m);
      el.style.zIndex = over ? 1 : '';
    });
    held?.();
    this.place(screen);
  }

  // paint draws the plain rows on the canvas, over which the others are seen. It says whether all elements are due: for
  // a screen reader and the browser's own search none is older than a second.
  paint({ rows, cols }) {
    const { m } = this, { w, ratio } = m, now = performance.now(), due = !this.canvas || now > this.due;
    if (!this.canvas) {
      const probe = h('i', { class: 'dot' }), row = h('div', { class: 'row' }, probe);
      this.rows.append(row);
      this.base = probe.getBoundingClientRect().bottom - row.getBoundingClientRect().top;
      row.remove();
      this.rows.after(this.canvas = h('canvas', { 'aria-hidden': 'true' }));
      this.el.classList.add('flat');
    }
    if (due) {
      this.inks = new Map();
      this.due = now + 1000;
    }
    const { canvas, inks } = this, c = canvas.getContext('2d', { alpha: false }), width = Math.round(cols * w * ratio), height = Math.round(rows.length * m.h * ratio);
    if (canvas.width !== width || canvas.height !== height) {
      Object.assign(canvas, { width, height });
      canvas.style.width = width / ratio + 'px';
    }
    const had = {}, set = (k, v) => { if (had[k] !== v) c[k] = had[k] = v; }; // it is dear even if it is the same
    const ink = (color) => {
      if (!inks.has(color)) {
        canvas.style.color = ''; // a browser keeps the one before where it knows no color-mix
        canvas.style.color = color;
        inks.set(color, getComputedStyle(canvas).color);
      }
      set('fillStyle', inks.get(color));
    };
    const to = (x, y, scale) => c.setTransform(scale, 0, 0, scale, x * ratio, y * ratio);
    c.textRendering = 'optimizeSpeed'; // no ligatures, no kerning
    ink('var(--bg)');
    to(0, 0, ratio);
    c.fillRect(0, 0, width, height);
    const texts = new Map(); // by their looks: to change those is what is dear
    rows.forEach((row, i) => {
      let x = 0;
      const y = i * m.h;
      if (plain(row)) for (const { kind, k, text, n } of pieces(row, m)) {
        const wide = n * w;
        if (k.bg) {
          ink(k.bg);
          c.fillRect(x, y, wide, m.h);
        }
        if (!k.cls.includes('conceal') && text.trim()) {
          if (kind === 't' || kind === 'c') {
            if (!texts.has(k)) texts.set(k, []);
            texts.get(k).push([text, x, y + this.base, kind === 'c' && wide]);
          } else {
            ink(k.fg);
            const { path, alpha } = pathOf(text, m);
            to(x, y, 1);
            c.globalAlpha = alpha;
            c.fill(new Path2D(path));
            c.globalAlpha = 1;
            to(0, 0, ratio);
          }
        }
        x += wide;
      }
    });
    for (const [k, all] of texts) {
      ink(k.fg);
      set('font', k.cls + ' ' + m.font);
      for (const [text, x, y, wide] of all) {
        set('letterSpacing', wide ? '0px' : w - m.advance + 'px');
        c.fillText(text, x + (wide && Math.max(0, (wide - c.measureText(text).width) / 2)), y);
      }
    }
    return due;
  }

  place(screen) {
    const c = screen.cursor, el = this.cursor;
    const put = (el, last) => { el.style.transform = `translate(${Math.max(0, Math.min(c.x, screen.cols - last)) * this.m.w}px,${c.y * this.m.h}px)`; };
    // What an input method composes, and where it puts its window, is at the cursor, with room for some words.
    if (c && this.area?.classList.contains('composing')) put(this.area, 24);
    el.hidden = !c?.visible || c.y >= screen.rows.length;
    if (el.hidden) return;
    const cell = screen.cell(c.x, c.y);
    const cls = `cursor ${c.shape}${c.blink ? ' blinks' : ''}`;
    if (el.className !== cls) el.className = cls;
    const text = c.shape === 'block' && !drawn(cell.text.codePointAt(0)) && !((cell.st.a ?? 0) & 32) ? cell.text : '';
    if (el.textContent !== text) el.textContent = text; // the same one would be laid out again
    el.style.width = (c.shape === 'bar' ? Math.max(1, Math.round(this.m.size / 7)) : cell.n * this.m.w) + 'px';
    put(el, 1);
  }
}

// selectedText is the text of the selection in rows of a screen: without padding, lines that were wrapped in one.
export function selectedText(root, selection) {
  if (selection.isCollapsed) return '';
  const range = selection.getRangeAt(0), out = [];
  for (const el of root.querySelectorAll('.row')) {
    if (!el.row || !range.intersectsNode(el)) continue;
    const part = range.cloneRange();
    if (!el.contains(part.startContainer)) part.setStart(el, 0);
    if (!el.contains(part.endContainer)) part.setEnd(el, el.childNodes.length);
    const text = part.toString();
    out.push(el.row.flags & 1 ? text : text.trimEnd() + '\n');
  }
  return out.join('').replace(/\n$/, '');
}
