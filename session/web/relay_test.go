package web

import (
	"strings"
	"testing"
)

// TestPageReadsSealedLinks checks that the page's reader of sealed links accepts a host's messages in order, and
// rejects changed and repeated ones, ones with another key, and errors of the relay.
//
// FEATURES: R111
func TestPageReadsSealedLinks(t *testing.T) {
	const script = `import { Tunnel } from './relay.js';
const { subtle } = crypto, coder = new TextEncoder();
const key = new Uint8Array(32).fill(7), theirs = new Uint8Array(16).fill(9);
const iv = (n) => { const b = new Uint8Array(12); b[11] = n; return b; };
let host;
globalThis.WebSocket = class {
  constructor(to, protocols) { Object.assign(this, { to, protocols, heard: [] }); queueMicrotask(() => host(this)); }
  send(b) { this.heard.push(new Uint8Array(b)); this.got?.(); }
  close(code = 1000, reason = '') { if (this.over) return; this.over = true; queueMicrotask(() => this.onclose({ code, reason })); }
  async next() { while (!this.heard.length) await new Promise((r) => { this.got = r; }); return this.heard.shift(); }
};
const derive = async (salt, way, use, k = key) => subtle.deriveKey({ name: 'HKDF', hash: 'SHA-256', salt, info: coder.encode('longterm relay 1 ' + way + ' room') },
  await subtle.importKey('raw', k, 'HKDF', false, ['deriveKey']), { name: 'AES-GCM', length: 256 }, false, [use]);
const serve = (then, k) => async (ws) => {
  ws.onopen();
  const salt = new Uint8Array([...await ws.next(), ...theirs]);
  const out = await derive(salt, 'to page', 'encrypt', k), back = await derive(salt, 'to host', 'decrypt', k);
  ws.onmessage({ data: theirs.buffer });
  let n = 0, got = 0;
  const seal = (b) => subtle.encrypt({ name: 'AES-GCM', iv: iv(n++) }, out, b);
  const say = async (text) => ws.onmessage({ data: await seal(coder.encode(text)) });
  const hear = async () => new TextDecoder().decode(await subtle.decrypt({ name: 'AES-GCM', iv: iv(got++) }, back, await ws.next()));
  await then({ ws, say, seal, hear });
};
const tunnel = () => new Tunnel('ws://r', 'room.' + btoa(String.fromCharCode(...key)).replace(/=+$/, ''));
const said = async (p) => { try { return await p; } catch (e) { return 'refused: ' + e.message; } };
host = serve(async ({ say, hear }) => {
  await say('w{"name":"me"}');
  console.log(await hear());
  await say('h{"i":1,"s":200,"t":"text/plain"}');
  await say('d\0\0\0\x01one ');
  await say('d\0\0\0\x01two');
  await say('e\0\0\0\x01');
});
let t = tunnel();
console.log(JSON.stringify(await t.open()));
const a = await t.ask('GET', 'v1/x');
console.log(a.status, await a.text());
host = serve(async ({ ws, seal }) => {
  const b = await seal(coder.encode('w{}'));
  ws.onmessage({ data: b });
  ws.onmessage({ data: b });
});
t = tunnel();
await t.open();
console.log('twice', await said(t.ask('GET', 'v1/x')));
host = serve(async ({ ws, seal }) => {
  const b = new Uint8Array(await seal(coder.encode('w{}')));
  b[0] ^= 1;
  ws.onmessage({ data: b.buffer });
});
console.log('changed', await said(tunnel().open()));
host = serve(({ say }) => say('w{}'), new Uint8Array(32));
console.log('other key', await said(tunnel().open()));
host = (ws) => ws.close(4404);
console.log('nobody', await said(tunnel().open()));
host = (ws) => ws.close(4429, 'too many');
console.log('full', await said(tunnel().open()));
host = (ws) => ws.close(1006);
console.log('away', await said(tunnel().open()));`
	const changed = "refused: The link is not whole, or somebody changed what was sent."
	want := strings.Join([]string{
		`{"name":"me"}`, `q{"i":1,"m":"GET","p":"v1/x"}`, "200 one two",
		"twice refused: The connection broke.", "changed " + changed, "other key " + changed,
		"nobody refused: Nobody shares this now.", "full refused: too many", "away refused: The relay cannot be reached.", "",
	}, "\n")
	if got := string(runModule(t, script, "relay.js")); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
