//go:build unix

package client

import (
	"encoding/json"
	"fmt"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// TestNewSession_Umask checks that a session creates files with the caller's umask, unless another is given.
func TestNewSession_Umask(t *testing.T) {
	before := syscall.Umask(0o027)
	defer syscall.Umask(before)
	if got := currentUmask(); got != "0027" {
		t.Errorf("got umask %s", got)
	}
	if now := syscall.Umask(0o027); now != 0o027 {
		t.Errorf("currentUmask changed the umask to %04o", now)
	}
	f, c := newFakeDaemon(t, repliesJSON(struct{}{}))
	ctx := testContext(t)
	for _, given := range []string{"", "0077"} {
		n := api.NewSession{Umask: given}
		if err := ignoreResult(c.NewSession(ctx, n)); err != nil {
			t.Fatal(err)
		}
		if err := ignoreResult(c.Run(ctx, api.Run{NewSession: n})); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, r := range f.requests() {
		var n api.NewSession
		if err := json.Unmarshal([]byte(r.body), &n); err != nil {
			t.Fatal(err)
		}
		got = append(got, n.Umask)
	}
	if fmt.Sprint(got) != "[0027 0027 0077 0077]" {
		t.Errorf("got umasks %q", got)
	}
}
