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

// A call that is repeated with its id is the same call only if its request is the same: the record keeps a digest. The
// digest leaves out how the caller waits and what the answer holds (timeouts, yield times, budgets), its environment
// and its terminal's size: a repeated call may have others.

// lineDigest returns the digest of a line, without how the caller waits for it.
func lineDigest(session string, x *api.Exec) string {
	y := *x
	y.Call, y.Respond, y.ApprovalOptions = api.Call{}, nil, api.ApprovalOptions{Policy: x.Policy}
	y.Wait, y.Foreign, y.History = false, false, false // how it is given to the shell
	return digestOf(session, x.Respond != nil, y)
}

// runDigest returns the digest of a command, without how the caller waits for it.
func runDigest(x *api.Run) string {
	y := *x
	y.Call, y.Start, y.Keep, y.Temporary, y.PipeFallback = api.Call{}, false, false, false, false
	y.Env, y.Umask, y.Cols, y.Rows, y.AskID, y.Again = nil, "", 0, 0, "", false
	y.ApprovalOptions = api.ApprovalOptions{Policy: x.Policy}
	return digestOf("", false, y)
}

// NewDigest returns the digest of a new session, without how the caller waits for its start.
func NewDigest(n *api.NewSession) string {
	y := *n
	y.Env, y.Umask, y.Cols, y.Rows, y.AskID, y.Again = nil, "", 0, 0, "", false
	y.ApprovalOptions = api.ApprovalOptions{Policy: n.Policy}
	return digestOf("new", false, y)
}

func digestOf(parts ...any) string {
	b, _ := json.Marshal(parts) // of plain values
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// checkSame rejects a call whose id belongs to a different call.
func (s *Set) checkSame(ctx context.Context, id, digest string) error {
	var rec struct {
		Asked string `json:"asked"`
	}
	s.mu.Lock()
	w, j := s.pendingStarts[id], s.live[id]
	s.mu.Unlock()
	switch {
	case w != nil:
		rec.Asked = runDigest(&w.x)
	case j != nil:
		j.mu.Lock()
		_ = json.Unmarshal(j.request, &rec) // made here
		j.mu.Unlock()
	default:
		r, err := s.row(ctx, id)
		if err != nil { // its record was deleted; its caller gets that error later
			return nil
		}
		_ = json.Unmarshal(r.Request, &rec) // unreadable: as one of before
	}
	if rec.Asked == "" || rec.Asked == digest { // none: it was recorded before there was one
		return nil
	}
	return registry.IDTaken(id).
		WithHint("give each call an id of its own, or none; `longterm jobs show %s` shows the other one", id)
}
