package apitoken

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestRights checks that rights are stored by name, with the level that they amount to for older readers. Unreadable
// rights admit no caller.
//
// FEATURES: R83
func TestRights(t *testing.T) {
	s := newStore(t)
	for _, c := range []struct {
		may   []string
		want  []string
		level Level
	}{
		{[]string{"type"}, []string{"look", "type"}, Read},
		{[]string{"manage", "approve"}, []string{"look", "approve", "manage"}, Read},
		{[]string{"approve", "type", "manage"}, []string{"look", "type", "approve", "manage"}, All},
	} {
		name := strings.Join(c.may, "+")
		secret := made(t, s, Token{Name: name, May: c.may, Label: "a=b", Page: true, Masked: true})
		g, err := s.Verify(secret)
		if err != nil || !slices.Equal(g.May.Names(), c.want) || g.Level != c.level || g.Label != "a=b" || !g.Page || !g.Masked || g.Rights() != g.May {
			t.Errorf("%s: %+v, %v", name, g, err)
		}
	}
	for _, bad := range []Token{{Name: "x", May: []string{"root"}}, {Name: "x"}, {Name: "x", Level: "all", Label: "=b"}, {Name: "x", Level: "all", Label: "b"}} {
		if _, _, err := s.Make(bad); err == nil {
			t.Errorf("%+v was created", bad)
		}
	}
	whole, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{`"approve"`: `"apprve"`, `"a=b"`: `"ab"`} {
		if err := os.WriteFile(s.path, []byte(strings.ReplaceAll(string(whole), from, to)), 0o600); err != nil {
			t.Fatal(err)
		}
		if all, err := Open(s.path).List(); err == nil {
			t.Errorf("with %s: %v", to, all)
		}
	}
}

func TestShows(t *testing.T) {
	labels := map[string]string{"team": "web", "x": ""}
	for _, c := range []struct {
		g    Grant
		want bool
	}{
		{Grant{}, true}, {Grant{Session: "s"}, true}, {Grant{Session: "t"}, false}, {Grant{Label: "team=web"}, true}, {Grant{Label: "team=db"}, false},
		{Grant{Label: "x="}, true}, {Grant{Label: "y="}, false}, {Grant{Session: "t", Label: "team=web"}, false},
	} {
		if got := c.g.Shows("s", labels); got != c.want || c.g.Whole() != (c.g == Grant{}) {
			t.Errorf("%+v: %v", c.g, got)
		}
	}
}
