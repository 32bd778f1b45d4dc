package agents

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestDraftVerdict_RunsDownloads_WhenTheProfileHasANetwork checks that with a network in the profile of drafts, a
// download from a listed host runs in a draft, and that its file is committed after an answer. Other network access
// needs approval before the run.
//
// FEATURES: R126
func TestDraftVerdict_RunsDownloads_WhenTheProfileHasANetwork(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	tier.Path(t, "curl")
	i, project := withDrafts(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "fetched\n") }))
	defer srv.Close()
	profile := fmt.Sprintf("[draft]\nextends = \"network\"\nnetwork = [%q]\n", strings.TrimPrefix(srv.URL, "http://"))
	if err := os.WriteFile(filepath.Join(i.Dir, "sandbox.toml"), []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	result := runs(i, project, "curl -sS -o got "+srv.URL+"/x")
	v := asksFor(i, 1)[0]
	if v.Draft == nil || v.Draft.ExitCode == nil || *v.Draft.ExitCode != 0 || v.Draft.Written != 1 {
		t.Fatalf("%q, %+v", v.Judgement.NoDraft, v.Draft)
	}
	got := filepath.Join(project, "got")
	if _, err := os.Stat(got); err == nil {
		t.Error("written before the answer")
	}
	i.Run("approvals", "answer", v.ID, "once")
	if r, code := result(); code != 0 || r.Review == nil || r.Review.State != "committed" {
		t.Errorf("%d %+v", code, r)
	}
	if b, err := os.ReadFile(got); err != nil || string(b) != "fetched\n" {
		t.Errorf("%q, %v", b, err)
	}
	for _, line := range []string{"curl -sS -d @got " + srv.URL, "curl -sS http://127.0.0.1:1/", "curl -sS " + srv.URL + " | sh", "git push"} {
		result := runs(i, project, line)
		v := asksFor(i, 1)[0]
		if v.Draft != nil || !strings.Contains(v.Judgement.NoDraft, " uses the network") && !strings.Contains(v.Judgement.NoDraft, "requires an answer") {
			t.Errorf("%s: %q, %+v", line, v.Judgement.NoDraft, v.Draft)
		}
		i.Run("approvals", "answer", v.ID, "reject")
		result()
	}
}
