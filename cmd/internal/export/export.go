//go:build unix

// Package export implements the verb export: it writes a session's output, or a recording in a file, as a recording,
// bytes, text or animation.
//
// The table formats has a row per format: its name, its help text, and the constructor of its exporter. A history is
// read once, or twice for formats that need the largest size first; it is never held in memory as a whole.
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
	"github.com/longterm-dev/longterm/cmd/internal/flagvalues"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/render/cast"
	"github.com/longterm-dev/longterm/session/api"
)

// exporter writes a history in a format.
type exporter interface {
	record(r *api.Record) error
	close() error
}

// exportParams holds the parameters of an exporter.
type exportParams struct {
	w          io.Writer
	command    string
	name       string
	first      *api.Record
	cols, rows int // largest size in the history, for formats that need it first
	film       filmFlags
	progress   progress // progress of an animation
}

// format is a format of a history.
type format struct {
	name, text string
	make       func(e *exportParams) (exporter, error)
	animated   bool // an animation: needs the largest size, and is not text
}

var formats = []format{
	{"cast", "asciicast 3, for asciinema 3 and its player", castExporter(cast.V3), false},
	{"cast2", "asciicast 2, for all other players of recordings", castExporter(cast.V2), false},
	{"raw", "unchanged bytes", func(e *exportParams) (exporter, error) { return rawExport{e.w}, nil }, false},
	{"text", "text without escape sequences", func(e *exportParams) (exporter, error) {
		return textExport{output.NewTextWriter(e.w)}, nil
	}, false},
	{"gif", "animation for any image viewer", filmExporter(newGIF), true},
	{"apng", "animated PNG with all colours", filmExporter(newAPNG), true},
	{"svg", "animated SVG: text stays text, sharp at every size", filmExporter(newSVG), true},
	{"mp4", "video (H.264); requires ffmpeg", filmExporter(newVideo("mp4", "-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-movflags", "+faststart")), true},
	{"webm", "video (VP9); requires ffmpeg", filmExporter(newVideo("webm", "-c:v", "libvpx-vp9", "-crf", "30", "-b:v", "0", "-row-mt", "1")), true},
}

func formatNames() string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

// chooseFormat sets the format from the flags.
func (o *Flags) chooseFormat() (*format, error) {
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
	last time.Time // time of the last record, for records without a time
}

func castExporter(version int) func(*exportParams) (exporter, error) {
	return func(e *exportParams) (exporter, error) {
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

// Flags holds the flags of `export`.
type Flags struct {
	format, from, to, output string
	command                  int
	Reveal                   bool // secrets are shown
	film                     filmFlags
}

// Add registers the flags.
func (o *Flags) Add(f *pflag.FlagSet) {
	f.StringVar(&o.format, "format", "", "`FORMAT`: "+formatNames()+" (default: from the name of the output file, or cast)")
	f.StringVar(&o.from, "from", "", "start `MOMENT`: "+flagvalues.MomentForms+"; of a FILE: +90s or -5m")
	f.StringVar(&o.to, "to", "", "end `MOMENT`")
	f.IntVar(&o.command, "command", 0, "`NUMBER` of one command whose output to export (see longterm commands)")
	output.AddOutput(f, &o.output)
	o.film.add(f)
}

// Help returns the long help text of export, with the list of formats.
func Help() string {
	var b strings.Builder
	for _, f := range formats {
		fmt.Fprintf(&b, "  %-6s  %s\n", f.name, f.text)
	}
	return "Export the output of a running or ended session, or convert a recording in a FILE (asciicast 2 or 3; a name\n" +
		"with a slash or ending in .cast is a file).\n\n" +
		"  longterm export work -o work.cast\n" +
		"  longterm export work --from -5m -o demo.gif\n\n" +
		"Formats:\n\n" + b.String() +
		"\nThe recording of a part starts with the screen at that point."
}

// Check rejects combinations of flags that cannot work.
func (o *Flags) Check(p *output.Printer) error {
	format, err := o.chooseFormat()
	if err != nil || !format.animated {
		return err
	}
	if err := o.film.check(); err != nil {
		return err
	}
	return p.RefuseTerminal(o.output, "an animation")
}

// Run reads the history and writes it in the format. Formats that need the largest size first read it twice.
func (o *Flags) Run(ctx context.Context, p *output.Printer, find findSession, name string) error {
	if err := o.Check(p); err != nil {
		return err
	}
	format, err := o.chooseFormat()
	if err != nil {
		return err
	}
	src, err := o.history(ctx, find, name)
	if err != nil {
		return err
	}
	e := src.about
	e.film = o.film
	if format.animated {
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
		return joinErrors(copyRecords(p, recs, &e, format), buf.Flush())
	})
}

// joinErrors returns both errors, but only the first if the second just repeats it.
func joinErrors(err, after error) error {
	if err != nil && after != nil && errors.Is(err, errors.Unwrap(after)) {
		return err
	}
	return errors.Join(err, after)
}

func copyRecords(p *output.Printer, recs records, e *exportParams, format *format) (err error) {
	var x exporter
	defer func() {
		if x != nil {
			err = joinErrors(err, x.close())
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
