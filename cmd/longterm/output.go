//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func outputCommand(a *app) *cobra.Command {
	var o outputFlags
	c := a.on("output S", "Print what a session printed", cobra.ExactArgs(1),
		func(cmd *cobra.Command, s *client.Session, args []string) error {
			switch o.stream {
			case "stdout", "stderr":
				s = s.Stream(o.stream)
			case "":
			default:
				return exit.Usagef("--stream %q: give stdout or stderr", o.stream)
			}
			if err := o.budget.check(); err != nil {
				return err
			}
			if o.follow && o.to != "" {
				return exit.Usagef("--follow has no end, --to is one; give one of them")
			}
			if a.json && o.budget.given() {
				return a.outputText(cmd.Context(), s, &o)
			}
			return a.output(cmd.Context(), s, &o)
		})
	c.Long = `Print what a session printed, from a moment (an offset in bytes since its beginning, or a time) to another, or
to the end of what is there. Text without escape sequences by default, without binary data and what full-screen
programs drew (longterm screen has that); --raw prints the bytes as they were. With
--json each piece is a line {"data" (base64), "from", "next", "gap_bytes", "end"}; go on from the last "next". With
--json and --max-output it is one object with "text", "next" and what is "omitted".`
	f := c.Flags()
	f.StringVar(&o.from, "from", "0", "moment to begin at: "+momentForms)
	f.StringVar(&o.to, "to", "", "moment to end at (default: what is there)")
	f.StringVar(&o.stream, "stream", "", "of a session on pipes: only stdout, or only stderr")
	f.BoolVar(&o.raw, "raw", false, "bytes as they were printed")
	f.BoolVarP(&o.follow, "follow", "f", false, "go on until the session ends")
	o.budget.register(c)
	return a.jsonFlag(c)
}

// outputFlags say what is to be printed of a session's output, and how.
type outputFlags struct {
	from, to, stream string
	raw, follow      bool
	budget           budgetFlags
}

func (a *app) output(ctx context.Context, s *client.Session, o *outputFlags) error {
	end, err := offsetOf(ctx, s, o.to)
	if err != nil {
		return err
	}
	w := a.outputWriter(o.raw)
	if o.budget.given() {
		info, err := s.Info(ctx)
		if err != nil {
			return err
		}
		w = o.budget.writer(a.stdout, o.raw, info.ID, o.stream)
	}
	take := func(p api.Output) error {
		if p.Gap > 0 {
			fmt.Fprintf(a.stderr, "longterm: %d bytes from offset %d are lost\n", p.Gap, p.From-p.Gap)
		}
		return w.write(p)
	}
	first, err := s.OutputAt(ctx, o.from)
	if err != nil {
		return err
	}
	switch {
	case o.to != "":
		err = readRange(ctx, s, first.From, end, take)
	case len(first.Data) > 0 || first.Gap > 0:
		err = take(first)
	}
	switch {
	case err != nil, o.to != "":
	case o.follow && !first.End:
		err = s.Follow(ctx, first.Next, take)
	case !o.follow:
		err = readAll(ctx, s, first.Next, take)
	}
	err = errors.Join(err, w.flush())
	if t, ok := w.(*textWriter); ok && t.mask.Held() > 0 {
		a.binaryProgress(t.mask.Held())
	}
	return err
}

// offsetOf is the offset of a moment; empty: 0.
func offsetOf(ctx context.Context, s *client.Session, moment string) (uint64, error) {
	if moment == "" {
		return 0, nil
	}
	if n, err := strconv.ParseUint(moment, 10, 64); err == nil {
		return n, nil
	}
	o, err := s.OutputAt(ctx, moment)
	return o.From, err
}

// outputText prints text within a budget as one object.
func (a *app) outputText(ctx context.Context, s *client.Session, o *outputFlags) error {
	to, err := offsetOf(ctx, s, o.to)
	if err != nil {
		return err
	}
	t, err := s.Text(ctx, client.TextQuery{At: o.from, To: to, MaxOutput: o.budget.bytes, MaxLine: o.budget.line})
	if err != nil {
		return err
	}
	return a.print(t, nil)
}
