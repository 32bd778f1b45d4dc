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
		Approval: "A7", Session: "id", Name: "work", Actor: "uid 1000 agent bot", Command: "rm -r \x1b[2J$X", Cwd: "/p", Reason: "it may be the system",
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
		t.Errorf("got notice %+v", sent)
	}
	b, err := os.ReadFile(out)
	if want := "A7|uid 1000 agent bot|high|/p|? A7: rm -r  [2J$X (it may be the system)|"; err != nil || string(b) != want {
		t.Errorf("the command wrote %q, %v", b, err)
	}
	if !strings.HasSuffix(drawn, "\a") || strings.Count(drawn, "\x1b") != 2 {
		t.Errorf("the terminal got %q", drawn)
	}
}

// TestApprovalEvent_KeyIsUnique checks that numbers of approvals restart with a new database, while the keys of posted
// notices are kept.
func TestApprovalEvent_KeyIsUnique(t *testing.T) {
	var before, after webhook.Notice
	a := ApprovalEvent{Approval: "A1", Time: time.Unix(1, 0)}
	a.fillNotice(&before)
	a.Time = time.Unix(2, 0)
	a.fillNotice(&after)
	if before.Key == after.Key {
		t.Errorf("got the same key %q for two approvals", after.Key)
	}
}
