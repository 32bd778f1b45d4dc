// Keeps the page's own files, so that it opens without the daemon and says so; nothing of a session is kept.
const assets = '{{assets}}', store = 'longterm-' + assets;

addEventListener('install', (e) => {
  e.waitUntil(caches.open(store).then((c) => c.add('./')).then(() => skipWaiting()));
});

addEventListener('activate', (e) => {
  e.waitUntil(caches.keys().then((all) => Promise.all(all.filter((n) => n.startsWith('longterm-') && n !== store).map((n) => caches.delete(n)))).then(() => clients.claim()));
});

function keep(what, r) {
  const copy = r.clone();
  if (r.ok) caches.open(store).then((c) => c.put(what, copy));
  return r;
}

addEventListener('fetch', (e) => {
  const here = new URL(registration.scope), to = new URL(e.request.url);
  if (e.request.method !== 'GET' || to.origin !== here.origin || !to.pathname.startsWith(here.pathname)) return;
  const name = to.pathname.slice(here.pathname.length);
  if (name === '') e.respondWith(fetch(e.request).then((r) => keep('./', r)).catch(() => caches.match('./')));
  else if (name.startsWith('p/')) e.respondWith(caches.match(e.request).then((had) => had ?? fetch(e.request).then((r) => keep(e.request, r))));
});

// show shows an entry of the inbox. Its buttons are answers that the daemon has signed.
const show = ({ title, body, tag, hash, buttons = [] }) => registration.showNotification(title, {
  body, tag, data: { hash, answers: buttons.map((b) => b.answer) }, actions: buttons.map((b, i) => ({ action: '' + i, title: b.title })),
});

addEventListener('push', (e) => {
  let entry;
  try { entry = e.data.json(); } catch { /* a browser wants each message shown */ }
  e.waitUntil(show({ title: 'longterm', tag: 'inbox', hash: '#/approvals', ...entry }));
});

// answer sends the answer of a button, and shows why it did not count.
async function answer({ tag, data }, text) {
  const headers = { 'Content-Type': 'application/json' };
  const fault = await fetch(new URL('web/push', registration.scope), { method: 'POST', headers, body: JSON.stringify({ answer: text }) })
    .then((r) => !r.ok && r.json(), () => ({ message: 'the daemon cannot be reached' })).catch(() => ({}));
  if (fault) await show({ title: 'Not answered', body: [fault.message, fault.hint].filter(Boolean).join('; '), tag, hash: data.hash });
}

addEventListener('notificationclick', (e) => {
  const { notification: n, action } = e, hash = n.data?.hash ?? '';
  n.close();
  if (action) return e.waitUntil(answer(n, n.data.answers[action]));
  e.waitUntil(clients.matchAll({ type: 'window' }).then((all) => all[0] ? all[0].focus().then((c) => c.navigate(registration.scope + hash)) : clients.openWindow(registration.scope + hash)));
});
