package view

import (
	"context"
	"time"

	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/render/view/panes"
)

// Source provides the sessions. Its methods are called from several goroutines; those with a context return when it
// ends.
type Source interface {
	// Sessions sends all sessions now and after every change, until ctx ends; then it closes the channel.
	Sessions(ctx context.Context) <-chan model.Update
	// Watch opens a stream of a session at a size in cells; 0×0 means no influence on its size. It does not block.
	Watch(ctx context.Context, id string, cols, rows int) panes.Stream
	// New starts a session and returns its id: a shell, or a shell line. It starts in the directory of session beside
	// (if not empty), or in dir relative to it.
	New(ctx context.Context, beside, dir, line string) (string, error)
	// Kill ends a session's process.
	Kill(ctx context.Context, id string) error
}

// SessionManager changes sessions.
type SessionManager interface {
	Restart(ctx context.Context, id string) error
	Rename(ctx context.Context, id, name string) error
	// SizeBy sets the size policy of a session: latest, largest, smallest, fixed.
	SizeBy(ctx context.Context, id, policy string) error
}

// Inspector provides details of sessions beyond the listed state, and actions on them.
type Inspector interface {
	// Details returns all details of a session, in display order.
	Details(ctx context.Context, id string) ([]model.Detail, error)
	// Summary returns a one-line summary of a session, whether it is on the screen or not.
	Summary(ctx context.Context, id string) (model.Summary, error)
	// Reply types a line into a session. A secret is rejected while the terminal would echo it.
	Reply(ctx context.Context, id, text string, secret bool) error
	DropRule(ctx context.Context, id, rule string) error
	StopJob(ctx context.Context, job string) error
	// LetType allows a client of the session, by its number, to type, or makes it view-only.
	LetType(ctx context.Context, id string, client int, types bool) error
}

// Editor provides the errors that sessions printed, and opens files at them.
type Editor interface {
	// Problems returns the errors of a session that have a file position, in order.
	Problems(ctx context.Context, id string) ([]model.Problem, error)
	// Edit opens the user's editor, which owns the terminal, and returns when it exits.
	Edit(ctx context.Context, p model.Problem) error
}

// Historian plays earlier states of sessions.
type Historian interface {
	// StartPlayback starts a session that plays another session's history, and returns its id.
	StartPlayback(ctx context.Context, id string) (string, error)
}

// Approver sends the user's answers to approval requests.
type Approver interface {
	Answer(ctx context.Context, ids []string, r overlays.Reply) error
}

// Inbox is the list of matters that need the user's attention, over all hosts.
type Inbox interface {
	// Entries returns the open entries, the most urgent first. If a host cannot be reached, it returns those of the others too.
	Entries(ctx context.Context) ([]model.InboxEntry, error)
	// AnswerEntry types a text, with Enter after it, into the program that asked the question of an entry.
	AnswerEntry(ctx context.Context, id, text string) error
	MarkDone(ctx context.Context, id string) error
	// Snooze hides an entry for a time.
	Snooze(ctx context.Context, id string, d time.Duration) error
}

// Drafts reads, commits and discards the file changes of sessions.
type Drafts interface {
	Changes(ctx context.Context, id string) (model.Draft, error)
	// Diff returns the changes at a path as a unified diff.
	Diff(ctx context.Context, id, path string) (string, error)
	// Commit applies the changes at paths, or all if paths is empty. It fails if the changes of the draft no longer
	// have the id expect.
	Commit(ctx context.Context, id, expect string, paths []string) (model.DraftResult, error)
	// Discard removes the changes at paths, or all if paths is empty.
	Discard(ctx context.Context, id string, paths []string) (model.DraftResult, error)
}

// Layouts stores arrangements of panes by name.
type Layouts interface {
	Names(ctx context.Context) ([]string, error)
	// Load returns nil without an error if no layout has that name.
	Load(ctx context.Context, name string) ([]byte, error)
	Save(ctx context.Context, name string, layout []byte) error
}

// Clipboard is the system clipboard, in addition to the terminal's.
type Clipboard interface {
	Copy(ctx context.Context, text string) error
}
