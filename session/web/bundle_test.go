package web

import (
	"slices"
	"strings"
	"testing"
)

// Modules become one file, each once and after what it imports; what is imported by a call stays one.
func TestBundle(t *testing.T) {
	files := map[string][]byte{
		"app.js": []byte("// It begins here.\nimport { one, two } from './a.js';\nimport { x } from './b.js';\n\nconst late = () => import('./c.js');\n  one(two, x, late);\n"),
		"a.js":   []byte("import { x } from './b.js';\nexport function one() { return x; }\nexport const two = 2;\n"),
		"b.js":   []byte("export const x = 1;\nexport async function f() {}\nexport class K {}\n"),
		"c.js":   []byte("  // Note.\n  export const c = 3;\n"), "style.css": []byte("/* Frame */\na {\n  color: red;\n}\n"),
	}
	if err := bundle(files, "app.js"); err != nil {
		t.Fatal(err)
	}
	const want = "let x=1;async function f(){}\nclass K{}\nfunction one(){return x}\nlet two=2;\nlet late=()=>import('./c.js');one(two,x,late);\n"
	if got := string(files["app.js"]); got != want {
		t.Errorf("%s", got)
	}
	if len(files) != 3 || string(files["c.js"]) != "export let c=3;" || string(files["style.css"]) != "a{color:red}" {
		t.Errorf("%q", files)
	}
}

// What is left out of scripts and styles changes nothing that they say.
func TestSqueeze(t *testing.T) {
	for in, want := range map[string]string{
		"a = b + +c - -d; // note\n\n  e ++ ;":                   "a=b+ +c- -d;e++;",
		"return /[/ ]'x/g.test(a / b / c);":                      "return/[/ ]'x/g.test(a/b/c);",
		"x = 'it\\'s  //  here' + `a  ${b}  /* c */`; /* d */ y": "x='it\\'s  //  here'+`a  ${b}  /* c */`;y",
		"{ a; b(); } { c; } for (;;) { d = ';'; }":               "{a;b();}{c}for(;;){d=';'}",
		"get s() { return 1 }\nf\n(x)":                           "get s(){return 1}\nf\n(x)",
		"const a = (b) =>\n  b ?\n c :\n d\nlet e":               "let a=(b)=>b?c:d\nlet e",
		"const x = true\nreturn false ? a.true : constant":       "let x=!0\nreturn!1?a.true:constant",
		"a.replace(/\\//g, '/'); b = c ? /d  e/ : 1":             "a.replace(/\\//g,'/');b=c?/d  e/:1",
	} {
		if got := squeezeScript(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	const in = "/* Note */\na > b, .c :hover {\n  width: calc(1px + 2em);\n  content: \" ; } \";\n}\n@media (a: b) and (c) { d { e: f } }\n"
	if got, want := squeezeStyle(in), "a > b,.c :hover{width:calc(1px + 2em);content:\" ; } \"}@media (a:b) and (c){d{e:f}}"; got != want {
		t.Errorf("%q", got)
	}
}

// What bundling does not understand is an error, and no page that does something else.
func TestBundleRefuses(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"circle":          {"app.js": "import { a } from './a.js';\n", "a.js": "import { b } from './app.js';\n"},
		"no such module":  {"app.js": "import { a } from './a.js';\n"},
		"bundling":        {"app.js": "export default 3;\n"},
		"several lines":   {"app.js": "const a = `x\ny`;\n"},
		"not written as ": {"app.js": "import './a.js';\n", "a.js": ""},
		"not written":     {"app.js": "import { a as b } from './a.js';\n", "a.js": ""},
		"a.js as well":    {"app.js": "import { x } from './a.js';\nlet y = [1, 2], z;\n", "a.js": "export const x = (a, b) => a, { z, w } = x;\n"},
		"browsers have":   {"app.js": "let mine, [status] = [1];\n"},
	} {
		content := map[string][]byte{}
		for name, text := range files {
			content[name] = []byte(text)
		}
		if err := bundle(content, "app.js"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// What stands at the beginning of a line is known to all modules.
func TestDeclared(t *testing.T) {
	for line, want := range map[string]string{
		"const a = (b, c) => [b, c], d = 'e, f', g = { h: 1, i: 2 };": "a d g",
		"let a, b = 1, c; // d, e":                                    "a b c",
		"const round = Math.round, { min, max } = Math;":              "round min max",
		"async function f(a, b) { const c = 1; }":                     "f",
		"class K extends L {":                                         "K",
		"const f = (a) =>":                                            "f",
		"  const inner = 1;":                                          "",
		"f(a, b);":                                                    "",
	} {
		if got := strings.Join(declared(line), " "); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// What every browser is sent of the page is small, and so is what some are besides: for a relay, a download, a fleet.
//
// FEATURES: R112
func TestPageIsSmall(t *testing.T) {
	some := []string{"cast.js", "hosts.js", "relay.js"}
	all, besides := 0, 0
	for name, a := range Embedded().all {
		n := len(a.plain)
		if a.packed != nil {
			n = len(a.packed)
		}
		t.Logf("%s: %d", name, n)
		if slices.Contains(some, name) {
			besides += n
		} else {
			all += n
		}
	}
	if all > 40_000 || besides > 5_000 {
		t.Errorf("%d bytes, packed, and %d besides", all, besides)
	}
}
