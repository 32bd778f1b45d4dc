// Searches all pages in the browser: a part matches if it has every word; parts with the words in their heading come first.
'use strict';
const query = document.getElementById('query'), found = document.getElementById('found');
const root = document.body.dataset.root, most = 20, around = 90;
const lower = parts.map(p => [(p.h || p.t).toLowerCase(), p.x.toLowerCase()]);

function score(i, words) {
  let sum = 0;
  for (const w of words) {
    const inHead = lower[i][0].includes(w), at = lower[i][1].indexOf(w);
    if (!inHead && at < 0) return 0;
    sum += inHead ? 20 : 1;
  }
  return lower[i][0] === words.join(' ') ? sum + 50 : sum;
}

// marked appends text with the words in it marked.
function marked(to, text, words) {
  const low = text.toLowerCase();
  for (let at = 0; at < text.length;) {
    let next = -1, size = 0;
    for (const w of words) {
      const k = low.indexOf(w, at);
      if (k >= 0 && (next < 0 || k < next)) { next = k; size = w.length; }
    }
    if (next < 0) { to.append(text.slice(at)); break; }
    to.append(text.slice(at, next));
    const m = document.createElement('mark');
    m.textContent = text.slice(next, next + size);
    to.append(m);
    at = next + size;
  }
}

function show() {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.replaceChildren();
  found.hidden = words.length === 0;
  if (found.hidden) return;
  const hits = parts.map((p, i) => [score(i, words), p, i]).filter(h => h[0] > 0).sort((a, b) => b[0] - a[0]);
  for (const [, p, i] of hits.slice(0, most)) {
    const item = document.createElement('li'), link = document.createElement('a'), text = document.createElement('p');
    link.href = root + p.p + (p.a ? '#' + p.a : '');
    link.textContent = p.h ? p.t + ': ' + p.h : p.t;
    const at = Math.max(0, Math.min(...words.map(w => lower[i][1].indexOf(w)).filter(k => k >= 0), p.x.length) - around);
    marked(text, (at > 0 ? '…' : '') + p.x.slice(at, at + 2 * around + 40) + (at + 2 * around + 40 < p.x.length ? '…' : ''), words);
    item.append(link, text);
    found.append(item);
  }
  if (hits.length === 0) found.textContent = 'No page has all of these words.';
  else if (hits.length > most) { const p = document.createElement('p'); p.textContent = `and ${hits.length - most} more`; found.append(p); }
}

query.addEventListener('input', show);
document.addEventListener('keydown', e => {
  if (e.key === '/' && document.activeElement !== query && !e.ctrlKey && !e.metaKey && !e.altKey) { e.preventDefault(); query.focus(); }
  if (e.key === 'Escape' && document.activeElement === query) { query.value = ''; show(); query.blur(); }
});
const asked = new URLSearchParams(location.search).get('q');
if (asked) { query.value = asked; show(); }

// Each block of code has a button that copies it.
for (const pre of document.querySelectorAll('main pre')) {
  const box = document.createElement('div'), button = document.createElement('button');
  box.className = 'code';
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', () => navigator.clipboard.writeText(pre.textContent).then(
    () => { button.textContent = 'Copied'; setTimeout(() => { button.textContent = 'Copy'; }, 1500); },
    () => { button.textContent = 'Not allowed'; }));
  pre.replaceWith(box);
  box.append(pre, button);
}
