//go:build unix

package viewsource

import (
	"context"
	"fmt"

	"github.com/longterm-dev/longterm/cmd/internal/sourcepos"
	"github.com/longterm-dev/longterm/render/view/model"
)

// placeEditor finds errors and opens the user's editor there.
type placeEditor struct {
	src    source
	host   string
	editor sourcepos.Editor
}

// Problems returns the errors in a session's output that have a file and line.
func (e placeEditor) Problems(ctx context.Context, id string) ([]model.Problem, error) {
	list, err := sourcepos.InSession(ctx, e.src.c, id, e.host)
	out := make([]model.Problem, len(list))
	for i := range list {
		p := &list[i]
		out[i] = model.Problem{File: p.File(), Line: p.Line, Column: p.Column, Message: p.Message, Ref: *p}
	}
	return out, err
}

// Edit opens the editor.
func (e placeEditor) Edit(ctx context.Context, p model.Problem) error {
	at, ok := p.Ref.(sourcepos.Place)
	if !ok {
		return fmt.Errorf("%s was not found here", p.Place())
	}
	return e.editor.Open(ctx, &at)
}
