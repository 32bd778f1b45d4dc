package pack

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

func unpack(b []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// texts are small ones of many kinds, and the ends of what a match may be.
func texts() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 600)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	far := append(append([]byte("begins and comes again"), bytes.Repeat(noise, 55)[:window-22]...), "begins and comes again"...)
	return map[string][]byte{
		"nothing": nil, "one byte": {7}, "one of each": []byte("abcdefgh"), "a long run": bytes.Repeat([]byte{'x'}, 1000), "two runs": append(bytes.Repeat([]byte("ab"), 300), bytes.Repeat([]byte("c"), 259)...),
		"noise": noise, "as far as one may": far, "one farther": append([]byte("!"), far...), "parts": append(bytes.Repeat([]byte("let a=b;"), 100), noise...),
	}
}

// What was packed is the same when it is unpacked.
func TestGzip(t *testing.T) {
	tier.Full(t)
	for name, b := range texts() {
		if back, err := unpack(Gzip(b)); err != nil || !bytes.Equal(back, b) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(back), len(b), err)
		}
	}
}

// It is smaller than what others make.
func TestGzipIsSmall(t *testing.T) {
	b, err := os.ReadFile("../page/input.js")
	if err != nil {
		t.Fatal(err)
	}
	var usual bytes.Buffer
	z, _ := gzip.NewWriterLevel(&usual, gzip.BestCompression) // the level is one
	_, _ = z.Write(b)                                         // to memory
	_ = z.Close()
	if n := len(Gzip(b)); n > usual.Len()*98/100 {
		t.Errorf("%d bytes, %d by the library", n, usual.Len())
	}
}

func FuzzGzip(f *testing.F) {
	for _, b := range texts() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		b = b[:min(len(b), 1024)] // more is slow
		if back, err := unpack(Gzip(b)); err != nil || !bytes.Equal(back, b) {
			t.Errorf("%q, %v", back, err)
		}
	})
}

// Modules are in what imports them, what is imported by a call stays apart, and files that are none of the page are left out.
func TestPage(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"app.js": "import { one } from './a.js';\nconst late = () => import('./rare.js');\none(late);\n", "a.js": "// A note.\nexport function one(given) { given(document.body); }\n",
		"rare.js": "export const x = '{{assets}}';\n", "style.css": "@import './theme_gen.css';\na { color: red }\n", "theme_gen.css": "b {\n  color: blue\n}\n",
		"icon.svg": "<svg/>", "notes.md": "no",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := Page(dir)
	if err != nil || len(files) != 4 {
		t.Fatalf("%q, %v", files, err)
	}
	if app := string(files["app.js"]); strings.Contains(app, "note") || !strings.Contains(app, `import("./rare.js")`) || !strings.Contains(app, "document.body") || len(app) > 80 {
		t.Errorf("%s", app)
	}
	if style := string(files["style.css"]); style != "b{color:#00f}a{color:red}\n" {
		t.Errorf("%s", style)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.js"), []byte("export const two = 2;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Page(dir); err == nil || !strings.Contains(err.Error(), "one") {
		t.Errorf("a module that lacks what is imported: %v", err)
	}
}

// What the page's script has short names for is used by no script apart: those are packed without knowing of it.
//
// FEATURES: R83
func TestPrivateNamesStayPrivate(t *testing.T) {
	names := regexp.MustCompile(`\b` + strings.Trim(private, "^$") + `\b`)
	comment := regexp.MustCompile(`//.*|'[^']*'`) // and texts
	for _, file := range []string{"hosts.js", "relay.js", "sw.js", "old.js"} {
		b, err := os.ReadFile(filepath.Join("..", "page", file))
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(b), "\n") {
			if m := names.FindString(comment.ReplaceAllString(line, "")); m != "" {
				t.Errorf("%s:%d: %q has another name in the page's script", file, n+1, m)
			}
		}
	}
}
