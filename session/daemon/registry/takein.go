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

// handedOver is what is handed to the fleet of a session.
type handedOver struct {
	Session  store.Session   `json:"session"`
	Commands []store.Command `json:"commands,omitempty"` // the newest ones, oldest first
	// Nonce is that of its shell's marks, which stands in the output: who reads the copy is not shown it.
	Nonce string `json:"nonce,omitempty"`
}

// nonceFile, in the directory of a session that was taken in, has the nonce that its output does not show.
const nonceFile = "nonce"

// takenNonce is that; empty: there is none.
func takenNonce(dir string) string {
	b, _ := os.ReadFile(filepath.Join(dir, nonceFile)) // mostly there is none
	return string(b)
}

// HandOver is what is recorded of a session and its newest commands, in at most so many bytes. Variables that it was
// started with stay here: they may be secrets.
func (h *Registry) HandOver(ctx context.Context, e *Handle, limit int) ([]byte, error) {
	out := handedOver{Session: e.Record()}
	out.Session.Env = nil
	out.Nonce = takenNonce(h.dirs.Session(e.rec.ID))
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

// TakeIn makes a session that ended of what another host handed over, which is not trusted, and of a directory with its
// journal, which is moved to its place. Its process is nowhere: nothing starts it again but a person. If it ran, it ended
// when something was heard of it last.
func (h *Registry) TakeIn(ctx context.Context, host, id string, record []byte, journalDir string, last time.Time) (name string, err error) {
	var in handedOver
	if err := json.Unmarshal(record, &in); err != nil {
		return "", fmt.Errorf("what is recorded of it: %w", err)
	}
	rec := in.Session
	if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id || rec.ID != id {
		return "", errors.New("what is recorded of it is of another session")
	}
	if h.ByID(id) != nil {
		return "", errors.New("it is here already")
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
	if err := h.takeIn(ctx, e, &in, journalDir); err != nil {
		h.forget(e)
		return "", err
	}
	view := h.Describe(e, e.Session.Status())
	h.Bus.Publish("created", &view)
	return e.rec.Name, nil
}

func (h *Registry) takeIn(ctx context.Context, e *Handle, in *handedOver, journalDir string) error {
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
	return h.beginHistory(e)
}
