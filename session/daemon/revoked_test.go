//go:build unix

package daemon

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
)

// shown returns a context whose requests use a token.
type shown struct {
	http.RoundTripper
	token string
}

func (s shown) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(identity.TokenHeader, s.token)
	return s.RoundTripper.RoundTrip(r)
}

// TestRevokedTokensRunNothing checks that a request made with a revoked token is not run, whatever a user answers.
//
// FEATURES: R63
func TestRevokedTokensRunNothing(t *testing.T) {
	t.Parallel()
	r, dir := serve(t), t.TempDir()
	bashSession(t, r, "shell", dir)
	get[api.MadeToken](r, "POST", "/tokens", api.NewToken{Name: "guest", Level: "all"})
	guest := r.as("bot")
	guest.http = &http.Client{Transport: shown{r.http.Transport, "guest"}}
	asked := get[api.Result](guest, "POST", "/sessions/shell/exec", api.Exec{
		Line: "touch one", Wait: true, ApprovalOptions: api.ApprovalOptions{Policy: "readonly", OnApproval: "return"},
	})
	if asked.State != "needs_approval" {
		t.Fatalf("%+v", asked)
	}
	if a := r.ask("DELETE", "/tokens/guest", nil); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if e := r.refused("POST", "/approvals/"+asked.Approval+"/answer", api.ApprovalAnswer{Answer: "once"}); e.Code != api.CodeAnswered {
		t.Errorf("%+v", e)
	}
	if j := r.job(asked.Job); j.State != "done" || j.Result == nil || j.Result.ExitCode != nil {
		t.Errorf("%+v", j)
	}
	if _, err := os.Stat(filepath.Join(dir, "one")); err == nil {
		t.Error("it ran")
	}
}
