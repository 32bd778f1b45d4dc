package format

import (
	"bytes"
	"image/png"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/vt10x"
)

// frameOf is a screen of two rows and the history above it.
func frameOf(e vterm.Engine) (*vterm.Frame, []vterm.Line) {
	_, _ = e.Write([]byte("one\r\ntwo\r\nthree \x1b[31mred\x1b[m"))
	var f vterm.Frame
	e.Frame(&f, vterm.Query{})
	var history []vterm.Line
	for i := range e.History().Len() {
		var l vterm.Line
		e.History().Line(i, &l)
		history = append(history, l)
	}
	return &f, history
}

// FEATURES: R34, R36
func TestFormats(t *testing.T) {
	want := map[string]string{
		"text": "one\ntwo\nthree red\n", "json": `"scrollback":[{"row":0,"text":"one"`, "ansi": "one\ntwo\nthree \x1b[31mred\x1b[m\n",
		"html": "one\ntwo\nthree <span", "svg": `>one</text>`, "png": "\x89PNG", "md": "one\ntwo\nthree red\n",
		"gemini": `"text":"`,
	}
	for _, name := range Names() {
		if want[name] == "" {
			t.Errorf("%s has no case here", name)
		}
	}
	for name, e := range map[string]vterm.Engine{
		"native": vterm.New(vterm.Options{Cols: 20, Rows: 2}), "vt10x": vt10x.New(vterm.Options{Cols: 20, Rows: 2}),
	} {
		f, history := frameOf(e)
		if len(history) == 0 { // vt10x has none
			continue
		}
		for _, format := range Names() {
			b, err := Append([]byte("<"), format, f, history, Options{Fonts: "embedded", State: "running"})
			if err != nil || b[0] != '<' || !strings.Contains(string(b), want[format]) || MediaType(format) == "" {
				t.Errorf("%s: %s is %q, %v", name, format, b, err)
			}
		}
		if len(f.Lines) != 2 {
			t.Errorf("%s: the frame has %d lines now", name, len(f.Lines))
		}
	}
}

func TestPNGSize(t *testing.T) {
	f, history := frameOf(vterm.New(vterm.Options{Cols: 20, Rows: 2}))
	b, err := Append(nil, "png", f, history, Options{Scale: 2, Fonts: "embedded"})
	if err != nil {
		t.Fatal(err)
	}
	config, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	lines := 2 + len(history)
	if w, h := 2*(20*render.CellWidth+2*DefaultPadding), 2*(lines*render.CellHeight+2*DefaultPadding); config.Width != w || config.Height != h {
		t.Errorf("%d×%d pixels, want %d×%d", config.Width, config.Height, w, h)
	}
}

func TestErrors(t *testing.T) {
	f, _ := frameOf(vterm.New(vterm.Options{Cols: 20, Rows: 2}))
	for _, tt := range []struct {
		format, want string
		o            Options
	}{
		{"pdf", "there are text, json", Options{}},
		{"html", `unknown theme "x"`, Options{Theme: "x"}},
		{"svg", "give 0.25 to 8", Options{Scale: 9}},
		{"png", "use system or embedded", Options{Fonts: "x"}},
		{"png", "limit 500", Options{Padding: 501}},
		{"png", "use block", Options{CursorShape: "x"}},
	} {
		if _, err := Append(nil, tt.format, f, nil, tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %+v: %v", tt.format, tt.o, err)
		}
	}
	for _, format := range []string{"html", "svg", "png"} {
		if _, err := Append(nil, format, f, make([]vterm.Line, 200_000), Options{}); err == nil || !strings.Contains(err.Error(), "use fewer lines") {
			t.Errorf("%s of 200,000 lines: %v", format, err)
		}
	}
	if MediaType("pdf") != "" || IsWholeScreen("json") || !IsWholeScreen("png") {
		t.Error("the list of formats is wrong")
	}
}

func TestPadding(t *testing.T) {
	for given, want := range map[int]int{0: DefaultPadding, -1: 0, 3: 3} {
		o := Options{Padding: given}
		if p, err := o.Picture(nil); err != nil || p.Padding != want {
			t.Errorf("padding %d is %d, %v", given, p.Padding, err)
		}
	}
}

func TestMargin(t *testing.T) {
	for _, tt := range []struct {
		o    Options
		want int
	}{
		{Options{}, 0}, {Options{Window: true}, DefaultMargin}, {Options{Window: true, Margin: -1}, 0}, {Options{Margin: 7}, 7},
	} {
		if p, err := tt.o.Picture(nil); err != nil || p.Margin != tt.want || p.MarginColor != 0xa9b4c4 {
			t.Errorf("%+v: got margin %d of colour %06x, %v; want %d", tt.o, p.Margin, p.MarginColor, err, tt.want)
		}
	}
	for _, o := range []Options{{Margin: MaxMargin + 1}, {MarginColor: "red"}} {
		if _, err := o.Picture(nil); err == nil || !strings.Contains(err.Error(), "margin") {
			t.Errorf("%+v: got error %v", o, err)
		}
	}
}

// FEATURES: R31
func TestReversed(t *testing.T) {
	o := Options{Theme: "high-contrast", Reversed: true}
	p, err := o.Picture(nil)
	if err != nil || p.Theme.BG != 0xffffff || p.Theme.FG != 0 {
		t.Errorf("%06x on %06x, %v", p.Theme.FG, p.Theme.BG, err)
	}
}
