//go:build unix

package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/daemon/spawn"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/vterm"
)

// HostLabel names the host whose session a restored one was.
const HostLabel = "fleet-host"

// replicaRecord is the record of a session for the fleet.
type replicaRecord struct {
	Session  store.Session   `json:"session"`
	Commands []store.Command `json:"commands,omitempty"` // the newest ones, oldest first
	// Nonce is the nonce of its shell's marks. It appears in the output and is masked for readers of the replica.
	Nonce string `json:"nonce,omitempty"`
}

// nonceFile, in the directory of an imported session, has the nonce to mask in its output.
const nonceFile = "nonce"

// importedNonce returns the nonce of an imported session, or "".
func importedNonce(dir string) string {
	b, _ := os.ReadFile(filepath.Join(dir, nonceFile)) // missing for most sessions
	return string(b)
}

// ReplicaRecord returns the record of a session and its newest commands, in at most limit bytes. It omits the initial
// environment, which may hold secrets.
func (h *Registry) ReplicaRecord(ctx context.Context, e *Handle, limit int) ([]byte, error) {
	out := replicaRecord{Session: e.Record()}
	out.Session.Env = nil
	out.Nonce = importedNonce(h.dirs.Session(e.rec.ID))
	if l := h.spawner.LaunchOf(e.rec.ID); l != nil {
		out.Nonce = l.Nonce
	}
	list, err := h.store.Commands(ctx, store.CommandQuery{Session: e.rec.ID, Newest: true, Limit: 1000})
	if err != nil {
		return nil, err
	}
	for n := min(len(list), 1000); ; n /= 2 {
		out.Commands = make([]store.Command, n)
		for i := range n {
			out.Commands[n-1-i] = list[i]
		}
		b, err := json.Marshal(out)
		if err != nil || len(b) <= limit {
			return b, err
		}
		if n == 0 {
			return nil, fmt.Errorf("the record of session %s has %d bytes", e.rec.ID, len(b))
		}
	}
}

// Import imports an ended session from another host's record, which is not trusted, and a directory with its journal,
// which it moves. Only a user can start it again. If it was running, last counts as its end.
func (h *Registry) Import(ctx context.Context, host, id string, record []byte, journalDir string, last time.Time) (name string, err error) {
	var in replicaRecord
	if err := json.Unmarshal(record, &in); err != nil {
		return "", fmt.Errorf("session record: %w", err)
	}
	rec := in.Session
	if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id || rec.ID != id {
		return "", errors.New("record belongs to another session")
	}
	if h.ByID(id) != nil {
		return "", errors.New("session already exists")
	}
	if _, err := os.Lstat(h.dirs.Session(id)); !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%s is there already", h.dirs.Session(id))
	}
	if spawn.CheckName(rec.Name) != nil {
		rec.Name = "restored-" + id[:8]
	}
	if spawn.CheckLabels(rec.Labels) != nil || rec.Labels == nil {
		rec.Labels = map[string]string{}
	}
	rec.Labels[HostLabel] = host
	rec.Env, rec.Keeper, rec.PID, rec.Temporary, rec.Restore = nil, "", 0, false, "never"
	if !vterm.ValidSize(rec.Cols, rec.Rows) {
		rec.Cols, rec.Rows = 80, 24
	}
	if len(rec.Argv) == 0 {
		rec.Argv = []string{"?"}
	}
	if rec.Engine != session.DefaultEngine && rec.Engine != "vt10x" {
		rec.Engine = session.DefaultEngine
	}
	if rec.State != string(session.Exited) {
		rec.State = string(session.Lost)
		if rec.Ended.IsZero() {
			rec.Ended = last
		}
	}
	for n := range in.Commands {
		c := &in.Commands[n]
		if c.Session != id || c.N < 1 || c.To != 0 && c.To < c.From {
			return "", errors.New("a command that is recorded of it is of another session, or makes no sense")
		}
		if c.State == store.CommandRunning {
			c.State = store.CommandLost
		}
	}
	e := NewHandle(rec)
	if h.add(e) != nil { // its name is taken
		e.rec.Name = rec.Name[:min(len(rec.Name), 100)] + "-" + id[:8]
		if err := h.add(e); err != nil {
			return "", err
		}
	}
	if err := h.importSession(ctx, e, &in, journalDir); err != nil {
		h.forget(e)
		return "", err
	}
	view := h.Describe(e, e.Session.Status())
	h.Bus.Publish("created", &view)
	return e.rec.Name, nil
}

// importSession writes an imported session's files and record.
func (h *Registry) importSession(ctx context.Context, e *Handle, in *replicaRecord, journalDir string) error {
	top := filepath.Dir(journalDir)
	if shell.IsNonce(in.Nonce) {
		if err := os.WriteFile(filepath.Join(top, nonceFile), []byte(in.Nonce), 0o600); err != nil {
			return err
		}
	}
	if err := store.WriteManifest(top, e.rec); err != nil {
		return err
	}
	if err := os.Rename(top, h.dirs.Session(e.rec.ID)); err != nil {
		return err
	}
	// From here on a daemon that is killed leaves a directory, which the next one finds.
	if err := h.store.CreateSession(ctx, e.rec); err != nil {
		return err
	}
	for i := range in.Commands {
		if _, err := h.store.AddCommand(ctx, in.Commands[i]); err != nil && !errors.Is(err, store.ErrCommandExists) {
			return err
		}
	}
	return h.newHistoryOwner(e)
}
