package copymode

import (
	"context"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/render/view/page"
)

// Host is what copy mode needs of the viewer.
type Host interface {
	// Beside runs work beside the viewer's loop, and then on the loop what it returns.
	Beside(work func(ctx context.Context) (then func()))
	// Say shows a text until the next key.
	Say(text string)
	// Ask has the person type a line.
	Ask(p *overlays.Prompt)
	// Copy hands text to the clipboard.
	Copy(text string)
}

// History is where rows that left the screen come from.
type History interface {
	// Tail is the screen with the newest rows of history before it.
	Tail(ctx context.Context, id string, rows int) (page.Page, error)
	// Older are rows before a row, the oldest first; none when there are none.
	Older(ctx context.Context, id string, before, rows int) ([]render.Line, error)
	// Commands are the newest commands of the session's shell, the oldest first.
	Commands(ctx context.Context, id string) ([]page.Command, error)
	// Output is what a command printed, as plain text; command 0 is the newest.
	Output(ctx context.Context, id string, command int) (string, error)
}
