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

addEventListener('notificationclick', (e) => {
  e.notification.close();
  const hash = e.notification.data?.hash ?? '';
  e.waitUntil(clients.matchAll({ type: 'window' }).then((all) => all[0] ? all[0].focus().then((c) => c.navigate(registration.scope + hash)) : clients.openWindow(registration.scope + hash)));
});
