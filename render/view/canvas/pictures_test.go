package canvas

import (
	"fmt"
	"image"
	imagecolor "image/color"
	"slices"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/internal/screentest"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/picture"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// emulator is a canvas on an emulated terminal, with the terminal's replies about its image support.
func emulator(t testing.TB, cols, rows int) (*Canvas, *screentest.Emulated, chan picture.Support) {
	t.Helper()
	return emulatorOf(t, "xterm-256color", cols, rows)
}

// emulatorOf returns an emulator whose name implies its image support.
func emulatorOf(t testing.TB, name string, cols, rows int) (*Canvas, *screentest.Emulated, chan picture.Support) {
	t.Helper()
	t.Setenv("TERM", name)
	t.Setenv("STY", "")
	t.Setenv("TMUX", "")
	e := screentest.NewEmulated(cols, rows)
	h := &terminalTap{Tty: e, onBackground: func(theme.Background) {}}
	screen, err := tcell.NewTerminfoScreenFromTty(h)
	h.screen = screen
	if err != nil {
		t.Fatal(err)
	}
	if err := screen.Init(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(screen.Fini)
	able := make(chan picture.Support, 16)
	QueryImageSupport(screen, func(m picture.Support) { able <- m })
	c := New(screen, false)
	return &c, e, able
}

// TestAnswersAreNoKeys checks that a terminal's replies are not taken for keys, least of all its name, which would be
// typed into the shown program.
//
// FEATURES: R120
func TestAnswersAreNoKeys(t *testing.T) {
	c, e, able := emulator(t, 10, 6)
	for means := (picture.Support{}); means.Cell == (image.Point{}); {
		means = <-able
	}
	e.Typed <- []byte("x")
	for {
		if k, ok := c.screen.PollEvent().(*tcell.EventKey); ok {
			if k.Rune() != 'x' {
				t.Errorf("the first key is %s", k.Name())
			}
			return
		}
	}
}

// TestPictures checks that images are drawn over their cells, clipped, below what covers them, and removed again: as
// sixels and files, which the cells' text erases, and as placements, which it does not.
//
// FEATURES: R120
func TestPictures(t *testing.T) {
	pic := image.NewNRGBA(image.Rect(0, 0, 48, 48))
	for i := range 48 * 48 {
		pic.SetNRGBA(i%48, i/48, imagecolor.NRGBA{uint8(i), 0, 200, 255})
	}
	for name, kind := range map[string]picture.Kind{"sixel": picture.Sixel, "iTerm2": picture.ITerm, "kitty": picture.Kitty} {
		t.Run(name, func(t *testing.T) {
			c, e, able := emulator(t, 10, 6)
			means := picture.Support{}
			for means.Kind != picture.Kitty || means.Cell == (image.Point{}) { // our own emulator supports all
				select {
				case means = <-able:
				case <-t.Context().Done():
					t.Fatal("it does not report what it can draw")
				}
			}
			if means.Cell != image.Pt(8, 16) {
				t.Errorf("a cell is %v", means.Cell)
			}
			if c.CanDrawImages() {
				t.Error("images are drawn before the support is known")
			}
			means.Kind = kind
			c.SetImageSupport(means)
			// An image of six by three cells, from the first row and third column of the area from 1, 1 to 7, 5.
			show := func(top int, over ...layout.Rect) {
				for y := range 5 {
					c.Text(0, y, 10, "abcdefghij", Plain)
				}
				c.SetCovered(over)
				for i := range 3 {
					c.PictureRow(layout.Rect{X: 1, Y: top + i, W: 6, H: 1}, []picture.Part{{X: 3, W: 6, Key: "k", FromY: i, Cols: 6, Rows: 3}},
						func(key string) (*image.NRGBA, bool) { return pic, key == "k" })
				}
				c.SetCovered(nil)
				c.Show()
			}
			for _, step := range []struct {
				name string
				do   func()
				want string
			}{
				{"drawn", func() { show(1) }, "abcdefghij\nabc####hij\nabc####hij\nabc####hij\nabcdefghij"},
				{"as it was", func() { show(1) }, "abcdefghij\nabc####hij\nabc####hij\nabc####hij\nabcdefghij"},
				{"moved, not into the last row", func() { show(3) }, "abcdefghij\nabcdefghij\nabcdefghij\nabc####hij\nabc####hij"},
				{"covered", func() { show(1, layout.Rect{X: 4, Y: 2, W: 2, H: 1}) }, "abcdefghij\nabc####hij\nabc#ef#hij\nabc####hij\nabcdefghij"},
				{"text below", func() { c.Text(3, 1, 4, "1234", Plain); show(1) }, "abcdefghij\nabc####hij\nabc####hij\nabc####hij\nabcdefghij"},
				{"gone", func() { c.Show() }, "abcdefghij\nabcdefghij\nabcdefghij\nabcdefghij\nabcdefghij"},
				{"back", func() { show(0) }, "abc####hij\nabc####hij\nabc####hij\nabcdefghij\nabcdefghij"},
				{"cleared", func() { c.Clear(); c.Text(0, 0, 10, "x", Plain); c.Show() }, "x"},
				{"drawn again", func() { show(2) }, "abcdefghij\nabcdefghij\nabc####hij\nabc####hij\nabc####hij"},
				{"lent", func() { c.RemovePictures(); c.Show() }, "abcdefghij\nabcdefghij\nabcdefghij\nabcdefghij\nabcdefghij"},
				{"as blocks", func() { c.SetImageSupport(picture.Support{}); show(1) }, "abcdefghij\nabcdefghij\nabcdefghij\nabcdefghij\nabcdefghij"},
			} {
				if step.do(); e.Shows() != step.want {
					t.Errorf("%s:\n%s\nwant\n%s", step.name, e.Shows(), step.want)
				}
			}
		})
	}
}

// TestLargePicturesAreEncodedBeside checks that a large image is encoded in the background, one at a time, and that its
// cells are shown until then. One that was encoded for another terminal is not drawn.
//
// FEATURES: R120
func TestLargePicturesAreEncodedBeside(t *testing.T) {
	c, e, _ := emulator(t, 100, 8)
	var works []func() func()
	c.SetAsync(func(work func() func()) { works = append(works, work) })
	means := picture.Support{Kind: picture.Sixel, Cell: image.Pt(8, 16)}
	c.SetImageSupport(means)
	pic := image.NewNRGBA(image.Rect(0, 0, 48, 48))
	for i := range pic.Pix {
		pic.Pix[i] = 255
	}
	const text, drawn = "text", "image"
	show := func(want ...string) {
		t.Helper()
		for y := range 7 {
			c.Text(0, y, 100, "text", Plain)
		}
		for y := range 7 {
			if y != 3 {
				c.PictureRow(layout.Rect{Y: y, W: 100, H: 1}, []picture.Part{{X: 1, W: 90, Key: fmt.Sprint(y / 4), FromY: y % 4, Cols: 90, Rows: 3}},
					func(string) (*image.NRGBA, bool) { return pic, true })
			}
		}
		c.Show()
		shows := strings.Split(strings.ReplaceAll(e.Shows(), "t"+strings.Repeat("#", 90), drawn), "\n")
		if got := []string{shows[0], shows[2], shows[3], shows[4], shows[6]}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	show(text, text, text, text, text)
	show(text, text, text, text, text)
	if len(works) != 1 {
		t.Fatalf("%d are encoded at a time", len(works))
	}
	works[0]()()
	show(drawn, drawn, text, text, text)
	if len(works) != 2 {
		t.Fatalf("%d were encoded", len(works))
	}
	then := works[1]()
	means.Colors = 16
	c.SetImageSupport(means)
	then()
	show(text, text, text, text, text)
	works[2]()()
	show(drawn, drawn, text, text, text)
	works[3]()()
	show(drawn, drawn, text, drawn, drawn)
	show(drawn, drawn, text, drawn, drawn)
	if len(works) != 4 {
		t.Errorf("%d were encoded", len(works))
	}
}

// TestQueries_NotSentToUnknownTerminals checks that a terminal that prints unknown queries is not queried.
func TestQueries_NotSentToUnknownTerminals(t *testing.T) {
	c, e, able := emulator(t, 10, 2)
	<-able
	t.Setenv("TERM", "linux")
	QueryImageSupport(c.screen, func(picture.Support) { t.Error("a query was sent") })
	if e.Shows() != "" {
		t.Errorf("%q", e.Shows())
	}
}

// TestKittyQuery_NotSentToTmux checks that tmux, which takes a query about kitty graphics for the title of its pane,
// gets the other queries only.
func TestKittyQuery_NotSentToTmux(t *testing.T) {
	for name, value := range map[string]string{"TMUX": "/tmp/tmux,1,0", "TERM": "screen-256color"} {
		c, e, _ := emulator(t, 10, 2)
		t.Setenv(name, value)
		e.Forget()
		QueryImageSupport(c.screen, func(picture.Support) {})
		asked := e.Written()
		if asked != picture.QueryOthers || strings.Contains(asked, "\x1b_") {
			t.Errorf("%s: queried %q", name, asked)
		}
	}
}
