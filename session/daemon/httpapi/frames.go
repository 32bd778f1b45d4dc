//go:build unix

package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// serveWatch sends a client the rows that change, as spans, and types what it does.
// The newest frame wins: a slow client skips those in between.
func (s *Server) serveWatch(w http.ResponseWriter, r *http.Request) {
	c, err := s.openStream(w, r)
	if err != nil {
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer c.leave(ctx)
	c.fit(ctx)
	go func() {
		defer cancel()
		c.act(ctx)
	}()
	c.bye(c.frames(ctx))
}

// frames sends a frame whenever something changed. It goes on after the session's
// end: the last screen stays worth looking at until the client leaves.
func (s *stream) frames(ctx context.Context) error {
	w := s.e.Session.Watch()
	defer w.Close()
	var since uint64
	var f vterm.Frame
	state := ""
	for {
		told := false // that something was taken, at least
		select {
		case <-w.Frames:
		case <-s.news:
			told = true
		case <-w.Done:
			return session.ErrStopped
		case <-ctx.Done():
			return ctx.Err()
		}
		var modes vterm.Modes
		set := s.srv.veil(ctx)
		if err := s.e.Session.Look(ctx, func(v session.View) {
			if set.Empty() {
				v.Engine.Frame(&f, vterm.Query{Since: since})
			} else { // a secret may go on in rows that did not change
				v.Engine.Frame(&f, vterm.Query{})
			}
			modes = v.Modes
		}); err != nil {
			return err
		}
		st := string(s.e.Session.Status().State)
		if f.Version == since && st == state && !told {
			continue
		}
		out := attach.Frame{Modes: modes, State: st}
		if s.news != nil {
			n := s.taken.Load()
			out.Taken = &n
		}
		set.Frame(&f, nil)
		render.FromFrame(&out.Screen, &f)
		if s.blocks != nil {
			s.blocks.Show(ctx, &out.Screen)
		}
		if actor.Of(ctx).IsAgent() {
			s.srv.hand(ctx, &out)
		}
		if err := s.sendJSON(&out); err != nil {
			return err
		}
		since, state = f.Version, st
	}
}

// act does what the client does.
func (s *stream) act(ctx context.Context) {
	for {
		_, b, err := s.ws.ReadMessage()
		if err != nil {
			return
		}
		var a attach.Act
		if json.Unmarshal(b, &a) != nil {
			continue
		}
		if vterm.ValidSize(a.Cols, a.Rows) && !s.readOnly {
			s.e.Clients.Active(s.seat, a.Cols, a.Rows)
			s.fit(ctx)
		}
		if t, ok := actTyping(&a); ok {
			if s.typeOnce(ctx, t) != nil {
				return
			}
		}
	}
}

func actTyping(a *attach.Act) (session.Typing, bool) {
	var t session.Typing
	switch {
	case a.Key != nil:
		t.Encode = func(dst []byte, v session.View) []byte { return input.AppendKey(dst, *a.Key, &v.Modes) }
	case a.Mouse != nil:
		t.Encode = func(dst []byte, v session.View) []byte { return input.AppendMouse(dst, *a.Mouse, &v.Modes) }
	case a.Paste != nil:
		t.Encode = func(dst []byte, v session.View) []byte { return input.AppendPaste(dst, []byte(*a.Paste), &v.Modes) }
	case a.Focus != nil:
		t.Encode = func(dst []byte, v session.View) []byte { return input.AppendFocus(dst, *a.Focus, &v.Modes) }
	case a.Text != "":
		t.Bytes = []byte(a.Text)
	default:
		return t, false
	}
	return t, true
}
