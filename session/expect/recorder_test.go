package expect

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/vterm/input"
)

// FEATURES: R53, R55
func TestRecorder(t *testing.T) {
	r := NewRecorder([]string{"ssh", "host"})
	line := func(prompt, typed, echo string) {
		r.Output([]byte(prompt))
		r.AddInput([]byte(typed))
		r.Output([]byte(echo))
	}
	line("\x1b[1mlogin:\x1b[m ", "bob\r", "bob\r\n")
	r.SetEcho(respond.EchoOff)
	line("Password: ", "hunt", "")
	r.AddInput([]byte("er2\r"))
	r.Output([]byte("\r\n"))
	r.SetEcho(respond.EchoApp)
	line("[12:34] bob@host:~/src$ ", "lx\x7fs ${HOME}\r", "ls ${HOME}\r\n")
	line("a b\r\n[12:35] bob@host:/tmp$ ", "ca", "ca")
	line("", "\t<x\x1b[A\r", "\r\n")
	line("$ ", "true\r", "true\r\n")
	line("More? ", "q", "\r\n")
	line("x\r\n", "ahead\r", "")
	r.Exit(3)
	src, err := r.Script()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(src), "hunt") || strings.Contains(string(src), "er2") {
		t.Error("the secret is in the script")
	}
	checkGolden(t, "recorded.yaml", src)
	if problems := Check(src, LoadOptions{}); len(problems) > 0 {
		t.Errorf("the script has problems: %v", problems)
	}
}

func TestGeneralisePrompt(t *testing.T) {
	for _, tt := range []struct{ prompt, text, regexp, other string }{
		{"Password: ", "Password: ", "", ""},
		{"$ ", "", `^\$ $`, "$ "},
		{"bob@web2:~/src/x$ ", "", `^bob@web[\d.]+:\S+\$ $`, "bob@web11:/etc$ "},
		{"[09:15:01] ok? ", "", `^\[\d{1,2}:\d{2}(:\d{2})?\] ok\? $`, "[10:00] ok? "},
		{"2026-01-02 page 3/17 [y/N]? ", "", `^\d{4}-\d{2}-\d{2} page [\d.]+/[\d.]+ \[y/N\]\? $`, "2027-12-31 page 1/2 [y/N]? "},
		{"commit 0123abcd4567? ", "", `^commit [0-9a-f]+\? $`, "commit deadbeef? "},
		{"overwrite /etc/passwd? ", "", `^overwrite \S+ $`, "overwrite /x? "},
		{"cost ${1}: ", "", `^cost \$\{[\d.]+\}: $`, "cost ${22}: "},
		{strings.Repeat("x", 100) + "1> ", "", strings.Repeat("x", 77) + `[\d.]+> $`, strings.Repeat("x", 99) + "2> "},
	} {
		p := generalisePrompt(tt.prompt)
		if p.Text != tt.text || p.Regexp != tt.regexp {
			t.Errorf("%q: got %+v, want %q %q", tt.prompt, p, tt.text, tt.regexp)
		}
		if tt.regexp == "" {
			continue
		}
		for _, s := range []string{tt.prompt, tt.other} {
			if !regexp.MustCompile(p.Regexp).MatchString(s) {
				t.Errorf("%q does not match %q", p.Regexp, s)
			}
		}
	}
}

// FuzzRecorder checks that recorded scripts are valid, and that each prompt matches its own expectation.
func FuzzRecorder(f *testing.F) {
	f.Add("$ \x00ls\r\x00a\r\nb 12:30 ~/x> \x00\x1b[A\x1b[1;5C\x1bx\x7f\r")
	f.Add("${x}\x00${y}<lt>\r\x00\xff\x00\xff\xc3")
	f.Fuzz(func(t *testing.T, in string) {
		r := NewRecorder([]string{"x"})
		for i, part := range strings.Split(in, "\x00") {
			if i%2 == 0 {
				r.Output([]byte(part))
				rest, _, _ := r.decoder.AppendUnfinished(nil)
				if p := generalisePrompt(string(rest)); p.Regexp != "" && utf8.Valid(rest) {
					expr, err := expand(p.Regexp, func(string) (string, bool) { return "", false }, nil)
					if err != nil || !regexp.MustCompile(expr).MatchString(string(rest)) {
						t.Fatalf("%q does not match %q: %v", p.Regexp, rest, err)
					}
				}
				continue
			}
			r.SetEcho([]respond.EchoState{respond.EchoOn, respond.EchoApp, respond.EchoOff}[len(part)%3])
			r.AddInput([]byte(part))
		}
		r.Exit(0)
		src, err := r.Script()
		if err != nil {
			t.Fatal(err)
		}
		if problems := Check(src, LoadOptions{}); len(problems) > 0 {
			t.Fatalf("%s\n%v", src, problems)
		}
	})
}

// TestRecorder_KeyNamesExist checks that each key name of a recorder is valid.
func TestRecorder_KeyNamesExist(t *testing.T) {
	for _, names := range []map[byte]string{sequenceKeys} {
		for _, n := range names {
			if _, err := input.ParseKey(n); err != nil {
				t.Error(err)
			}
		}
	}
	for _, n := range tildeKeys {
		if _, err := input.ParseKey(n); err != nil {
			t.Error(err)
		}
	}
}
