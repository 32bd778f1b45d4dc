//go:build unix

package fleetmember

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
	"github.com/longterm-dev/longterm/store/fleet/link"
	"github.com/longterm-dev/longterm/store/fleet/replica"
)

// ImportSession imports a session from a record and a directory with a journal, which it moves. last is the time of the last
// sign of life. It returns the session's name here.
type ImportSession func(ctx context.Context, host, id string, record []byte, journal string, last time.Time) (name string, err error)

// Restore imports the fleet's copies of a host's sessions as ended sessions. It skips sessions that are here already,
// so an interrupted restore can be repeated.
func (m *Member) Restore(ctx context.Context, host string) (*api.FleetRestored, error) {
	p, err := m.current()
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
	ids, err := replica.Sessions(ctx, js, host)
	if err != nil {
		return nil, unreachable(err)
	}
	slices.Sort(ids)
	out := &api.FleetRestored{Host: host, Sessions: []api.RestoredSession{}}
	for _, id := range ids {
		if m.cfg.HasSession(id) {
			out.Present++
			continue
		}
		theirs, err := now.has(ctx, p, id)
		if err != nil {
			return nil, unreachable(err)
		}
		if theirs {
			continue
		}
		got, _, err := p.restore(ctx, host, id, m.cfg.Scratch, m.cfg.ImportSession, true)
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
			WithHint("`longterm fleet ls` lists the sessions of all hosts; a machine with limited rights receives no copies")
	}
}

// nameOwner is the reachable machine that has a host's name now.
type nameOwner struct {
	host     string
	serial   string          // of its certificate
	sessions map[string]bool // sessions that it publishes
}

// holder returns the reachable machine that has a host's name now, or nil if none has or it is this one.
func (p *membership) holder(ctx context.Context, host string) (*nameOwner, error) {
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
	c, err := p.m.Dial(ctx, host) // the certificate distinguishes it from an earlier machine of that name
	if err != nil {
		return nil, err
	}
	defer c.Close()
	who, _ := link.MemberOf(c)
	now := &nameOwner{host: host, serial: who.Serial, sessions: map[string]bool{}}
	for i := range list {
		now.sessions[list[i].ID] = true
	}
	return now, nil
}

// has reports whether a session belongs to this machine and not to an earlier one of the same name.
func (h *nameOwner) has(ctx context.Context, p *membership, id string) (bool, error) {
	if h == nil || h.sessions[id] {
		return h != nil, nil
	}
	record, _, err := replica.Record(ctx, p.link.JetStream(), p.id.CA, h.host, id)
	if errors.Is(err, replica.ErrForged) || errors.Is(err, replica.ErrDamaged) {
		return false, nil // the restore reports that error
	}
	return record.Serial == h.serial, err
}

// errRemoved is the error for a session that was removed on its host.
var errRemoved = errors.New("the session was removed on its host")

// restore imports a session from the fleet's copy: its record and, if output is set, its output. recorded is the time
// of the record.
func (p *membership) restore(ctx context.Context, host, id, scratch string, takeIn ImportSession, output bool) (out api.RestoredSession, recorded time.Time, err error) {
	out.ID = id
	js := p.link.JetStream()
	h, record, err := replica.Record(ctx, js, p.id.CA, host, id)
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
	merge, err := replica.NewMerger(path)
	if err != nil {
		return out, recorded, err
	}
	if output {
		out.Damaged, err = replica.EachChunk(ctx, js, p.id.CA, host, id, func(h replica.Head, body []byte) error {
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
