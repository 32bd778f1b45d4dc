package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// ascii is a value as writers of JSON have it that write nothing but ASCII: all of it, or what is none.
func ascii(value, form string, all bool) string {
	var b strings.Builder
	for _, r := range value {
		switch {
		case r >= 0x10000:
			first, second := utf16.EncodeRune(r)
			fmt.Fprintf(&b, form+form, first, second)
		case all || r >= utf8.RuneSelf || r == '\n':
			fmt.Fprintf(&b, form, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func asJSON(t *testing.T, value string) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text[1 : len(text)-1])
}

// A value is hidden however what quotes it writes it: each byte of it with its escapes, nothing else, the same bytes wherever a
// reading begins and ends.
//
// FEATURES: R66 R110
func TestEscapedValuesAreMasked(t *testing.T) {
	for _, value := range []string{
		"h\u00e9llo-w\u00f6rld", "wJalrXUtn/K7MDENG/bPxRfi", "line-one-zzz\nline-two-yyy", "say \"it's\" <a&b>", `back\slash\n`, "smile\U0001f600 and more", "a\tb/c d",
	} {
		s := vault(t, value).Set()
		json := func(v string) string { return asJSON(t, v) }
		php := strings.NewReplacer("/", `\/`)
		for name, write := range map[string]func(string) string{
			"JSON":            json,
			"PHP":             func(v string) string { return php.Replace(json(v)) },
			"Python":          func(v string) string { return ascii(json(v), `\u%04x`, false) },
			"Java":            func(v string) string { return ascii(json(v), `\u%04X`, false) },
			"all of it":       func(v string) string { return ascii(v, `\u%04x`, true) },
			"JSON in JSON":    func(v string) string { return json(json(v)) },
			"PHP in JSON":     func(v string) string { return json(php.Replace(json(v))) },
			"Python in JSON":  func(v string) string { return json(ascii(json(v), `\u%04x`, false)) },
			"repr and $'...'": strings.NewReplacer(`\`, `\\`, "\n", `\n`, "'", `\'`, "\t", `\t`).Replace,
		} {
			form, hidden := write(value), ""
			for i, line := range strings.Split(value, "\n") { // ends of lines stay, as ever
				if i > 0 {
					hidden += write("\n")
				}
				hidden += strings.Repeat("*", len(write(line)))
			}
			in := `{"k":"` + form + `","next":"1\n"}`
			want := `{"k":"` + hidden + `","next":"1\n"}`
			if got := s.Text(in); got != want {
				t.Errorf("%q by %s:\n got %q\nwant %q", value, name, got, want)
				continue
			}
			for from := range len(in) {
				b := []byte(in)
				if s.Mask(b, 0, from, len(b)); string(b[from:]) != want[from:] {
					t.Errorf("%q from %d: %q", form, from, b)
				}
			}
		}
	}
}

// Other forms of values with ends of lines and quotes, and what is none of them.
//
// FEATURES: R66 R110
func TestQuotedValuesAreMasked(t *testing.T) {
	s := vault(t, "line-one-zzz\nline-two-yyy", "it's <a> secret").Set()
	for in, want := range map[string]string{
		"u=line-one-zzz%0Aline-two-yyy&":            "u=***************************&",
		"<bGluZS1vbmUtenp6CmxpbmUtdHdvLXl5eQ==>":    "<**********************************==>",
		"K='it'\\''s <a> secret'":                   "K='******************'",
		`K=it\'s\ \<a\>\ secret `:                   `K=******************** `,
		`K='it'"'"'s <a> secret'`:                   `K='*******************'`,
		"\x1b[32m\"it's \\u003ca\\u003e secret\"":   "\x1b[32m\"*************************\"",
		"\"line-one-zzz\\n\x1b[1mline-two-yyy\"":    "\"************\\n\x1b[1m************\"",
		`"line-one-zzz\tline-two-yyy"`:              `"line-one-zzz\tline-two-yyy"`,
		`"it\\'s <a> secret"`:                       `"*****************"`, // JSON of what was quoted for a shell
		`line\-one\-zzz\x0Aline-two\055yyy`:         `**************\x0A***************`,
		`it's \u003ca\u003 secret it's <a\> secre`:  `it's \u003ca\u003 secret it's <a\> secre`,
		`C:\users\new \ud83d \q \400 \u12 \x1 \U00`: `C:\users\new \ud83d \q \400 \u12 \x1 \U00`,
	} {
		if got := s.Text(in); got != want {
			t.Errorf("%s:\n got %q\nwant %q", in, got, want)
		}
	}
	tokens := vault(t).Set()
	for in, want := range map[string]string{
		`"https:\/\/me:secret1@host\/x"`: `"https:\/\/me:*******@host\/x"`,
		`"a\n` + ghp + `\n"`:             `"a\nghp_` + strings.Repeat("*", 36) + `\n"`,
		`"{\"key\":\"-----BEGIN PRIVATE KEY-----\\nMI\/E\\n-----END PRIVATE KEY-----\"}"`: `"{\"key\":\"-----BEGIN PRIVATE KEY-----***********-----END PRIVATE KEY-----\"}"`,
		`"http:\/\/host:8080\/a@b"`: `"http:\/\/host:8080\/a@b"`,
	} {
		if got := tokens.Text(in); got != want {
			t.Errorf("%s:\n got %q\nwant %q", in, got, want)
		}
	}
}

// A key of some thousand bytes, as a service account's file has it: by its value too, in pieces of any size.
//
// FEATURES: R66 R110
func TestKeyInJSON(t *testing.T) {
	tier.Full(t)
	rnd := rand.New(rand.NewPCG(3, 4))
	var key strings.Builder
	for range 40 {
		for range 64 {
			key.WriteByte(alnum[rnd.IntN(len(alnum))])
		}
		key.WriteByte('\n')
	}
	s := vault(t, "x\n"+key.String()).Set()
	for _, form := range []string{asJSON(t, key.String()), asJSON(t, asJSON(t, key.String())), ascii(key.String(), `\u%04x`, true)} {
		want := 40 * 64
		if strings.HasPrefix(form, `\u`) {
			want *= 6
		}
		out := []byte(strings.Repeat("some text of it ", 3000) + `{"key":"x\n` + form + `"}` + strings.Repeat(" and more\n", 3000))
		if strings.Contains(form, `\\n`) {
			out = bytes.Replace(out, []byte(`x\n`), []byte(`x\\n`), 1)
		}
		whole := bytes.Clone(out)
		s.Mask(whole, 0, 0, len(whole))
		if n := bytes.Count(whole, []byte("*")); n < want || n > want+4 {
			t.Fatalf("%d bytes masked, of %d", n, want)
		}
		if got := inPieces(s, out, func() int { return 1 + rnd.IntN(3000) }, false); !bytes.Equal(got, whole) {
			t.Error("in pieces it is another")
		}
	}
}

// Halves of escapes, escapes of escapes, and values and tokens in them: wherever readings begin and end, the same bytes are masked.
//
// FEATURES: R110
func TestEachReadingOfEscapes(t *testing.T) {
	tier.Full(t)
	s := vault(t, "hunter22", "aaaaaaaa", "h\u00e9llo \\x", "two\nlines").Set()
	parts := []string{
		`\`, `\\`, `\n`, `\u00e9`, `\u0061`, `\u006`, `\ud83d`, `\ude00`, `\"`, `hunter\u00322`, `\\u0068unter22`, `h\x75nt\145r22`, strings.Repeat(`\`, 61), strings.Repeat("a", 7),
		"hunter22", `h\u00e9llo \\x`, `h\\u00e9llo \\\\x`, `two\nlines`, "two\nli", "\r\n", "\n", " ", "\x1b[31m", "\x1b[0m", "plain text ", "\u00e9", `:\/\/a:`, "@", "ghp_", "16C7e42F292c6912E77",
		"-----BEGIN EC PRIVATE KEY-----", `-----END EC PRIVATE KEY-----`, `MIIE\/abcd`,
	}
	rnd := rand.New(rand.NewPCG(7, 9))
	for round := range 25 {
		var out []byte
		for len(out) < 1500 {
			p := parts[rnd.IntN(len(parts))]
			if rnd.IntN(4) == 0 && !strings.ContainsAny(p, "\x1b\r\u00e9") { // which would be lines that are changed later
				p = p[:rnd.IntN(len(p)+1)]
			}
			out = append(out, p...)
		}
		whole := bytes.Clone(out)
		s.Mask(whole, 0, 0, len(whole))
		if bytes.Contains(whole, []byte(`hunter\u00322`)) || bytes.Contains(whole, []byte(`h\x75nt\145r22`)) {
			t.Fatalf("round %d: %q", round, whole)
		}
		most := 1 + rnd.IntN(300)
		next := func() int { return 1 + rnd.IntN(most) }
		for _, live := range []bool{false, true} {
			least := whole
			if live {
				least = out
			}
			if got, at := inPieces(s, out, next, live), 0; !between(got, least, whole, &at) {
				t.Fatalf("round %d, live %v: differs at %d:\n out %q\n got %q\nwant %q", round, live, at, out[max(0, at-60):min(len(out), at+60)],
					got[max(0, at-60):min(len(got), at+60)], whole[max(0, at-60):min(len(whole), at+60)])
			}
		}
	}
}
