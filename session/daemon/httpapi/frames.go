//go:build unix

package httpapi

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/termimage"
	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/secrets"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// serveWatch sends a client the rows that change, as spans, and types what it does.
// The newest frame wins: a slow client skips those in between.
func (s *Server) serveWatch(w http.ResponseWriter, r *http.Request) {
	c, err := s.openStream(w, r, viewerKind)
	if err != nil {
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer c.leave(ctx)
	c.fit(ctx)
	if c.blocks != nil && c.blocks.Pictures {
		c.pictures = &pictures{asked: make(chan string, maxAsked)}
		go c.sendPictures(ctx)
	}
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
	_, effects := s.e.Session.Effects(0)
	var f vterm.Frame
	var writer attach.FrameWriter
	var text []byte
	state := ""
	for {
		told, held := false, false // that something was taken, at least; that nothing was
		select {
		case <-w.Frames:
		case <-s.news:
			told = true
		case <-s.held:
			told, held = true, true
		case <-w.Done:
			return session.ErrStopped
		case <-ctx.Done():
			return ctx.Err()
		}
		var modes vterm.Modes
		var above []vterm.Line
		set := s.srv.veil(ctx)
		if err := s.e.Session.Look(ctx, func(v session.View) {
			if set.Empty() {
				v.Engine.Frame(&f, vterm.Query{Since: since})
			} else { // a secret may go on in rows that did not change
				above = secrets.Above(v.Engine)
				v.Engine.Frame(&f, vterm.Query{})
			}
			modes = v.Modes
		}); err != nil {
			return err
		}
		st := string(s.e.Session.Status().State)
		out := attach.Frame{Modes: modes, State: st, Held: held}
		out.Effects, effects = effectsOf(s.e.Session, effects)
		if f.Version == since && st == state && !told && len(out.Effects) == 0 {
			continue
		}
		if s.news != nil {
			n := s.taken.Load()
			out.Taken = &n
			s.told.Store(n)
		}
		set.Frame(&f, above)
		render.FromFrame(&out.Screen, &f)
		if s.blocks != nil {
			s.blocks.Show(ctx, &out.Screen)
			s.pictures.shows(&f)
		}
		if actor.Of(ctx).IsAgent() || !set.Empty() {
			s.srv.hand(ctx, &out)
		}
		b, err := writer.Append(text[:0], &out)
		if err != nil {
			return err
		}
		text = b
		if err := s.send(websocket.TextMessage, text); err != nil {
			return err
		}
		since, state = f.Version, st
	}
}

// effectsOf returns the effects of a session's program from number since on, and the number of the next one.
func effectsOf(s *session.Session, since uint64) (list []attach.Effect, next uint64) {
	events, next := s.Effects(since)
	for i := range events {
		e := attach.Effect{Kind: attach.EffectBell, Title: events[i].Name, Text: events[i].Text}
		switch events[i].Kind {
		case vterm.EventNotify:
			e.Kind = attach.EffectNotify
		case vterm.EventClipboard:
			e.Kind = attach.EffectClipboard
		}
		list = append(list, e)
	}
	return list, next
}

// act does what the client does.
func (s *stream) act(ctx context.Context) {
	for {
		_, b, err := s.ws.ReadMessage()
		if err != nil {
			return
		}
		a, err := attach.ReadAct(b)
		if err != nil {
			continue
		}
		if vterm.ValidSize(a.Cols, a.Rows) && !s.readOnly {
			s.e.Clients.Active(s.seat, a.Cols, a.Rows)
			s.fit(ctx)
		}
		s.setOuter(ctx, a.Outer)
		if a.Picture != "" {
			s.pictures.ask(a.Picture)
		}
		if t, ok := actTyping(&a); ok {
			now := time.Now()
			if a.Focus != nil { // by the terminal, not by its person
				now = time.Time{}
			}
			if s.typeOnce(ctx, t, now) != nil {
				return
			}
		}
	}
}

// setOuter passes the description of the client's terminal to the session, if the client may type. The newest counts.
func (s *stream) setOuter(ctx context.Context, o *vterm.Outer) {
	if o != nil && !s.readOnly {
		_ = s.e.Session.SetOuter(ctx, *o) // an ended session ignores it
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

const (
	// maxAsked is how many images a client may have asked for and not have got.
	maxAsked = 64
	// maxShown is how many images of a screen can be asked for. An emulator keeps no more.
	maxShown = 1024
)

// decoding bounds how many images are decoded at a time, of all streams: each takes tens of megabytes.
var decoding = make(chan struct{}, 1)

// pictures are the images of a stream whose client draws them itself. It asks by their keys for those that the screen or its
// history shows, and is answered with a message of bytes: the key, then a PNG, which is missing where the image is not
// there any more, or is none.
type pictures struct {
	asked chan string

	mu    sync.Mutex // guards shown
	shown []*vterm.Image
}

// shows notes which images can be asked for; nil: none can.
func (p *pictures) shows(f *vterm.Frame) {
	if p == nil {
		return
	}
	shown := make(map[*vterm.Image]bool, len(f.Placed))
	for index := range f.Placed {
		if index < len(f.Images) && f.Images[index].Image != nil && len(shown) < maxShown {
			shown[f.Images[index].Image] = true
		}
	}
	p.mu.Lock()
	p.shown = slices.Collect(maps.Keys(shown))
	p.mu.Unlock()
}

// ask queues that the client wants an image. What is too much is not answered.
func (p *pictures) ask(key string) {
	if p == nil || len(key) != termimage.KeyLen {
		return
	}
	select {
	case p.asked <- key:
	default:
	}
}

// find is an image that is shown; nil: it is not.
func (p *pictures) find(keys *termimage.Keys, key string) *vterm.Image {
	p.mu.Lock()
	list := p.shown
	p.mu.Unlock()
	if i := slices.IndexFunc(list, func(img *vterm.Image) bool { return keys.Of(img) == key }); i >= 0 {
		return list[i]
	}
	return nil
}

// findAbove is an image that was shown at some time and is kept; nil: there is none.
func (s *stream) findAbove(ctx context.Context, keys *termimage.Keys, key string) *vterm.Image {
	var f vterm.Frame
	if s.e.Session.Look(ctx, func(v session.View) { v.Engine.Frame(&f, vterm.Query{Since: v.Engine.Version()}) }) != nil {
		return nil
	}
	seen := map[*vterm.Image]bool{}
	for i := range f.Images {
		img := f.Images[i].Image
		if img == nil || seen[img] {
			continue
		}
		seen[img] = true
		if keys.Of(img) == key {
			return img
		}
	}
	return nil
}

// sendPictures answers what is asked for, one after the other, until ctx ends.
func (s *stream) sendPictures(ctx context.Context) {
	var keys termimage.Keys
	for {
		select {
		case <-ctx.Done():
			return
		case key := <-s.pictures.asked:
			b := []byte(key)
			img := s.pictures.find(&keys, key)
			if img == nil {
				img = s.findAbove(ctx, &keys, key)
			}
			if img != nil {
				png, err := s.picture(ctx, img)
				if err != nil {
					s.srv.log.Debug("an image that is none", "err", err)
				}
				b = append(b, png...)
			}
			if s.send(websocket.BinaryMessage, b) != nil {
				return // who reads from the client notices, too
			}
		}
	}
}

// picture is an image as PNG, in turn with others.
func (s *stream) picture(ctx context.Context, img *vterm.Image) ([]byte, error) {
	select {
	case decoding <- struct{}{}:
		defer func() { <-decoding }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return termimage.PNG(img)
}
