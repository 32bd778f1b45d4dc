// Images that programs placed on a screen. The daemon names each by what it is and sends it, as a PNG of its own making,
// when it is asked for, a few at a time: it does not answer more. Those used last are kept.

const most = 1024, mostBytes = 1 << 26, atOnce = 32;
const known = new Map(); // by key, those used last at the end
let bytes = 0;

// line is what of known is to be asked for on a connection, and how much is not answered there.
const line = (link) => link.pics?.turn === link.turn ? link.pics : link.pics = { turn: link.turn, asks: new Map(), under: 0 };

// next asks for what was wanted last, which is most likely to be in sight still.
function next(of) {
  while (of.under < atOnce && of.asks.size) {
    of.under++;
    const [key, ask] = [...of.asks].pop();
    of.asks.delete(key);
    ask();
  }
}

// picture is the image of a key; from says which session's it is, where that does not show it now. What was asked for on an
// older connection is lost.
export function picture(key, link, from) {
  const p = known.get(key) ?? { todo: [], size: 0 };
  p.want = () => {
    const { turn } = link;
    known.delete(key);
    known.set(key, p);
    if (p.url || p.turn === turn) return;
    p.turn = turn;
    p.link = link;
    line(link).asks.set(key, () => link.write({ t: 'img', k: key, ...from }));
    next(link.pics);
  };
  p.want();
  bound();
  return p;
}

function bound() {
  for (const [k, old] of known) {
    if (known.size <= most && (bytes <= mostBytes || known.size === 1)) break;
    if (old.url) URL.revokeObjectURL(old.url);
    bytes -= old.size;
    Object.assign(old, { url: '', turn: '', size: 0 });
    known.delete(k);
    old.link.pics?.asks.delete(k);
  }
}

// came takes an image that was asked for.
export function came({ k, png }, link) {
  const of = line(link);
  of.under--;
  next(of);
  const p = known.get(k);
  if (!p || p.url) return;
  p.gone = !png;
  if (!png) {
    p.turn = '';
    for (const draw of p.todo) draw();
    return;
  }
  const data = Uint8Array.from(atob(png), (c) => c.charCodeAt());
  bytes += p.size = data.length;
  p.url = URL.createObjectURL(new Blob([data], { type: 'image/png' }));
  for (const draw of p.todo.splice(0)) draw();
  bound();
}

// again asks anew for what was not answered when a connection broke.
export function again(link) {
  link.pics = null;
  for (const p of [...known.values()]) {
    if (p.link !== link) continue;
    p.turn = ''; // of rows that are not shown yet, too: they were fetched without the socket
    if (p.todo.length) p.want();
  }
}

// show makes an element the part of an image that a style says, in cells of m.
export function show(el, p, [, x, y, cols, rows], m) {
  const draw = () => {
    el.classList.toggle('gone', p.gone);
    if (p.gone) el.title = 'An image that is not kept any more';
    else el.style.background = `url("${p.url}") ${-x * m.w}px ${-y * m.h}px / ${cols * m.w}px ${rows * m.h}px no-repeat`;
  };
  p.want();
  if (p.url || p.gone) draw();
  if (p.url) return;
  if (p.todo.length > 999) p.todo = [];
  p.todo.push(draw);
}
