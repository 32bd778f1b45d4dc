//go:build unix

package mcp

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// testSealer returns a sealer with a constant key.
func testSealer(t testing.TB) *sealer {
	t.Helper()
	s, err := newSealer(make([]byte, KeySize))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSealedState_OpenedOnceByItsClient(t *testing.T) {
	s := testSealer(t)
	at := time.Now()
	s.now = func() time.Time { return at }
	make := func() string {
		return s.close(&requestState{Who: "me", Tool: "exec", Args: digestOf([]byte("{}")), Session: "a", Job: "j", Kind: "password"})
	}
	good := make()
	for name, open := range map[string]func() (*requestState, error){
		"another user":    func() (*requestState, error) { return s.open(good, "you", "exec", digestOf([]byte("{}"))) },
		"another tool":    func() (*requestState, error) { return s.open(good, "me", "wait", digestOf([]byte("{}"))) },
		"other arguments": func() (*requestState, error) { return s.open(good, "me", "exec", digestOf([]byte("{ }"))) },
		"appended":        func() (*requestState, error) { return s.open(good+"A", "me", "exec", digestOf([]byte("{}"))) },
		"shortened":       func() (*requestState, error) { return s.open(good[:len(good)-4], "me", "exec", digestOf([]byte("{}"))) },
		"nothing":         func() (*requestState, error) { return s.open("", "me", "exec", digestOf([]byte("{}"))) },
		"another server": func() (*requestState, error) {
			other, err := newSealer(nil)
			if err != nil {
				t.Fatal(err)
			}
			return other.open(good, "me", "exec", digestOf([]byte("{}")))
		},
	} {
		if st, err := open(); err == nil {
			t.Errorf("%s: opened: %+v", name, st)
		}
	}
	for i := range len(good) {
		b := []byte(good)
		if b[i] ^= 1; string(b) == good {
			continue
		}
		if _, err := s.open(string(b), "me", "exec", digestOf([]byte("{}"))); err == nil {
			t.Fatalf("opened with byte %d changed", i)
		}
	}
	if st, err := s.open(good, "me", "exec", digestOf([]byte("{}"))); err != nil || st.Job != "j" || st.Kind != "password" {
		t.Errorf("%+v %v", st, err)
	}
	if _, err := s.open(good, "me", "exec", digestOf([]byte("{}"))); err == nil {
		t.Error("opened twice")
	}
	late := make()
	at = at.Add(stateTime + time.Second)
	if _, err := s.open(late, "me", "exec", digestOf([]byte("{}"))); err == nil {
		t.Error("opened after its expiry")
	}
	_, _ = s.open(make(), "me", "exec", digestOf([]byte("{}")))
	if len(s.used) != 1 {
		t.Errorf("%d used states remembered, including expired ones", len(s.used))
	}
}

func TestKey_CreatedOnceAndStored(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	a, err := LoadKey(dir)
	if err != nil || len(a) != KeySize {
		t.Fatalf("%d bytes, %v", len(a), err)
	}
	if b, err := LoadKey(dir); err != nil || string(a) != string(b) {
		t.Errorf("the second key is another one; %v", err)
	}
	if st, err := os.Stat(filepath.Join(dir, "mcp.key")); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mcp.key"), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadKey(dir); err == nil {
		t.Error("a damaged key is accepted")
	}
}

func FuzzState(f *testing.F) {
	s := testSealer(f)
	f.Add(s.close(&requestState{Who: "me", Tool: "exec"}))
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		if st, err := s.open(text, "you", "exec", nil); err == nil {
			t.Fatalf("opened %q: %+v", text, st)
		}
	})
}
