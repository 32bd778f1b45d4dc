//go:build unix

package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// Sessions starts, describes and removes the worktrees of sessions for a verb.
type Sessions struct {
	Host   string // of the verb's sessions; empty: this host
	Agent  string // label of the calling agent; empty: a user
	Stderr io.Writer
}

// maxTries bounds the names that are tried for a session without a name.
const maxTries = 1000

// Start starts a session in a new worktree of the repository that has the request's directory. With an empty branch
// the branch is named after the session, and a session without a name is named after the branch. If the session does not start, the worktree is removed.
func (w *Sessions) Start(ctx context.Context, c *client.Client, n api.NewSession, branch string) (api.Session, error) {
	if w.Host != "" {
		return api.Session{}, exit.Usagef("--worktree requires a session on this host, not on %s", w.Host)
	}
	if len(n.Draft) > 0 {
		return api.Session{}, exit.Usagef("--draft and worktrees exclude each other: a worktree already keeps changes apart")
	}
	if branch == SessionBranch {
		branch = ""
	}
	named, base := n.Name != "", n.Name
	if !named {
		base = strings.ReplaceAll(branch, "/", "-")
	}
	if base == "" {
		base = "worktree"
	}
	labels := n.Labels
	all, err := c.List(ctx)
	if err != nil {
		return api.Session{}, err
	}
	isUnused := func(dir string) bool {
		return !slices.ContainsFunc(all, func(s api.Session) bool { return s.Labels[LabelDir] == dir })
	}
	for i := 1; ; i++ {
		n.Name = base
		if i > 1 {
			n.Name += "-" + strconv.Itoa(i)
		}
		t, err := Add(ctx, n.Cwd, n.Name, branch, isUnused)
		if errors.Is(err, ErrExists) && !named && branch == "" && i < maxTries {
			continue
		}
		if err != nil {
			return api.Session{}, err
		}
		in := n
		in.Cwd, in.Labels = t.Cwd, WithLabels(labels, t.Labels())
		s, err := c.NewSession(ctx, in)
		if err == nil {
			return s, nil
		}
		if cleanup := t.Remove(context.WithoutCancel(ctx), false); cleanup != nil {
			return s, errors.Join(err, cleanup)
		}
		var rejected *api.Error
		if errors.As(err, &rejected) && rejected.Code == api.CodeNameTaken && !named && i < maxTries {
			continue
		}
		return s, exit.FromPolicy(err)
	}
}

// WithLabels returns the labels of both maps. Those of more count.
func WithLabels(labels, more map[string]string) map[string]string {
	all := maps.Clone(labels)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, more)
	return all
}

// Of returns the worktree of a session. It returns false for a user if an agent started the session: its labels may name any
// repository, and git runs programs of a repository's configuration.
func (w *Sessions) Of(s *api.Session) (Tree, bool) {
	if w.Host != "" || s.Agent != "" && w.Agent == "" {
		return Tree{}, false
	}
	return FromLabels(s.Labels)
}

// Remove removes the worktree of a removed session. It keeps one with uncommitted changes, unless discard is set, and
// prints that.
func (w *Sessions) Remove(ctx context.Context, s *api.Session, discard bool) error {
	t, ok := w.Of(s)
	if !ok {
		return nil
	}
	err := t.Remove(ctx, discard)
	if errors.Is(err, ErrChanged) || errors.Is(err, ErrUnreachableCommits) {
		fmt.Fprintf(w.Stderr, "%s: worktree kept, it has %v; remove it with `git worktree remove --force %s`\n",
			output.Printable(s.Name), err, output.Printable(t.Dir))
		return nil
	}
	return err
}

// SessionInfo is a session with the state of its worktree, if it has one.
type SessionInfo struct {
	api.Session
	Worktree *Status `json:"worktree,omitempty"`
}

// Info returns a session with the state of its worktree. It omits a worktree that cannot be read.
func (w *Sessions) Info(ctx context.Context, s api.Session) SessionInfo {
	i := SessionInfo{Session: s}
	if t, ok := w.Of(&s); ok {
		if st, err := t.Status(ctx); err == nil {
			i.Worktree = &st
		}
	}
	return i
}

// Text describes a worktree in a line.
func Text(dir string, st *Status) string {
	if st.Missing {
		return dir + " (missing)"
	}
	parts := []string{"branch " + st.Branch}
	if st.Branch == "" {
		parts[0] = "no branch"
	}
	if st.Ahead > 0 {
		parts = append(parts, fmt.Sprintf("%d ahead", st.Ahead))
	}
	if st.Behind > 0 {
		parts = append(parts, fmt.Sprintf("%d behind", st.Behind))
	}
	switch st.Changed {
	case 0:
		parts = append(parts, "clean")
	case 1:
		parts = append(parts, "1 file changed")
	default:
		parts = append(parts, fmt.Sprintf("%d files changed", st.Changed))
	}
	return filepath.Clean(dir) + " (" + strings.Join(parts, ", ") + ")"
}
