//go:build unix

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/flagvalues"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func outputVerb(a *app, c *cobra.Command) {
	var o outputFlags
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, args []string) error {
		switch o.stream {
		case "stdout", "stderr":
			s = s.Stream(o.stream)
		case "":
		default:
			return exit.Usagef("--stream %q: invalid value; use stdout or stderr", o.stream)
		}
		if err := o.budget.Check(); err != nil {
			return err
		}
		if o.reveal {
			s = s.Reveal()
		}
		if o.follow && o.to != "" {
			return exit.Usagef("--follow and --to exclude each other")
		}
		if o.transcript && o.tokens > 0 {
			o.budget.Bytes = o.tokens * bytesPerToken
		}
		if o.transcript {
			return a.transcript(cmd.Context(), s, &o)
		}
		if o.tokens < 0 || o.tokens > 0 && o.budget.Bytes > 0 {
			return exit.Usagef("--max-tokens %d: invalid; use a positive number, or --max-output in bytes", o.tokens)
		}
		if o.digest || o.tokens > 0 {
			return a.digest(cmd.Context(), s, &o)
		}
		if a.JSON && o.budget.IsSet() {
			return a.outputText(cmd.Context(), s, &o)
		}
		return a.output(cmd.Context(), s, &o)
	})
	c.Long = `Print a session's output: from a byte offset or time, to another one or to the end of the output so far.

  longterm output build
  longterm output build --from line:-20 --follow

By default this is text without escape sequences, binary data and the output of full-screen programs (for these
see longterm screen); --raw prints unchanged bytes. With --json each piece is a line {"data" (base64), "from",
"next", "gap_bytes", "end"}; continue from the last "next". --json with --max-output prints one object with
"text", "next" and "omitted".

--transcript prints the lines that the terminal showed, including those of full-screen programs: lines that were
scrolled off or replaced, in order and without repeats, then the current screen. For programs that only overwrite
themselves (top) it holds little, and a note says so. --max-output keeps the end.`
	f := c.Flags()
	f.StringVar(&o.from, "from", "0", "start `MOMENT`: "+flagvalues.MomentForms)
	f.StringVar(&o.to, "to", "", "end `MOMENT` (default: the end of the output so far)")
	f.StringVar(&o.stream, "stream", "", "one stream of a session on pipes: stdout or stderr")
	f.BoolVar(&o.raw, "raw", false, "unchanged bytes")
	f.BoolVarP(&o.follow, "follow", "f", false, "new output too, until the session ends")
	f.BoolVar(&o.digest, "digest", false, "digest within the budget: first failure, errors, warnings and the end before the rest")
	f.IntVar(&o.tokens, "max-tokens", 0, "budget in tokens of 4 bytes, for a model (default with --digest: 2000)")
	f.BoolVar(&o.transcript, "transcript", false, "lines that the terminal showed, of full-screen programs too")
	f.BoolVar(&o.reveal, "reveal", false, revealHelp)
	o.budget.Register(c)
}

// revealHelp describes --reveal.
const revealHelp = "unredacted secrets (recorded in the audit log; agents need approval)"

// outputFlags holds the flags of `output`.
type outputFlags struct {
	from, to, stream string
	raw, follow      bool
	transcript       bool
	digest           bool
	tokens           int
	reveal           bool
	budget           output.BudgetFlags
}

func (a *app) output(ctx context.Context, s *client.Session, o *outputFlags) error {
	end, err := offsetOf(ctx, s, o.to)
	if err != nil {
		return err
	}
	w := a.Writer(o.raw)
	if o.budget.IsSet() {
		info, err := s.Info(ctx)
		if err != nil {
			return err
		}
		w = o.budget.Writer(a.Stdout, o.raw, info.ID, o.stream)
	}
	take := func(p api.Output) error {
		if p.Gap > 0 {
			fmt.Fprintf(a.Stderr, "longterm: gap of %d bytes from offset %d (lost output)\n", p.Gap, p.From-p.Gap)
		}
		return w.Put(p)
	}
	first, err := s.OutputAt(ctx, o.from)
	if err != nil {
		return err
	}
	switch {
	case o.to != "":
		err = output.ReadRange(ctx, s, first.From, end, take)
	case len(first.Data) > 0 || first.Gap > 0:
		err = take(first)
	}
	switch {
	case err != nil, o.to != "":
	case o.follow && !first.End:
		err = s.Follow(ctx, first.Next, take)
	case !o.follow:
		err = output.ReadAll(ctx, s, first.Next, take)
	}
	err = errors.Join(err, w.Flush())
	if b, ok := w.(*output.BudgetWriter); ok {
		b.PrintRest(a.Stderr)
	}
	return err
}

// offsetOf returns the offset of a moment, or 0 if it is empty.
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

// outputText prints text within a budget as one JSON object.
func (a *app) outputText(ctx context.Context, s *client.Session, o *outputFlags) error {
	to, err := offsetOf(ctx, s, o.to)
	if err != nil {
		return err
	}
	t, err := s.Text(ctx, client.TextQuery{At: o.from, To: to, MaxOutput: o.budget.Bytes, MaxLine: o.budget.Line})
	if err != nil {
		return err
	}
	return a.Print(t, nil)
}

// defaultTokens is the default budget of a digest; bytesPerToken converts tokens to bytes.
const defaultTokens, bytesPerToken = 2000, 4

// digest prints output within a budget.
func (a *app) digest(ctx context.Context, s *client.Session, o *outputFlags) error {
	if o.raw || o.follow {
		return exit.Usagef("--digest and --max-tokens exclude --raw and --follow")
	}
	to, err := offsetOf(ctx, s, o.to)
	if err != nil {
		return err
	}
	limit := cmp.Or(o.budget.Bytes, cmp.Or(o.tokens, defaultTokens)*bytesPerToken)
	t, err := s.Text(ctx, client.TextQuery{At: o.from, To: to, MaxOutput: limit, MaxLine: o.budget.Line, Digest: o.digest})
	if err != nil {
		return err
	}
	if !a.JSON && t.BinaryBytes > 0 {
		defer a.PrintBinaryProgress(t.BinaryBytes)
	}
	return a.Print(t, func(w io.Writer) { _, _ = io.WriteString(w, t.Text) })
}

// maxTranscript is the default budget of a transcript, in bytes.
const maxTranscript = 16 << 20

// transcript prints the lines that the terminal showed.
func (a *app) transcript(ctx context.Context, s *client.Session, o *outputFlags) error {
	if o.raw || o.follow || o.stream != "" || o.budget.Line > 0 {
		return exit.Usagef("--transcript excludes --raw, --follow, --stream and --max-line")
	}
	to, err := offsetOf(ctx, s, o.to)
	if err != nil {
		return err
	}
	t, err := s.Text(ctx, client.TextQuery{At: o.from, To: to, MaxOutput: cmp.Or(o.budget.Bytes, maxTranscript), Transcript: true})
	if err != nil {
		return err
	}
	if err := a.Print(t, func(w io.Writer) { _, _ = io.WriteString(w, t.Text) }); err != nil || a.JSON {
		return err
	}
	if t.Omitted != nil {
		fmt.Fprintf(a.Stderr, "longterm: %d earlier lines omitted; raise --max-output, or use --to for earlier ones\n", t.Omitted.Lines)
	}
	if t.Note != "" {
		fmt.Fprintf(a.Stderr, "longterm: %s\n", t.Note)
	}
	return nil
}
