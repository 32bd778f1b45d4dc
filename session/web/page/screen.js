// Rows of spans: frames of the socket and lines of the API make the same rows. A row never changes once it is made, so
// that what is drawn can be compared by identity.

const attrs = ['bold', 'dim', 'italic', 'blink', 'inverse', 'conceal', 'strike', 'overline'];
const sizes = { 'double-width': 2, 'double-top': 4, 'double-bottom': 8 };
const plain = Object.freeze({});
const empty = Object.freeze({ flags: 0, spans: Object.freeze([]), text: '', plain: true });

// ascii is text of one column for each unit: most is, and need not be gone through.
export const ascii = /^[ -~]+$/;

// columns of a span's text.
const width = (text, widths) => {
  if (widths) return widths.reduce((a, b) => a + b, 0);
  if (ascii.test(text)) return text.length;
  let n = 0;
  for (const _ of text) n++;
  return n;
};

const row = (flags, spans) => {
  let col = 0;
  for (const s of spans) {
    s.col = col;
    col += s.n;
  }
  return { flags, spans, cols: col, text: spans.map((s) => s.text).join('').trimEnd() };
};

const ofFrame = (styles, [, flags, ...spans]) => row(flags, spans.map(([st, text, widths]) =>
  ({ text, widths, n: width(text, widths), st: styles.get(st) ?? plain })));

// ofLine makes a row of a line as the API has it; pic is the image of a key.
export function ofLine(l, pic) {
  const spans = [];
  let col = 0;
  for (const s of l.spans) {
    if (s.col > col) spans.push({ text: ' '.repeat(s.col - col), n: s.col - col, st: plain });
    const st = {
      f: s.fg, b: s.bg, fi: s.fg_index, bi: s.bg_index, u: s.underline, uc: s.underline_color, l: s.link,
      a: attrs.reduce((bits, name, i) => bits | (s[name] ? 1 << i : 0), 0),
    };
    for (const { key, col: at, x, y, cols, rows } of l.pictures ?? []) if (at === s.col) Object.assign(st, { i: [key, x, y, cols, rows], pic: pic(key) });
    spans.push({ text: s.text, widths: s.widths, n: s.width, st });
    col = s.col + s.width;
  }
  return row((l.wrapped ? 1 : 0) | (sizes[l.size] ?? 0), spans);
}

// What a thin frame is made of: each part stands behind a control character, numbers are in base 36.
const shapes = { '\x01': /^[0-9a-z]+$/, '\x02': /^[0-9a-z]+,[0-9a-z]+,-?[0-9a-z]+$/, '\x03': /^[0-9a-z]+,[0-9a-z]+$/, '\x04': /^[0-9a-z]+,[0-9a-z]+(,[0-9a-z]+)?$/, '\x05': /^[0-9a-z]+$/, '\x06': /./su, '\x07': /^\[/ };

// readThin reads a thin frame. It throws if it is none.
export function readThin(data) {
  const [head, ...parts] = data.split(/(?=[\x00-\x1f])/u);
  if (!/^[0-9a-z]{1,4}$/.test(head)) throw new Error('no frame');
  const f = { t: 'f', grew: 1, puts: [] };
  let st = 0;
  for (const p of parts) {
    const op = p[0], body = p.slice(1);
    if (!shapes[op]?.test(body) || st && op !== '\x06') throw new Error('no frame');
    const nums = body.split(',').map((n) => parseInt(n, 36));
    if (op === '\x01') f.grew = nums[0];
    else if (op === '\x02') f.scroll = nums;
    else if (op === '\x03') f.to = nums;
    else if (op === '\x04') f.puts.push({ row: nums[0], col: nums[1], like: nums[2], spans: [] });
    else if (op === '\x07') f.styles = JSON.parse(`[${body}]`);
    else if (op === '\x05') st = nums[0];
    else {
      if (!f.puts.length) f.puts.push({ spans: [] });
      f.puts.at(-1).spans.push([st, body]);
      st = 0;
    }
  }
  if (st) throw new Error('no frame');
  return f;
}

// put is a row like one that was, with other text from a column on, both of plain characters.
function put(was, col, spans, styles) {
  if (!was || col > was.cols || col && was.flags) throw new Error('no such place');
  const kept = [];
  for (const s of was.spans) {
    if (s.col >= col) break;
    if (s.widths) throw new Error('no plain row');
    const n = Math.min(s.n, col - s.col);
    kept.push({ ...s, n, text: n < s.n ? [...s.text].slice(0, n).join('') : s.text });
  }
  for (const [id, text] of spans) {
    const st = id ? styles.get(id) : plain, last = kept.at(-1), n = width(text);
    if (!st) throw new Error('no such style');
    if (last?.st === st) kept[kept.length - 1] = { ...last, text: last.text + text, n: last.n + n };
    else kept.push({ text, n, st });
  }
  return row(0, kept);
}

export class Screen {
  constructor() {
    this.rows = [];
    this.scrolls = []; // since they were last taken
    Object.assign(this, { cols: 0, cursor: null, title: '', alt: false, mouse: '', keys: {}, state: '', v: 0, e: '' });
  }

  apply(f, styles) {
    if (f.full) {
      this.rows.fill(empty); // the size is told only if it is another
      this.scrolls = [];
    }
    if (f.size) {
      this.cols = f.size[0];
      this.rows.length = Math.min(this.rows.length, f.size[1]);
      while (this.rows.length < f.size[1]) this.rows.push(empty);
    }
    if (f.scroll) {
      const [top, bottom, k] = f.scroll, part = this.rows.slice(top, bottom);
      const blank = Array(Math.min(Math.abs(k), part.length)).fill(empty);
      this.rows.splice(top, part.length, ...k > 0 ? [...part.slice(k), ...blank] : [...blank, ...part.slice(0, k)]);
      this.scrolls.push(f.scroll);
    }
    for (const r of f.rows ?? []) if (r[0] < this.rows.length) this.rows[r[0]] = ofFrame(styles, r);
    if (f.puts) this.put(f, styles);
    if (f.cur) this.cursor = { x: f.cur[0], y: f.cur[1], visible: !!f.cur[2], shape: f.cur[3], blink: !!f.cur[4] };
    for (const k of ['title', 'alt', 'mouse', 'keys', 'state', 'v', 'e']) if (f[k] !== undefined) this[k] = f[k];
    this.at = f.at;
    this.behind = f.behind ?? 0;
  }

  // put does what a thin frame says of rows and cursor.
  put(f, styles) {
    let to = this.cursor;
    const was = to;
    for (const { row: y = was.y, col = was.x, like = y, spans } of f.puts) {
      if (!this.rows[y]) throw new Error('no such row');
      this.rows[y] = put(this.rows[like], col, spans, styles);
      to = { ...was, x: spans.reduce((n, s) => n + width(s[1]), col), y };
    }
    this.cursor = f.to ? { ...was, x: f.to[0], y: f.to[1] } : to;
  }

  // cell is the character at a place, with how many columns it has.
  cell(x, y) {
    for (const s of this.rows[y]?.spans ?? []) {
      if (x >= s.col + s.n) continue;
      let col = s.col, i = 0, text = '', n = 1;
      for (const ch of s.text) {
        const w = s.widths ? s.widths[i++] : 1;
        if (w > 0 && col > x) break;
        if (w > 0) {
          text = '';
          n = w;
          col += w;
        }
        text += ch;
      }
      return { text, n, st: s.st };
    }
    return { text: ' ', n: 1, st: plain };
  }
}
