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

// jsonASCII returns a value as JSON writers that write only ASCII do: everything escaped, or only other characters.
func jsonASCII(value, form string, all bool) string {
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

// jsonString returns a value as encoding/json writes it.
func jsonString(t *testing.T, value string) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text[1 : len(text)-1])
}

// TestMask_EscapedValues checks that an escaped value is masked with its escapes, and nothing else, for any start and
// end of the read.
//
// FEATURES: R66 R110
func TestMask_EscapedValues(t *testing.T) {
	for _, value := range []string{
		"h\u00e9llo-w\u00f6rld", "wJalrXUtn/K7MDENG/bPxRfi", "line-one-zzz\nline-two-yyy", "say \"it's\" <a&b>", `back\slash\n`, "smile\U0001f600 and more", "a\tb/c d",
	} {
		s := newTestVault(t, value).Set()
		json := func(v string) string { return jsonString(t, v) }
		php := strings.NewReplacer("/", `\/`)
		for name, write := range map[string]func(string) string{
			"JSON":            json,
			"PHP":             func(v string) string { return php.Replace(json(v)) },
			"Python":          func(v string) string { return jsonASCII(json(v), `\u%04x`, false) },
			"Java":            func(v string) string { return jsonASCII(json(v), `\u%04X`, false) },
			"all of it":       func(v string) string { return jsonASCII(v, `\u%04x`, true) },
			"JSON in JSON":    func(v string) string { return json(json(v)) },
			"PHP in JSON":     func(v string) string { return json(php.Replace(json(v))) },
			"Python in JSON":  func(v string) string { return json(jsonASCII(json(v), `\u%04x`, false)) },
			"repr and $'...'": strings.NewReplacer(`\`, `\\`, "\n", `\n`, "'", `\'`, "\t", `\t`).Replace,
		} {
			form, hidden := write(value), ""
			for i, line := range strings.Split(value, "\n") { // line ends are not masked
				if i > 0 {
					hidden += write("\n")
				}
				hidden += strings.Repeat("*", len(write(line)))
			}
			in := `{"k":"` + form + `","next":"1\n"}`
			want := `{"k":"` + hidden + `","next":"1\n"}`
			if got := s.RedactText(in); got != want {
				t.Errorf("%q by %s:\n got %q\nwant %q", value, name, got, want)
				continue
			}
			for from := range len(in) {
				b := []byte(in)
				if s.Redact(b, 0, from, len(b)); string(b[from:]) != want[from:] {
					t.Errorf("%q from %d: %q", form, from, b)
				}
			}
		}
	}
}

// TestMask_QuotedValues checks that escaped forms of values with line ends and quotes are masked, and similar text is
// not.
//
// FEATURES: R66 R110
func TestMask_QuotedValues(t *testing.T) {
	s := newTestVault(t, "line-one-zzz\nline-two-yyy", "it's <a> secret").Set()
	for in, want := range map[string]string{
		"u=line-one-zzz%0Aline-two-yyy&":            "u=***************************&",
		"<bGluZS1vbmUtenp6CmxpbmUtdHdvLXl5eQ==>":    "<**********************************==>",
		"K='it'\\''s <a> secret'":                   "K='******************'",
		`K=it\'s\ \<a\>\ secret `:                   `K=******************** `,
		`K='it'"'"'s <a> secret'`:                   `K='*******************'`,
		"\x1b[32m\"it's \\u003ca\\u003e secret\"":   "\x1b[32m\"*************************\"",
		"\"line-one-zzz\\n\x1b[1mline-two-yyy\"":    "\"************\\n\x1b[1m************\"",
		`"line-one-zzz\tline-two-yyy"`:              `"line-one-zzz\tline-two-yyy"`,
		`"it\\'s <a> secret"`:                       `"*****************"`, // JSON of text that was quoted for a shell
		`line\-one\-zzz\x0Aline-two\055yyy`:         `**************\x0A***************`,
		`it's \u003ca\u003 secret it's <a\> secre`:  `it's \u003ca\u003 secret it's <a\> secre`,
		`C:\users\new \ud83d \q \400 \u12 \x1 \U00`: `C:\users\new \ud83d \q \400 \u12 \x1 \U00`,
	} {
		if got := s.RedactText(in); got != want {
			t.Errorf("%s:\n got %q\nwant %q", in, got, want)
		}
	}
	tokens := newTestVault(t).Set()
	for in, want := range map[string]string{
		`"https:\/\/me:secret1@host\/x"`: `"https:\/\/me:*******@host\/x"`,
		`"a\n` + testToken + `\n"`:       `"a\nghp_` + strings.Repeat("*", 36) + `\n"`,
		`"{\"key\":\"-----BEGIN PRIVATE KEY-----\\nMI\/E\\n-----END PRIVATE KEY-----\"}"`: `"{\"key\":\"-----BEGIN PRIVATE KEY-----***********-----END PRIVATE KEY-----\"}"`,
		`"http:\/\/host:8080\/a@b"`: `"http:\/\/host:8080\/a@b"`,
	} {
		if got := tokens.RedactText(in); got != want {
			t.Errorf("%s:\n got %q\nwant %q", in, got, want)
		}
	}
}

// TestMask_KeyInJSON checks that a private key in JSON is masked, as a token and by its value, in chunks of any size.
//
// FEATURES: R66 R110
func TestMask_KeyInJSON(t *testing.T) {
	tier.Full(t)
	rnd := rand.New(rand.NewPCG(3, 4))
	var key strings.Builder
	for range 40 {
		for range 64 {
			key.WriteByte(alnum[rnd.IntN(len(alnum))])
		}
		key.WriteByte('\n')
	}
	s := newTestVault(t, "x\n"+key.String()).Set()
	for _, form := range []string{jsonString(t, key.String()), jsonString(t, jsonString(t, key.String())), jsonASCII(key.String(), `\u%04x`, true)} {
		want := 40 * 64
		if strings.HasPrefix(form, `\u`) {
			want *= 6
		}
		out := []byte(strings.Repeat("some text of it ", 3000) + `{"key":"x\n` + form + `"}` + strings.Repeat(" and more\n", 3000))
		if strings.Contains(form, `\\n`) {
			out = bytes.Replace(out, []byte(`x\n`), []byte(`x\\n`), 1)
		}
		whole := bytes.Clone(out)
		s.Redact(whole, 0, 0, len(whole))
		if n := bytes.Count(whole, []byte("*")); n < want || n > want+4 {
			t.Fatalf("got %d masked bytes, want %d", n, want)
		}
		if got := maskInPieces(s, out, func() int { return 1 + rnd.IntN(3000) }, false); !bytes.Equal(got, whole) {
			t.Error("got other masked bytes in chunks")
		}
	}
}

// TestMask_EscapesInAnyWindow checks that partial escapes, nested escapes, and values and tokens in them are masked the
// same in every read.
//
// FEATURES: R110
func TestMask_EscapesInAnyWindow(t *testing.T) {
	tier.Full(t)
	s := newTestVault(t, "hunter22", "aaaaaaaa", "h\u00e9llo \\x", "two\nlines").Set()
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
			if rnd.IntN(4) == 0 && !strings.ContainsAny(p, "\x1b\r\u00e9") { // changed lines are tested separately
				p = p[:rnd.IntN(len(p)+1)]
			}
			out = append(out, p...)
		}
		whole := bytes.Clone(out)
		s.Redact(whole, 0, 0, len(whole))
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
			if got, at := maskInPieces(s, out, next, live), 0; !isBetween(got, least, whole, &at) {
				t.Fatalf("round %d, live %v: differs at %d:\n out %q\n got %q\nwant %q", round, live, at, out[max(0, at-60):min(len(out), at+60)],
					got[max(0, at-60):min(len(got), at+60)], whole[max(0, at-60):min(len(whole), at+60)])
			}
		}
	}
}
