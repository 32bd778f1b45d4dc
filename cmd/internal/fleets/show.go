//go:build unix

package fleets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// WriteStatus says what this machine's part in its fleet is.
func WriteStatus(w io.Writer, st *api.Fleet) {
	if !st.On {
		fmt.Fprintln(w, "this machine belongs to no fleet; `longterm fleet init` makes one, `longterm fleet join CODE` joins one")
		return
	}
	if st.Host != "" {
		fmt.Fprintf(w, "host %s of the fleet %s, which may %s on the others\n", st.Host, st.Fleet, strings.Join(st.May, ", "))
	}
	if st.Connected {
		fmt.Fprintf(w, "connected to %s\n", output.Printable(st.Server))
	} else if st.Host != "" {
		fmt.Fprintf(w, "cut off from %s; this machine's sessions go on\n", output.Printable(strings.Join(st.Servers, ", ")))
	}
	if st.Error != "" {
		fmt.Fprintf(w, "not in order: %s\n", output.Printable(st.Error))
	}
	if st.Waiting > 0 || st.Unsent > 0 {
		fmt.Fprintf(w, "not told yet: %d changes, %d completions\n", st.Waiting, st.Unsent)
	}
	switch {
	case st.Host == "":
	case st.CopyError != "":
		fmt.Fprintf(w, "not copied to the fleet now, %d bytes behind: %s\n", st.CopyBehind, output.Printable(st.CopyError))
	case st.CopyBehind > 0:
		fmt.Fprintf(w, "copies are %d bytes behind, for %.1f s\n", st.CopyBehind, float64(st.CopyAge)/1000)
	default:
		fmt.Fprintln(w, "the fleet has a copy of what was printed here")
	}
	if st.Former > 0 {
		fmt.Fprintf(w, "the fleet has copies of %d sessions of a machine that had this name before: `longterm fleet restore %s` has them here\n", st.Former, st.Host)
	}
	if st.Drained {
		fmt.Fprintln(w, "drained: fleet run starts nothing here")
	}
	if st.Admin {
		fmt.Fprintln(w, "the fleet was made here: `longterm fleet invite` lets machines in")
	}
}

// WriteHosts lists hosts.
func WriteHosts(w io.Writer, list []api.FleetHost) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "HOST\tSTATE\tRUNNING\tNEEDS\tLOAD\tFREE\tSYSTEM\tLABELS")
	for i := range list {
		h := &list[i]
		name, state := h.Host, h.State
		if h.Here {
			name += " *"
		}
		switch {
		case h.State == "away" && !h.Seen.IsZero():
			state = "away since " + h.Seen.Local().Format(time.DateTime)
		case h.Drained:
			state = "drained"
		}
		if h.Skew != 0 {
			state += fmt.Sprintf(", clock %+ds", h.Skew/1000)
		}
		switch {
		case h.NotCopied && h.State == "connected":
			state += ", not copied"
		case h.CopyAge > 2000:
			state += fmt.Sprintf(", copies %d bytes and %d s behind", h.CopyBehind, h.CopyAge/1000)
		}
		load, free := "-", "-"
		if h.State == "connected" {
			load, free = fmt.Sprintf("%.2f/%d", h.Load, h.CPUs), fmt.Sprintf("%d MiB", h.Free>>20)
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\n", name, state, h.Running, h.Needs, load, free, output.Printable(h.System), output.Printable(labelText(h.Labels)))
	}
	_ = t.Flush()
}

func labelText(labels map[string]string) string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, k+"="+labels[k])
	}
	return strings.Join(all, ",")
}

// WriteSessions lists sessions, each by the name by which any verb finds it.
func WriteSessions(w io.Writer, list []api.FleetSession) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SESSION\tSTATE\tWAITS FOR\tCOMMAND")
	for i := range list {
		s := &list[i]
		state, waits := s.State, s.Needs
		if s.ExitCode != nil {
			state = fmt.Sprintf("%s(%d)", state, *s.ExitCode)
		}
		if s.Away {
			state += ", host away"
		}
		if s.Approval > 0 {
			waits = fmt.Sprintf("%d approvals", s.Approval)
		}
		if waits == "" {
			waits = "-"
		}
		fmt.Fprintf(t, "%s/%s\t%s\t%s\t%s\n", s.Host, output.Printable(s.Name), output.Printable(state), output.Printable(waits), output.Printable(output.Shorten(s.Command, 60)))
	}
	_ = t.Flush()
}

// CopyText says what an answer from a fleet's copy has and has not.
func CopyText(c *api.FleetCopy) string {
	text := fmt.Sprintf("from the copy of %s, as of %s; %s, and what was printed in its last second may be missing besides", c.Host,
		c.AsOf.Local().Format(time.DateTime), output.HowMany(int(min(c.NotCopied, 1<<62)), "byte was not copied", "bytes were not copied")) //nolint:gosec // bounded
	if c.Damaged > 0 {
		text += "; " + output.HowMany(c.Damaged, "damaged piece was passed over", "damaged pieces were passed over")
	}
	if c.Left > 0 {
		text += "; " + output.HowMany(c.Left, "session is left out", "sessions are left out")
	}
	return text
}

// Reader prints what ended on all hosts.
type Reader struct {
	Name         string
	Follow, JSON bool
	Warn         io.Writer // is told when the fleet is not reached while it is followed, and when it is again
}

// waitTime is how long the daemon is asked to wait for an event.
const waitTime = 30 * time.Second

// Pauses until a fleet that is not reached is asked again.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 5 * time.Second
)

// Run prints, acknowledging what was printed. Who follows goes on with what came meanwhile where the fleet was not reached.
func (r *Reader) Run(ctx context.Context, c *client.Client, w io.Writer) error {
	in := api.FleetRead{Reader: r.Name}
	reached, pause := false, time.Duration(0)
	for {
		got, err := c.FleetEvents(ctx, in)
		if e := (*api.Error)(nil); r.Follow && reached && errors.As(err, &e) && e.Code == api.CodeUnavailable && ctx.Err() == nil {
			if pause == 0 {
				fmt.Fprintf(r.Warn, "longterm: %s; it is tried again, and what comes meanwhile is told then\n", e.Message)
			}
			pause = min(max(2*pause, firstPause), lastPause)
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			continue
		}
		if err != nil {
			return err
		}
		if pause > 0 {
			fmt.Fprintln(r.Warn, "longterm: the fleet is reached again")
		}
		reached, pause = true, 0
		if got.Lost > 0 {
			fmt.Fprintf(w, "%d events were dropped before they were read\n", got.Lost)
		}
		for i := range got.Events {
			if err := r.print(w, &got.Events[i]); err != nil {
				return err
			}
		}
		in.Ack = got.Cursor
		switch {
		case len(got.Events) > 0:
			in.WaitMS = 0
		case !r.Follow:
			return nil
		default:
			in.WaitMS = int(waitTime.Milliseconds())
		}
	}
}

func (r *Reader) print(w io.Writer, e *api.FleetEvent) error {
	if r.JSON {
		b, err := json.Marshal(e)
		if err == nil {
			_, err = fmt.Fprintf(w, "%s\n", b)
		}
		return err
	}
	state := e.State
	if e.ExitCode != nil {
		state = fmt.Sprintf("%s(%d)", state, *e.ExitCode)
	}
	_, err := fmt.Fprintf(w, "%s  %s/%s  %s  %s  %s\n", e.At.Local().Format(time.DateTime), e.Host, output.Printable(e.Name), e.Kind, output.Printable(state), output.Printable(output.Shorten(e.Text, 80)))
	return err
}

// WriteRestored says what of a host's sessions is here now.
func WriteRestored(w io.Writer, r *api.FleetRestored) {
	for i := range r.Sessions {
		s := &r.Sessions[i]
		if s.Error != "" {
			fmt.Fprintf(w, "%s was not restored: %s\n", s.ID, output.Printable(s.Error))
			continue
		}
		fmt.Fprintf(w, "%s: %d bytes from the copy", output.Printable(s.Name), s.Bytes)
		if s.Missing > 0 {
			fmt.Fprintf(w, ", %d missing in it", s.Missing)
		}
		if s.Tail > 0 {
			fmt.Fprintf(w, ", %d missing at the end", s.Tail)
		}
		if s.Damaged > 0 {
			fmt.Fprintf(w, ", %d damaged pieces passed over", s.Damaged)
		}
		fmt.Fprintln(w)
	}
	if r.Present > 0 {
		fmt.Fprintf(w, "%d sessions of %s were here already\n", r.Present, r.Host)
	}
	fmt.Fprintln(w, "what was printed in the last second of the host may be missing besides")
}
