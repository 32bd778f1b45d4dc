// Images that programs placed on a screen. The daemon names each by what it is and sends it, as a PNG of its own making,
// when it is asked for; the newest are kept.

const most = 64;
const known = new Map(); // by key, those used last at the end

// picture is the image of a key. ask has it sent; turn is the connection: what was asked for on an older one is lost.
export function picture(key, turn, ask) {
  const p = known.get(key) ?? { todo: [] };
  known.delete(key);
  p.want = () => {
    known.set(key, p);
    if (p.url || p.turn === turn) return;
    p.turn = turn;
    ask();
  };
  p.want();
  for (const [k, old] of known) {
    if (known.size <= most) break;
    URL.revokeObjectURL(old.url);
    old.url = old.turn = '';
    known.delete(k);
  }
  return p;
}

// came takes an image that was asked for.
export function came({ k, png }) {
  const p = known.get(k);
  if (!p || p.url) return;
  p.turn = png && p.turn;
  if (!png) return;
  p.url = URL.createObjectURL(new Blob([Uint8Array.from(atob(png), (c) => c.charCodeAt())], { type: 'image/png' }));
  for (const draw of p.todo.splice(0)) draw();
}

// show makes an element the part of an image that a style says, in cells of m.
export function show(el, p, [, x, y, cols, rows], m) {
  const draw = () => { el.style.background = `url("${p.url}") ${-x * m.w}px ${-y * m.h}px / ${cols * m.w}px ${rows * m.h}px no-repeat`; };
  if (p.url) return draw();
  if (p.todo.length > 999) p.todo = [];
  p.todo.push(draw);
  p.want();
}
