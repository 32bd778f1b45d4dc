//go:build unix

package secret

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zalando/go-keyring"
)

// FEATURES: R53
func TestResolver_Resolve(t *testing.T) {
	keyring.MockInit()
	if err := keyring.Set("web", "bob", "hunter2"); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"pw": "hunter2\r\n", "two": "hunter2\nmore\n", "empty": "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := Resolver{Dir: dir, Timeout: 5 * time.Second, LookupEnv: func(name string) (string, bool) { return "hunter2", name == "PW" }}
	for _, tt := range []struct{ ref, err string }{
		{"env:PW", ""},
		{"env:NO", "no such variable"},
		{"file:pw", ""},
		{"file:" + dir + "/pw", ""},
		{"file:two", "several lines"},
		{"file:empty", "it is empty"},
		{"file:nowhere", "no such file"},
		{"cmd:cat pw", ""},
		{"cmd:echo hunter2; echo hunter2 >&2; exit 3", "exit status 3"},
		{"cmd:true", "it is empty"},
		{"keyring:web/bob", ""},
		{"keyring:web/eve", `no entry for service "web" and account "eve"`},
		{"hunter2", "a secret needs a reference"},
	} {
		got, err := r.Resolve(t.Context(), tt.ref)
		switch {
		case tt.err == "" && (err != nil || string(got) != "hunter2"):
			t.Errorf("%s: got %q, %v; want the secret", tt.ref, got, err)
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("%s: got %q, %v; want error %q", tt.ref, got, err, tt.err)
		case err != nil && !strings.HasPrefix(tt.ref, "cmd:") && strings.Contains(err.Error(), "hunter2"):
			t.Errorf("%s: the error shows the secret: %v", tt.ref, err)
		}
	}
}

func TestResolver_Command_TimesOut(t *testing.T) {
	r := Resolver{Timeout: 50 * time.Millisecond}
	if _, err := r.Resolve(t.Context(), "cmd:sleep 60"); err == nil || !strings.Contains(err.Error(), "no answer within 50ms") {
		t.Errorf("got error %v", err)
	}
}

// TestResolver_FIFO_TimesOutOrCancels checks that a FIFO without a writer is read for at most the timeout, or until the
// context is canceled.
// FAULT: A4
func TestResolver_FIFO_TimesOutOrCancels(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	r := Resolver{Timeout: time.Millisecond}
	if _, err := r.Resolve(t.Context(), "file:"+fifo); err == nil || !strings.Contains(err.Error(), "no answer within 1ms") {
		t.Errorf("got error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.Timeout = time.Hour
	if _, err := r.Resolve(ctx, "file:"+fifo); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
}

// FEATURES: R53
func TestResolver_KeyringUnreachable(t *testing.T) {
	keyring.MockInitWithError(os.ErrPermission)
	var r Resolver
	if _, err := r.Resolve(t.Context(), "keyring:web/bob"); err == nil || !strings.Contains(err.Error(), "keyring not reachable") {
		t.Errorf("got error %v", err)
	}
}
