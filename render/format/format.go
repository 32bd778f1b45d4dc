// Package format writes frames in the formats that people ask for by name.
package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/pixel"
	"github.com/longterm-dev/longterm/vterm"
)

// Options say how a frame is written; formats take what concerns them.
type Options struct {
	Theme string  // of render.ThemeNames; empty: the first
	Scale float64 // of pictures; 0 is 1
	// Padding is the space around the cells of a picture, in pixels at scale 1; 0 is
	// DefaultPadding, negative is none.
	Padding     int
	NoCursor    bool
	CursorShape string // block, underline, bar; empty: the program's
	// Fonts is "system" (or empty) to use fonts of the machine where the embedded ones
	// lack a character, "embedded" for pictures that are the same everywhere.
	Fonts    string
	Styles   bool   // Markdown: list what stands out by its style
	State    string // Markdown: of the session, in a few words
	Reversed bool   // DECSCNM is set
	NoColor  bool   // every colour is the terminal's default; attributes stay
	Trim     bool   // json, gemini: leave empty rows at the end out, but not the cursor's
}

// DefaultPadding and MaxPadding are the padding of pictures, in pixels at scale 1.
const (
	DefaultPadding = 8
	MaxPadding     = 500
)

// format is one of the formats.
type format struct {
	name, mediaType string
	picture         bool
	append          func(dst []byte, f *vterm.Frame, history []vterm.Line, o *Options) ([]byte, error)
}

var formats = []format{
	{"text", "text/plain; charset=utf-8", false, appendText},
	{"json", "application/json", false, appendJSON},
	{"ansi", "text/plain; charset=utf-8", false, appendANSI},
	{"html", "text/html; charset=utf-8", true, appendHTML},
	{"svg", "image/svg+xml", true, appendSVG},
	{"png", "image/png", true, appendPNG},
	{"md", "text/markdown; charset=utf-8", true, appendMarkdown},
	{"gemini", "application/json", true, appendGemini},
}

// Names are the formats' names.
func Names() []string {
	var names []string
	for i := range formats {
		names = append(names, formats[i].name)
	}
	return names
}

func named(name string) *format {
	if i := slices.IndexFunc(formats, func(f format) bool { return f.name == name }); i >= 0 {
		return &formats[i]
	}
	return nil
}

// Whole reports formats that show a whole screen: for them a delta makes no sense.
func Whole(name string) bool {
	f := named(name)
	return f != nil && f.picture
}

// MediaType is the content type of a format.
func MediaType(name string) string {
	if f := named(name); f != nil {
		return f.mediaType
	}
	return ""
}

// Append appends a frame, and history lines before it, in a format.
func Append(dst []byte, name string, f *vterm.Frame, history []vterm.Line, o Options) ([]byte, error) {
	format := named(name)
	if format == nil {
		return dst, fmt.Errorf("unknown format %q; there are %s", name, strings.Join(Names(), ", "))
	}
	if o.NoColor {
		f = withoutColors(f)
	}
	return format.append(dst, f, history, &o)
}

// withoutColors is a frame that looks as on a terminal that has no colours.
func withoutColors(f *vterm.Frame) *vterm.Frame {
	plain := *f
	plain.Styles = slices.Clone(f.Styles)
	for i := range plain.Styles {
		s := &plain.Styles[i]
		s.FG, s.BG, s.ULColor = 0, 0, 0
	}
	return &plain
}

func screenOf(f *vterm.Frame, history []vterm.Line) *render.Screen {
	s := &render.Screen{}
	render.FromFrame(s, f)
	s.Scrollback = render.Lines(nil, f, history)
	return s
}

func appendText(dst []byte, f *vterm.Frame, history []vterm.Line, _ *Options) ([]byte, error) {
	return render.Text(dst, screenOf(f, history), render.TextOptions{}), nil
}

func appendJSON(dst []byte, f *vterm.Frame, history []vterm.Line, o *Options) ([]byte, error) {
	s := screenOf(f, history)
	if o.Trim {
		s.Trim()
	}
	return render.AppendJSON(dst, s), nil
}

// appendGemini is the screen alone, in Gemini CLI's form.
func appendGemini(dst []byte, f *vterm.Frame, _ []vterm.Line, o *Options) ([]byte, error) {
	s := screenOf(f, nil)
	if o.Trim {
		s.Trim()
	}
	b, err := json.Marshal(render.Compat(s))
	return append(dst, b...), err
}

func appendANSI(dst []byte, f *vterm.Frame, history []vterm.Line, _ *Options) ([]byte, error) {
	all := *f
	all.Lines = append(slices.Clone(history), f.Lines...)
	return render.AppendANSI(dst, &all, render.ANSIOptions{}), nil
}

// Picture is what the options say to renderers of pictures.
func (o *Options) Picture(p *vterm.Palette) (render.PictureOptions, error) {
	theme, err := render.ThemeFor(o.Theme, p)
	if err != nil {
		return render.PictureOptions{}, err
	}
	if o.Reversed {
		theme = theme.Reversed()
	}
	switch o.CursorShape {
	case "", "block", "underline", "bar":
	default:
		return render.PictureOptions{}, fmt.Errorf("unknown cursor %q; there are block, underline, bar", o.CursorShape)
	}
	if o.Scale != 0 && !(o.Scale >= pixel.MinScale && o.Scale <= pixel.MaxScale) {
		return render.PictureOptions{}, fmt.Errorf("scale %g: give %g to %d", o.Scale, pixel.MinScale, pixel.MaxScale)
	}
	if o.Padding > MaxPadding {
		return render.PictureOptions{}, fmt.Errorf("padding %d: give up to %d", o.Padding, MaxPadding)
	}
	padding := max(o.Padding, 0)
	if o.Padding == 0 {
		padding = DefaultPadding
	}
	return render.PictureOptions{
		Theme: theme, NoCursor: o.NoCursor, CursorShape: o.CursorShape, Scale: o.Scale, Padding: padding,
	}, nil
}

// Pixels is what the options say to painters.
func (o *Options) Pixels(p *vterm.Palette) (pixel.Options, error) {
	picture, err := o.Picture(p)
	if err != nil {
		return pixel.Options{}, err
	}
	switch o.Fonts {
	case "", "system", "embedded":
	default:
		return pixel.Options{}, fmt.Errorf("unknown fonts %q; there are system, embedded", o.Fonts)
	}
	return pixel.Options{PictureOptions: picture, SystemFonts: o.Fonts != "embedded"}, nil
}

// MaxCells bounds a picture in HTML or SVG: each cell may be an element of its own.
const MaxCells = 2 << 20

// picture is what the options say to renderers of HTML and SVG.
func (o *Options) picture(f *vterm.Frame, history []vterm.Line) (render.PictureOptions, error) {
	if lines := f.Rows + len(history); lines*f.Cols > MaxCells {
		return render.PictureOptions{}, fmt.Errorf("a picture of %d×%d cells is too large (%d million at most): take fewer lines",
			f.Cols, lines, MaxCells>>20)
	}
	return o.Picture(f.Palette)
}

func appendHTML(dst []byte, f *vterm.Frame, history []vterm.Line, o *Options) ([]byte, error) {
	p, err := o.picture(f, history)
	if err != nil {
		return dst, err
	}
	return render.AppendHTML(dst, screenOf(f, history), p), nil
}

func appendSVG(dst []byte, f *vterm.Frame, history []vterm.Line, o *Options) ([]byte, error) {
	p, err := o.picture(f, history)
	if err != nil {
		return dst, err
	}
	return render.AppendSVG(dst, screenOf(f, history), p), nil
}

func appendPNG(dst []byte, f *vterm.Frame, history []vterm.Line, o *Options) ([]byte, error) {
	p, err := o.Pixels(f.Palette)
	if err != nil {
		return dst, err
	}
	var b bytes.Buffer
	if err := pixel.WritePNG(&b, screenOf(f, history), p); err != nil {
		return dst, err
	}
	return append(dst, b.Bytes()...), nil
}

func appendMarkdown(dst []byte, f *vterm.Frame, history []vterm.Line, o *Options) ([]byte, error) {
	return render.AppendMarkdown(dst, screenOf(f, history), render.MarkdownOptions{State: o.State, Style: o.Styles}), nil
}
