package panes

import (
	"bytes"
	"image"
	"image/png"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/copymode"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/picture"
)

// TestImages_RequestedOnce_WhenVisible checks that an image is requested when a terminal that draws images can show it:
// once, and again for another stream.
//
// FEATURES: R120
func TestImages_RequestedOnce_WhenVisible(t *testing.T) {
	s := newStage(t, 20, 6)
	s.Place([]layout.Place{{Session: "a", Area: layout.Rect{W: 20, H: 5}}}, whole)
	s.logged()
	p := s.Get("a")
	shown := func(delta bool, keys ...string) Frame {
		f := Frame{Screen: &render.Screen{Cols: 20, Rows: 4, Delta: delta}}
		for i, key := range keys {
			f.Screen.Lines = append(f.Screen.Lines, render.Line{Row: i, Pictures: []render.Picture{{Key: key, Width: 2, Cols: 2, Rows: 1}}})
		}
		return f
	}
	draw := func(want string) {
		t.Helper()
		if s.DrawPictures(&s.canvas); s.logged() != want {
			t.Errorf("want %q", want)
		}
	}
	p.Apply(shown(false, "k", "l", "k"))
	draw("") // draws nothing
	s.canvas.SetImageSupport(picture.Support{Kind: picture.Sixel})
	draw("picture a k, picture a l")
	draw("")
	p.Apply(Frame{Picture: &Picture{Key: "l"}}) // hidden, and shown again
	draw("picture a l")
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	s.beside = nil
	p.Apply(Frame{Picture: &Picture{Key: "k", PNG: b.Bytes()}})
	draw("") // it is not requested again while it is decoded, which blocks nothing
	if len(s.beside) != 1 {
		t.Fatalf("%d goroutines decode", len(s.beside))
	}
	go s.beside[0](t.Context())
	select {
	case a := <-s.Arrivals():
		a.Apply()
	case <-time.After(time.Minute):
		t.Fatal("it is not decoded")
	}
	if pic, ok := s.pictures.Get("k"); !ok || pic.Rect.Dx() != 2 {
		t.Errorf("%v %v is kept", ok, pic)
	}
	p.Apply(shown(true, "k", "l", "k", "m"))
	draw("picture a m")
	p.Apply(shown(false, "k", "l"))
	draw("picture a l")
	s.Place([]layout.Place{{Session: "a", Area: layout.Rect{W: 20, H: 1}}}, whole) // one row is visible
	p.Apply(shown(false, "n", "o"))
	s.logged()
	draw("picture a n")
	m := p.CopyMode()
	p.Apply(shown(false, "p")) // of another stream, and hidden
	draw("picture a n")
	m.UseKeys()
	copymode.Actions["scroll-select"](m) // a selection shows blocks
	p.Apply(shown(false, "p"))
	draw("")
	p.LeaveCopyMode()
	senseless := render.Line{Pictures: []render.Picture{{Key: "q", Col: -1, Width: 2}, {Key: "q", Width: 21}, {Key: "q", Y: -1, Width: 1}}}
	p.Apply(Frame{Screen: &render.Screen{Cols: 20, Rows: 4, Lines: []render.Line{senseless}}})
	draw("")
}

// TestDecodedPicturesDoNotPileUp checks that while the viewer accepts nothing, as its terminal is blocked, one image is
// decoded and waits, and no more.
//
// FEATURES: R120
func TestDecodedPicturesDoNotPileUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 41, 11)
		s.Place([]layout.Place{{Session: "a", Area: layout.Rect{W: 20, H: 5}}}, whole)
		p := s.Get("a")
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 2, 2))); err != nil {
			t.Fatal(err)
		}
		s.beside = nil
		for _, key := range []string{"k", "l", "m"} {
			p.Apply(Frame{Picture: &Picture{Key: key, PNG: b.Bytes()}})
		}
		for _, work := range s.beside {
			go work(t.Context())
		}
		for left := 3; left > 0; left-- {
			synctest.Wait()
			if len(s.decoding) != 1 {
				t.Errorf("%d images are left, and nothing waits", left)
			}
			(<-s.Arrivals()).Apply()
		}
		synctest.Wait()
		for _, key := range []string{"k", "l", "m"} {
			if _, ok := s.pictures.Get(key); !ok || len(s.decoding) != 0 {
				t.Errorf("%s is kept: %v", key, ok)
			}
		}
	})
}
