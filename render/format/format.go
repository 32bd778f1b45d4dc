// Package format writes frames in formats selected by name.
package format

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/pixel"
	"github.com/longterm-dev/longterm/vterm"
)

// Options controls how a frame is written. Each format uses some of the fields.
type Options struct {
	Theme string  // of render.ThemeNames; "" for the first
	Scale float64 // of pictures; 0 is 1
	// Padding is the space around the cells of a picture, in pixels at scale 1; 0 is DefaultPadding, a negative number removes it.
	Padding int
	// Window draws a picture (SVG, pixels) as a window with a title bar.
	Window bool
	// Margin is the space around the window or the padding, in pixels at scale 1; 0 is DefaultMargin with a window and
	// no space without, a negative number removes it. MarginColor is its colour, "#rrggbb"; "" is DefaultMarginColor.
	Margin      int
	MarginColor string
	NoCursor    bool
	CursorShape string // block, underline, bar; "" for the program's
	// Fonts is "system" (or empty) to use fonts of the machine where the embedded ones
	// lack a character, "embedded" for pictures that are the same everywhere.
	Fonts    string
	Styles   bool   // Markdown: list text with a conspicuous style
	State    string // Markdown: short description of the session's state
	Reversed bool   // DECSCNM is set
	NoColor  bool   // every colour is the terminal's default; attributes stay
	Trim     bool   // json, gemini: omit empty rows at the end, except the cursor's
}

// DefaultPadding and MaxPadding are the padding of pictures, in pixels at scale 1.
const (
	DefaultPadding = 8
	MaxPadding     = 500
)

// DefaultMargin and MaxMargin are the margin of pictures with a window, in pixels at scale 1.
const (
	DefaultMargin      = 40
	MaxMargin          = 500
	DefaultMarginColor = "#a9b4c4"
)

// format is an output format.
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

// Names returns the formats' names.
func Names() []string {
	var names []string
	for i := range formats {
		names = append(names, formats[i].name)
	}
	return names
}

func formatNamed(name string) *format {
	if i := slices.IndexFunc(formats, func(f format) bool { return f.name == name }); i >= 0 {
		return &formats[i]
	}
	return nil
}

// IsWholeScreen reports whether a format shows a whole screen, so that a delta makes no sense.
func IsWholeScreen(name string) bool {
	f := formatNamed(name)
	return f != nil && f.picture
}

// MediaType returns the content type of a format.
func MediaType(name string) string {
	if f := formatNamed(name); f != nil {
		return f.mediaType
	}
	return ""
}

// Append appends a frame, preceded by history lines, in a format.
func Append(dst []byte, name string, f *vterm.Frame, history []vterm.Line, o Options) ([]byte, error) {
	format := formatNamed(name)
	if format == nil {
		return dst, fmt.Errorf("unknown format %q; there are %s", name, strings.Join(Names(), ", "))
	}
	if o.NoColor {
		f = withoutColors(f)
	}
	return format.append(dst, f, history, &o)
}

// withoutColors returns a frame as a terminal without colours shows it.
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

// appendGemini appends the screen without history, in Gemini CLI's form.
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

// Picture returns the options for HTML and SVG.
func (o *Options) Picture(p *vterm.Palette) (render.PictureOptions, error) {
	theme, err := render.ThemeFor(o.Theme, p)
	if err != nil {
		return render.PictureOptions{}, err
	}
	if o.Reversed {
		theme = theme.ReverseVideo()
	}
	switch o.CursorShape {
	case "", "block", "underline", "bar":
	default:
		return render.PictureOptions{}, fmt.Errorf("unknown cursor %q; use block, underline or bar", o.CursorShape)
	}
	if o.Scale != 0 && !(o.Scale >= pixel.MinScale && o.Scale <= pixel.MaxScale) {
		return render.PictureOptions{}, fmt.Errorf("scale %g: give %g to %d", o.Scale, pixel.MinScale, pixel.MaxScale)
	}
	if o.Padding > MaxPadding {
		return render.PictureOptions{}, fmt.Errorf("padding %d: too large (limit %d)", o.Padding, MaxPadding)
	}
	padding := max(o.Padding, 0)
	if o.Padding == 0 {
		padding = DefaultPadding
	}
	if o.Margin > MaxMargin {
		return render.PictureOptions{}, fmt.Errorf("margin %d: too large (limit %d)", o.Margin, MaxMargin)
	}
	margin := max(o.Margin, 0)
	if o.Margin == 0 && o.Window {
		margin = DefaultMargin
	}
	color, err := render.ParseColor(cmp.Or(o.MarginColor, DefaultMarginColor))
	if err != nil {
		return render.PictureOptions{}, fmt.Errorf("margin: %w", err)
	}
	return render.PictureOptions{
		Theme: theme, NoCursor: o.NoCursor, CursorShape: o.CursorShape, Scale: o.Scale, Padding: padding,
		Window: o.Window, Margin: margin, MarginColor: color,
	}, nil
}

// Pixels returns the options for pixel images.
func (o *Options) Pixels(p *vterm.Palette) (pixel.Options, error) {
	picture, err := o.Picture(p)
	if err != nil {
		return pixel.Options{}, err
	}
	switch o.Fonts {
	case "", "system", "embedded":
	default:
		return pixel.Options{}, fmt.Errorf("unknown fonts %q; use system or embedded", o.Fonts)
	}
	return pixel.Options{PictureOptions: picture, SystemFonts: o.Fonts != "embedded"}, nil
}

// MaxCells limits a picture in HTML or SVG: each cell may be a separate element.
const MaxCells = 2 << 20

// picture returns the options for HTML and SVG, or an error if there are too many cells.
func (o *Options) picture(f *vterm.Frame, history []vterm.Line) (render.PictureOptions, error) {
	if lines := f.Rows + len(history); lines*f.Cols > MaxCells {
		return render.PictureOptions{}, fmt.Errorf("picture: too large (%d×%d cells, limit %d million): use fewer lines",
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
