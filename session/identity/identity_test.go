package identity

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestActor(t *testing.T) {
	for want, a := range map[string]Actor{
		"uid 0": {}, "uid 1000": {UID: 1000, PID: 7}, "uid 1000 agent claude": {UID: 1000, Agent: "claude"},
		"uid 1 agent a b token t host h": {UID: 1, Agent: "a b", Token: "t", Host: "h"},
	} {
		if got := a.String(); got != want {
			t.Errorf("%+v is %q, not %q", a, got, want)
		}
		if a.IsAgent() != strings.Contains(want, "agent") {
			t.Errorf("%+v: %v", a, a.IsAgent())
		}
		if got := Of(WithActor(context.Background(), a)); got != a {
			t.Errorf("%+v was read back as %+v", a, got)
		}
	}
	if got := Of(context.Background()); got != (Actor{}) {
		t.Errorf("without a caller: %+v", got)
	}
}

func TestCheckLabel(t *testing.T) {
	for label, ok := range map[string]bool{
		"": true, "claude": true, "claude code 2": true, "höt": true, "日本": true, strings.Repeat("x", MaxLabel): true,
		strings.Repeat("x", MaxLabel+1): false, " a": false, "a ": false, "a\nb": false, "a\x00": false, "\x1b[2J": false, "a\u202eb": false,
		"a\u00a0b": false, "\xff": false, "\t": false,
	} {
		if err := CheckLabel(label); (err == nil) != ok {
			t.Errorf("%q: %v", label, err)
		}
	}
}

// FuzzCheckLabel checks that a valid label is a valid header value and one line of a record, and has no effect on a
// terminal.
func FuzzCheckLabel(f *testing.F) {
	for _, s := range []string{"", "claude", "a b", "höt", "\x1b[31m", "a\u202eb", "\xff", strings.Repeat("é", 33)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if CheckLabel(s) != nil {
			return
		}
		if len(s) > MaxLabel || !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
			t.Errorf("%q is accepted", s)
		}
		r := http.Request{Header: http.Header{}}
		r.Header.Set(Header, s)
		if got := r.Header.Get(Header); got != s {
			t.Errorf("%q was read as %q", s, got)
		}
	})
}
