package web

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// TestPageSpellsHiddenCharacters checks that the page spells hidden characters and direction marks of untrusted text
// like the command line does.
//
// FEATURES: R112
func TestPageSpellsHiddenCharacters(t *testing.T) {
	const script = `import { literal, visible } from './ui.js';
const differ = (f) => { const out = []; for (let c = 0; c < 0x110000; c++) if ((c & ~0x7ff) !== 0xd800) { const s = String.fromCodePoint(c); if (f(s) !== s) out.push({ c, s: f(s) }); } return out; };
console.log(JSON.stringify([differ(visible), differ(literal)]));`
	var got [2][]struct {
		C rune
		S string
	}
	if err := json.Unmarshal(runModule(t, script, "ui.js"), &got); err != nil {
		t.Fatal(err)
	}
	for i, want := range []func(string) string{plaintext.Visible, plaintext.Literal} {
		spelled := map[rune]string{}
		for _, g := range got[i] {
			spelled[g.C] = g.S
		}
		for c := range rune(0x110000) {
			s := string(c)
			if c>>11 == 0xd800>>11 {
				continue
			}
			page, ok := spelled[c]
			if !ok {
				page = s
			}
			if w := want(s); page != w {
				t.Errorf("%U is shown as %q, want %q", c, page, w)
			}
		}
	}
}

// TestPageShowsApprovalsAsTheyAre checks that an approval shows the command and its caller with every hidden character
// spelled.
//
// FEATURES: R112
func TestPageShowsApprovalsAsTheyAre(t *testing.T) {
	const script = `const shown = [], taps = [];
const element = () => new Proxy({ append: (...c) => shown.push(...c.filter((x) => typeof x === 'string')), setAttribute: (n, v) => shown.push(String(v)), addEventListener: (n, f) => taps.push(f), replaceChildren() {}, querySelectorAll: () => [], nodeType: 1, textContent: '', title: '', disabled: false },
  { set: (o, n, v) => { if (typeof v === 'string') shown.push(v); o[n] = v; return true; } });
globalThis.document = { baseURI: 'http://localhost/', createElement: element, createElementNS: element };
globalThis.localStorage = globalThis.sessionStorage = { getItem: () => null };
const { approval } = await import('./panels.js');
const { store } = await import('./store.js');
store.me = { may: ['approve'] };
const x = 'git push \u202eevas tig # \u200b';
approval({ id: 'A1', risk: 'high', line: x + '\u200d', name: x, cwd: x, session: 'S', asked: 0, actor: { agent: x }, judgement: { why: x }, session_prefixes: [x], always_rule: x });
for (const tap of taps.slice(1, 3)) tap(); // the rules that an answer for the session, and for always, would add
console.log(JSON.stringify(shown));`
	var shown []string
	if err := json.Unmarshal(runModule(t, script, "panels.js", "net.js", "images.js", "screen.js", "store.js", "ui.js", "tables_gen.js"), &shown); err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, s := range shown {
		if strings.HasPrefix(s, "git push <U+202E>evas tig # <U+200B>") {
			lines++
		}
		if plaintext.Visible(s) != s {
			t.Errorf("shown: %q", s)
		}
	}
	if !slices.Contains(shown, "git push <U+202E>evas tig # <U+200B><U+200D>") || lines < 3 {
		t.Errorf("neither the line nor the rule is in %q", shown)
	}
}

// TestPageShowsPrompts checks that a shell at its prompt is not shown as running, and the output of its last command
// stays readable.
//
// FEATURES: R112
func TestPageShowsPrompts(t *testing.T) {
	const script = `globalThis.document = { baseURI: 'http://localhost/' };
globalThis.localStorage = globalThis.sessionStorage = { getItem: () => null };
const { elapsed, state } = await import('./store.js');
const at = (phase, agent) => { const s = { state: 'running', heard: Date.now(), activity: { running: true, elapsed_ms: 9 }, ...(phase && { shell: { phase } }), ...(agent && { agent_state: { state: agent } }) }; return [state(s)[1], elapsed(s) > 0]; };
console.log(JSON.stringify([at('prompt'), at('running'), at(), at('prompt', 'working')]));`
	const want = `[["at its prompt",false],["running",true],["running",true],["running",false]]`
	if got := runModule(t, script, "net.js", "images.js", "screen.js", "store.js", "ui.js", "tables_gen.js"); string(got) != want+"\n" {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestPageAnswersByKind checks that a program that waits for a key is answered by Enter, whatever its question
// contains.
//
// FEATURES: R112
func TestPageAnswersByKind(t *testing.T) {
	const script = `let shown = [];
const element = () => new Proxy({ append: (...c) => shown.push(...c.filter((x) => typeof x === 'string')), setAttribute() {}, addEventListener() {}, replaceChildren() {}, querySelectorAll: () => [], nodeType: 1, textContent: '', title: '', disabled: false },
  { set: (o, n, v) => { if (n === 'textContent') shown.push(v); o[n] = v; return true; } });
globalThis.document = { baseURI: 'http://localhost/', createElement: element, createElementNS: element };
globalThis.localStorage = globalThis.sessionStorage = { getItem: () => null };
const { question } = await import('./panels.js');
const { store } = await import('./store.js');
store.me = { may: ['type'] };
const answers = (reason) => { shown = []; question({ id: 'S' }, { kind: 'confirm', reason }); return shown.filter((x) => ['Yes', 'No', 'Enter'].includes(x)); };
console.log(JSON.stringify(['asks for a key: "Press any key"', "is a pager's prompt: \"--More--\"", 'asks for a yes or no: "Delete key: id_rsa? [y/N]"', 'asks for a yes or no: "Use a pager? [y/N]"'].map(answers)));`
	const want = `[["Enter"],["Enter"],["Yes","No"],["Yes","No"]]`
	if got := runModule(t, script, "panels.js", "net.js", "images.js", "screen.js", "store.js", "ui.js", "tables_gen.js"); string(got) != want+"\n" {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestPageKeepsSubscriptionOfLogin checks that the page keeps a browser's subscription to notifications when the browser
// opens a link with another login, and when that logs out.
//
// FEATURES: R130
func TestPageKeepsSubscriptionOfLogin(t *testing.T) {
	const script = `const storage = () => {
  const kept = new Map();
  return { getItem: (k) => kept.get(k) ?? null, setItem: (k, v) => kept.set(k, v), removeItem: (k) => kept.delete(k) };
};
globalThis.localStorage = storage();
globalThis.sessionStorage = storage();
globalThis.document = { baseURI: 'http://localhost/' };
const asked = [];
globalThis.fetch = async (to, o) => {
  asked.push(o.method + ' ' + to.pathname);
  const { token } = JSON.parse(o.body ?? '{}');
  return { ok: true, text: async () => JSON.stringify({ name: token, key: token, session: token === 'share' ? 's' : undefined }) };
};
const { login, logout, pushed } = await import('./net.js');
const found = [];
await login({ token: 'mine' });
pushed('abc');
found.push(pushed());
await login({ token: 'share' });
found.push(pushed());
await logout();
await login({ token: 'mine' });
found.push(pushed());
await logout();
found.push(pushed());
console.log(JSON.stringify([found, asked.filter((a) => a.startsWith('DELETE'))]));`
	want := `[["abc",null,"abc",null],["DELETE /v1/push/abc"]]`
	if got := runModule(t, script, "net.js", "images.js", "screen.js"); strings.TrimSpace(string(got)) != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestPageKeepsLogin_WhenKeyChanges checks that two requests at once, whose key another tab's login has replaced,
// are both sent again with the new key.
//
// FEATURES: R112
func TestPageKeepsLogin_WhenKeyChanges(t *testing.T) {
	const script = `const kept = new Map([['longterm.key:/', 'old']]);
globalThis.localStorage = { getItem: (k) => kept.get(k) ?? null, setItem: (k, v) => kept.set(k, v), removeItem: (k) => kept.delete(k) };
globalThis.sessionStorage = { getItem: () => null, setItem() {}, removeItem() {} };
globalThis.document = { baseURI: 'http://localhost/' };
const used = [];
globalThis.fetch = async (to, o) => {
  const key = o.headers['Longterm-Page'];
  used.push(key);
  return { ok: key === 'new', status: 401, text: async () => '{}' };
};
const { get, session } = await import('./net.js');
let ended = false;
session.on('login', () => { ended = true; });
kept.set('longterm.key:/', 'new');
await Promise.all([get('a'), get('b')]).catch(() => {});
console.log(JSON.stringify([ended, used]));`
	want := `[false,["old","old","new","new"]]`
	if got := runModule(t, script, "net.js", "images.js", "screen.js"); strings.TrimSpace(string(got)) != want {
		t.Errorf("%s, want %s", got, want)
	}
}
