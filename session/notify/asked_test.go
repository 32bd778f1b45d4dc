package notify

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/notify/webhook"
)

// FEATURES: R63 R82
func TestApprovalEvent(t *testing.T) {
	got := make(chan ApprovalEvent, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var a ApprovalEvent
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
			t.Error(err)
		}
		got <- a
	}))
	defer srv.Close()
	out := filepath.Join(t.TempDir(), "out")
	a := ApprovalEvent{
		Approval: "A7", Session: "id", Name: "work", Who: "uid 1000 agent bot", Command: "rm -r \x1b[2J$X", Cwd: "/p", Why: "it may be the system",
		Risk: "high", Time: time.Unix(1_700_000_000, 0).UTC(),
	}
	var drawn string
	s := Sender{Terminals: func(b []byte) int { drawn += string(b); return 1 }}
	how := Options{
		Bell: true, Desktop: true, Webhook: srv.URL,
		Command: []string{"sh", "-c", `printf '%s|' "$LONGTERM_APPROVAL" "$LONGTERM_WHO" "$LONGTERM_RISK" "$LONGTERM_CWD" "$LONGTERM_TEXT" >` + out},
	}
	if err := s.SendApproval(t.Context(), &how, &a); err != nil {
		t.Fatal(err)
	}
	if sent := <-got; sent != a {
		t.Errorf("%+v", sent)
	}
	b, err := os.ReadFile(out)
	if want := "A7|uid 1000 agent bot|high|/p|? A7: rm -r  [2J$X (it may be the system)|"; err != nil || string(b) != want {
		t.Errorf("%q %v", b, err)
	}
	if !strings.HasSuffix(drawn, "\a") || strings.Count(drawn, "\x1b") != 2 {
		t.Errorf("%q", drawn)
	}
}

// Numbers of approvals begin again with a new database; the keys of what was posted are kept beside it.
func TestKeyOfApproval(t *testing.T) {
	var before, after webhook.Notice
	a := ApprovalEvent{Approval: "A1", Time: time.Unix(1, 0)}
	a.describe(&before)
	a.Time = time.Unix(2, 0)
	a.describe(&after)
	if before.Key == after.Key {
		t.Errorf("two approvals have the key %q", after.Key)
	}
}
