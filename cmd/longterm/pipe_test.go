//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/fastpath"
	"github.com/longterm-dev/longterm/session/api"
)

// TestPipesWhereThereIsNoTerminal checks that run continues with pipes if no terminal is available, and reports that,
// and that a session which requires a terminal is rejected.
//
// FEATURES: R3
func TestPipesWhereThereIsNoTerminal(t *testing.T) {
	i := e2e.New(t)
	i.Env = append(i.Env, noPTYEnv+"=1", fastpath.DisableEnv+"=1") // the fast path does not know this variable
	out, errOut, code := i.Try("run", "--json", "--", "sh", "-c", "echo out; echo err >&2; exit 6")
	res := e2e.Decode[api.Result](t, out)
	if code != 6 || res.Mode != "pipe" || !strings.Contains(res.ModeReason, "no space left") || *res.Stdout != "out\n" || *res.Stderr != "err\n" {
		t.Errorf("exit status %d, %s%s", code, out, errOut)
	}
	if _, errOut, code := i.Try("new", "--", "cat"); code == 0 || !strings.Contains(errOut, "--pipe") {
		t.Errorf("new: exit status %d, %s", code, errOut)
	}
}
