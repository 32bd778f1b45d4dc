package view

import (
	"context"

	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/render/view/panes"
)

// Source is where sessions come from. Its methods are called from several goroutines;
// those with a context return when it ends.
type Source interface {
	// Sessions sends the whole list now and after every change, until ctx ends; then it
	// closes the channel.
	Sessions(ctx context.Context) <-chan model.Update
	// Watch shows a session at a size in cells; 0×0 has no say in its size. It does not
	// block.
	Watch(ctx context.Context, id string, cols, rows int) panes.Stream
	// New starts a session, in the directory of another one if there is one, and returns
	// its id. It is a shell, or a line that a shell runs. A directory that is given counts
	// from that one.
	New(ctx context.Context, beside, dir, line string) (string, error)
	// Kill ends a session's process.
	Kill(ctx context.Context, id string) error
}

// Steward changes sessions.
type Steward interface {
	Restart(ctx context.Context, id string) error
	Rename(ctx context.Context, id, name string) error
	// SizeBy says whose size the session takes: latest, largest, smallest, fixed.
	SizeBy(ctx context.Context, id, policy string) error
}

// Inspector tells more of sessions than is shown all the time, and does what follows from it.
type Inspector interface {
	// Details are all that is known of a session, in the order in which it is shown.
	Details(ctx context.Context, id string) ([]model.Detail, error)
	// Glance is a session in a line, whether it is on the screen or not.
	Glance(ctx context.Context, id string) (model.Glance, error)
	// Reply types a line into a session; a secret one is refused while it would be shown.
	Reply(ctx context.Context, id, text string, secret bool) error
	DropRule(ctx context.Context, id, rule string) error
	StopJob(ctx context.Context, job string) error
	// LetType has who shows a session, by its number, type there, or look only.
	LetType(ctx context.Context, id string, client int, types bool) error
}

// Editor knows the errors that sessions printed, and opens files there.
type Editor interface {
	// Problems are the errors of a session that have a place in a file, in order.
	Problems(ctx context.Context, id string) ([]model.Problem, error)
	// Edit opens the person's editor on the terminal, which is nobody else's meanwhile, and returns when that ends.
	Edit(ctx context.Context, p model.Problem) error
}

// Historian shows what sessions showed before.
type Historian interface {
	// Past starts a session in which another one is looked back at, and returns its id.
	Past(ctx context.Context, id string) (string, error)
}

// Approver hands on what a person answers to those who ask for an approval.
type Approver interface {
	Answer(ctx context.Context, ids []string, r overlays.Reply) error
}

// Layouts keeps arrangements of panes by name.
type Layouts interface {
	Names(ctx context.Context) ([]string, error)
	// Load is nil without an error when there is none of that name.
	Load(ctx context.Context, name string) ([]byte, error)
	Save(ctx context.Context, name string, layout []byte) error
}

// Clipboard is the system's, where there is one besides the terminal's own.
type Clipboard interface {
	Copy(ctx context.Context, text string) error
}
