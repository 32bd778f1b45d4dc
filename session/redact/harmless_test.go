package redact

import (
	"bytes"
	"testing"
)

// FuzzHarmless checks that harmless output has no secret.
//
// FEATURES: R110
func FuzzHarmless(f *testing.F) {
	all := newTestVault(f, "hunter22", "aaaaaaaa", "two words", "line\none").Set()
	plain, err := NewVault(testKey, nil, Options{Formats: func() bool { return false }})
	if err != nil {
		f.Fatal(err)
	}
	plain.Learn("hunter22")
	sets := map[string]*Set{"all": all, "tokens": newTestVault(f).Set(), "values": plain.Set()}
	for _, text := range []string{
		"a line of output\r\nand one more\r\n", "a hunter22 b", "a hunter2", "x hunt\r\ner22", "hunt er22", "ends with a blank ", "a \r\n", "a \rb", "a \r", "a\r\r\nb",
		"t=" + testToken + "!", "ghp_16C7e4", "xghp_16C7e42F292c6912E771", "http://host:8080/a", "http://me:secret1@host", "http://me:sec", "ends in http://",
		"-----BEGIN RSA PRIVATE KEY-----\r\nMIIE", "-----BEGIN", "Bearer abc", "\x1b[1mhun\x1b[0mter22", "h\bhu", "caf\xc3\xa9 hunter22", "\xc3", "\xe2\x80\xae", "aaaaaaa", "aaaa\naaa",
		"line\r\no", `a\tb`, `hunter\u00322`, `h\u`, `x\`, `line\none`, "sk-abc", "two word", "", "h", "\xff\xfe hun",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, out []byte) {
		for name, s := range sets {
			if s.isHarmless(out) {
				s.findSecrets(bytes.Clone(out), 0, func(p []span) { t.Fatalf("%s: %q has a secret at %v", name, out, p) })
			}
		}
	})
}

// TestIsHarmless_PlainLines checks that lines of text in any language, and with addresses, are harmless.
//
// FEATURES: R110
func TestIsHarmless_PlainLines(t *testing.T) {
	s := newTestVault(t, "hunter22", "correct horse battery").Set()
	for _, text := range []string{
		"2026-01-01T00:00:00Z info [worker-003] request 0000007 served from the cache in 3 ms\r\n", "fetch http://example.org:80/b\n", "naïve ✓ 秘密\n", "a task of work\n", "\tx\n",
	} {
		if !s.isHarmless(bytes.Repeat([]byte(text), 100)) {
			t.Errorf("isHarmless(%q) = false, want true", text)
		}
	}
	for _, text := range []string{"hunter22", "hunt\r\ner22", `h\u0075nter22`, "\x1b[1m", "a\bb", "x\ry", "t=" + testToken} {
		if s.isHarmless([]byte("a line\n" + text)) {
			t.Errorf("isHarmless(%q) = true, want false", text)
		}
	}
}

// TestIsHarmless_ValuesAcrossLines checks that a value is found within a line, across line ends at each of its bytes,
// and at the end.
//
// FEATURES: R110
func TestIsHarmless_ValuesAcrossLines(t *testing.T) {
	const value = "correct-horse"
	s := newTestVault(t, value).Set()
	for _, before := range []string{"", "x", "abcde", "abcdef", "a line\r\n", "a line\nand", "\r\n\r\n"} {
		for at := range len(value) {
			for _, end := range []string{"", "\n", "\r\n", "\r\n\r\n"} {
				text := before + value[:at] + end + value[at:]
				if s.isHarmless([]byte(text)) || s.isHarmless([]byte(text+" and more\r\n")) {
					t.Errorf("isHarmless(%q) = true, want false", text)
				}
			}
		}
		if text := []byte(before + "correct-house and more\r\n"); !s.isHarmless(text) {
			t.Errorf("isHarmless(%q) = false, want true", text)
		}
	}
}
