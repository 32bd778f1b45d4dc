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
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// serveWatch sends changed rows as spans and types the client's input. The newest frame wins: a slow client skips those
// in between.
func (s *Server) serveWatch(w http.ResponseWriter, r *http.Request) {
	c, err := s.openStream(w, r, viewerKind)
	if err != nil {
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer c.leave(ctx)
	c.applySize(ctx)
	if c.blocks != nil && c.blocks.Images {
		c.pictures = &pictures{requests: make(chan string, maxImageRequests)}
		go c.sendPictures(ctx)
	}
	go func() {
		defer cancel()
		c.handleMessages(ctx)
	}()
	c.sendEnd(c.frames(ctx))
}

// frames sends a frame after each change. It continues after the session's end until the client leaves, so the last
// screen stays visible.
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
		case <-s.acceptedC:
			told = true
		case <-s.rejectedC:
			told, held = true, true
		case <-w.Done:
			return session.ErrStopped
		case <-ctx.Done():
			return ctx.Err()
		}
		var modes vterm.Modes
		var above []vterm.Line
		set := s.srv.redactorFor(ctx)
		if err := s.e.Session.WithScreen(ctx, func(v session.View) {
			if set.Empty() {
				v.Engine.Frame(&f, vterm.Query{Since: since})
			} else { // a secret may continue in unchanged rows
				above = redact.LinesAbove(v.Engine)
				v.Engine.Frame(&f, vterm.Query{})
			}
			modes = v.Modes
		}); err != nil {
			return err
		}
		st := string(s.e.Session.Status().State)
		out := attach.Frame{Modes: modes, State: st, IsViewOnly: held}
		out.Effects, effects = effectsOf(s.e.Session, effects)
		if f.Version == since && st == state && !told && len(out.Effects) == 0 {
			continue
		}
		if s.acceptedC != nil {
			n := s.accepted.Load()
			out.Accepted = &n
			s.acked.Store(n)
		}
		set.RedactFrame(&f, above)
		render.FromFrame(&out.Screen, &f)
		if s.blocks != nil {
			s.blocks.Show(ctx, &out.Screen)
			s.pictures.shows(&f)
		}
		if identity.Of(ctx).IsAgent() || !set.Empty() {
			s.srv.prepareAnswer(ctx, &out)
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

// handleMessages handles the client's messages.
func (s *stream) handleMessages(ctx context.Context) {
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
			s.e.Clients.NoteActivity(s.client, a.Cols, a.Rows)
			s.applySize(ctx)
		}
		s.setOuter(ctx, a.Outer)
		if a.Picture != "" {
			s.pictures.ask(a.Picture)
		}
		if t, ok := actTyping(&a); ok {
			now := time.Now()
			if a.Focus != nil { // sent by the terminal, not typed by the user
				now = time.Time{}
			}
			if s.typeOnce(ctx, t, now) != nil {
				return
			}
		}
	}
}

// setOuter passes the description of the client's terminal to the session, if the client may type. The newest
// description counts.
func (s *stream) setOuter(ctx context.Context, o *vterm.Outer) {
	if o != nil && !s.readOnly {
		_ = s.e.Session.SetOuter(ctx, *o) // an ended session ignores it
	}
}

// actTyping returns the input in a client's message, if it has any.
func actTyping(a *attach.Act) (session.TypeRequest, bool) {
	var t session.TypeRequest
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
	// maxImageRequests bounds the image requests that wait.
	maxImageRequests = 64
	// maxShownImages bounds the images of a screen that can be requested. An emulator keeps no more.
	maxShownImages = 1024
)

// decodeSlots bounds how many images are decoded at a time, of all streams: each takes tens of megabytes.
var decodeSlots = make(chan struct{}, 1)

// pictures serves the images of a stream whose client draws them. The client requests images of the screen or its
// history by key. The answer is a binary message: the key, then a PNG, which is missing if the image is gone or not
// decodable.
type pictures struct {
	requests chan string

	mu    sync.Mutex // guards shown
	shown []*vterm.Image
}

// shows records the images that can be requested; p may be nil.
func (p *pictures) shows(f *vterm.Frame) {
	if p == nil {
		return
	}
	shown := make(map[*vterm.Image]bool, len(f.Placed))
	for index := range f.Placed {
		if index < len(f.Images) && f.Images[index].Image != nil && len(shown) < maxShownImages {
			shown[f.Images[index].Image] = true
		}
	}
	p.mu.Lock()
	p.shown = slices.Collect(maps.Keys(shown))
	p.mu.Unlock()
}

// ask queues the client's request for an image. Requests beyond the queue are dropped.
func (p *pictures) ask(key string) {
	if p == nil || len(key) != termimage.KeyLen {
		return
	}
	select {
	case p.requests <- key:
	default:
	}
}

// find returns an image of the screen, or nil.
func (p *pictures) find(keys *termimage.Keys, key string) *vterm.Image {
	p.mu.Lock()
	list := p.shown
	p.mu.Unlock()
	if i := slices.IndexFunc(list, func(img *vterm.Image) bool { return keys.Key(img) == key }); i >= 0 {
		return list[i]
	}
	return nil
}

// findAbove returns an image of the history, or nil.
func (s *stream) findAbove(ctx context.Context, keys *termimage.Keys, key string) *vterm.Image {
	var f vterm.Frame
	if s.e.Session.WithScreen(ctx, func(v session.View) { v.Engine.Frame(&f, vterm.Query{Since: v.Engine.Version()}) }) != nil {
		return nil
	}
	seen := map[*vterm.Image]bool{}
	for i := range f.Images {
		img := f.Images[i].Image
		if img == nil || seen[img] {
			continue
		}
		seen[img] = true
		if keys.Key(img) == key {
			return img
		}
	}
	return nil
}

// sendPictures answers requests one after another until ctx ends.
func (s *stream) sendPictures(ctx context.Context) {
	var keys termimage.Keys
	for {
		select {
		case <-ctx.Done():
			return
		case key := <-s.pictures.requests:
			b := []byte(key)
			img := s.pictures.find(&keys, key)
			if img == nil {
				img = s.findAbove(ctx, &keys, key)
			}
			if img != nil {
				png, err := s.encodePicture(ctx, img)
				if err != nil {
					s.srv.log.Debug("image not encoded", "err", err)
				}
				b = append(b, png...)
			}
			if s.send(websocket.BinaryMessage, b) != nil {
				return // the reading side notices too
			}
		}
	}
}

// encodePicture encodes an image as PNG; concurrent calls wait.
func (s *stream) encodePicture(ctx context.Context, img *vterm.Image) ([]byte, error) {
	select {
	case decodeSlots <- struct{}{}:
		defer func() { <-decodeSlots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return termimage.PNG(img)
}
