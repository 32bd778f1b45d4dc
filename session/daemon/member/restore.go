//go:build unix

package member

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store/fleet"
	"github.com/longterm-dev/longterm/store/fleet/copies"
	"github.com/longterm-dev/longterm/store/fleet/link"
)

// TakeIn makes a session of this machine of a record and a directory with a journal, which it moves away; last is when
// something was heard of it last. It says what the session is called.
type TakeIn func(ctx context.Context, host, id string, record []byte, journal string, last time.Time) (name string, err error)

// Restore has what the fleet keeps of a host's sessions on this machine, as sessions that ended. Those that are here
// already are passed over, so that one that was interrupted goes on.
func (m *Member) Restore(ctx context.Context, host string) (*api.FleetRestored, error) {
	p, err := m.now()
	if err != nil {
		return nil, err
	}
	if err := fleet.CheckName(host); err != nil {
		return nil, api.Errorf(api.CodeInvalid, "%v", err)
	}
	m.restoring.Lock()
	defer m.restoring.Unlock()
	now, err := p.holder(ctx, host)
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(m.cfg.Scratch); err != nil { // of one that was killed
		return nil, api.Errorf(api.CodeStorage, "%v", err)
	}
	js := p.link.JetStream()
	ids, err := copies.Sessions(ctx, js, host)
	if err != nil {
		return nil, cutOff(err)
	}
	slices.Sort(ids)
	out := &api.FleetRestored{Host: host, Sessions: []api.RestoredSession{}}
	for _, id := range ids {
		if m.cfg.Here(id) {
			out.Present++
			continue
		}
		theirs, err := now.has(ctx, p, id)
		if err != nil {
			return nil, cutOff(err)
		}
		if theirs {
			continue
		}
		got, _, err := p.restore(ctx, host, id, m.cfg.Scratch, m.cfg.TakeIn, true)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, errRemoved):
			continue
		case err != nil:
			got.Error = err.Error()
		}
		out.Sessions = append(out.Sessions, got)
	}
	if len(out.Sessions) > 0 || out.Present > 0 {
		return out, nil
	}
	switch {
	case now != nil:
		return nil, api.Errorf(api.CodeInvalid, "the host %s is connected, and has its sessions itself", host).
			WithHint("longterm -H %s ls", host)
	case len(ids) > 0:
		return nil, api.Errorf(api.CodeNotFound, "all sessions of %s that the fleet has heard of were removed there", host).
			WithHint("what is removed on its host is not restored")
	default:
		return nil, api.Errorf(api.CodeNotFound, "the fleet has no copies of sessions of %s", host).
			WithHint("`longterm fleet ls` lists the sessions of all hosts; a machine that may not do everything on the others is told no copies")
	}
}

// holder is the machine that has a host's name now and can be reached, if there is one.
type holder struct {
	host   string
	serial string          // of its certificate
	tells  map[string]bool // sessions that it tells of
}

// holder finds out which machine has a host's name now; nil: none that can be reached, or this one.
func (p *part) holder(ctx context.Context, host string) (*holder, error) {
	if host == p.id.Name {
		return nil, nil
	}
	hosts, list, err := p.m.Ask(ctx, host, true)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(hosts, func(h api.FleetHost) bool { return h.State == "connected" }) {
		return nil, nil
	}
	c, err := p.m.Dial(ctx, host) // its certificate tells it from one that had the name before
	if err != nil {
		return nil, err
	}
	defer c.Close()
	who, _ := link.MemberOf(c)
	now := &holder{host: host, serial: who.Serial, tells: map[string]bool{}}
	for i := range list {
		now.tells[list[i].ID] = true
	}
	return now, nil
}

// has says that a session is that machine's own, and no former one's.
func (h *holder) has(ctx context.Context, p *part, id string) (bool, error) {
	if h == nil || h.tells[id] {
		return h != nil, nil
	}
	record, _, err := copies.Record(ctx, p.link.JetStream(), p.id.CA, h.host, id)
	if errors.Is(err, copies.ErrForged) || errors.Is(err, copies.ErrDamaged) {
		return false, nil // it is said of it why it is not restored
	}
	return record.Serial == h.serial, err
}

// errRemoved is of a session that was removed on its host.
var errRemoved = errors.New("the session was removed on its host")

// restore has a session taken in, of what the fleet keeps of it: what is recorded of it, and with output what it printed.
// recorded is when the record was copied.
func (p *part) restore(ctx context.Context, host, id, scratch string, takeIn TakeIn, output bool) (out api.RestoredSession, recorded time.Time, err error) {
	out.ID = id
	js := p.link.JetStream()
	h, record, err := copies.Record(ctx, js, p.id.CA, host, id)
	if err != nil {
		return out, recorded, err
	}
	recorded = h.Kept
	last := recorded
	if h.Removed {
		return out, recorded, errRemoved
	}
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return out, recorded, err
	}
	dir, err := os.MkdirTemp(scratch, "restore-")
	if err != nil {
		return out, recorded, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "journal")
	merge, err := copies.NewMerge(path)
	if err != nil {
		return out, recorded, err
	}
	if output {
		out.Damaged, err = copies.Each(ctx, js, p.id.CA, host, id, func(h copies.Head, body []byte) error {
			if h.Kept.After(last) {
				last = h.Kept
			}
			return merge.Add(h, body)
		})
	}
	if err = errors.Join(err, merge.Close()); err != nil {
		return out, recorded, fmt.Errorf("what it printed: %w", err)
	}
	out.Bytes, out.Missing = merge.At().Offset-merge.Missing, merge.Missing
	if end := max(merge.End, h.End); end > merge.At().Offset {
		out.Tail = end - merge.At().Offset
	}
	out.Name, err = takeIn(ctx, host, id, record, path, last)
	return out, recorded, err
}
