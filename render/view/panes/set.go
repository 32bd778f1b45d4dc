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

// Host is the part of the viewer that panes use.
type Host interface {
	// Watch opens a session's stream; 0×0 means no influence on its size.
	Watch(session string, cols, rows int) Stream
	// Spawn runs f on a new goroutine; ctx ends with the viewer.
	Spawn(f func(ctx context.Context))
	Now() time.Time
	// After runs f on the viewer's goroutine after d.
	After(d time.Duration, f func())
}

// Set holds the panes on the screen in reading order.
type Set struct {
	host          Host
	copy          copymode.Host
	history       copymode.History // nil means no history
	panes         []*Pane
	frames        chan Arrival
	separatorsFor string        // session next to which separators were last drawn
	framed        bool          // all panes have borders
	floatAreas    []layout.Rect // areas of floating panes
	preview       preview

	outer   vterm.Outer // description of the viewer's terminal (SetOuter)
	predict string      // when to draw local echo (Predict)
	unsent  []Unsent    // input that did not reach sessions

	pictures picture.Store
	decoding chan struct{} // held while an image is decoded
}

// New returns an empty set.
func New(host Host, copy copymode.Host, history copymode.History) *Set {
	return &Set{host: host, copy: copy, history: history, frames: make(chan Arrival), decoding: make(chan struct{}, 1)}
}

// Arrival is a frame or a requested image of a pane.
type Arrival struct {
	p *Pane
	f Frame

	key    string
	pixels *image.NRGBA // nil: a frame
}

// Apply shows the frame in its pane. rows reports that only rows and the cursor changed.
func (a Arrival) Apply() (rows bool) {
	if a.pixels != nil {
		a.p.keep(a.key, a.pixels)
		return false
	}
	return a.p.Apply(a.f)
}

// For reports whether the frame is for a session's pane.
func (a Arrival) For(session string) bool { return a.p.ID == session }

// RejectedInput reports whether typed input was rejected, with the session's id.
func (a Arrival) RejectedInput() (id string, rejected bool) { return a.p.ID, a.f.InputRejected }

// Effects returns the session's id, and the effects of its program since the last frame.
func (a Arrival) Effects() (id string, list []Effect) { return a.p.ID, a.f.Effects }

// Arrivals returns the channel of frames of all panes. The viewer's goroutine applies them.
func (s *Set) Arrivals() <-chan Arrival { return s.frames }

// SetOuter sends the description of the viewer's terminal to all sessions.
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
		p.stream.SendInput(Input{Outer: &o})
	}
}

// All returns the panes, in reading order.
func (s *Set) All() []*Pane { return s.panes }

// Get returns a session's pane, or nil if it is not on the screen.
func (s *Set) Get(id string) *Pane {
	for _, p := range s.panes {
		if p.ID == id {
			return p
		}
	}
	return nil
}

// At returns the pane at a position.
func (s *Set) At(x, y int) *Pane {
	for i := len(s.panes) - 1; i >= 0; i-- { // the topmost
		if s.panes[i].Area.Contains(x, y) {
			return s.panes[i]
		}
	}
	return nil
}

// Sizer returns the size that the viewer wants for a session in an area; 0×0 takes no part in its size policy.
type Sizer func(id string, in layout.Rect) (cols, rows int)

// Place shows sessions at these places: it opens new panes and closes removed ones.
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
	// Screens of another size are not reported until sessions had time to resize.
	now := s.host.Now()
	s.floatAreas = nil
	for i, p := range s.panes {
		p.placedAt = now
		p.covers = covering(places, i)
		if p.float {
			s.floatAreas = append(s.floatAreas, p.Area)
		}
	}
}

// Fit requests the sizes of all sessions.
func (s *Set) Fit(size Sizer) {
	for _, p := range s.panes {
		p.fit(p.wantedSize(size))
	}
}

// wantedSize returns the size to request. A folded pane shows nothing and requests none.
func (p *Pane) wantedSize(size Sizer) (cols, rows int) {
	if p.folded {
		return 0, 0
	}
	return size(p.ID, p.Inner())
}

// WantMotion reports whether a program requested mouse motion without buttons.
func (s *Set) WantMotion() bool {
	return slices.ContainsFunc(s.panes, func(p *Pane) bool { return p.modes.Mouse == vterm.MouseAny })
}

// open opens a pane, and a goroutine that passes its frames on.
func (s *Set) open(at layout.Place, size Sizer) *Pane {
	p := &Pane{set: s, ID: at.Session}
	p.place(at)
	p.Cols, p.Rows = p.wantedSize(size)
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
				case s.frames <- Arrival{p: p, f: f}:
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

// Unsent is input typed into a session that did not reach it before its pane closed.
type Unsent struct {
	ID    string
	Bytes int
}

// Unsent returns the input that did not reach sessions since the last call.
func (s *Set) Unsent() []Unsent {
	list := s.unsent
	s.unsent = nil
	return list
}
