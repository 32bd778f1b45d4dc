package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/flagvalues"
	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/format"
	"github.com/longterm-dev/longterm/render/pixel"
)

// screenFormats are the formats a screen can be printed in.
var screenFormats = format.Names()

// ScreenFlags holds the format, look and destination of a screen.
type ScreenFlags struct {
	Format, Output, compat string
	Look                   format.Options
	margin                 int // -1: not given
}

func (s *ScreenFlags) Add(f *pflag.FlagSet) {
	f.StringVar(&s.Format, "format", "", "`FORMAT`: "+strings.Join(screenFormats, ", ")+" (default: from the name of the output file, or text)")
	f.BoolVar(&s.Look.Styles, "styles", false, "md: list of highlighted text too")
	f.StringVar(&s.compat, "compat", "", "json: `FORM` of another program: gemini (rows of tokens, cursor as an inverse cell)")
	f.BoolVar(&s.Look.NoColor, "no-color", false, "no colours, only attributes (json, ansi: also by $NO_COLOR)")
	f.BoolVar(&s.Look.Trim, "trim", false, "json: no empty rows at the end, except the cursor's")
	s.AddLook(f, "html, svg, png", "png")
	AddOutput(f, &s.Output)
}

// AddLook adds the flags for the look of images.
func (s *ScreenFlags) AddLook(f *pflag.FlagSet, formats, pixels string) {
	f.StringVar(&s.Look.Theme, "theme", "", formats+": colour `THEME`: "+strings.Join(render.ThemeNames(), ", ")+" (the session's), or another such as dracula (`longterm help pictures`); default dark")
	f.Float64Var(&s.Look.Scale, "scale", 1, formats+": scale; 1 is a font of 16 pixels")
	f.IntVar(&s.Look.Padding, "padding", format.DefaultPadding, formats+": margin in pixels at scale 1")
	images := strings.Replace(formats, "html, ", "", 1)
	f.BoolVar(&s.Look.Window, "window", false, images+": draw a window with a title bar, round corners and a shadow")
	f.IntVar(&s.margin, "margin", -1, fmt.Sprintf("%s: space around the picture in `PIXELS` at scale 1 (default: %d with --window, else 0)", images, format.DefaultMargin))
	f.StringVar(&s.Look.MarginColor, "margin-color", "", images+": `COLOUR` of the margin (default: "+format.DefaultMarginColor+")")
	f.BoolVar(&s.Look.NoCursor, "no-cursor", false, formats+": no cursor")
	f.StringVar(&s.Look.CursorShape, "cursor", "", formats+": cursor `SHAPE`: block, underline, bar (default: set by the program)")
	f.StringVar(&s.Look.Fonts, "fonts", "system", pixels+": `SOURCE` of fonts: system (also for characters missing in the embedded ones), embedded")
}

// AddOutput adds --output, which may be written --out.
func AddOutput(f *pflag.FlagSet, file *string) {
	f.StringVarP(file, "output", "o", "", "output `FILE` (default: standard output)")
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "out" {
			name = "output"
		}
		return pflag.NormalizedName(name)
	})
}

// Check sets the format from the flags and rejects invalid combinations.
func (s *ScreenFlags) Check(p *Printer) error {
	if p.JSON && s.Format != "" && s.Format != "json" {
		return exit.Usagef("both --json and --format %s are given; give one of them", s.Format)
	}
	if p.JSON {
		s.Format = "json"
	}
	if s.Format == "" {
		var err error
		if s.Format, err = FormatOf(s.Output, screenFormats, "text"); err != nil {
			return err
		}
	}
	if err := errors.Join(checkFormat(s.Format), s.checkCompat()); err != nil {
		return err
	}
	if s.Format == "json" || s.Format == "gemini" || s.Format == "ansi" {
		s.Look.NoColor = s.Look.NoColor || os.Getenv("NO_COLOR") != "" // https://no-color.org
	}
	if _, err := render.ThemeFor(s.Look.Theme, nil); err != nil {
		return exit.Usage(err)
	}
	if !(s.Look.Scale >= pixel.MinScale && s.Look.Scale <= pixel.MaxScale) {
		return exit.Usagef("--scale %g: give %g to %d", s.Look.Scale, pixel.MinScale, pixel.MaxScale)
	}
	if s.Look.Padding < 0 || s.Look.Padding > format.MaxPadding {
		return exit.Usagef("--padding %d: give 0 to %d", s.Look.Padding, format.MaxPadding)
	}
	if s.Look.Padding == 0 {
		s.Look.Padding = -1
	}
	if s.margin < -1 || s.margin > format.MaxMargin {
		return exit.Usagef("--margin %d: give 0 to %d", s.margin, format.MaxMargin)
	}
	switch s.margin {
	case -1:
	case 0:
		s.Look.Margin = -1
	default:
		s.Look.Margin = s.margin
	}
	if _, err := render.ParseColor(s.Look.MarginColor); err != nil && s.Look.MarginColor != "" {
		return exit.Usagef("--margin-color: %v", err)
	}
	if err := flagvalues.OneOf("--cursor", s.Look.CursorShape, "", "block", "underline", "bar"); err != nil {
		return err
	}
	if err := flagvalues.OneOf("--fonts", s.Look.Fonts, "system", "embedded"); err != nil {
		return err
	}
	if s.Format == "png" {
		return p.RefuseTerminal(s.Output, "a PNG")
	}
	return nil
}

// checkCompat turns --compat into its format.
func (s *ScreenFlags) checkCompat() error {
	if err := flagvalues.OneOf("--compat", s.compat, "", "gemini"); err != nil || s.compat == "" {
		return err
	}
	if s.Format != "json" && s.Format != "gemini" {
		return exit.Usagef("--compat %s requires --format json", s.compat)
	}
	s.Format = s.compat
	return nil
}

// extensions maps file extensions to formats, where they differ from the format's name.
var extensions = map[string]string{"txt": "text", "htm": "html", "markdown": "md", "png": "apng"}

// FormatOf returns the format for a file name, or otherwise if it has no extension. It rejects an unknown extension
// before anything is written, so that no file contains another format than its name suggests.
func FormatOf(file string, formats []string, otherwise string) (string, error) {
	ext := strings.ToLower(strings.TrimPrefix(filepath.Ext(file), "."))
	if ext == "" || file == "-" {
		return otherwise, nil
	}
	if slices.Contains(formats, ext) {
		return ext, nil
	}
	if f := extensions[ext]; slices.Contains(formats, f) {
		return f, nil
	}
	known := slices.Clone(formats)
	for e, f := range extensions {
		if slices.Contains(formats, f) && !slices.Contains(formats, e) {
			known = append(known, e)
		}
	}
	slices.Sort(known)
	return "", exit.Usagef("no format is known by the ending of %q; known are .%s. Name the file so, or give --format", file, strings.Join(known, " ."))
}

func checkFormat(format string) error {
	if slices.Contains(screenFormats, format) {
		return nil
	}
	return exit.Usagef("unknown format %q; there are %s", format, strings.Join(screenFormats, ", "))
}

// RefuseTerminal returns an error if binary data would be printed on a terminal. what names the data.
func (p *Printer) RefuseTerminal(output, what string) error {
	if f, ok := p.Stdout.(*os.File); ok && output == "" && term.IsTerminal(int(f.Fd())) {
		return exit.Usagef("%s cannot be printed on a terminal; use --output FILE, > or |", what)
	}
	return nil
}

// PrintScreen prints a screen in its format; it ends text with a newline.
func (p *Printer) PrintScreen(b []byte, s *ScreenFlags) error {
	if s.Format == "json" && p.brief {
		short, err := briefScreen(b)
		if err != nil {
			return err
		}
		b = short
	} else if s.Format == "json" || s.Format == "gemini" {
		var out bytes.Buffer
		if err := json.Compact(&out, b); err != nil {
			return err
		}
		b = out.Bytes()
	}
	if s.Format != "png" && !bytes.HasSuffix(b, []byte("\n")) {
		b = append(b, '\n')
	}
	return p.WriteOutput(s.Output, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// WriteOutput writes to a file, or standard output when none is named.
func (p *Printer) WriteOutput(file string, write func(io.Writer) error) (err error) {
	if file == "" || file == "-" {
		return write(p.Stdout)
	}
	_, missing := os.Lstat(file)
	f, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err = write(f); err != nil {
		_ = f.Close() // what was written to it is no file of that kind
	} else {
		err = f.Close()
	}
	if err != nil && errors.Is(missing, os.ErrNotExist) { // a part would be taken for the whole
		err = errors.Join(err, os.Remove(file))
	}
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w; make room there, or name a file on another file system", err)
	}
	return err
}
