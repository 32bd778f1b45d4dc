//go:build unix

package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
)

// A call that is made again with its id is the same call only if it asks for the same: the record keeps a digest
// of what was asked. How an answer is waited for and what it holds (timeouts, yield times, budgets), the caller's
// environment and the size of its terminal are no part of that: who repeats a call may have others.

// lineDigest is what a line is, apart from how it is waited for.
func lineDigest(session string, x *api.Exec) string {
	y := *x
	y.Call, y.Respond, y.Asking = api.Call{}, nil, api.Asking{Policy: x.Policy}
	y.Wait, y.Foreign, y.History = false, false, false // how it is given to the shell
	return digestOf(session, x.Respond != nil, y)
}

// runDigest is what a command is, apart from how it is waited for.
func runDigest(x *api.Run) string {
	y := *x
	y.Call, y.Start, y.Keep, y.Temporary, y.PipeFallback = api.Call{}, false, false, false, false
	y.Env, y.Umask, y.Cols, y.Rows, y.AskID, y.Again = nil, "", 0, 0, "", false
	y.Asking = api.Asking{Policy: x.Policy}
	return digestOf("", false, y)
}

// NewDigest is what a session to be started is, apart from how its start is waited for.
func NewDigest(n *api.NewSession) string {
	y := *n
	y.Env, y.Umask, y.Cols, y.Rows, y.AskID, y.Again = nil, "", 0, 0, "", false
	y.Asking = api.Asking{Policy: n.Policy}
	return digestOf("new", false, y)
}

func digestOf(parts ...any) string {
	b, _ := json.Marshal(parts) // of plain values
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// checkSame refuses a call whose id stands for another one.
func (s *Set) checkSame(ctx context.Context, id, digest string) error {
	var rec struct {
		Asked string `json:"asked"`
	}
	s.mu.Lock()
	w, j := s.wanted[id], s.live[id]
	s.mu.Unlock()
	switch {
	case w != nil:
		rec.Asked = runDigest(&w.x)
	case j != nil:
		j.mu.Lock()
		_ = json.Unmarshal(j.req, &rec) // made here
		j.mu.Unlock()
	default:
		r, err := s.row(ctx, id)
		if err != nil { // it is gone; who asks for it says so
			return nil
		}
		_ = json.Unmarshal(r.Request, &rec) // unreadable: as one of before
	}
	if rec.Asked == "" || rec.Asked == digest { // none: it was recorded before there was one
		return nil
	}
	return registry.IDTaken(id).
		WithHint("give each call an id of its own, or none; `longterm jobs show %s` tells what the other one is", id)
}
