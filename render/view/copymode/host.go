package copymode

import (
	"context"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/render/view/page"
)

// Host is the part of the viewer that copy mode uses.
type Host interface {
	// RunAsync runs work in the background, and then the function that it returned on the viewer's goroutine.
	RunAsync(work func(ctx context.Context) (then func()))
	// ShowMessage shows a text until the next key.
	ShowMessage(text string)
	// Ask prompts for a line.
	Ask(p *overlays.Prompt)
	// Copy hands text to the clipboard.
	Copy(text string)
}

// History provides the rows that left the screen.
type History interface {
	// Tail returns the screen, preceded by the newest rows of history.
	Tail(ctx context.Context, id string, rows int) (page.Page, error)
	// Older returns rows before a row, the oldest first, or none at the start.
	Older(ctx context.Context, id string, before, rows int) ([]render.Line, error)
	// Commands returns the newest commands of the session's shell, oldest first.
	Commands(ctx context.Context, id string) ([]page.Command, error)
	// Output returns a command's output as plain text; command 0 is the newest.
	Output(ctx context.Context, id string, command int) (string, error)
}
