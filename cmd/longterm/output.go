//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func outputCommand(a *app) *cobra.Command {
	var from, stream string
	var raw, follow bool
	c := a.on("output S", "Print what a session printed", cobra.ExactArgs(1),
		func(cmd *cobra.Command, s *client.Session, _ []string) error {
			switch stream {
			case "stdout", "stderr":
				s = s.Stream(stream)
			case "":
			default:
				return usagef("--stream %q: give stdout or stderr", stream)
			}
			w := a.outputWriter(raw)
			take := func(o api.Output) error {
				if o.Gap > 0 {
					fmt.Fprintf(a.stderr, "longterm: %d bytes from offset %d are lost\n", o.Gap, o.From-o.Gap)
				}
				return w.write(o)
			}
			first, err := s.OutputAt(cmd.Context(), from)
			if err != nil {
				return err
			}
			if len(first.Data) > 0 || first.Gap > 0 {
				if err := take(first); err != nil {
					return err
				}
			}
			if follow && !first.End {
				err = s.Follow(cmd.Context(), first.Next, take)
			} else if !follow {
				err = readAll(cmd, s, first.Next, take)
			}
			return errors.Join(err, w.flush())
		})
	c.Long = `Print what a session printed, from a moment (an offset in bytes since its beginning, or a time) to the end of what is there.
Text without escape sequences by default; --raw prints the bytes as they were. With --json each piece is
a line {"data" (base64), "from", "next", "gap_bytes", "end"}; go on from the last "next".`
	f := c.Flags()
	f.StringVar(&from, "from", "0", "moment to begin at: "+momentForms)
	f.StringVar(&stream, "stream", "", "of a session on pipes: only stdout, or only stderr")
	f.BoolVar(&raw, "raw", false, "bytes as they were printed")
	f.BoolVarP(&follow, "follow", "f", false, "go on until the session ends")
	return a.jsonFlag(c)
}

func readAll(cmd *cobra.Command, s *client.Session, from uint64, take func(api.Output) error) error {
	for {
		o, err := s.Output(cmd.Context(), from, 0)
		if err != nil {
			return err
		}
		if o.Next == from {
			return nil
		}
		if err := take(o); err != nil {
			return err
		}
		from = o.Next
	}
}

// outputWriter writes output pieces in one of the forms.
type outputWriter interface {
	write(api.Output) error
	flush() error
}

func (a *app) outputWriter(raw bool) outputWriter {
	switch {
	case a.json:
		return jsonWriter{json.NewEncoder(a.stdout)}
	case raw:
		return rawWriter{a}
	}
	return a.textWriter()
}

type jsonWriter struct{ enc *json.Encoder }

func (w jsonWriter) write(o api.Output) error { return w.enc.Encode(o) }
func (w jsonWriter) flush() error             { return nil }

type rawWriter struct{ a *app }

func (w rawWriter) write(o api.Output) error {
	_, err := w.a.stdout.Write(o.Data)
	return err
}
func (w rawWriter) flush() error { return nil }
