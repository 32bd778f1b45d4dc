// Shapes of characters that must join with those in the cells beside them, as the pictures of
// render/boxdraw have them: a test compares each path with the one drawn there.
import { arms } from './tables_gen.js';

export function drawn(cp) {
  return cp >= 0x2500 && cp <= 0x259f || cp >= 0x2800 && cp <= 0x28ff || cp >= 0xe0b0 && cp <= 0xe0b3 ||
    cp === 0xe0b8 || cp === 0xe0ba || cp === 0xe0bc || cp === 0xe0be ||
    cp >= 0x1fb00 && cp <= 0x1fb3b || cp >= 0x1fb70 && cp <= 0x1fb7b || cp >= 0x1fb82 && cp <= 0x1fb8b;
}

const round = Math.round, { min, max } = Math;
const num = (x) => String(round(x * 100) / 100);

// shape is the path of a character in a cell of w by h device pixels whose light lines are t wide, and how
// much of it is covered.
export function shape(cp, w, h, t) {
  let path = '', alpha = 1;
  const poly = (...p) => {
    for (let i = 0; i < p.length; i += 2) path += (i ? 'L' : 'M') + num(p[i]) + ' ' + num(p[i + 1]);
    path += 'Z';
  };
  const rect = (x1, y1, x2, y2) => { if (x2 > x1 && y2 > y1) poly(x1, y1, x2, y1, x2, y2, x1, y2); };
  const whole = (from, to, size) => {
    const a = max(0, min(round(from * size), size - 1));
    return [a, max(round(to * size), a + 1)];
  };
  const part = (x1, y1, x2, y2) => {
    [x1, x2] = whole(x1, x2, w);
    [y1, y2] = whole(y1, y2, h);
    rect(x1, y1, x2, y2);
  };
  const mosaic = (bits, rows) => {
    for (let i = 0; i < 2 * rows; i++) {
      const x = i % 2 / 2, y = i >> 1;
      if (bits & 1 << i) part(x, y / rows, x + 0.5, (y + 1) / rows);
    }
  };
  const axis = (size) => ({ light: Math.trunc((size - t) / 2), heavy: Math.trunc((size - 2 * t) / 2), size });
  const H = axis(w), V = axis(h);
  // arm draws one arm from the edge at 0; see boxdraw.arm for how far each reaches.
  const arm = (self, opposite, lower, higher, along, across, place) => {
    let end = along.light;
    if (lower === 2 || higher === 2) end = along.heavy + 2 * t;
    else if (lower !== higher || self === opposite) end = along.light + (lower === 3 || higher === 3 ? 2 * t : t);
    else if (lower === 0) end = along.light + t;
    const near = (side) => side === 3 ? along.light : end;
    if (self === 1) place(across.light, 0, across.light + t, end);
    if (self === 2) place(across.heavy, 0, across.heavy + 2 * t, end);
    if (self === 3) {
      place(across.light - t, 0, across.light, near(lower));
      place(across.light + t, 0, across.light + 2 * t, near(higher));
    }
  };
  const crossing = (up, right, down, left) => {
    const mirror = (x) => ({ light: x.size - x.light - t, heavy: x.size - x.heavy - 2 * t, size: x.size });
    arm(up, down, left, right, V, H, (a1, l1, a2, l2) => rect(a1, l1, a2, l2));
    arm(left, right, up, down, H, V, (a1, l1, a2, l2) => rect(l1, a1, l2, a2));
    arm(down, up, left, right, mirror(V), H, (a1, l1, a2, l2) => rect(a1, h - l2, a2, h - l1));
    arm(right, left, up, down, mirror(H), V, (a1, l1, a2, l2) => rect(w - l2, a1, w - l1, a2));
  };
  const dashes = (n, thick, upright) => {
    const size = upright ? h : w, across = upright ? H : V;
    const from = thick ? across.heavy : across.light, to = from + (thick ? 2 * t : t);
    const step = size / n, gap = max(1, min(round(step / 3), round(t * 1.5)));
    for (let i = 0; i < n; i++) {
      const start = round(i * step + gap / 2), end = max(start + 1, round((i + 1) * step + gap / 2) - gap);
      if (upright) rect(from, start, to, end); else rect(start, from, end, to);
    }
  };
  const corner = () => {
    const right = cp === 0x256d || cp === 0x2570, down = cp === 0x256d || cp === 0x256e, k = 0.5523;
    const x = right ? w - H.light - t : H.light, y = down ? h - V.light - t : V.light, r = min(x, y), o = r + t;
    const p = (a, b) => num(right ? w - a : a) + ' ' + num(down ? h - b : b);
    path = `M${p(x + t, 0)}L${p(x + t, y - r)}C${p(x + t, y - r + k * o)} ${p(x - r + k * o, y + t)} ${p(x - r, y + t)}` +
      `L${p(0, y + t)}L${p(0, y)}L${p(x - r, y)}C${p(x - r + k * r, y)} ${p(x, y - r + k * r)} ${p(x, y - r)}L${p(x, 0)}Z`;
  };
  const box = () => {
    const at = (cp - 0x2500) * 2, a = parseInt(arms.slice(at, at + 2), 16);
    if (a) return crossing(a >> 6, a >> 4 & 3, a >> 2 & 3, a & 3);
    if (cp <= 0x254f) return dashes(cp <= 0x2507 ? 3 : cp <= 0x250b ? 4 : 2, !!(cp & 1), !!(cp & 2));
    if (cp <= 0x2570) return corner();
    const d = t * 0.6;
    if (cp !== 0x2572) poly(w - d, 0, w, 0, w, d, d, h, 0, h, 0, h - d);
    if (cp !== 0x2571) poly(0, 0, d, 0, w, h - d, w, h, w - d, h, 0, d);
  };
  const block = () => {
    if (cp === 0x2580) part(0, 0, 1, 0.5);
    else if (cp <= 0x2588) part(0, 1 - (cp - 0x2580) / 8, 1, 1);
    else if (cp <= 0x258f) part(0, 0, (0x2590 - cp) / 8, 1);
    else if (cp === 0x2590) part(0.5, 0, 1, 1);
    else if (cp <= 0x2593) { alpha = 64 * (cp - 0x2590) / 255; part(0, 0, 1, 1); }
    else if (cp === 0x2594) part(0, 0, 1, 1 / 8);
    else if (cp === 0x2595) part(7 / 8, 0, 1, 1);
    else mosaic([4, 8, 1, 13, 9, 7, 11, 2, 6, 14][cp - 0x2596], 2);
  };
  const braille = () => {
    const size = max(1, round(min(w / 4, h / 8)));
    [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2], [0, 3], [1, 3]].forEach(([cx, cy], i) => {
      const x = round((cx + 0.5) * w / 2 - size / 2), y = round((cy + 0.5) * h / 4 - size / 2);
      if (cp & 1 << i) rect(x, y, x + size, y + size);
    });
  };
  const legacy = () => {
    const n = cp & 15, eighths = [2, 3, 5, 6, 7];
    if (cp <= 0x1fb3b) {
      let bits = cp - 0x1fb00 + 1;
      if (bits >= 0x15) bits++;
      if (bits >= 0x2a) bits++;
      mosaic(bits, 3);
    } else if (cp <= 0x1fb75) part((n + 1) / 8, 0, (n + 2) / 8, 1);
    else if (cp <= 0x1fb7b) part(0, (n - 5) / 8, 1, (n - 4) / 8);
    else if (cp <= 0x1fb86) part(0, 0, 1, eighths[cp - 0x1fb82] / 8);
    else part(1 - eighths[cp - 0x1fb87] / 8, 0, 1, 1);
  };
  const stroke = (x1, y1, x2, y2) => poly(x1, y1, x1 + t, y1, x2 + t, y2, x2, y2);
  const powerline = () => {
    switch (cp & 15) {
      case 0: return poly(0, 0, w, h / 2, 0, h);
      case 2: return poly(w, 0, w, h, 0, h / 2);
      case 1: stroke(0, 0, w - t, h / 2); return stroke(w - t, h / 2, 0, h);
      case 3: stroke(w - t, 0, 0, h / 2); return stroke(0, h / 2, w - t, h);
      case 8: return poly(0, 0, w, h, 0, h);
      case 10: return poly(w, 0, w, h, 0, h);
      case 12: return poly(0, 0, w, 0, 0, h);
      default: return poly(0, 0, w, 0, w, h);
    }
  };
  if (cp >= 0x1fb00) legacy();
  else if (cp >= 0xe000) powerline();
  else if (cp >= 0x2800) braille();
  else if (cp >= 0x2580) block();
  else box();
  return { path, alpha };
}

const runs = new Map();

// runPath is the path of a run of drawn characters of one coverage, and that coverage. Runs that were seen are kept:
// frames and bars come again and again.
export function runPath(text, w, h, t) {
  const key = w + ' ' + h + ' ' + t + text;
  let found = runs.get(key);
  if (found) return found;
  let path = '', alpha = 1, x = 0;
  for (const ch of text) {
    const s = shape(ch.codePointAt(0), w, h, t);
    alpha = s.alpha;
    let horizontal = true;
    path += s.path.replace(/-?[\d.]+/g, (n) => {
      const out = horizontal ? num(+n + x) : n;
      horizontal = !horizontal;
      return out;
    });
    x += w;
  }
  if (runs.size > 4000) runs.clear();
  runs.set(key, found = { path, alpha });
  return found;
}
