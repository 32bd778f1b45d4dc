//go:build unix

package pagesocket

import (
	"maps"
	"math"
	"slices"

	"github.com/longterm-dev/longterm/render/termimage"
	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/web/wire"
	"github.com/longterm-dev/longterm/vterm"
)

const (
	// maxImageRequests is the number of image requests that may wait; the page uses half of it.
	maxImageRequests = 64
	// maxShown is the number of images of a screen that can be requested. An emulator keeps no more.
	maxShown = 1024
)

// decodeSlots bounds how many images are decoded at a time, of all pages: each takes tens of megabytes.
var decodeSlots = make(chan struct{}, 1)

// picture answers an image request. PNG is absent if the image is no longer shown or kept, or cannot be encoded.
type picture struct {
	T   string `json:"t"`
	K   string `json:"k"`
	PNG []byte `json:"png,omitempty"`
}

// showsImages records the images of a frame that was sent. The page can request these only.
func (p *sub) showsImages(f *vterm.Frame) {
	if f.Placed == nil && p.images == nil { // only this goroutine writes images
		return
	}
	shown := make(map[*vterm.Image]bool, len(f.Placed))
	for index := range f.Placed {
		if index < len(f.Images) && f.Images[index].Image != nil && len(shown) < maxShown {
			shown[f.Images[index].Image] = true
		}
	}
	p.mu.Lock()
	p.images = slices.Collect(maps.Keys(shown))
	p.mu.Unlock()
}

// imageRequest names an image: one that a subscription shows, or, if session is set, one of that session's screen or
// history, optionally at an offset.
type imageRequest struct{ key, session, at string }

// requestImage queues an image request. If the queue is full, the request is dropped.
func (c *conn) requestImage(m *wire.Message) {
	key, of, at, err := m.Image()
	if err != nil || len(key) > termimage.KeyLen {
		return
	}
	if c.imageRequests == nil {
		c.imageRequests = make(chan imageRequest, maxImageRequests)
		asked := c.imageRequests
		c.working.Go(func() { c.answerImages(asked) })
	}
	select {
	case c.imageRequests <- imageRequest{key, of, at}:
	default:
	}
}

// answerImages answers the requests one after another.
func (c *conn) answerImages(asked <-chan imageRequest) {
	var keys termimage.Keys
	var past pastImages
	for {
		select {
		case <-c.ctx.Done():
			return
		case w := <-asked:
			_ = c.send(picture{T: "img", K: w.key, PNG: c.image(w, &keys, &past)})
			if len(asked) == 0 {
				past = pastImages{}
			}
		}
	}
}

// image returns the image as PNG, or nil if it is unavailable.
func (c *conn) image(w imageRequest, keys *termimage.Keys, past *pastImages) []byte {
	var found *vterm.Image
	var err error
	if w.session == "" {
		found = c.shownImage(w.key, keys)
	} else {
		found, err = c.keptImage(w, keys, past)
	}
	if found == nil {
		c.srv.Log.Debug("image not found", "session", w.session, "at", w.at, "err", err)
		return nil
	}
	select {
	case decodeSlots <- struct{}{}:
		defer func() { <-decodeSlots }()
	case <-c.ctx.Done():
		return nil
	}
	b, err := termimage.PNG(found)
	if err != nil {
		c.srv.Log.Debug("image not encoded", "err", err)
	}
	return b
}

// shownImage returns an image that a subscription shows, or nil.
func (c *conn) shownImage(key string, keys *termimage.Keys) *vterm.Image {
	c.subsMu.Lock()
	subs := slices.Collect(maps.Values(c.subs))
	c.subsMu.Unlock()
	for _, p := range subs {
		p.mu.Lock()
		list := p.images
		p.mu.Unlock()
		if i := slices.IndexFunc(list, func(img *vterm.Image) bool { return keys.Key(img) == key }); i >= 0 {
			return list[i]
		}
	}
	return nil
}

// pastImages caches the images of one past screen and its history between requests. It is dropped when the queue is
// empty.
type pastImages struct {
	session, at string
	list        []vterm.Placement
}

// keptImage returns an image of a session's screen or history, or nil.
func (c *conn) keptImage(w imageRequest, keys *termimage.Keys, past *pastImages) (*vterm.Image, error) {
	e, err := c.srv.Host.Session(c.ctx, w.session)
	if err != nil {
		return nil, err
	}
	list := past.list
	if w.at == "" || w.session != past.session || w.at != past.at {
		var f vterm.Frame
		look := func(engine vterm.Engine) { engine.Frame(&f, vterm.Query{Since: math.MaxUint64}) }
		if w.at == "" {
			err = e.Session.WithScreen(c.ctx, func(v session.View) { look(v.Engine) })
		} else {
			_, err = c.emulatorAt(c.ctx, e, w.at, look)
		}
		if err != nil {
			return nil, err
		}
		if list = f.Images; w.at != "" {
			*past = pastImages{w.session, w.at, list}
		}
	}
	var last *vterm.Image // placements of one image stand side by side
	for i := range list {
		img := list[i].Image
		if img == nil || img == last {
			continue
		}
		if last = img; keys.Key(img) == w.key {
			return img, nil
		}
	}
	return nil, nil
}
