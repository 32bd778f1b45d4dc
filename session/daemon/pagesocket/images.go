//go:build unix

package pagesocket

import (
	"maps"
	"slices"

	"github.com/longterm-dev/longterm/render/termimage"
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

// picture answers a page that wants an image that one of its subscriptions shows. PNG is absent where there is none: it is not shown any more, or is none.
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

// wantsImage queues that the page asked for an image. What is too much is not answered.
func (c *conn) wantsImage(key string) {
	if len(key) > termimage.KeyLen {
		return
	}
	if c.asked == nil {
		c.asked = make(chan string, maxAsked)
		asked := c.asked
		c.working.Go(func() { c.answersImages(asked) })
	}
	select {
	case c.asked <- key:
	default:
	}
}

// answersImages sends what was asked for, one after the other.
func (c *conn) answersImages(asked <-chan string) {
	var keys termimage.Keys
	for {
		select {
		case <-c.ctx.Done():
			return
		case key := <-asked:
			_ = c.say(picture{T: "img", K: key, PNG: c.image(&keys, key)})
		}
	}
}

// image is one that a subscription shows.
func (c *conn) image(keys *termimage.Keys, key string) []byte {
	c.subsMu.Lock()
	subs := slices.Collect(maps.Values(c.subs))
	c.subsMu.Unlock()
	var found *vterm.Image
	for _, p := range subs {
		p.mu.Lock()
		list := p.images
		p.mu.Unlock()
		if i := slices.IndexFunc(list, func(img *vterm.Image) bool { return keys.Of(img) == key }); i >= 0 {
			found = list[i]
			break
		}
	}
	if found == nil {
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
