//go:build unix

package viewsource

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/listing"
)

// Changes returns the file changes in a session's draft.
func (m multiHostSource) Changes(ctx context.Context, id string) (model.Draft, error) {
	h, id := m.hostOf(id)
	d, err := h.c.Session(id).Changes(ctx, 0)
	if err != nil {
		return model.Draft{}, err
	}
	v := model.Draft{ID: d.ID, Roots: d.Roots, Changes: make([]model.DraftChange, len(d.Changes))}
	for i := range d.Changes {
		v.Changes[i] = viewChange(&d.Changes[i], d.Roots)
	}
	return v, nil
}

// viewChange returns a change in the viewer's form.
func viewChange(c *api.Change, roots []string) model.DraftChange {
	v := model.DraftChange{Path: filepath.Join(cmp.Or(c.Root, roots[0]), c.Path), Name: output.ChangePath(c, roots), Kind: c.Kind}
	if c.Type == "file" {
		v.Size = listing.Size(c.Size)
	}
	if c.Conflict != nil {
		v.Conflict = output.Printable(*c.Conflict)
	}
	if c.LinkBroken {
		v.Note = "its other hard links keep the old content"
	}
	return v
}

// Diff returns the changes at a path as a unified diff.
func (m multiHostSource) Diff(ctx context.Context, id, path string) (string, error) {
	h, id := m.hostOf(id)
	d, err := h.c.Session(id).Diff(ctx, []string{path})
	return d.Text, err
}

// Commit implements view.Drafts.
func (m multiHostSource) Commit(ctx context.Context, id, expect string, paths []string) (model.DraftResult, error) {
	h, id := m.hostOf(id)
	r, err := h.c.Session(id).Commit(ctx, api.Commit{Paths: paths, Expect: expect})
	return model.DraftResult{Changes: len(r.Paths), Empty: r.Empty}, err
}

// Discard implements view.Drafts.
func (m multiHostSource) Discard(ctx context.Context, id string, paths []string) (model.DraftResult, error) {
	h, id := m.hostOf(id)
	r, err := h.c.Session(id).Discard(ctx, api.Discard{Paths: paths})
	return model.DraftResult{Changes: len(r.Paths), Empty: r.Empty}, err
}
