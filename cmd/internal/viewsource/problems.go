//go:build unix

package viewsource

import (
	"context"
	"fmt"

	"github.com/longterm-dev/longterm/cmd/internal/places"
	"github.com/longterm-dev/longterm/render/view/model"
)

// placeEditor finds errors and opens the person's editor there.
type placeEditor struct {
	src    source
	host   string
	editor places.Editor
}

// Problems are the errors of a session that have a place in a file.
func (e placeEditor) Problems(ctx context.Context, id string) ([]model.Problem, error) {
	list, err := places.InSession(ctx, e.src.c, id, e.host)
	out := make([]model.Problem, len(list))
	for i := range list {
		p := &list[i]
		out[i] = model.Problem{File: p.File(), Line: p.Line, Column: p.Column, Message: p.Message, Ref: *p}
	}
	return out, err
}

// Edit opens the editor.
func (e placeEditor) Edit(ctx context.Context, p model.Problem) error {
	at, ok := p.Ref.(places.Place)
	if !ok {
		return fmt.Errorf("%s was not found here", p.Place())
	}
	return e.editor.Open(ctx, &at)
}
