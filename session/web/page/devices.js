// The dialog with the devices that the daemon notifies by Web Push, also while no page is open.
const guess = () => (navigator.userAgentData?.platform ?? /\((?:X11; )?([^;)]*)/.exec(navigator.userAgent)?.[1] ?? '') + ' ' + (/Firefox|Edg|Chrome|Safari/.exec(navigator.userAgent)?.[0] ?? 'browser');

// devices opens the dialog; the page's own functions are given, so that this file is loaded only if it is used.
export function devices({ get, post, remove, pushed, h, dialog, when, failed, loading, toast }) {
  const list = h('div', { class: 'shares' }, loading()), can = 'PushManager' in window && 'Notification' in window && navigator.serviceWorker;
  const end = async (d) => {
    await remove('push/' + d.id);
    if (d.id !== pushed()) return;
    pushed('');
    await (await (await navigator.serviceWorker.getRegistration())?.pushManager.getSubscription())?.unsubscribe();
  };
  const load = async () => {
    try {
      const { subscriptions: all } = await get('push');
      list.replaceChildren(h('h3', { text: all.length ? 'Notified devices' : 'No device is notified yet.' }), ...all.map((d) => h('div', { class: 'share' },
        h('span', {}, h('b', { text: (d.device || d.service) + (d.id === pushed() ? ' (this device)' : '') }), h('span', { class: 'note' }, when('since', d.created), d.problem && ', ' + d.problem)),
        h('button', { class: 'small', text: 'Remove', 'aria-label': `Remove ${d.device || d.service}`, onclick: () => end(d).then(load, failed) }))));
    } catch (err) { list.replaceChildren(h('p', { class: 'word bad', role: 'alert', text: err.message })); }
  };
  dialog('Notifications', [{ name: 'device', label: 'Name of this device', value: guess().trim() }], 'Notify this device', async ({ device }) => {
    if (!can) throw new Error('This browser cannot be notified here. It needs HTTPS or localhost; on an iPhone, add the page to the home screen first');
    if (await Notification.requestPermission() !== 'granted') throw new Error('The browser does not allow notifications of this page');
    const { pushManager: manager } = await navigator.serviceWorker.ready, { key } = await get('push');
    const subscribe = () => manager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
    const made = await subscribe().catch(async (err) => { // by a key that the daemon no longer has
      const had = await manager.getSubscription();
      if (!had) throw err;
      await had.unsubscribe();
      return subscribe();
    });
    const { endpoint, keys } = made.toJSON();
    pushed((await post('push', { endpoint, keys, device })).id);
    toast('This device is notified');
  }, { note: 'Approvals, questions and ended runs of the inbox, also while this page is closed. The browser\u2019s push service sees when, not what.', below: list });
  load();
}
