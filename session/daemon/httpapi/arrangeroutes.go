//go:build unix

package httpapi

import (
	"context"

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
)

// maxLayout bounds a layout that is handed to viewers, in bytes.
const maxLayout = 256 << 10

// postArrange tells viewers how sessions are to stand. Sessions are named by id there, whatever they are called here.
func (s *Server) postArrange(ctx context.Context, in *struct{ Body api.Arrange }) (none, error) {
	a := in.Body
	if a.Do == "focus" || a.Do == "apply" { // keys would go elsewhere than the person thinks
		if err := asPerson(ctx, "moving the focus of viewers"); err != nil {
			return none{}, err
		}
		if by := actor.Of(ctx); by.IsAgent() {
			return none{}, api.Errorf(api.CodeDenied, "moving the focus of viewers is for a person, not for %s", by).WithHint("place shows a session and leaves the focus")
		}
	}
	if a.Do == "apply" {
		if len(a.Layout) == 0 || len(a.Layout) > maxLayout {
			return none{}, api.Errorf(api.CodeInvalid, "a layout of %d bytes", len(a.Layout)).WithHint("give one of at most %d, as `longterm layout dump` prints it", maxLayout)
		}
		s.reg.Bus.Send(api.Event{Kind: "arrange", Arrange: &a})
		return none{true}, nil
	}
	switch over := a.Float || a.Pinned; {
	case a.Do != "place" && (over || a.Stacked || a.Area != nil):
		return none{}, api.Errorf(api.CodeInvalid, "float, pinned, stacked and area are for place, not for %s", a.Do)
	case over && a.Stacked:
		return none{}, api.Errorf(api.CodeInvalid, "a pane that floats cannot be stacked").WithHint("give one of float, pinned and stacked")
	case a.Area != nil && !over:
		return none{}, api.Errorf(api.CodeInvalid, "an area is for panes that float").WithHint("say float or pinned as well")
	}
	e, err := s.reg.Resolve(a.Session)
	if err != nil {
		return none{}, err
	}
	a.Session = e.ID()
	if a.Beside != "" {
		beside, err := s.reg.Resolve(a.Beside)
		if err != nil {
			return none{}, err
		}
		a.Beside = beside.ID()
	}
	view := s.reg.Describe(e, e.Session.Status())
	s.reg.Bus.Send(api.Event{Kind: "arrange", Session: &view, Arrange: &a})
	return none{true}, nil
}
