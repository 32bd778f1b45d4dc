//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/processes"
	"github.com/longterm-dev/longterm/cmd/internal/recording"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/render/view/player"
)

func playVerb(a *app, c *cobra.Command) {
	var o player.Options
	var from string
	var with int
	c.Long = `Play the output of a running or ended session at its original speed, or a recording in a FILE (asciicast 2 or 3;
a name with a slash or ending in .cast is a file).

  longterm play work --from -5m
  longterm play demo.cast --speed 2

Keys: Space pauses, Left and Right seek 5 seconds, Up and Down a minute, Home and End to the start and end,
+ and - change the speed, . shows the next piece of output, / searches, n finds the next match, q quits.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if !term.IsTerminal(int(a.stdin.Fd())) || !term.IsTerminal(int(os.Stdout.Fd())) {
			return fmt.Errorf("%w; use `longterm export` for a file", termio.ErrNoTerminal)
		}
		if with < 0 {
			return exit.Usagef("--pid %d: invalid process id", with)
		}
		rec, err := a.recording(cmd.Context(), args[0], &o)
		if err != nil {
			return err
		}
		if o.From, err = startOf(rec, from); err != nil {
			return err
		}
		ctx := cmd.Context()
		if with != 0 {
			var stop context.CancelFunc
			ctx, stop = processes.Until(ctx, with)
			defer stop()
		}
		return player.Play(ctx, rec, o)
	}
	f := c.Flags()
	f.Float64Var(&o.Speed, "speed", 1, "playback speed; 2 is twice as fast")
	f.DurationVar(&o.IdleLimit, "idle-limit", 0, "maximum length of pauses")
	f.BoolVar(&o.Paused, "paused", false, "paused at the start")
	f.IntVar(&with, "pid", 0, "process id after whose exit playback ends")
	f.StringVar(&from, "from", "", "start `TIME`: after the start (90s) or before the end (-5m)")
}

// startOf returns the time at which playback starts.
func startOf(rec player.Recording, from string) (time.Time, error) {
	start, end := rec.Span()
	if from == "" {
		return start, nil
	}
	d, err := time.ParseDuration(from)
	switch {
	case err != nil:
		return start, exit.Usagef("--from %q: invalid duration; use a form such as 90s or -5m", from)
	case d < 0:
		return end.Add(d), nil
	}
	return start.Add(d), nil
}

// recording opens the named session or file for playback.
func (a *app) recording(ctx context.Context, name string, o *player.Options) (player.Recording, error) {
	if recording.IsFile(name) {
		o.Title = output.Printable(name)
		r, err := recording.OpenCast(name)
		if err != nil {
			return nil, err
		}
		return r, nil
	}
	s, err := a.session(name)
	if err != nil {
		return nil, err
	}
	info, err := s.Info(ctx)
	if err != nil {
		return nil, err
	}
	o.Title = info.Name
	return recording.OfSession(s, info), nil
}
