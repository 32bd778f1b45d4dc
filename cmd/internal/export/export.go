//go:build unix

// Package export writes what a session printed, or a recording in a file, in another form: a recording, bytes,
// text or a moving picture. formats is the table of forms: a row has a name, what help says of it, and what makes
// its exporter. A history is read once, or twice for formats that have to know the largest size first; it is never
// held as a whole.
package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/values"
	"github.com/longterm-dev/longterm/render/cast"
	"github.com/longterm-dev/longterm/session/api"
)

// exporter writes a history in a format.
type exporter interface {
	record(r *api.Record) error
	close() error
}

// exporting is what exporters are made from.
type exporting struct {
	w          io.Writer
	command    string
	name       string
	first      *api.Record
	cols, rows int // largest size, for formats that want to know it
	film       filmFlags
	progress   progress // of a moving picture
}

// exportFormat is a format of a history.
type format struct {
	name, text string
	make       func(e *exporting) (exporter, error)
	moving     bool // a moving picture: it has to know the largest size, and is no text
}

var formats = []format{
	{"cast", "asciicast 3, for asciinema 3 and its player", castExporter(cast.V3), false},
	{"cast2", "asciicast 2, for everything else that plays recordings", castExporter(cast.V2), false},
	{"raw", "the bytes, unchanged", func(e *exporting) (exporter, error) { return rawExport{e.w}, nil }, false},
	{"text", "text without escape sequences", func(e *exporting) (exporter, error) {
		return textExport{output.NewTextWriter(e.w)}, nil
	}, false},
	{"gif", "animation for everything that shows pictures", filmExporter(newGIF), true},
	{"apng", "animated PNG: all colours", filmExporter(newAPNG), true},
	{"svg", "animated SVG: text stays text, sharp at every size", filmExporter(newSVG), true},
	{"mp4", "video (H.264), made by ffmpeg", filmExporter(newVideo("mp4", "-c:v", "libx264", "-preset", "medium", "-crf", "20", "-movflags", "+faststart")), true},
	{"webm", "video (VP9), made by ffmpeg", filmExporter(newVideo("webm", "-c:v", "libvpx-vp9", "-crf", "30", "-b:v", "0", "-row-mt", "1")), true},
}

func formatNames() string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

// find settles the format.
func (o *Flags) find() (*format, error) {
	if o.format == "" {
		var err error
		if o.format, err = output.FormatOf(o.output, strings.Split(formatNames(), ", "), "cast"); err != nil {
			return nil, err
		}
	}
	for i := range formats {
		if formats[i].name == o.format {
			return &formats[i], nil
		}
	}
	return nil, exit.Usagef("unknown format %q; there are %s", o.format, formatNames())
}

// castExport writes a recording.
type castExport struct {
	w    *cast.Writer
	last time.Time // for records whose time is not known
}

func castExporter(version int) func(*exporting) (exporter, error) {
	return func(e *exporting) (exporter, error) {
		c, err := cast.NewWriter(e.w, cast.Header{
			Version: version, Cols: e.first.Cols, Rows: e.first.Rows, Started: e.first.Time,
			Command: e.command, Title: e.name, Env: map[string]string{"TERM": "xterm-256color"},
		})
		return &castExport{c, e.first.Time}, err
	}
}

func (e *castExport) record(r *api.Record) error {
	if !r.Time.IsZero() {
		e.last = r.Time
	}
	switch r.Kind {
	case "screen", "output":
		return e.w.Output(e.last, r.Data)
	case "resize":
		return e.w.Resize(e.last, r.Cols, r.Rows)
	case "gap":
		return e.w.Mark(e.last, fmt.Sprintf("%d bytes of output are lost", r.Lost))
	case "exit":
		status := -1
		if r.Exit != nil && r.Exit.ExitCode != nil {
			status = *r.Exit.ExitCode
		}
		return e.w.Exit(e.last, status)
	}
	return nil
}

func (e *castExport) close() error { return e.w.Close() }

type rawExport struct{ w io.Writer }

func (e rawExport) record(r *api.Record) error {
	if r.Kind != "output" {
		return nil
	}
	_, err := e.w.Write(r.Data)
	return err
}
func (e rawExport) close() error { return nil }

type textExport struct{ w *output.TextWriter }

func (e textExport) record(r *api.Record) error {
	if r.Kind != "output" {
		return nil
	}
	return e.w.Put(api.Output{Data: r.Data})
}
func (e textExport) close() error { return e.w.Flush() }

// Flags are what `export` is told.
type Flags struct {
	format, from, to, output string
	command                  int
	Reveal                   bool // secrets are shown
	film                     filmFlags
}

// Add registers the flags.
func (o *Flags) Add(f *pflag.FlagSet) {
	f.StringVar(&o.format, "format", "", "format: "+formatNames()+" (default: by the name of the output file, or cast)")
	f.StringVar(&o.from, "from", "", "where to begin: "+values.MomentForms+"; of a FILE: +90s or -5m")
	f.StringVar(&o.to, "to", "", "where to end")
	f.IntVar(&o.command, "command", 0, "only the output of this command of the session's shell (its number, see longterm commands)")
	output.AddOutput(f, &o.output)
	o.film.add(f)
}

// Help is what help says of exporting, with the formats.
func Help() string {
	var b strings.Builder
	for _, f := range formats {
		fmt.Fprintf(&b, "  %-6s  %s\n", f.name, f.text)
	}
	return "Export the output of a running or ended session, all or a part of it; or convert a recording in a FILE\n" +
		"(asciicast 2 or 3; a name with a slash or ending in .cast is a file). Formats:\n\n" + b.String() +
		"\nA recording of a part begins with the screen at that point."
}

// Check refuses what cannot be made.
func (o *Flags) Check(p *output.Printer) error {
	format, err := o.find()
	if err != nil || !format.moving {
		return err
	}
	if err := o.film.check(); err != nil {
		return err
	}
	return p.RefuseTerminal(o.output, "an animation")
}

// Run reads the history once, or twice for formats that have to know the largest size.
func (o *Flags) Run(ctx context.Context, p *output.Printer, find findSession, name string) error {
	if err := o.Check(p); err != nil {
		return err
	}
	format, err := o.find()
	if err != nil {
		return err
	}
	src, err := o.history(ctx, find, name)
	if err != nil {
		return err
	}
	e := src.about
	e.film = o.film
	if format.moving {
		if err := src.measure(&e); err != nil {
			return err
		}
		e.progress.w, e.progress.now = p.Stderr, time.Now
	}
	return p.WriteOutput(o.output, func(w io.Writer) error {
		recs, err := src.open()
		if err != nil {
			return err
		}
		defer recs.Close()
		buf := bufio.NewWriterSize(w, 256<<10)
		e.w = buf
		return joined(copyRecords(p, recs, &e, format), buf.Flush())
	})
}

// joined is both errors, once where the second only repeats what had been refused before.
func joined(err, after error) error {
	if err != nil && after != nil && errors.Is(err, errors.Unwrap(after)) {
		return err
	}
	return errors.Join(err, after)
}

func copyRecords(p *output.Printer, recs records, e *exporting, format *format) (err error) {
	var x exporter
	defer func() {
		if x != nil {
			err = joined(err, x.close())
		}
	}()
	for {
		r, err := recs.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if r.Kind == "gap" {
			fmt.Fprintf(p.Stderr, "longterm: %d bytes from offset %d are lost\n", r.Lost, r.Offset)
		}
		if x == nil {
			e.first = &r
			if x, err = format.make(e); err != nil {
				return err
			}
		}
		if err := x.record(&r); err != nil {
			return err
		}
	}
}
