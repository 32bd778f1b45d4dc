// The dialog that shares a session by a link: it makes one, shows it with its code for a phone's camera, and lists the
// links that count, to end them.
const accesses = [['Watch', 'View only'], ['Type', 'View and type']];
const times = [['1', '1 hour'], ['8', '8 hours'], ['24', '1 day'], ['168', '7 days'], ['720', '30 days']];
const access = (may) => may.includes('type') ? accesses[1][1] : accesses[0][1];

// share opens the dialog; the page's own functions are given, so that this file is loaded only if it is used.
export function share({ get, post, remove, h, svg, copyText, dialog, when, failed, loading }, s) {
  const path = `sessions/${s.id}/share`, list = h('div', { class: 'shares' }, loading());
  const load = async () => {
    try {
      const all = await get(path + 's');
      list.replaceChildren(h('h3', { text: all.length ? 'Links of this session' : 'No links of this session yet.' }), ...all.map((t) => h('div', { class: 'share' },
        h('span', {}, h('b', { text: access(t.may) }), h('span', { class: 'note' }, when('made', t.created), ', ', when('ends', t.expires))),
        h('button', { type: 'button', class: 'small', text: 'End', 'aria-label': `End ${t.name}`, title: t.name, onclick: () => remove(`${path}s/${t.name}`).then(load, failed) }))));
    } catch (err) { list.replaceChildren(h('p', { class: 'word bad', role: 'alert', text: err.message })); }
  };
  dialog('Share ' + s.name, [{ name: 'access', label: 'People with the link may', options: accesses }, { name: 'hours', label: 'The link is valid for', options: times, value: '24' },
    { name: 'relay', label: 'Relay, if others cannot reach this machine', placeholder: 'https://relay.example.org' }], 'Create link', async (given) => {
    const made = await post(path, { type: given.access === 'Type', hours: +given.hours, relay: given.relay.trim() || undefined, qr: true });
    const field = h('input', { type: 'text', readOnly: true, value: made.link, 'aria-label': 'Link', onfocus: () => field.select() });
    load();
    return h('div', { class: 'made' },
      h('p', {}, h('b', { text: access(made.token.may) }), ' · ', when('ends', made.token.expires), '. The link is shown only now.'),
      h('div', { class: 'answers' }, field, h('button', { class: 'primary', text: 'Copy', onclick: () => copyText(made.link) })),
      made.loopback && h('p', { class: 'word wants', text: 'Only this machine reaches this address. Use a relay, or serve the page to others with “longterm web --listen”.' }),
      made.qr && svg('svg', { viewBox: `0 0 ${made.qr_size} ${made.qr_size}`, class: 'qr', role: 'img', 'aria-label': 'The link as a code for a camera' }, svg('path', { d: made.qr })));
  }, { note: 'One session, in a browser. Secrets in its output are hidden, and lines typed through the link are checked like an agent’s.', below: list });
  load();
}
