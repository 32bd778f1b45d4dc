package panes

import (
	"context"
	"image"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/render/view/copymode"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/picture"
	"github.com/longterm-dev/longterm/vterm"
)

// Host is what panes need of the viewer.
type Host interface {
	// Watch opens a session's stream; 0×0 has no say in its size.
	Watch(session string, cols, rows int) Stream
	// Spawn runs f on a goroutine of its own; ctx ends with the viewer.
	Spawn(f func(ctx context.Context))
	Now() time.Time
	// After runs f on the viewer's goroutine in some time.
	After(d time.Duration, f func())
}

// Set is the panes on the screen, in reading order.
type Set struct {
	host    Host
	copy    copymode.Host
	history copymode.History // nil: there is none
	panes   []*Pane
	frames  chan Arrived
	lined   string // session beside which separators were last drawn
	framed  bool   // all have borders
	over    []layout.Rect
	preview preview

	outer   vterm.Outer // see SetOuter
	predict string      // see Predict
	unsent  []Unsent    // see Unsent

	pictures picture.Store
	decoding chan struct{} // taken by who decodes an image
}

// New is no pane yet.
func New(host Host, copy copymode.Host, history copymode.History) *Set {
	return &Set{host: host, copy: copy, history: history, frames: make(chan Arrived), decoding: make(chan struct{}, 1)}
}

// Arrived is a frame with the pane it is for, or an image that one has asked for.
type Arrived struct {
	p *Pane
	f Frame

	key    string
	pixels *image.NRGBA // nil: a frame
}

// Apply has the pane show the frame. rows: nothing is to be drawn for it but rows, and the cursor.
func (a Arrived) Apply() (rows bool) {
	if a.pixels != nil {
		a.p.keep(a.key, a.pixels)
		return false
	}
	return a.p.Apply(a.f)
}

// For says that it is for a session's pane.
func (a Arrived) For(session string) bool { return a.p.ID == session }

// Held says that what was typed did not reach the session, whose id it is.
func (a Arrived) Held() (id string, held bool) { return a.p.ID, a.f.Held }

// Effects returns the session's id, and the effects of its program since the last frame.
func (a Arrived) Effects() (id string, list []Effect) { return a.p.ID, a.f.Effects }

// Arriving are the frames of all panes. They are applied on the viewer's goroutine.
func (s *Set) Arriving() <-chan Arrived { return s.frames }

// SetOuter sends the description of the terminal that the viewer is on to all sessions.
func (s *Set) SetOuter(o vterm.Outer) {
	if o == s.outer {
		return
	}
	s.outer = o
	for _, p := range s.panes {
		p.sendOuter()
	}
}

// sendOuter sends the description of the terminal to the pane's session. Each connection needs it: the daemon may have restarted.
func (p *Pane) sendOuter() {
	if o := p.set.outer; o != (vterm.Outer{}) {
		p.stream.Act(Input{Outer: &o})
	}
}

// All are the panes, in reading order.
func (s *Set) All() []*Pane { return s.panes }

// Get is a session's pane; nil: it is not on the screen.
func (s *Set) Get(id string) *Pane {
	for _, p := range s.panes {
		if p.ID == id {
			return p
		}
	}
	return nil
}

// At is the pane at a position.
func (s *Set) At(x, y int) *Pane {
	for i := len(s.panes) - 1; i >= 0; i-- { // the topmost
		if s.panes[i].Area.Contains(x, y) {
			return s.panes[i]
		}
	}
	return nil
}

// Sizer is the size that the viewer wants for a session in an area; 0×0: it has no say.
type Sizer func(id string, in layout.Rect) (cols, rows int)

// Place has these sessions on the screen: it opens what is new and closes what is gone.
func (s *Set) Place(places []layout.Place, size Sizer) {
	old := s.panes
	s.panes = nil
	for _, pl := range places {
		at := slices.IndexFunc(old, func(p *Pane) bool { return p.ID == pl.Session })
		if at < 0 {
			s.panes = append(s.panes, s.open(pl, size))
			continue
		}
		p := old[at]
		old = slices.Delete(old, at, at+1)
		p.place(pl)
		s.panes = append(s.panes, p)
	}
	for _, p := range old {
		s.close(p)
	}
	// Until sessions have followed, a screen of another size is nothing to tell of.
	now := s.host.Now()
	s.over = nil
	for i, p := range s.panes {
		p.placedAt = now
		p.above = covering(places, i)
		if p.float {
			s.over = append(s.over, p.Area)
		}
	}
}

// Fit asks for the sizes of all.
func (s *Set) Fit(size Sizer) {
	for _, p := range s.panes {
		p.fit(p.wanted(size))
	}
}

// wanted is the size that the session shall have. Of one that is folded nothing is shown that would need any.
func (p *Pane) wanted(size Sizer) (cols, rows int) {
	if p.folded {
		return 0, 0
	}
	return size(p.ID, p.Inner())
}

// WantMotion reports that a program wants to know of mere motion of the mouse.
func (s *Set) WantMotion() bool {
	return slices.ContainsFunc(s.panes, func(p *Pane) bool { return p.modes.Mouse == vterm.MouseAny })
}

// open opens a pane and a goroutine that hands its frames over.
func (s *Set) open(at layout.Place, size Sizer) *Pane {
	p := &Pane{set: s, ID: at.Session}
	p.place(at)
	p.Cols, p.Rows = p.wanted(size)
	p.stream = s.host.Watch(at.Session, p.Cols, p.Rows)
	p.sendOuter()
	frames := p.stream.Frames()
	s.host.Spawn(func(ctx context.Context) {
		for {
			select {
			case <-ctx.Done():
				return
			case f, ok := <-frames:
				if !ok {
					return
				}
				select {
				case s.frames <- Arrived{p: p, f: f}:
				case <-ctx.Done():
					return
				}
			}
		}
	})
	return p
}

// Close closes all streams.
func (s *Set) Close() {
	for _, p := range s.panes {
		s.close(p)
	}
	s.StopPreview()
}

func (s *Set) close(p *Pane) {
	if n := p.stream.Close(); n > 0 {
		s.unsent = append(s.unsent, Unsent{p.ID, n})
	}
}

// Unsent is what was typed into a session whose pane is gone, and did not reach it.
type Unsent struct {
	ID    string
	Bytes int
}

// Unsent is what did not reach sessions since the last call.
func (s *Set) Unsent() []Unsent {
	list := s.unsent
	s.unsent = nil
	return list
}
