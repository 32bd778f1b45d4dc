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
	// maxAsked is how many images a page may have asked for and not have got; the page keeps to half of it.
	maxAsked = 64
	// maxShown is how many images of a screen can be asked for. An emulator keeps no more.
	maxShown = 1024
)

// decoding bounds how many images are decoded at a time, of all pages: each takes tens of megabytes.
var decoding = make(chan struct{}, 1)

// picture answers a page that wants an image. PNG is absent where there is none: it is not shown or kept any more, or is none.
type picture struct {
	T   string `json:"t"`
	K   string `json:"k"`
	PNG []byte `json:"png,omitempty"`
}

// showsImages notes which images can be asked for: those that the page was shown, and no others.
func (p *sub) showsImages(f *vterm.Frame) {
	if f.Placed == nil && p.images == nil { // nobody else writes it
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

// wanted is an image that the page asked for: one that a subscription shows, or, of a session that is named, one that its
// screen or history has, at a moment too.
type wanted struct{ key, session, at string }

// wantsImage queues that the page asked for an image. What is too much is not answered.
func (c *conn) wantsImage(m *wire.Message) {
	key, of, at, err := m.Image()
	if err != nil || len(key) > termimage.KeyLen {
		return
	}
	if c.asked == nil {
		c.asked = make(chan wanted, maxAsked)
		asked := c.asked
		c.working.Go(func() { c.answersImages(asked) })
	}
	select {
	case c.asked <- wanted{key, of, at}:
	default:
	}
}

// answersImages sends what was asked for, one after the other.
func (c *conn) answersImages(asked <-chan wanted) {
	var keys termimage.Keys
	var past pastImages
	for {
		select {
		case <-c.ctx.Done():
			return
		case w := <-asked:
			_ = c.say(picture{T: "img", K: w.key, PNG: c.image(w, &keys, &past)})
			if len(asked) == 0 {
				past = pastImages{}
			}
		}
	}
}

// image is one as PNG; nil: there is none.
func (c *conn) image(w wanted, keys *termimage.Keys, past *pastImages) []byte {
	var found *vterm.Image
	var err error
	if w.session == "" {
		found = c.shownImage(w.key, keys)
	} else {
		found, err = c.keptImage(w, keys, past)
	}
	if found == nil {
		c.srv.Log.Debug("an image that is not there", "session", w.session, "at", w.at, "err", err)
		return nil
	}
	select {
	case decoding <- struct{}{}:
		defer func() { <-decoding }()
	case <-c.ctx.Done():
		return nil
	}
	b, err := termimage.PNG(found)
	if err != nil {
		c.srv.Log.Debug("an image that is none", "err", err)
	}
	return b
}

// shownImage is one that a subscription shows.
func (c *conn) shownImage(key string, keys *termimage.Keys) *vterm.Image {
	c.subsMu.Lock()
	subs := slices.Collect(maps.Values(c.subs))
	c.subsMu.Unlock()
	for _, p := range subs {
		p.mu.Lock()
		list := p.images
		p.mu.Unlock()
		if i := slices.IndexFunc(list, func(img *vterm.Image) bool { return keys.Of(img) == key }); i >= 0 {
			return list[i]
		}
	}
	return nil
}

// pastImages are those of a past screen and its history, which is not made anew for each of them. They are forgotten once
// nothing more is asked for.
type pastImages struct {
	session, at string
	list        []vterm.Placement
}

// keptImage is one that a session's screen or history has.
func (c *conn) keptImage(w wanted, keys *termimage.Keys, past *pastImages) (*vterm.Image, error) {
	e, err := c.srv.Host.Session(c.ctx, w.session)
	if err != nil {
		return nil, err
	}
	list := past.list
	if w.at == "" || w.session != past.session || w.at != past.at {
		var f vterm.Frame
		look := func(engine vterm.Engine) { engine.Frame(&f, vterm.Query{Since: math.MaxUint64}) }
		if w.at == "" {
			err = e.Session.Look(c.ctx, func(v session.View) { look(v.Engine) })
		} else {
			_, err = c.lookBack(c.ctx, e, w.at, look)
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
		if last = img; keys.Of(img) == w.key {
			return img, nil
		}
	}
	return nil, nil
}
