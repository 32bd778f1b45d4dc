//go:build unix

package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestAgentHearsOfCompletions reads completions, also over a kill of the daemon. Completions of a time without a server
// are kept for the next server until they are acknowledged.
//
// FEATURES: R101 R85
func TestAgentHearsOfCompletions(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	told := make(chan string, 1000)
	const uri = "longterm://completions/mine"
	a := newAgent(i, &sdk.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { told <- r.Params.URI }})
	read := func(ack uint64) api.Completions {
		t.Helper()
		at := uri
		if ack > 0 {
			at = fmt.Sprintf("%s?ack=%d", uri, ack)
		}
		r, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: at})
		if err != nil {
			t.Fatal(err)
		}
		var c api.Completions
		if err := json.Unmarshal([]byte(r.Contents[0].Text), &c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := read(0); len(c.Completions) != 0 { // which makes it
		t.Fatalf("before any: %+v", c)
	}
	if err := a.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
	next := func(exit int, after uint64) api.Completions {
		t.Helper()
		select {
		case got := <-told:
			if got != uri {
				t.Fatalf("notified of %s", got)
			}
		case <-t.Context().Done():
			t.Fatal("not notified")
		}
		c := read(after)
		if len(c.Completions) != 1 || c.Completions[0].Kind != "job" || *c.Completions[0].ExitCode != exit {
			t.Fatalf("notified of %+v", c)
		}
		return c
	}
	i.Try("run", "--", "sh", "-c", "exit 3")
	first := next(3, 0)
	if _, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: "exec", Arguments: map[string]any{"line": "exit 6"}}); err != nil {
		t.Fatal(err)
	}
	first = next(6, first.Cursor) // one, though its session ended, too
	if again := read(0); len(again.Completions) != 1 || again.Cursor != first.Cursor {
		t.Errorf("unacknowledged: %+v", again)
	}
	if err := syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	i.Try("run", "--", "sh", "-c", "exit 4")
	second := next(4, first.Cursor)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	i.Try("run", "--", "sh", "-c", "exit 5") // while it is away
	a = newAgent(i, nil)
	if c := read(second.Cursor); len(c.Completions) != 1 || *c.Completions[0].ExitCode != 5 {
		t.Errorf("after it was away: %+v", c)
	}
	if _, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri + "?ack=x"}); err == nil {
		t.Error("an invalid cursor is accepted")
	}
}
