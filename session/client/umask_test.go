//go:build unix

package client

import (
	"encoding/json"
	"fmt"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// A session creates files with the caller's umask, unless another is given.
func TestUmask(t *testing.T) {
	before := syscall.Umask(0o027)
	defer syscall.Umask(before)
	if got := umask(); got != "0027" {
		t.Errorf("ours is %s", got)
	}
	if now := syscall.Umask(0o027); now != 0o027 {
		t.Errorf("asking for it left %04o", now)
	}
	f, c := newFake(t, says(struct{}{}))
	ctx := testContext(t)
	for _, given := range []string{"", "0077"} {
		n := api.NewSession{Umask: given}
		if err := drop(c.NewSession(ctx, n)); err != nil {
			t.Fatal(err)
		}
		if err := drop(c.Run(ctx, api.Run{NewSession: n})); err != nil {
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
		t.Errorf("%q", got)
	}
}
