package view

import (
	"context"
	"time"

	"github.com/longterm-dev/longterm/render/view/overlays"
	"github.com/longterm-dev/longterm/render/view/panes"
)

// paneHost implements panes.Host.
type paneHost struct{ v *viewer }

func (h paneHost) Now() time.Time { return h.v.o.Now() }

func (h paneHost) Watch(session string, cols, rows int) panes.Stream {
	return h.v.src.Watch(h.v.ctx, session, cols, rows)
}

func (h paneHost) Spawn(f func(ctx context.Context)) { h.v.spawn(func() { f(h.v.ctx) }) }

func (h paneHost) After(d time.Duration, f func()) { h.v.after(d, f) }

// copyHost implements copymode.Host.
type copyHost struct{ v *viewer }

func (h copyHost) RunAsync(work func(ctx context.Context) func()) { h.v.runAsync(work) }
func (h copyHost) ShowMessage(text string)                        { h.v.message = text }
func (h copyHost) Ask(p *overlays.Prompt)                         { h.v.open(p) }
func (h copyHost) Copy(text string)                               { h.v.copy(text) }

// showMessage shows a text in the status bar until the next key.
func (v *viewer) showMessage(text string) { v.message = text }
