// Elements without markup: text comes from programs, so that it is only ever set as text.

const spelled = (what) => (text) => String(text).replace(what, (c) => '<U+' + c.codePointAt().toString(16).toUpperCase().padStart(4, 0) + '>');

// visible is a text with what turns the direction of writing and what shows nothing spelled out, literal one of which each
// character counts; as the package plaintext has them.
const hidden = '\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb\\u{e0000}-\\u{e0fff}';
export const visible = spelled(RegExp(`[${hidden}]`, 'gu'));
export const literal = spelled(RegExp(`(?![\\0-\\x7f])[${hidden}\\p{White_Space}\\p{Cf}\\p{VS}\\u2800]`, 'gu'));

// h makes an element. What of props begins with "on" listens; class, text, dataset and aria-* are what they say. Text is made visible.
export function h(tag, props, ...children) {
  const el = document.createElement(tag);
  if (props?.onclick && tag === 'button') el.type = tag; // and sends no form
  for (const [name, value] of Object.entries(props ?? {})) {
    if ((value ?? false) === false) continue;
    if (name.startsWith('on')) el.addEventListener(name.slice(2), value);
    else if (name === 'class') el.className = value;
    else if (name === 'text') el.textContent = visible(value);
    else if (name === 'style') Object.assign(el.style, value);
    else if (name in el && name !== 'title') el[name] = value;
    else el.setAttribute(name, value === true ? '' : visible(value));
  }
  el.append(...children.flat().filter((c) => (c ?? false) !== false).map((c) => c.nodeType ? c : visible(c)));
  return el;
}

const svgNS = 'http://www.w3.org/2000/svg';

export function svg(tag, attrs, ...children) {
  const el = document.createElementNS(svgNS, tag);
  for (const [k, v] of Object.entries(attrs ?? {})) el.setAttribute(k, v);
  el.append(...children);
  return el;
}

const glyphs = {
  back: 'M10 3 5 8l5 5', search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm4-1 3 3', plus: 'M8 3v10M3 8h10',
  grid: 'M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z', jobs: 'M3 4.5h10v8H3zM6 4.5v-2h4v2M3 8h10',
  more: 'M3.2 7.6v.8M8 7.6v.8M12.8 7.6v.8', clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12Zm0-9v3l2 2', 
  down: 'M8 3v9m-4-4 4 4 4-4', close: 'm4 4 8 8m0-8-8 8', play: 'M5 3v10l8-5Z', pause: 'M5 3v10M11 3v10', copy: 'M5 5h8v8H5zM3 11V3h8',
  fit: 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10',
  list: 'M2.5 3.5h3v3h-3zM2.5 9.5h3v3h-3zM8 5h5.5M8 11h5.5', check: 'm3 8 3.5 3.5L13 5',
};

// icon is one of a few line drawings; what it means is said by its button.
export const icon = (name) => svg('svg', { viewBox: '0 0 16 16', class: 'icon', 'aria-hidden': 'true' }, svg('path', { d: glyphs[name] }));

export const button = (label, glyph, onclick, props) =>
  h('button', { class: 'ib', title: label, onclick, ...props }, icon(glyph));

// sentence is a text that begins as a sentence does; words are those of an error.
export const sentence = (text) => text ? text[0].toUpperCase() + text.slice(1) : '';
export const words = (err) => err.message + (err.hint ? '. ' + sentence(err.hint) : '');

// some is how many of something there are.
export const some = (n, what) => n + ' ' + what + (n === 1 ? '' : 's');

// span of time, short: 850 ms, 4.2 s, 3 min 20 s, 2 h 5 min, 3 d.
export function duration(ms) {
  const s = ms / 1000;
  if (s < 1) return Math.max(0, Math.round(ms)) + ' ms';
  if (s < 10) return s.toFixed(1) + ' s';
  if (s < 60) return Math.round(s) + ' s';
  if (s < 3600) return Math.floor(s / 60) + ' min' + (s < 600 && Math.floor(s % 60) ? ' ' + Math.floor(s % 60) + ' s' : '');
  if (s < 86400) return Math.floor(s / 3600) + ' h' + (Math.floor(s % 3600 / 60) ? ' ' + Math.floor(s % 3600 / 60) + ' min' : '');
  return Math.floor(s / 86400) + ' d';
}

export const ago = (time) => {
  const ms = Date.now() - new Date(time);
  return ms < 5000 ? 'now' : duration(ms).split(' ').slice(0, 2).join(' ') + ' ago';
};

// until is how long it is to a time, when a time with what it is of, in full where it is pointed at.
const until = (time) => {
  const ms = new Date(time) - Date.now();
  return ms < 1000 ? 'now' : 'in ' + duration(ms + (ms > 36e5 ? 18e5 : 500)).split(' ').slice(0, 2).join(' ');
};

export const when = (what, time) => h('time', { dateTime: time, title: `${sentence(what)} ${new Date(time).toLocaleString()}`, text: `${what} ${new Date(time) > Date.now() + 1000 ? until(time) : ago(time)}` });

// loading is shown until what is asked for has come.
export const loading = (text = 'Loading…') => h('p', { class: 'none loading', role: 'status', text });

export const clock = (time) => new Date(time).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' });

// say tells screen readers, politely.
// An element of its own: where a text is set anew as it is nothing happens.
export function say(text) { document.getElementById('live').replaceChildren(h('p', { text })); }

// toast tells for a moment what happened; an error stays until it is read.
export function toast(text, error) {
  const t = h('div', { class: 'toast' + (error ? ' bad' : ''), role: error ? 'alert' : 'status' }, h('span', { text }),
    button('Dismiss', 'close', () => t.remove()));
  document.getElementById('toasts').append(t);
  if (!error) setTimeout(() => t.remove(), 4000);
  return t;
}

// dialog shows a form that acts on its values; it stays, with what was typed, where that fails. An element that act makes is
// shown in the fields' place. Options are values, or pairs of value and text.
export function dialog(title, fields, action, act, { danger, note, more, below } = {}) {
  const inputs = fields.map((f) => h(f.options ? 'select' : 'input', { name: f.name, value: f.options ? undefined : f.value ?? '', type: f.options ? undefined : 'text', placeholder: f.placeholder,
    autocomplete: 'off', spellcheck: false, autocapitalize: 'off', id: 'f-' + f.name },
  ...(f.options ?? []).map((o) => [o].flat()).map(([o, text = o]) => h('option', { value: o, text, selected: o === f.value }))));
  const go = h('button', { class: danger ? 'danger' : 'primary', text: action }), wrong = h('p', { class: 'word bad', role: 'alert' });
  const asked = h('div', {}, fields.map((f, i) => h('label', { htmlFor: 'f-' + f.name }, h('span', { text: f.label }), inputs[i])), wrong), cancel = h('button', { text: 'Cancel', onclick: () => d.close() });
  const d = h('dialog', { 'aria-labelledby': 'dialog-title', onclose: () => d.remove() },
    h('form', { onsubmit: async (e) => {
      e.preventDefault();
      go.disabled = true;
      try {
        const made = await act(Object.fromEntries(inputs.map((i) => [i.name, i.value])));
        if (!made?.nodeType) return d.close();
        asked.replaceChildren(made);
        go.remove();
        cancel.textContent = 'Done';
        (made.querySelector('button') ?? cancel).focus();
      } catch (err) {
        if (d.open) wrong.textContent = sentence(words(err));
        else toast(words(err), true);
      }
      go.disabled = false;
    } },
    h('h2', { text: title, id: 'dialog-title' }), note && h('p', { text: note }),
    asked, below, h('div', { class: 'actions' }, more, cancel, go)));
  document.body.append(d);
  d.showModal();
  (inputs[0] ?? go).focus();
  inputs[0]?.select?.();
}

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h('textarea', { value: text, class: 'offscreen' });
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  toast('Copied');
}
