// A session shared through a relay: requests and the socket in sealed messages (docs/web-protocol.md). Each counts
// once and in its order: a message's nonce is its number.
const coder = new TextEncoder(), decoder = new TextDecoder();
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt());
const joined = (parts) => new Uint8Array(parts.flatMap((p) => [...p]));

export class Tunnel {
  constructor(to, secret) {
    const [room, key] = secret.split('.');
    Object.assign(this, { to, room, key: bytes(key ?? ''), asked: new Map(), last: 0 });
  }

  // open resolves with what the link allows, once its host has proved that it has the key.
  open() {
    return this.opened ??= new Promise((resolve, reject) => {
      if (!crypto.subtle) throw new Error('Sealed links can be opened at https addresses only.');
      const ws = this.ws = new WebSocket(this.to, ['longterm.relay.1', 'room.' + this.room]);
      ws.binaryType = 'arraybuffer';
      const mine = crypto.getRandomValues(new Uint8Array(16));
      let keys, got = 0;
      this.sent = 0;
      this.why = null;
      this.sending = Promise.resolve();
      let taking = Promise.resolve();
      ws.onopen = () => ws.send(mine);
      ws.onmessage = (e) => {
        taking = taking.then(async () => {
          if (!keys) {
            keys = await this.derive(mine, new Uint8Array(e.data));
            this.out = keys[0];
          } else {
            const clear = await crypto.subtle.decrypt({ name: 'AES-GCM', iv: nonce(got++) }, keys[1], e.data);
            this.heard(new Uint8Array(clear), resolve);
          }
        }).catch(() => {
          this.why = 'The link is not whole, or somebody changed what was sent.';
          ws.close();
        });
      };
      ws.onclose = (e) => {
        if (this.ws !== ws) return;
        this.opened = this.out = null;
        reject(new Error(this.why ?? (e.code === 4404 ? 'Nobody shares this now.' : e.code === 4429 ? e.reason : 'The relay cannot be reached.')));
        for (const a of this.asked.values()) a.reject(new Error('The connection broke.'));
        this.asked.clear();
        this.socket?.onclose({ code: e.code });
        this.socket = null;
      };
    });
  }

  async derive(mine, theirs) {
    const base = await crypto.subtle.importKey('raw', this.key, 'HKDF', false, ['deriveKey']);
    return Promise.all([['to host', 'encrypt'], ['to page', 'decrypt']].map(([way, use]) => crypto.subtle.deriveKey(
      { name: 'HKDF', hash: 'SHA-256', salt: joined([mine, theirs]), info: coder.encode(`longterm relay 1 ${way} ${this.room}`) }, base, { name: 'AES-GCM', length: 256 }, false, [use])));
  }

  say(kind, body = '') {
    const n = this.sent++, { ws, out } = this;
    this.sending = this.sending.then(async () => ws.send(await crypto.subtle.encrypt({ name: 'AES-GCM', iv: nonce(n) }, out, coder.encode(kind + body))));
  }

  heard(b, welcome) {
    const body = b.subarray(1), text = () => decoder.decode(body);
    const id = b.length > 4 ? new DataView(b.buffer, 1).getUint32(0) : 0;
    switch (String.fromCharCode(b[0])) {
      case 'w':
        welcome(JSON.parse(text()));
        break;
      case 'h': {
        const head = JSON.parse(text());
        Object.assign(this.asked.get(head.i) ?? {}, { head });
        break;
      }
      case 'd':
        this.asked.get(id)?.parts.push(body.slice(4));
        break;
      case 'e': {
        const a = this.asked.get(id);
        this.asked.delete(id);
        a?.resolve(new Response(new Blob(a.parts, { type: a.head.t }), { status: a.head.s }));
        break;
      }
      case 's':
        this.socket?.onmessage({ data: text() });
        break;
      case 'c': {
        const { socket } = this;
        this.socket = null;
        const why = JSON.parse(text());
        socket?.onclose(why);
        this.why = why.code === 4429 ? 'Too much was asked for at once; reload the page.' : 'This link has ended.';
        this.ws.close();
      }
    }
  }

  // ask makes a request, as fetch does.
  async ask(method, path, body, signal) {
    await this.open();
    const i = ++this.last;
    return new Promise((resolve, reject) => {
      this.asked.set(i, { resolve, reject, parts: [] });
      signal?.addEventListener('abort', () => {
        if (!this.asked.delete(i)) return;
        this.say('x', JSON.stringify({ i }));
        reject(signal.reason);
      });
      this.say('q', JSON.stringify({ i, m: method, p: path, ...body !== undefined && { b: body } }));
    });
  }

  // dial is the socket, as a WebSocket is.
  async dial() {
    await this.open();
    const socket = this.socket = { send: (text) => this.say('s', text), close: () => this.ws.close() };
    this.say('o');
    return socket;
  }
}

const nonce = (n) => {
  const b = new Uint8Array(12);
  new DataView(b.buffer).setUint32(8, n);
  return b;
};
