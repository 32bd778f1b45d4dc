//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/client"
)

// reattachTime is how long an attached client tries to find its session again.
const reattachTime = time.Minute

func attachCommand(a *app) *cobra.Command {
	var readOnly bool
	key := os.Getenv("LONGTERM_DETACH_KEY")
	if key == "" {
		key = attach.DefaultDetachKey
	}
	c := a.on("attach S", "Put a session on this terminal", cobra.ExactArgs(1),
		func(cmd *cobra.Command, s *client.Session, args []string) error {
			d, err := attach.NewDetacher(key)
			if err != nil {
				return usageError{err}
			}
			return a.attach(cmd.Context(), s, d, key, readOnly)
		})
	c.Long = "Put a session on this terminal, with full fidelity. The detach key leaves it running.\n" +
		"If the daemon is restarted meanwhile the session comes back by itself."
	f := c.Flags()
	f.StringVar(&key, "detach-key", key, "control key and a second key that leave the session ($LONGTERM_DETACH_KEY)")
	f.BoolVar(&readOnly, "read-only", false, "only look")
	return c
}

// attachment is a session on a person's terminal.
type attachment struct {
	s        *client.Session
	t        *terminal
	detacher *attach.Detacher
	readOnly bool
	keys     chan []byte
	info     attach.Info // the newest
}

var errDetached = errors.New("detached")

func (a *app) attach(ctx context.Context, s *client.Session, d *attach.Detacher, key string, readOnly bool) error {
	info, err := s.Info(ctx) // errors before the terminal is touched
	if err != nil {
		return err
	}
	if os.Getenv("LONGTERM_SESSION") == info.ID {
		return fmt.Errorf("this is session %s itself; attaching it here would show it to itself for ever", info.Name)
	}
	t, err := openTerminal(a.stdin, os.Stdout)
	if err != nil {
		return err
	}
	defer t.restore(true)
	at := &attachment{s: s, t: t, detacher: d, readOnly: readOnly, keys: make(chan []byte)}
	stop := make(chan struct{})
	defer close(stop)
	go t.keys(at.keys, stop)

	err = at.run(ctx)
	t.restore(true)
	switch {
	case errors.Is(err, errDetached):
		fmt.Fprintf(a.stderr, "[detached from %s; `longterm attach %s` comes back]\n", info.Name, info.Name)
		return nil
	case err != nil:
		return err
	}
	fmt.Fprintf(a.stderr, "[%s %s]\n", info.Name, endText(&at.info))
	return nil
}

func endText(i *attach.Info) string {
	switch {
	case i.Signal != "":
		return "ended by " + i.Signal
	case i.Code != nil:
		return fmt.Sprintf("exited with %d", *i.Code)
	}
	return i.State
}

// run joins the session again and again until it is over or the person leaves.
func (at *attachment) run(ctx context.Context) error {
	lost := time.Time{}
	for {
		cols, rows := at.t.size()
		st, err := at.s.Attach(ctx, client.StreamOptions{Cols: cols, Rows: rows, ReadOnly: at.readOnly})
		if err == nil {
			lost = time.Time{}
			err = at.converse(st)
			_ = st.Close()
			if err == nil || errors.Is(err, errDetached) || ctx.Err() != nil {
				return err
			}
		} else if lost.IsZero() {
			lost = time.Now()
		}
		if !lost.IsZero() && time.Since(lost) > reattachTime {
			return err
		}
		select { // the daemon is being restarted
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// converse moves bytes both ways. nil: the session is over.
func (at *attachment) converse(st *client.Stream) error {
	drawn := make(chan error, 1)
	go func() { drawn <- at.draw(st) }()
	for {
		select {
		case err := <-drawn:
			return err
		case in, ok := <-at.keys:
			if !ok { // the terminal is gone
				return errDetached
			}
			out, leave := at.detacher.Feed(in)
			if len(out) > 0 {
				if err := st.Type(out); err != nil {
					return err
				}
			}
			if leave {
				return errDetached
			}
		case <-at.t.resized:
			cols, rows := at.t.size()
			if err := st.Resize(cols, rows); err != nil {
				return err
			}
		}
	}
}

func (at *attachment) draw(st *client.Stream) error {
	for {
		draw, info, err := st.Read()
		switch {
		case client.Over(err):
			return nil
		case err != nil:
			return err
		case info != nil:
			at.info = *info
		default:
			if err := at.t.draw(draw); err != nil {
				return errDetached
			}
		}
	}
}
