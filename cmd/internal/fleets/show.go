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
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/listing"
)

// WriteStatus prints this machine's membership in its fleet.
func WriteStatus(w io.Writer, st *api.Fleet) {
	if !st.On {
		fmt.Fprintln(w, "this machine belongs to no fleet; create one with `longterm fleet init`, or join one with `longterm fleet join CODE`")
		return
	}
	if st.Host != "" {
		fmt.Fprintf(w, "host %s of the fleet %s, which may %s on the others\n", st.Host, st.Fleet, strings.Join(st.May, ", "))
	}
	if st.Connected {
		fmt.Fprintf(w, "connected to %s\n", output.Printable(st.Server))
	} else if st.Host != "" {
		fmt.Fprintf(w, "disconnected from %s; this machine's sessions keep running\n", output.Printable(strings.Join(st.Servers, ", ")))
	}
	if st.Error != "" {
		fmt.Fprintf(w, "not in order: %s\n", output.Printable(st.Error))
	}
	if st.Waiting > 0 || st.Unsent > 0 {
		fmt.Fprintf(w, "not published yet: %d changes, %d completions\n", st.Waiting, st.Unsent)
	}
	switch {
	case st.Host == "":
	case st.CopyError != "":
		fmt.Fprintf(w, "replica stopped, %d bytes behind: %s\n", st.CopyBehind, output.Printable(st.CopyError))
	case st.CopyBehind > 0:
		fmt.Fprintf(w, "replica lag: %d bytes, %.1f s\n", st.CopyBehind, float64(st.CopyAge)/1000)
	default:
		fmt.Fprintln(w, "the fleet has a replica of this machine's output")
	}
	if st.Former > 0 {
		fmt.Fprintf(w, "the fleet has replicas of %d sessions of an earlier machine with this name; restore them with `longterm fleet restore %s`\n", st.Former, st.Host)
	}
	if st.Drained {
		fmt.Fprintln(w, "drained: fleet run starts nothing here")
	}
	if st.Admin {
		fmt.Fprintln(w, "fleet created on this machine; invite machines with `longterm fleet invite`")
	}
}

// WriteHosts lists hosts.
func WriteHosts(w io.Writer, list []api.FleetHost, look listing.TableFormat) {
	columns := []listing.Column{
		{Head: "HOST", ShrinkTo: 8, Style: listing.AsBold}, {Head: "STATE", ShrinkTo: 9, Style: hostStyle}, {Head: "RUNNING"}, {Head: "NEEDS", Style: needsStyle}, {Head: "LOAD"},
		{Head: "FREE"}, {Head: "SYSTEM", ShrinkTo: 6, CanDrop: true}, {Head: "LABELS", ShrinkTo: 6},
	}
	rows := make([][]string, 0, len(list))
	for i := range list {
		h := &list[i]
		name, state := h.Host, h.State
		if h.IsLocal {
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
		rows = append(rows, []string{name, state, strconv.Itoa(h.Running), strconv.Itoa(h.Needs), load, free, output.Printable(h.System), output.Printable(labelText(h.Labels))})
	}
	_ = listing.WriteTable(w, columns, rows, look) // fails only if the reader has closed the output
}

// hostStyle returns the style of a host's state.
func hostStyle(state string) listing.Style {
	switch {
	case state == "connected":
		return listing.Good
	case strings.HasPrefix(state, "away"):
		return listing.Bad
	}
	return listing.Waiting // drained, or behind
}

// needsStyle returns the style of a column that counts or names pending input.
func needsStyle(needs string) listing.Style {
	if needs == "0" || needs == "-" {
		return listing.Faint
	}
	return listing.Waiting
}

func labelText(labels map[string]string) string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, k+"="+labels[k])
	}
	return strings.Join(all, ",")
}

// WriteSessions lists sessions, each by the name by which any verb finds it.
func WriteSessions(w io.Writer, list []api.FleetSession, look listing.TableFormat) {
	columns := []listing.Column{
		{Head: "SESSION", ShrinkTo: 8, Style: listing.AsBold}, {Head: "STATE", Style: listing.StateStyle}, {Head: "WAITS FOR", ShrinkTo: 9, Style: needsStyle}, {Head: "COMMAND", ShrinkTo: 7},
	}
	rows := make([][]string, 0, len(list))
	for i := range list {
		s := &list[i]
		state, waits := s.State, s.Needs
		if s.ExitCode != nil {
			state = fmt.Sprintf("%s(%d)", state, *s.ExitCode)
		}
		if s.Unreachable {
			state += ", host away"
		}
		if s.Approval > 0 {
			waits = fmt.Sprintf("%d approvals", s.Approval)
		}
		if waits == "" {
			waits = "-"
		}
		rows = append(rows, []string{s.Host + "/" + output.Printable(s.Name), output.Printable(state), output.Printable(waits), output.Printable(s.Command)})
	}
	_ = listing.WriteTable(w, columns, rows, look) // fails only if the reader has closed the output
}

// CopyText describes what an answer from a replica contains and lacks.
func CopyText(c *api.FleetCopy) string {
	text := fmt.Sprintf("from the replica of %s, as of %s; %s, and output of its last second may be missing", c.Host,
		c.AsOf.Local().Format(time.DateTime), output.CountNoun(int(min(c.NotCopied, 1<<62)), "byte was not copied", "bytes were not copied")) //nolint:gosec // bounded
	if c.Damaged > 0 {
		text += "; " + output.CountNoun(c.Damaged, "damaged piece skipped", "damaged pieces skipped")
	}
	if c.LeftOut > 0 {
		text += "; " + output.CountNoun(c.LeftOut, "session omitted", "sessions omitted")
	}
	return text
}

// Reader prints completion events of all hosts.
type Reader struct {
	Name         string
	Follow, JSON bool
	Warn         io.Writer // receives a notice when the fleet is unreachable while following
}

// waitTime is how long the daemon waits for an event.
const waitTime = 30 * time.Second

// Exponential backoff between retries while the fleet is unreachable.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 5 * time.Second
)

// Run prints events and acknowledges them. With Follow it continues after an outage, including the events of that time.
func (r *Reader) Run(ctx context.Context, c *client.Client, w io.Writer) error {
	in := api.FleetRead{Reader: r.Name}
	reached, pause := false, time.Duration(0)
	for {
		got, err := c.FleetEvents(ctx, in)
		if e := (*api.Error)(nil); r.Follow && reached && errors.As(err, &e) && e.Code == api.CodeUnavailable && ctx.Err() == nil {
			if pause == 0 {
				fmt.Fprintf(r.Warn, "longterm: %s; retrying, later events follow\n", e.Message)
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
			fmt.Fprintln(r.Warn, "longterm: fleet reachable again")
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

// WriteRestored prints which sessions of a host were restored.
func WriteRestored(w io.Writer, r *api.FleetRestored) {
	for i := range r.Sessions {
		s := &r.Sessions[i]
		if s.Error != "" {
			fmt.Fprintf(w, "%s: not restored: %s\n", s.ID, output.Printable(s.Error))
			continue
		}
		fmt.Fprintf(w, "%s: %d bytes from the replica", output.Printable(s.Name), s.Bytes)
		if s.Missing > 0 {
			fmt.Fprintf(w, ", %d missing in it", s.Missing)
		}
		if s.Tail > 0 {
			fmt.Fprintf(w, ", %d missing at the end", s.Tail)
		}
		if s.Damaged > 0 {
			fmt.Fprintf(w, ", %d damaged pieces skipped", s.Damaged)
		}
		fmt.Fprintln(w)
	}
	if r.Present > 0 {
		fmt.Fprintf(w, "%d sessions of %s already existed here\n", r.Present, r.Host)
	}
	fmt.Fprintln(w, "output of the host's last second may be missing")
}
