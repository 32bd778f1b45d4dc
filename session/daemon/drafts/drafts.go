// Package drafts keeps the drafts of sessions: one directory each, below the state directory, named by the session's id.
// A draft outlives its session, the daemon and the machine's restart, until it is committed or discarded.
//
// The package session/draft knows what is in such a directory; session/daemon/spawn mounts it. This package finds
// drafts, and converts changes and errors to those of the API.
package drafts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/draft"
	"github.com/longterm-dev/longterm/session/identity"
)

// Drafts are the drafts in a directory.
type Drafts struct{ Dir string }

// Path returns the directory of a session's draft.
func (d Drafts) Path(id string) string { return filepath.Join(d.Dir, id) }

// MountLock returns the file that is locked while a session's draft is mounted (draft.LockMount).
func (d Drafts) MountLock(id string) string { return draft.MountLockPath(d.Path(id)) }

// Has reports whether a session has a draft that was neither committed as a whole nor discarded.
func (d Drafts) Has(id string) bool { return draft.Exists(d.Path(id)) }

// IDs returns the ids of the sessions with drafts.
func (d Drafts) IDs() []string {
	entries, _ := os.ReadDir(d.Dir) // not there before the first draft
	var ids []string
	for _, e := range entries {
		if e.IsDir() && d.Has(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	return ids
}

// minRef is the shortest prefix of an id that names a draft, in bytes.
const minRef = 4

// Find returns the id of the draft with an id or a unique prefix of it, also of one whose session was removed.
func (d Drafts) Find(ref string) (string, error) {
	var found []string
	for _, id := range d.IDs() {
		if id == ref {
			return id, nil
		}
		if len(ref) >= minRef && strings.HasPrefix(id, ref) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 0:
		return "", NoDraft(ref)
	case 1:
		return found[0], nil
	}
	for i, id := range found {
		found[i] = api.ShortID(id)
	}
	return "", api.Errorf(api.CodeAmbiguous, "%q could be the draft %s", ref, strings.Join(found, " or "))
}

// NoDraft returns the error for a session without a draft.
func NoDraft(name string) error {
	return api.Errorf(api.CodeNotFound, "no draft of session %q: it was started without one, or the draft was committed or discarded", name).
		WithHint("`longterm changes` lists the drafts; start one with `longterm new --draft` or `longterm run --draft`")
}

// Prepare returns the draft of a session that is about to start: the existing one, or a new one. The directories are
// those of a new draft.
func (d Drafts) Prepare(id, command string, dirs []string) (made *draft.Draft, isNew bool, err error) {
	if !d.Has(id) {
		if err := os.RemoveAll(d.Path(id)); err != nil { // of a daemon that died before it was complete
			return nil, false, err
		}
		made, err = draft.Create(d.Path(id), draft.Options{Roots: dirs, Session: id, Command: command, Started: time.Now()})
		return made, true, err
	}
	if made, err = draft.Open(d.Path(id)); err != nil {
		return nil, false, err
	}
	info := made.Info()
	switch {
	case info.State == draft.StateCommitting:
		return nil, false, api.Errorf(api.CodeUnavailable, "a commit of the session's draft is incomplete").
			WithHint("complete it with `longterm commit %s`, then start the session again", api.ShortID(id))
	case !slices.Equal(slices.Sorted(slices.Values(info.Roots)), slices.Sorted(slices.Values(dirs))):
		return nil, false, api.Errorf(api.CodeUnavailable, "the session's draft is of other directories than its sandbox has now: %s", strings.Join(info.Roots, ", ")).
			WithHint("see its changes with `longterm changes %s`; commit or discard them, then start the session again", api.ShortID(id))
	}
	return made, false, nil
}

// Open returns the draft of a session. live reports whether the session runs.
func (d Drafts) Open(id string, live bool) (*draft.Draft, error) {
	if !d.Has(id) {
		return nil, NoDraft(api.ShortID(id))
	}
	found, err := draft.Open(d.Path(id))
	if err != nil {
		return nil, Error(id, err)
	}
	if !live && found.Info().State == draft.StateOpen {
		if err := found.End(); err != nil {
			return nil, Error(id, err)
		}
	}
	return found, nil
}

// DropEmpty removes the draft of an ended session if it holds no changes, and returns the number of changes otherwise.
func (d Drafts) DropEmpty(ctx context.Context, id string) (changes int, err error) {
	found, err := d.Open(id, false)
	if err != nil {
		return 0, err
	}
	c, err := found.Changes(ctx)
	if err != nil {
		return 0, Error(id, err)
	}
	if len(c.Changes) > 0 {
		if err := found.RemoveCaches(); err != nil && !errors.Is(err, draft.ErrMounted) { // else the next restore or discard does
			return len(c.Changes), Error(id, err)
		}
		return len(c.Changes), nil
	}
	_, err = found.Discard(ctx)
	return 0, Error(id, err)
}

// Error returns an error of a draft in its API form.
func Error(id string, err error) error {
	var conflict *draft.ConflictError
	var told *api.Error
	text := ""
	if err != nil {
		text = strings.TrimPrefix(err.Error(), "draft: ")
	}
	id = api.ShortID(id)
	switch {
	case err == nil, errors.As(err, &told):
		return err
	case errors.As(err, &conflict):
		e := api.Errorf(api.CodeConflict, "%s", text)
		if conflict.Applied > 0 {
			return e.WithHint("the changes before are committed; run `longterm commit %s` again after the conflict is resolved", id)
		}
		return e.WithHint("look at both with `longterm diff %s PATH`; commit the other paths by name, or discard these with `longterm discard %[1]s PATH…`", id)
	case errors.Is(err, draft.ErrMounted):
		return api.Errorf(api.CodeRunning, "the draft is in use: its session runs").WithHint("end it first with `longterm kill %s`; `longterm restore %[1]s` starts it again afterwards", id)
	case errors.Is(err, draft.ErrNotUndoable):
		return api.Errorf(api.CodeNotFound, "%s", text).WithHint("`longterm changes %s` lists the changes; only commands of the draft's shell can be undone", id)
	case errors.Is(err, draft.ErrNoView):
		return api.Errorf(api.CodeUnavailable, "%s", text).WithHint("try again in a moment; `longterm info %s` shows its state", id)
	case errors.Is(err, draft.ErrChanged):
		return api.Errorf(api.CodeStale, "changed since they were listed").WithHint("run `longterm changes %s` and commit with its new id", id)
	case errors.Is(err, draft.ErrNoChange):
		return api.Errorf(api.CodeNotFound, "%s", text).WithHint("`longterm changes %s` lists the paths", id)
	case errors.Is(err, draft.ErrUnsupported):
		return api.Errorf(api.CodeUnavailable, "drafts require Linux").WithHint("nothing was started; start it without --draft")
	case errors.Is(err, fs.ErrNotExist):
		return api.Errorf(api.CodeNotFound, "%s", text).WithHint("`longterm changes` lists the drafts")
	}
	return api.Errorf(api.CodeStorage, "draft: %s", text).WithHint("its files are kept; try again after the cause is removed")
}

// StartError returns the error for a draft that could not be created below a directory.
func StartError(dir string, err error) error {
	var told *api.Error
	if errors.As(err, &told) {
		return err
	}
	if errors.Is(err, draft.ErrUnsupported) {
		return Error("", err)
	}
	return api.Errorf(api.CodeUnavailable, "no draft can be kept in %s: %s", dir, strings.TrimPrefix(err.Error(), "draft: ")).
		WithHint("a draft requires a state directory on a local file system with user attributes, as ext4, xfs, btrfs and tmpfs: set XDG_STATE_HOME or LONGTERM_DIR; nothing was started")
}

// View returns changes in their API form.
func View(d *draft.Draft, c *draft.Changes, live bool, notHeld []string) api.Draft {
	info := d.Info()
	v := api.Draft{
		ID: c.ID, Session: info.Session, Command: info.Command, Started: info.Started, Root: info.Roots[0], Roots: info.Roots,
		State: string(c.State), Changes: make([]api.Change, len(c.Changes)), NotHeld: notHeld,
	}
	if v.State == "" {
		v.State = string(info.State)
	}
	if live {
		v.State = string(draft.StateOpen)
	}
	for i := range c.Changes {
		v.Changes[i] = change(&c.Changes[i])
	}
	return v
}

// change converts a change to its API form.
func change(c *draft.Change) api.Change {
	v := api.Change{
		Path: c.Path, Root: c.Root, Kind: string(c.Kind), Type: c.Type, Size: c.Size, Mode: c.Mode,
		During: slices.Clone(c.During), Conflict: c.Conflict, LinkBroken: c.LinkBroken,
	}
	if v.During == nil {
		v.During = []int{}
	}
	if valid := strings.ToValidUTF8(c.Path, "\ufffd"); valid != c.Path {
		v.Path, v.PathBytes = valid, []byte(c.Path)
	}
	return v
}

// Result returns what a commit or a discard did in its API form.
func Result(r *draft.Result) api.DraftResult {
	v := api.DraftResult{
		ID: r.ID, Paths: make([]api.Change, len(r.Paths)), Files: r.Files, Deleted: r.Deleted, Bytes: r.Bytes, Resumed: r.Resumed, Empty: r.Empty,
	}
	for i := range r.Paths {
		v.Paths[i] = change(&r.Paths[i].Change)
	}
	return v
}

// Note returns a line about a result for the audit log, with at most maxNote paths.
func Note(r *api.DraftResult) string {
	const maxNote = 100
	var b strings.Builder
	fmt.Fprintf(&b, "%d files, %d deleted:", r.Files, r.Deleted)
	for i := range r.Paths {
		if i == maxNote {
			fmt.Fprintf(&b, " and %d more", len(r.Paths)-i)
			break
		}
		p := &r.Paths[i]
		fmt.Fprintf(&b, " %s %q", p.Kind, filepath.Join(p.Root, p.Path))
	}
	return b.String()
}

// AuditRecord returns the audit log's record of a commit or a discard. kind is the event's.
func AuditRecord(by identity.Actor, id, name, kind string, r *api.DraftResult, failed error) audit.Record {
	note := kind + " " + r.ID + ": " + Note(r)
	if failed != nil {
		note += "; stopped: " + failed.Error()
	}
	return audit.Record{Actor: by, Kind: audit.Write, Session: id, Name: name, Path: "draft " + api.ShortID(id), Verdict: "allow", Note: note}
}
