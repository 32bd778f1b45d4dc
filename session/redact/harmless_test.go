package redact

import (
	"bytes"
	"testing"
)

// What is passed over without being looked through has nothing in it that would be found.
//
// FEATURES: R110
func FuzzHarmless(f *testing.F) {
	all := vault(f, "hunter22", "aaaaaaaa", "two words", "line\none").Set()
	plain, err := NewVault(testKey, nil, Options{Formats: func() bool { return false }})
	if err != nil {
		f.Fatal(err)
	}
	plain.Learn("hunter22")
	sets := map[string]*Set{"all": all, "tokens": vault(f).Set(), "values": plain.Set()}
	for _, text := range []string{
		"a line of output\r\nand one more\r\n", "a hunter22 b", "a hunter2", "x hunt\r\ner22", "hunt er22", "ends with a blank ", "a \r\n", "a \rb", "a \r", "a\r\r\nb",
		"t=" + ghp + "!", "ghp_16C7e4", "xghp_16C7e42F292c6912E771", "http://host:8080/a", "http://me:secret1@host", "http://me:sec", "ends in http://",
		"-----BEGIN RSA PRIVATE KEY-----\r\nMIIE", "-----BEGIN", "Bearer abc", "\x1b[1mhun\x1b[0mter22", "h\bhu", "caf\xc3\xa9 hunter22", "\xc3", "\xe2\x80\xae", "aaaaaaa", "aaaa\naaa",
		"line\r\no", `a\tb`, `hunter\u00322`, `h\u`, `x\`, `line\none`, "sk-abc", "two word", "", "h", "\xff\xfe hun",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, out []byte) {
		for name, s := range sets {
			if s.harmless(out) {
				s.find(bytes.Clone(out), 0, func(p []span) { t.Fatalf("%s: %q has a secret at %v", name, out, p) })
			}
		}
	})
}

// Lines of text are passed over whatever language they are in, and with addresses in them.
//
// FEATURES: R110
func TestLinesAreHarmless(t *testing.T) {
	s := vault(t, "hunter22", "correct horse battery").Set()
	for _, text := range []string{
		"2026-01-01T00:00:00Z info [worker-003] request 0000007 served from the cache in 3 ms\r\n", "fetch http://example.org:80/b\n", "naïve ✓ 秘密\n", "a task of work\n", "\tx\n",
	} {
		if !s.harmless(bytes.Repeat([]byte(text), 100)) {
			t.Errorf("%q is looked through", text)
		}
	}
	for _, text := range []string{"hunter22", "hunt\r\ner22", `h\u0075nter22`, "\x1b[1m", "a\bb", "x\ry", "t=" + ghp} {
		if s.harmless([]byte("a line\n" + text)) {
			t.Errorf("%q is passed over", text)
		}
	}
}

// A value is seen wherever it stands: in a line, over ends of lines at each of its bytes, and at the end.
//
// FEATURES: R110
func TestValuesAreSeenOverLines(t *testing.T) {
	const value = "correct-horse"
	s := vault(t, value).Set()
	for _, before := range []string{"", "x", "abcde", "abcdef", "a line\r\n", "a line\nand", "\r\n\r\n"} {
		for at := range len(value) {
			for _, end := range []string{"", "\n", "\r\n", "\r\n\r\n"} {
				text := before + value[:at] + end + value[at:]
				if s.harmless([]byte(text)) || s.harmless([]byte(text+" and more\r\n")) {
					t.Errorf("%q is passed over", text)
				}
			}
		}
		if text := []byte(before + "correct-house and more\r\n"); !s.harmless(text) {
			t.Errorf("%q is looked through", text)
		}
	}
}
