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
	"github.com/longterm-dev/longterm/cmd/internal/values"
	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/format"
	"github.com/longterm-dev/longterm/render/pixel"
)

// screenFormats are the formats a screen can be printed in.
var screenFormats = format.Names()

// ScreenFlags say in what format a screen is printed, how it looks there, and where to.
type ScreenFlags struct {
	Format, Output, compat string
	Look                   format.Options
}

func (s *ScreenFlags) Add(f *pflag.FlagSet) {
	f.StringVar(&s.Format, "format", "", "format: "+strings.Join(screenFormats, ", ")+" (default: by the name of the output file, or text)")
	f.BoolVar(&s.Look.Styles, "styles", false, "md: list what stands out by its looks as well")
	f.StringVar(&s.compat, "compat", "", "json: in another program's form: gemini (rows of tokens, the cursor an inverse cell)")
	f.BoolVar(&s.Look.NoColor, "no-color", false, "without colours; attributes stay (json, ansi: also by $NO_COLOR)")
	f.BoolVar(&s.Look.Trim, "trim", false, "json: leave empty rows at the end out, but not the cursor's")
	s.AddLook(f, "html, svg, png", "png")
	AddOutput(f, &s.Output)
}

// AddLook adds what says how pictures look.
func (s *ScreenFlags) AddLook(f *pflag.FlagSet, formats, pixels string) {
	f.StringVar(&s.Look.Theme, "theme", "", formats+": colours: "+strings.Join(render.ThemeNames(), ", ")+" (the session's own), or a usual one, as dracula (docs/pictures.md); default dark")
	f.Float64Var(&s.Look.Scale, "scale", 1, formats+": size, 1 being a font of 16 pixels")
	f.IntVar(&s.Look.Padding, "padding", format.DefaultPadding, formats+": space around it, in pixels at scale 1")
	f.BoolVar(&s.Look.NoCursor, "no-cursor", false, formats+": leave the cursor out")
	f.StringVar(&s.Look.CursorShape, "cursor", "", formats+": shape of the cursor: block, underline, bar (default: as the program set it)")
	f.StringVar(&s.Look.Fonts, "fonts", "system", pixels+": system (fonts of the machine help out where the embedded ones lack a character), embedded")
}

// AddOutput adds --output, which may be written --out.
func AddOutput(f *pflag.FlagSet, file *string) {
	f.StringVarP(file, "output", "o", "", "file to write (default: standard output)")
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "out" {
			name = "output"
		}
		return pflag.NormalizedName(name)
	})
}

// Check settles the format and refuses what cannot be.
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
	if err := values.OneOf("--cursor", s.Look.CursorShape, "", "block", "underline", "bar"); err != nil {
		return err
	}
	if err := values.OneOf("--fonts", s.Look.Fonts, "system", "embedded"); err != nil {
		return err
	}
	if s.Format == "png" {
		return p.RefuseTerminal(s.Output, "a PNG")
	}
	return nil
}

// checkCompat settles another program's form, which is a format of its own.
func (s *ScreenFlags) checkCompat() error {
	if err := values.OneOf("--compat", s.compat, "", "gemini"); err != nil || s.compat == "" {
		return err
	}
	if s.Format != "json" && s.Format != "gemini" {
		return exit.Usagef("--compat %s is a form of JSON: give --format json as well", s.compat)
	}
	s.Format = s.compat
	return nil
}

// endings are names of formats at the end of files' names that are not the format's own.
var endings = map[string]string{"txt": "text", "htm": "html", "markdown": "md", "png": "apng"}

// FormatOf is the format that a file's name asks for; one without an ending asks for none. An ending that is not known
// is refused before anything is written: what the file holds would not be what its name says.
func FormatOf(file string, formats []string, otherwise string) (string, error) {
	ext := strings.ToLower(strings.TrimPrefix(filepath.Ext(file), "."))
	if ext == "" || file == "-" {
		return otherwise, nil
	}
	if slices.Contains(formats, ext) {
		return ext, nil
	}
	if f := endings[ext]; slices.Contains(formats, f) {
		return f, nil
	}
	known := slices.Clone(formats)
	for e, f := range endings {
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

// RefuseTerminal is an error when something that is no text would go to a terminal.
func (p *Printer) RefuseTerminal(output, what string) error {
	if f, ok := p.Stdout.(*os.File); ok && output == "" && term.IsTerminal(int(f.Fd())) {
		return exit.Usagef("%s is nothing to print on a terminal: give `--output FILE`, or send it on with > or |", what)
	}
	return nil
}

// PrintScreen prints what the daemon or a renderer made; text is ended by a newline.
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
