//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/fastpath"
	"github.com/longterm-dev/longterm/session/api"
)

// Where no terminal can be had run goes on with pipes, and says so; a session that was to
// have a terminal is refused.
//
// FEATURES: R3
func TestPipesWhereThereIsNoTerminal(t *testing.T) {
	i := e2e.New(t)
	i.Env = append(i.Env, noPTYEnv+"=1", fastpath.DisableEnv+"=1") // which package keeping knows nothing of
	out, errOut, code := i.Try("run", "--json", "--", "sh", "-c", "echo out; echo err >&2; exit 6")
	res := e2e.Decode[api.Result](t, out)
	if code != 6 || res.Mode != "pipe" || !strings.Contains(res.ModeReason, "no space left") || *res.Stdout != "out\n" || *res.Stderr != "err\n" {
		t.Errorf("exit status %d, %s%s", code, out, errOut)
	}
	if _, errOut, code := i.Try("new", "--", "cat"); code == 0 || !strings.Contains(errOut, "--pipe") {
		t.Errorf("new: exit status %d, %s", code, errOut)
	}
}
