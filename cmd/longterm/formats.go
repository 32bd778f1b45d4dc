package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/format"
	"github.com/longterm-dev/longterm/render/pixel"
)

// screenFormats are the formats a screen can be printed in.
var screenFormats = format.Names()

// screenFlags say in what format a screen is printed, how it looks there, and where to.
type screenFlags struct {
	format, output, compat string
	look                   format.Options
}

func (s *screenFlags) add(f *pflag.FlagSet) {
	f.StringVar(&s.format, "format", "", "format: "+strings.Join(screenFormats, ", ")+" (default: by the name of the output file, or text)")
	f.BoolVar(&s.look.Styles, "styles", false, "md: list what stands out by its looks as well")
	f.StringVar(&s.compat, "compat", "", "json: in another program's form: gemini (rows of tokens, the cursor an inverse cell)")
	f.BoolVar(&s.look.NoColor, "no-color", false, "without colours; attributes stay (json, ansi: also by $NO_COLOR)")
	f.BoolVar(&s.look.Trim, "trim", false, "json: leave empty rows at the end out, but not the cursor's")
	s.addLook(f, "html, svg, png", "png")
	addOutput(f, &s.output)
}

// addLook adds what says how pictures look.
func (s *screenFlags) addLook(f *pflag.FlagSet, formats, pixels string) {
	f.StringVar(&s.look.Theme, "theme", "", formats+": colours: "+strings.Join(render.ThemeNames(), ", ")+" (the session's own); default dark")
	f.Float64Var(&s.look.Scale, "scale", 1, formats+": size, 1 being a font of 16 pixels")
	f.IntVar(&s.look.Padding, "padding", format.DefaultPadding, formats+": space around it, in pixels at scale 1")
	f.BoolVar(&s.look.NoCursor, "no-cursor", false, formats+": leave the cursor out")
	f.StringVar(&s.look.CursorShape, "cursor", "", formats+": shape of the cursor: block, underline, bar (default: as the program set it)")
	f.StringVar(&s.look.Fonts, "fonts", "system", pixels+": system (fonts of the machine help out where the embedded ones lack a character), embedded")
}

// addOutput adds --output, which may be written --out.
func addOutput(f *pflag.FlagSet, file *string) {
	f.StringVarP(file, "output", "o", "", "file to write (default: standard output)")
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "out" {
			name = "output"
		}
		return pflag.NormalizedName(name)
	})
}

// check settles the format and refuses what cannot be.
func (s *screenFlags) check(p *printer) error {
	if p.json && s.format != "" && s.format != "json" {
		return exit.Usagef("both --json and --format %s are given; give one of them", s.format)
	}
	if p.json {
		s.format = "json"
	}
	if s.format == "" {
		var err error
		if s.format, err = formatOf(s.output, screenFormats, "text"); err != nil {
			return err
		}
	}
	if err := errors.Join(checkFormat(s.format), s.checkCompat()); err != nil {
		return err
	}
	if s.format == "json" || s.format == "gemini" || s.format == "ansi" {
		s.look.NoColor = s.look.NoColor || os.Getenv("NO_COLOR") != "" // https://no-color.org
	}
	if _, err := render.ThemeFor(s.look.Theme, nil); err != nil {
		return exit.Usage(err)
	}
	if !(s.look.Scale >= pixel.MinScale && s.look.Scale <= pixel.MaxScale) {
		return exit.Usagef("--scale %g: give %g to %d", s.look.Scale, pixel.MinScale, pixel.MaxScale)
	}
	if s.look.Padding < 0 || s.look.Padding > format.MaxPadding {
		return exit.Usagef("--padding %d: give 0 to %d", s.look.Padding, format.MaxPadding)
	}
	if s.look.Padding == 0 {
		s.look.Padding = -1
	}
	if err := oneOf("--cursor", s.look.CursorShape, "", "block", "underline", "bar"); err != nil {
		return err
	}
	if err := oneOf("--fonts", s.look.Fonts, "system", "embedded"); err != nil {
		return err
	}
	if s.format == "png" {
		return p.refuseTerminal(s.output, "a PNG")
	}
	return nil
}

// checkCompat settles another program's form, which is a format of its own.
func (s *screenFlags) checkCompat() error {
	if err := oneOf("--compat", s.compat, "", "gemini"); err != nil || s.compat == "" {
		return err
	}
	if s.format != "json" && s.format != "gemini" {
		return exit.Usagef("--compat %s is a form of JSON: give --format json as well", s.compat)
	}
	s.format = s.compat
	return nil
}

// endings are names of formats at the end of files' names that are not the format's own.
var endings = map[string]string{"txt": "text", "htm": "html", "markdown": "md", "png": "apng"}

// formatOf is the format that a file's name asks for; one without an ending asks for none. An ending that is not known
// is refused before anything is written: what the file holds would not be what its name says.
func formatOf(file string, formats []string, otherwise string) (string, error) {
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

// refuseTerminal is an error when something that is no text would go to a terminal.
func (p *printer) refuseTerminal(output, what string) error {
	if f, ok := p.stdout.(*os.File); ok && output == "" && term.IsTerminal(int(f.Fd())) {
		return exit.Usagef("%s is nothing to print on a terminal: give `--output FILE`, or send it on with > or |", what)
	}
	return nil
}

// printScreen prints what the daemon or a renderer made; text is ended by a newline.
func (p *printer) printScreen(b []byte, s *screenFlags) error {
	if s.format == "json" && p.brief {
		short, err := briefScreen(b)
		if err != nil {
			return err
		}
		b = short
	} else if s.format == "json" || s.format == "gemini" {
		var out bytes.Buffer
		if err := json.Compact(&out, b); err != nil {
			return err
		}
		b = out.Bytes()
	}
	if s.format != "png" && !bytes.HasSuffix(b, []byte("\n")) {
		b = append(b, '\n')
	}
	return p.writeOutput(s.output, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// writeOutput writes to a file, or standard output when none is named.
func (p *printer) writeOutput(file string, write func(io.Writer) error) (err error) {
	if file == "" || file == "-" {
		return write(p.stdout)
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return write(f)
}
