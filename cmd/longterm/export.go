//go:build unix

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/render/cast"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// exporter writes a session's history in a format.
type exporter interface {
	record(r *api.Record) error
	close() error
}

// exportFormats are the formats, with what makes an exporter for them.
var exportFormats = []struct {
	name, text string
	make       func(w io.Writer, info *api.Session, first *api.Record) (exporter, error)
}{
	{"cast", "asciicast 3, for asciinema 3 and its player", castExporter(cast.V3)},
	{"cast2", "asciicast 2, for everything else that plays recordings", castExporter(cast.V2)},
	{"raw", "the bytes as they were printed", func(w io.Writer, _ *api.Session, _ *api.Record) (exporter, error) { return rawExport{w}, nil }},
	{"text", "text without escape sequences, lines as they were printed", func(w io.Writer, _ *api.Session, _ *api.Record) (exporter, error) {
		return textExport{newTextWriter(w)}, nil
	}},
}

func exportCommand(a *app) *cobra.Command {
	var format, from, to, file string
	var command int
	c := a.on("export S", "Write what a session printed to a file, as a recording or text", cobra.ExactArgs(1),
		func(cmd *cobra.Command, s *client.Session, _ []string) error {
			if command > 0 {
				c, err := s.Command(cmd.Context(), command)
				if err != nil {
					return err
				}
				from = strconv.FormatUint(c.Output.Start, 10)
				if c.Output.End > 0 {
					to = strconv.FormatUint(c.Output.End, 10)
				}
			}
			for _, f := range exportFormats {
				if f.name == format {
					return a.export(cmd.Context(), s, from, to, file, f.make)
				}
			}
			return usagef("unknown format %q; there are %s", format, exportNames())
		})
	var b strings.Builder
	for _, f := range exportFormats {
		fmt.Fprintf(&b, "  %-6s  %s\n", f.name, f.text)
	}
	c.Long = "Write what a session printed, living or dead, whole or from one moment to another. Formats:\n\n" + b.String() +
		"\nA recording of a part begins with the screen as it stood then."
	f := c.Flags()
	f.StringVar(&format, "format", "cast", "format: "+exportNames())
	f.StringVar(&from, "from", "", "moment to begin at: "+momentForms)
	f.StringVar(&to, "to", "", "moment to end before")
	f.IntVar(&command, "command", 0, "only what this command of the session's shell printed (its number, see `longterm commands`)")
	f.StringVarP(&file, "output", "o", "", "file to write (default: standard output)")
	return c
}

func exportNames() string {
	var names []string
	for _, f := range exportFormats {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

func (a *app) export(ctx context.Context, s *client.Session, from, to, file string,
	make func(io.Writer, *api.Session, *api.Record) (exporter, error),
) (err error) {
	info, err := s.Info(ctx)
	if err != nil {
		return err
	}
	recs, err := s.Records(ctx, from, to)
	if err != nil {
		return err
	}
	defer recs.Close()
	w := a.stdout
	if file != "" {
		f, ferr := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if ferr != nil {
			return ferr
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		w = f
	}
	buf := bufio.NewWriterSize(w, 256<<10)
	var e exporter
	for {
		r, err := recs.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if r.Kind == "gap" {
			fmt.Fprintf(a.stderr, "longterm: %d bytes from offset %d are lost\n", r.Lost, r.Offset)
		}
		if e == nil {
			if e, err = make(buf, &info, &r); err != nil {
				return err
			}
		}
		if err := e.record(&r); err != nil {
			return err
		}
	}
	if e != nil {
		err = e.close()
	}
	return errors.Join(err, buf.Flush())
}

// castExport writes a recording.
type castExport struct {
	w    *cast.Writer
	last time.Time // for records whose time is not known
}

func castExporter(version int) func(io.Writer, *api.Session, *api.Record) (exporter, error) {
	return func(w io.Writer, info *api.Session, first *api.Record) (exporter, error) {
		c, err := cast.NewWriter(w, cast.Header{
			Version: version, Cols: first.Cols, Rows: first.Rows, Started: first.Time,
			Command: info.Command, Title: info.Name, Env: map[string]string{"TERM": "xterm-256color"},
		})
		return &castExport{c, first.Time}, err
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

type textExport struct{ w *textWriter }

func (e textExport) record(r *api.Record) error {
	if r.Kind != "output" {
		return nil
	}
	return e.w.write(api.Output{Data: r.Data})
}
func (e textExport) close() error { return e.w.flush() }

// isRecording tells a file's name from a session's.
func isRecording(name string) bool {
	return strings.ContainsAny(name, "/\\") || strings.HasSuffix(name, ".cast")
}
