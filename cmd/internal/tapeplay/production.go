//go:build unix

package tapeplay

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/export"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/render/format"
	"github.com/longterm-dev/longterm/render/pixel"
	"github.com/longterm-dev/longterm/session/tape"
	"github.com/longterm-dev/longterm/vterm"
)

// Production plays a tape and creates the files that it names.
type Production struct {
	*output.Printer
	Tape *tape.Tape
	File string

	cols, rows int
	shots      []string // screenshot files
}

// Defaults for settings that a tape lacks: pixels of a font, cells.
const (
	defaultFont = 16
	defaultCols = 80
	defaultRows = 24
)

// Check sets sizes, and rejects output files of unknown formats before anything is played.
func (p *Production) Check() error {
	s := &p.Tape.Settings
	cell, err := p.cell()
	if err != nil {
		return exit.Usagef("%s: %v", p.File, err)
	}
	side, top, bottom, err := p.insets()
	if err != nil {
		return exit.Usagef("%s: %v", p.File, err)
	}
	fit := func(cells, pixels, border, one, usual int) int {
		if cells == 0 && pixels > 0 {
			cells = max((pixels-border)/one, 1)
		}
		return cmp.Or(cells, usual)
	}
	p.cols, p.rows = fit(s.Cols, s.Width, 2*side, cell.X, defaultCols), fit(s.Rows, s.Height, top+bottom, cell.Y, defaultRows)
	if !vterm.ValidSize(p.cols, p.rows) {
		return exit.Usagef("%s: a terminal of %d×%d cells: give Set Columns %d to %d and Set Rows %d to %d",
			p.File, p.cols, p.rows, vterm.MinCols, vterm.MaxCols, vterm.MinRows, vterm.MaxRows)
	}
	shoots := false
	for i := range p.Tape.Steps {
		if st := &p.Tape.Steps[i]; st.Kind == tape.Screenshot {
			shoots = true
			if _, err := shotFormat(st.Text); err != nil {
				return exit.Usagef("%s:%d: %v", p.File, st.Line, err)
			}
		}
	}
	if len(p.Tape.Outputs) == 0 && !shoots {
		return exit.Usagef("%s writes no file; add `Output demo.gif` to it, or use --output", p.File)
	}
	for _, out := range p.Tape.Outputs {
		if _, err := p.exportFlags(out); err != nil {
			return err
		}
	}
	return nil
}

// cell returns the size of a cell in pixels.
func (p *Production) cell() (image.Point, error) {
	look := p.look()
	look.Padding, look.Margin, look.Window = -1, -1, false
	o, err := look.Pixels(nil)
	if err != nil {
		return image.Point{}, err
	}
	painter, err := pixel.NewPainter(1, 1, o)
	if err != nil {
		return image.Point{}, err
	}
	return painter.Size(), nil
}

// insets returns the pixels between the edges of the pictures and the cells.
func (p *Production) insets() (side, top, bottom int, err error) {
	look := p.look()
	o, err := look.Picture(nil)
	if err != nil {
		return 0, 0, 0, err
	}
	side, top, bottom = o.Insets()
	scaled := func(n int) int { return int(float64(n) * look.Scale) }
	return scaled(side), scaled(top), scaled(bottom), nil
}

// exportFlags returns the flags of `longterm export` that write the recording to a file.
func (p *Production) exportFlags(out string) (*export.Flags, error) {
	s := &p.Tape.Settings
	var o export.Flags
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.Add(f)
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for _, set := range []struct{ name, value string }{
		{"output", out}, {"idle-limit", "0"}, {"theme", s.Theme},
		{"scale", number(cmp.Or(s.FontSize, defaultFont) / defaultFont)},
		{"padding", strconv.Itoa(p.look().Padding)}, {"window", strconv.FormatBool(s.Window)}, {"margin", strconv.Itoa(cmp.Or(p.look().Margin, -1))},
		{"margin-color", s.MarginColor}, {"fps", number(cmp.Or(s.FPS, 20))}, {"speed", number(cmp.Or(s.Speed, 1))},
	} {
		if err := f.Set(set.name, set.value); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", p.File, out, err)
		}
	}
	if err := o.Check(p.Printer); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", p.File, out, err)
	}
	return &o, nil
}

func (p *Production) look() format.Options {
	scale := cmp.Or(p.Tape.Settings.FontSize, defaultFont) / defaultFont
	padding := format.DefaultPadding
	if n := p.Tape.Settings.Padding; n > 0 {
		padding = min(int(float64(n)/scale+0.5), format.MaxPadding)
	}
	s := &p.Tape.Settings
	look := format.Options{Theme: s.Theme, Scale: scale, Padding: padding, Window: s.Window, MarginColor: s.MarginColor, Margin: -1}
	switch {
	case s.Margin > 0:
		look.Margin = min(int(float64(s.Margin)/scale+0.5), format.MaxMargin)
	case s.Window:
		look.Margin = 0 // format.DefaultMargin
	}
	return look
}

// shotFormat returns the format for a screenshot file.
func shotFormat(file string) (string, error) {
	names := format.Names()
	ext := strings.ToLower(strings.TrimPrefix(filepath.Ext(file), "."))
	switch ext {
	case "txt", "ascii":
		ext = "text"
	}
	for _, n := range names {
		if n == ext {
			return n, nil
		}
	}
	return "", fmt.Errorf("screenshot %q: unknown format; its name must end in one of .%s", file, strings.Join(names, " ."))
}

// Make plays the tape and writes all files.
func (p *Production) Make(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "longterm-tape")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	f, err := os.Create(filepath.Join(dir, "played.cast"))
	if err != nil {
		return err
	}
	tell := p.Stderr
	if p.JSON {
		tell = io.Discard
	}
	y := Player{Tape: p.Tape, File: p.File, Progress: tell, Cols: p.cols, Rows: p.rows, Shoot: p.shoot}
	played := y.Play(ctx, f)
	if err := f.Close(); err != nil {
		return errors.Join(played, err)
	}
	if s, err := os.Stat(f.Name()); err != nil || s.Size() == 0 {
		return errors.Join(played, err)
	}
	made := []string{}
	for _, out := range p.Tape.Outputs {
		o, err := p.exportFlags(out)
		if err == nil {
			err = o.Run(ctx, p.Printer, nil, f.Name())
		}
		if err != nil {
			return errors.Join(played, fmt.Errorf("%s: %w", out, err))
		}
		made = append(made, out)
	}
	if played != nil {
		return played
	}
	made = append(made, p.shots...)
	return p.Print(struct {
		Made []string `json:"made"`
	}{made}, func(w io.Writer) {
		for _, name := range made {
			fmt.Fprintln(w, name)
		}
	})
}

func (p *Production) shoot(f *vterm.Frame, file string) error {
	name, err := shotFormat(file)
	if err != nil {
		return err
	}
	b, err := format.Append(nil, name, f, nil, p.look())
	if err != nil {
		return err
	}
	err = p.WriteOutput(file, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(b))
		return err
	})
	p.shots = append(p.shots, file)
	return err
}
