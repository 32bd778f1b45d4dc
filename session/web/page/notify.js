// Notices of the system while the page is open and not looked at.
import { get, pushed } from './net.js';
import { asked, asks, store } from './store.js';
import { literal, toast } from './ui.js';

export const can = () => 'Notification' in window;
export const on = () => can() && Notification.permission === 'granted' && localStorage.getItem('longterm.notices') !== 'off';

export async function toggle() {
  if (!can()) return toast('The browser has no notices.', true);
  if (on()) {
    localStorage.setItem('longterm.notices', 'off');
    return toast('No more notices');
  }
  localStorage.removeItem('longterm.notices');
  if (Notification.permission !== 'granted' && await Notification.requestPermission() !== 'granted') return toast('The browser does not allow notices.', true);
  toast('You are told when something asks or fails');
}

const told = new Map();

async function tell(tag, ...about) {
  const hash = about.pop(), [title, body] = about.map((t) => literal(t ?? ''));
  if (!on() || pushed() || !document.hidden || told.get(tag) === body) return;
  told.set(tag, body);
  const options = { body, tag, data: { hash }, icon: document.querySelector('link[rel=icon]')?.href };
  const worker = await navigator.serviceWorker?.getRegistration().catch(() => null);
  if (worker?.showNotification) return worker.showNotification(title, options);
  const n = new Notification(title, options);
  n.onclick = () => {
    focus();
    location.hash = hash;
    n.close();
  };
}

export function followNotices() {
  if (pushed()) get('push').then((p) => p.subscriptions.some((s) => s.id === pushed()) || pushed(''), () => {});
  store.on('event', (e) => {
    const { session: s, approval: a } = e;
    if (e.kind === 'approval' && a) return tell(a.id, 'Approval: ' + (a.name || 'a command'), a.line || a.argv?.join(' '), '#/approvals');
    if (!s) return;
    const at = '#/s/' + s.id, needs = asks(s);
    if (e.kind === 'input' && needs) tell(s.id, s.name + (needs.kind === 'password' ? ' asks for a password' : ' asks'), asked(needs.reason) ?? needs.reason, at);
    else if (e.kind === 'agent' && ['needs_input', 'needs_approval', 'done'].includes(s.agent_state?.state)) tell(s.id, s.name, s.agent_state.reason, at);
    else if (e.kind === 'state' && s.state !== 'running') tell(s.id, s.name + (s.exit_code === 0 ? ' is done' : ' ended'), s.command, at);
  });
}
