package apitoken

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func newStore(t *testing.T) *Store {
	t.Helper()
	return Open(filepath.Join(t.TempDir(), "tokens.json"))
}

func made(t *testing.T, s *Store, k Token) string {
	t.Helper()
	_, secret, err := s.Make(k)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// TestStore checks that a token's secret is in no file. The token is valid in each process that reads the file, until
// it is revoked.
//
// FEATURES: R86
func TestStore(t *testing.T) {
	s := newStore(t)
	if all, err := s.List(); err != nil || len(all) != 0 {
		t.Fatalf("%v, %v", all, err)
	}
	one := made(t, s, Token{Name: "one", Level: "read", Session: "s1"})
	two := made(t, s, Token{Name: "two", Level: "all", Agent: "a"})
	if len(one) < 26 || !strings.HasPrefix(one, Prefix) || one == two {
		t.Errorf("secrets %q, %q", one, two)
	}
	b, err := os.ReadFile(s.path)
	if err != nil || strings.Contains(string(b), one) || strings.Contains(string(b), one[len(Prefix):]) {
		t.Errorf("%v: the file has the secret: %s", err, b)
	}
	if st, err := os.Stat(s.path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	other := Open(s.path) // another process
	for _, from := range []*Store{s, other} {
		if g, err := from.Verify(one); err != nil || g != (Grant{Name: "one", Level: Read, Session: "s1", hash: g.hash}) {
			t.Errorf("%+v, %v", g, err)
		}
		if g, err := from.GrantByName("two"); err != nil || g.Level != All || g.Agent != "a" {
			t.Errorf("%+v, %v", g, err)
		}
		for _, wrong := range []string{"", one[:len(one)-1], one + "x", strings.ToLower(one), one[len(Prefix):]} {
			if g, err := from.Verify(wrong); !errors.Is(err, ErrNotFound) || g != (Grant{}) {
				t.Errorf("%q: %+v, %v", wrong, g, err)
			}
		}
	}
	if _, _, err := s.Make(Token{Name: "one", Level: "all"}); !errors.Is(err, ErrTaken) {
		t.Errorf("a second one: %v", err)
	}
	if was, err := s.Revoke("none"); was || err != nil {
		t.Errorf("%v, %v", was, err)
	}
	if was, err := s.Revoke("one"); !was || err != nil {
		t.Errorf("%v, %v", was, err)
	}
	for _, from := range []*Store{s, other} {
		if _, err := from.Verify(one); !errors.Is(err, ErrNotFound) {
			t.Errorf("after it was revoked: %v", err)
		}
		if _, err := from.Verify(two); err != nil {
			t.Errorf("the other one: %v", err)
		}
	}
}

// TestStoreIsNotInOrder checks that a file that others can read, or that is damaged, admits no caller.
func TestStoreIsNotInOrder(t *testing.T) {
	s := newStore(t)
	secret := made(t, s, Token{Name: "one", Level: "all"})
	whole, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		content string
		mode    os.FileMode
		want    string
	}{
		"read by others": {string(whole), 0o644, "chmod 600"},
		"cut":            {string(whole[:len(whole)/2]), 0o600, "token new"},
		"of no level":    {strings.Replace(string(whole), `"all"`, `"root"`, 1), 0o600, "token 1"},
		"short hash":     {strings.Replace(string(whole), `"sha256": "`, `"sha256": "00`, 1), 0o600, "token 1"},
	} {
		if err := os.WriteFile(s.path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(s.path, c.mode); err != nil {
			t.Fatal(err)
		}
		if g, err := Open(s.path).Verify(secret); err == nil || !strings.Contains(err.Error(), c.want) || g != (Grant{}) {
			t.Errorf("%s: %+v, %v", name, g, err)
		}
	}
}

// TestDuring checks that running requests end when their token is revoked or expires, and others do not.
func TestDuring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		soon := made(t, s, Token{Name: "soon", Level: "read", Expires: time.Now().Add(time.Hour)})
		made(t, s, Token{Name: "other", Level: "read"})
		begin := func(name string) (context.Context, func()) {
			g, err := s.GrantByName(name)
			if err != nil {
				t.Fatal(err)
			}
			return s.During(t.Context(), g)
		}
		a, endA := begin("soon")
		b, endB := begin("other")
		c, endC := begin("other")
		endC()
		if c.Err() == nil || a.Err() != nil || b.Err() != nil {
			t.Errorf("%v, %v, %v", a.Err(), b.Err(), c.Err())
		}
		<-a.Done()
		if !errors.Is(context.Cause(a), ErrExpired) || b.Err() != nil {
			t.Errorf("%v, %v", context.Cause(a), b.Err())
		}
		if _, err := s.Verify(soon); !errors.Is(err, ErrExpired) {
			t.Errorf("%v", err)
		}
		if _, err := s.Revoke("other"); err != nil {
			t.Fatal(err)
		}
		if !errors.Is(context.Cause(b), ErrNotFound) {
			t.Errorf("%v", context.Cause(b))
		}
		endA()
		endB()
		if len(s.live) != 0 {
			t.Errorf("%d are still running", len(s.live))
		}
	})
}

// TestRevokedBeforeItIsUnderWay checks that a token that is revoked between its lookup and the start of its request is
// invalid for that request too, even if another token has its name by then. Other tokens stay valid.
func TestRevokedBeforeItIsUnderWay(t *testing.T) {
	s := newStore(t)
	made(t, s, Token{Name: "other", Level: "read"})
	for _, again := range []bool{false, true} {
		secret := made(t, s, Token{Name: "one", Level: "read"})
		one, err := s.Verify(secret)
		if err != nil {
			t.Fatal(err)
		}
		other, err := s.GrantByName("other")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Revoke("one"); err != nil {
			t.Fatal(err)
		}
		if again {
			made(t, s, Token{Name: "one", Level: "read"})
		}
		a, endA := s.During(t.Context(), one)
		b, endB := s.During(t.Context(), other)
		if !errors.Is(context.Cause(a), ErrNotFound) || b.Err() != nil {
			t.Errorf("created again: %v: %v, %v", again, context.Cause(a), b.Err())
		}
		endA()
		endB()
	}
}

// TestSource checks that a host name is not accepted because it starts with an accepted address. A page of another port
// of the host is another site.
//
// FEATURES: R86
// FAULT: J
func TestSource(t *testing.T) {
	s := Source{Hosts: []string{"box.example"}, Origins: []string{"https://page.example"}}
	for _, c := range []struct {
		host, origin string
		ok           bool
	}{
		{"localhost:7718", "", true}, {"127.0.0.1", "", true}, {"[::1]:7718", "", true}, {"BOX.example:1", "", true}, {"127.9.9.9", "", true},
		{"", "", false}, {"evil.example", "", false}, {"localhost.evil.example", "", false}, {"127.0.0.1.evil.example", "", false}, {"0.0.0.0:7718", "", false},
		{"127.0.0.1:1.evil.com", "", false}, {"[::1]:1.evil.com", "", false}, {"localhost:0x50", "", false}, {"localhost:70000", "", false},
		{"127.0.0.1:1.evil.com", "http://127.0.0.1:1.evil.com", false}, {"127.0.0.1:7717", "http://127.0.0.1:7717", true},
		{"127.0.0.1:7717", "http://127.0.0.1:3000", false}, {"localhost:7717", "http://localhost:3000", false}, {"localhost:7717", "http://127.0.0.1:7717", false},
		{"localhost", "https://page.example", true}, {"localhost", "http://127.0.0.1:3000", false}, {"box.example", "https://box.example", true},
		{"localhost", "https://evil.example", false}, {"localhost", "null", false}, {"localhost", "file://", false}, {"box.example", "https://box.example.evil", false},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://x/", nil)
		if r.Host = c.host; c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		if err := s.Check(r); (err == nil) != c.ok {
			t.Errorf("%q from %q: %v", c.host, c.origin, err)
		}
	}
}

func TestBearerOf(t *testing.T) {
	for header, want := range map[string]string{
		"Bearer x": "x", "bearer  x": "x", "": "", "Bearer": "", "Bearer ": "", "Basic x": "", "x": "", "BearerX": "",
	} {
		r := httptest.NewRequest(http.MethodGet, "http://x/?token=y", nil)
		r.Header.Set("Authorization", header)
		if got, ok := BearerOf(r); got != want && ok || ok != (want != "") {
			t.Errorf("%q: %q, %v", header, got, ok)
		}
	}
}

// FuzzDecode checks that a token file admits only the tokens that it names, whatever its content.
func FuzzDecode(f *testing.F) {
	sum := strings.Repeat("0a", 32)
	f.Add([]byte(`{"tokens":[{"name":"a","level":"read","sha256":"` + sum + `"}]}`))
	f.Add([]byte(`{"tokens":[{"name":"a","level":"all","sha256":""}]}`))
	f.Add([]byte(`{"tokens":null}`))
	f.Add([]byte(`{`))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := decode(b)
		if err != nil && all != nil {
			t.Fatal("a damaged file has tokens")
		}
		for i := range all {
			if _, err := ParseLevel(all[i].Level); err != nil || len(all[i].Hash) != 64 || all[i].Name == "" {
				t.Errorf("%+v", all[i])
			}
		}
	})
}

// TestRevokedOnAFullDisk checks that a token is revoked on a full disk for all readers of the file. If nothing can be
// written, it is revoked for this process only, which reports that. Other tokens stay valid.
//
// FEATURES: R93
func TestRevokedOnAFullDisk(t *testing.T) {
	for name, locked := range map[string]bool{"no new file": false, "no change of the old": true} {
		s := newStore(t)
		lost, other := made(t, s, Token{Name: "lost", Level: "all"}), made(t, s, Token{Name: "other", Level: "read"})
		if err := os.MkdirAll(s.path+".tmp/x", 0o700); err != nil { // at the path of the new file
			t.Fatal(err)
		}
		was, err := os.ReadFile(s.path)
		if err != nil {
			t.Fatal(err)
		}
		if locked {
			s.struck = func(*os.File, []byte, int64) (int, error) { return 0, syscall.ENOSPC }
		}
		g, err := s.GrantByName("lost")
		if err != nil {
			t.Fatal(err)
		}
		during, done := s.During(t.Context(), g)
		ok, err := s.Revoke("lost")
		var notKept *NotKeptError
		if !ok || errors.As(err, &notKept) != locked || !locked && err != nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
		if during.Err() == nil {
			t.Errorf("%s: running requests continue", name)
		}
		done()
		now, err := os.ReadFile(s.path)
		if err != nil || len(now) != len(was) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(now), len(was), err)
		}
		readers := map[string]*Store{"this process": s}
		if !locked {
			readers["the next"] = Open(s.path)
		}
		for who, r := range readers {
			if _, err := r.Verify(lost); !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: %s lets it in: %v", name, who, err)
			}
			if g, err := r.Verify(other); err != nil || g.Name != "other" {
				t.Errorf("%s: %s: the other: %+v, %v", name, who, g, err)
			}
			if all, err := r.List(); err != nil || len(all) != 1 {
				t.Errorf("%s: %s lists %+v, %v", name, who, all, err)
			}
		}
		if err := os.RemoveAll(s.path + ".tmp"); err != nil { // there is space again
			t.Fatal(err)
		}
		made(t, s, Token{Name: "lost", Level: "read"})
		if _, err := Open(s.path).Verify(lost); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: once there is space: %v", name, err)
		}
	}
}
