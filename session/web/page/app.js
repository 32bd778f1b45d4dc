// The page: login, the list, and what is shown beside it by the address.
import { List, Tiles } from './list.js';
import { Failure, get, Link, login, logout, me, older, post, pushed, remove, session, there, toSession, url } from './net.js';
import { followNotices, on, toggle } from './notify.js';
import { failed, Inbox, Jobs, narrow, Search } from './panels.js';
import { SessionPage } from './session.js';
import { follow, followInbox, listed, news, state, store, waiting, wants } from './store.js';
import { button, clock, dialog, h, icon, loading, say, sentence, some, toast, when, words } from './ui.js';

const root = document.getElementById('app');
const themes = ['auto', 'dark', 'light', 'high-contrast'];
const query = (q) => matchMedia(q).matches;
const themeNow = () => document.documentElement.dataset.theme || (query('(prefers-contrast: more)') ? 'high-contrast' : query('(prefers-color-scheme: light)') ? 'light' : 'dark');

function setTheme(name) {
  if (name === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  localStorage.setItem('longterm.theme', name);
  const color = getComputedStyle(document.documentElement).getPropertyValue('--bg').trim();
  document.querySelector('meta[name=theme-color]').content = color;
}

// secretIn is what a link logs in with, after its #.
function secretIn(text) {
  const found = /#(login|token|relay)=([^&\s]+)/.exec(text);
  return found && { [found[1] === 'login' ? 'code' : found[1]]: decodeURIComponent(found[2]) };
}

// fromAddress is the login that the address has; it is taken out of it at once.
function fromAddress() {
  const secret = secretIn(location.hash);
  if (secret) history.replaceState(null, '', location.pathname + location.search);
  return secret;
}

function askLogin(why) {
  const field = h('input', { type: 'password', placeholder: 'lt_…', autocomplete: 'off', autofocus: true, id: 'token' });
  const note = h('p', { class: 'note word bad', role: 'alert', text: sentence(why) });
  const form = h('form', { class: 'login', onsubmit: async (e) => {
    e.preventDefault();
    const text = field.value.trim();
    try {
      await begin(await login(secretIn(text) ?? { token: text }));
    } catch (err) {
      note.textContent = sentence(words(err));
      field.select();
    }
  } }, h('h1', { text: 'longterm' }), h('p', { text: 'Open the link that “longterm web” prints, or log in with a token.' }), h('label', { htmlFor: 'token', text: 'Token' }), field, h('button', { class: 'primary', text: 'Log in' }), note,
  h('p', { class: 'note' }, 'A token is made by ', h('code', { text: 'longterm token new' }), '.'));
  root.className = 'alone';
  root.replaceChildren(form);
  field.focus();
}

const whose = there ? decodeURIComponent(there).replace('ssh:', '') : 'longterm';
let link, list, page, shownHash;

async function begin(me) {
  store.me = me;
  link?.ws?.close();
  link = new Link();
  globalThis.longterm = { link, store, get page() { return page; } }; // for looking at it from a console, and for tests
  follow(link);
  followNotices();
  link.on('hello', (m) => {
    store.me = { ...store.me, may: m.may ?? store.me.may };
    if (older(m)) renew(m.page);
  });
  link.on('refused', (m) => failed({ message: m.message, hint: m.hint }));
  const alone = !!me.session;
  root.className = alone ? 'alone' : '';
  const banner = h('div', { class: 'banner', role: 'status', hidden: true });
  let late;
  link.on('state', (state) => {
    clearTimeout(late);
    if (state === 'open') banner.hidden = true;
    else late = setTimeout(() => {
      banner.hidden = false;
      const since = () => link.lost ? ' since ' + clock(link.lost) : '';
      banner.replaceChildren('Not connected' + since() + '. What you see is as it was; it comes back by itself. ', h('button', { class: 'small', text: 'Try now', onclick: () => link.connect() }));
    }, 700);
  });
  const stage = h('div', { class: 'view' });
  if (alone) root.replaceChildren(banner, stage);
  else {
    list = new List();
    followInbox();
    root.replaceChildren(banner, side(), stage);
    if (!there && ['look', 'type', 'approve', 'manage'].every((right) => store.may(right))) Promise.all([get('fleet'), get('hosts')]).then(async ([fleet, ssh]) => {
      if (fleet.on || ssh.length) list.join(new (await import('./rare.js')).Others({ get, h, some, url, fleet: fleet.on, ssh, state, listed, toSession, store, Link }));
    }, () => {});
  }
  const show = () => route(stage, alone ? '#/s/' + me.session : location.hash);
  onhashchange = () => {
    const secret = fromAddress();
    if (secret) login(secret).then(begin, failed);
    else show();
  };
  shownHash = undefined;
  show();
  store.on('change', () => {
    if (page instanceof SessionPage) return;
    const n = [...store.sessions.values()].filter(wants).length;
    document.title = (n ? `(${n}) ` : '') + whose;
  });
  link.connect();
}

// renew loads the page anew, once for each newer one: when that is asked for, or while nobody looks and nothing is half
// typed.
let renewed;

function renew(to) {
  if (renewed === to) return;
  renewed = to;
  const load = () => location.reload();
  const t = toast('A newer longterm runs.', true);
  t.className = 'toast';
  t.lastChild.before(h('button', { class: 'small', text: 'Load its page', onclick: load }));
  const unseen = () => {
    const half = link.pending.size || document.querySelector('dialog') || [...document.querySelectorAll('input:not([type=range],[type=checkbox]),textarea')].some((i) => i.value);
    if (!document.hidden || half || sessionStorage.getItem('longterm.renewed') === to) return;
    sessionStorage.setItem('longterm.renewed', to);
    load();
  };
  document.addEventListener('visibilitychange', unseen);
  unseen();
}

function side() {
  const badge = h('span', { class: 'badge', hidden: true });
  const to = (label, glyph, hash, ...more) => h('a', { class: 'ib', href: hash, title: label }, icon(glyph), ...more);
  store.on('change', () => {
    const asks = waiting().length, n = asks + news().length;
    badge.hidden = !n;
    badge.textContent = n;
    badge.classList.toggle('calm', !asks);
    badge.parentNode.ariaLabel = 'Inbox' + (n ? ', ' + n : '');
  });
  return h('div', { class: 'side' }, h('header', { class: 'brand' }, h('h1', { class: 'mark' }, h('a', { href: '#/', text: whose })), h('span', { class: 'grow' }),
    there && to('All hosts', 'back', url('../../').href),
    to('Inbox', 'check', '#/approvals', badge), to('Search all sessions', 'search', '#/search'), to('Jobs', 'jobs', '#/jobs'), to('Tiles', 'grid', '#/tiles'),
    store.may('manage') && button('New session', 'plus', start), button('Settings', 'more', (e) => settings(e.currentTarget))), list.el);
}

function start() {
  dialog('New session', [{ name: 'name', label: 'Name', placeholder: 'made from the command' }, { name: 'line', label: 'Command', placeholder: 'your shell' }, { name: 'cwd', label: 'Directory', placeholder: 'home' }], 'Start', async (given) => {
    const s = await post('sessions', Object.fromEntries(Object.entries(given).filter(([, v]) => v)));
    if (!store.sessions.has(s.id)) store.sessions.set(s.id, s); // what the socket told is newer, and only what changes is told again
    location.hash = '#/s/' + s.id;
  });
}

function settings() {
  dialog('Settings', [{ name: 'theme', label: 'Colours', options: themes, value: document.documentElement.dataset.theme ?? 'auto' },
    { name: 'notices', label: 'Notices of the system', options: ['on', 'off'], value: on() ? 'on' : 'off' }], 'Save', ({ theme, notices }) => {
    setTheme(theme);
    if ((notices === 'on') !== on()) toggle();
  }, { note: `Logged in as ${store.me.name || 'you'}: ${store.me.may.join(', ')}`,
    below: !there && store.may('approve') && h('p', {}, h('button', { text: 'Notify this device…', onclick: async () => {
      document.querySelector('dialog').close();
      (await import('./rare.js')).devices({ get, post, remove, pushed, h, dialog, when, failed, loading, toast });
    } })), more: h('button', { text: 'Log out', onclick: () => logout().then(() => location.reload()) }) });
}

// leave ends the page that is shown, and what is asked over it.
function leave() {
  page?.end?.();
  page = null;
  document.querySelector('dialog')?.close();
}

// route shows what the address names.
function route(stage, hash) {
  if (hash === shownHash) return;
  shownHash = hash;
  const [, what, id, at] = hash.split('/');
  leave();
  const alone = root.className === 'alone';
  const go = (offset, session, time, way) => { location.href = toSession(way, session) + '/' + offset; };
  switch (what) {
    case 's':
      page = new SessionPage(link, id, { alone, theme: themeNow });
      page.onstep = (by) => {
        const all = listed(list?.filter), i = all.findIndex((s) => s.id === id);
        const next = all[(i + by + all.length) % all.length];
        if (next) location.hash = '#/s/' + next.id;
      };
      if (at) page.off.push(store.on('change', function once() { if (page?.term && !page.went) { page.went = true; page.goTo(at); } }));
      break;
    case 'approvals': page = new Inbox(); break;
    case 'search': {
      const search = new Search(undefined, go, decodeURIComponent(id ?? ''));
      page = { el: narrow('Search', search.el), focus: () => search.focus() };
      break;
    }
    case 'jobs': {
      const jobs = new Jobs();
      page = { el: narrow('Jobs', jobs.el), end: () => jobs.end() };
      break;
    }
    default:
      page = new Tiles(link, list);
  }
  root.dataset.page = what === 's' ? 'session' : what || 'list';
  if (list) {
    list.current = what === 's' ? id : '';
    list.draw();
  }
  stage.replaceChildren(page.el);
  landmark();
  page.focus?.();
  if (at && page.term) { page.went = true; page.goTo(at); }
}

// landmark has the list be what the page is about where it is alone: on a phone.
function landmark() {
  if (list?.el.isConnected) list.el.role = getComputedStyle(root.querySelector('.view')).display === 'none' ? 'main' : 'navigation';
}

addEventListener('resize', landmark);

async function main() {
  if (!document.getElementById('lacks').hidden) return; // it says what this browser lacks
  setTheme(localStorage.getItem('longterm.theme') ?? 'auto');
  session.on('login', () => {
    link?.close();
    leave();
    store.me = null;
    store.inbox = [];
    store.sessions.clear(); // nothing of what was seen stays
    say(document.getElementById('toasts').textContent = '');
    document.title = whose;
    askLogin('The login has ended.');
  });
  const secret = fromAddress();
  try {
    await begin(secret ? await login(secret) : await me());
  } catch (err) {
    if (secret || err.status === 401) askLogin(secret && words(err));
    else if (err instanceof Failure) {
      askLogin(err.message);
      setTimeout(() => location.reload(), 5000);
    } else throw err;
  }
  if ('serviceWorker' in navigator) {
    const { href } = url('sw.js');
    navigator.serviceWorker.register(globalThis.trustedTypes?.createPolicy('longterm', { createScriptURL: (u) => u }).createScriptURL(href) ?? href).catch(() => {});
  }
}

main();
