//go:build unix

package fleetmember

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store/fleet"
	"github.com/longterm-dev/longterm/store/fleet/certs"
	"github.com/longterm-dev/longterm/store/fleet/link"
	"github.com/longterm-dev/longterm/store/fleet/registry"
)

// labels returns the host's configured labels.
func (p *membership) labels() map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.settings.Labels)
}

// isDrained reports whether the host accepts no sessions from `fleet run`.
func (p *membership) isDrained() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.settings.Drained
}

// ReusedName returns this machine's name if the fleet has replicas of another machine that had it before, otherwise "".
func (m *Member) ReusedName() string {
	m.mu.Lock()
	p := m.membership
	m.mu.Unlock()
	if p == nil || p.copier.countFormer() == 0 {
		return ""
	}
	return p.id.Name
}

// Status returns the state of this machine's membership.
func (m *Member) Status() api.Fleet {
	m.mu.Lock()
	p, why := m.membership, m.problem
	if m.leaving {
		why = errReplaced()
	}
	m.mu.Unlock()
	if p == nil {
		v := api.Fleet{On: why != nil}
		if why != nil {
			v.Error = why.Error()
		}
		return v
	}
	v := api.Fleet{
		On: true, Fleet: p.id.Fleet, Host: p.id.Name, May: p.id.May, Admin: p.id.Admin, Servers: withoutPasswords(p.settings.Servers),
		Labels: p.labels(), Drained: p.isDrained(), Expires: p.id.Cert.NotAfter,
	}
	server, err := p.link.State()
	v.Connected, v.Server = err == nil, server
	p.mu.Lock()
	claim := p.claimErr
	v.Unsent = p.unsent
	p.mu.Unlock()
	behind, age, copyErr := p.lag()
	v.CopyBehind, v.CopyAge, v.Former = behind, age.Milliseconds(), p.copier.countFormer()
	if copyErr != nil {
		v.CopyError = copyErr.Error()
	}
	var told error
	v.Waiting, told = p.pub.State()
	for _, e := range []error{err, claim, told} {
		if e != nil && v.Error == "" {
			v.Error = e.Error()
		}
	}
	return v
}

// Drain stops or resumes accepting sessions from `fleet run`.
func (m *Member) Drain(on bool) error {
	p, err := m.current()
	if err != nil {
		return err
	}
	s, err := m.cfg.Dir.Settings()
	if err == nil {
		s.Drained = on
		err = m.cfg.Dir.SaveSettings(s)
	}
	if err != nil {
		return api.Errorf(api.CodeStorage, "%v", err)
	}
	p.mu.Lock()
	p.settings.Drained = on
	p.mu.Unlock()
	p.publishHost()
	for end := time.Now().Add(drainTimeout); time.Now().Before(end); { // later requests see it
		if waiting, err := p.pub.State(); waiting == 0 || err != nil {
			break
		}
		<-time.After(10 * time.Millisecond)
	}
	return nil
}

// drainTimeout bounds the wait until the fleet has the new state.
const drainTimeout = 2 * time.Second

// askTimeout bounds how long the registry may take to answer.
const askTimeout = 30 * time.Second

// skewShown is the smallest clock difference that is reported. The host's entry may arrive seconds after it was written
// under load, which is no skew.
const skewShown = 10 * time.Second

// Ask returns what hosts published about themselves and their sessions: one host, or all.
func (m *Member) Ask(ctx context.Context, host string, sessions bool) ([]api.FleetHost, []api.FleetSession, error) {
	p, err := m.current()
	if err != nil {
		return nil, nil, err
	}
	patterns := registry.HostsPatterns()
	switch {
	case host != "":
		if err := fleet.CheckName(host); err != nil {
			return nil, nil, api.Errorf(api.CodeInvalid, "%v", err)
		}
		patterns = registry.HostPatterns(host)
	case sessions:
		patterns = registry.AllPatterns()
	}
	p.awaitFirstConnect(ctx)
	if _, err := p.link.State(); err != nil {
		return m.offlineAnswer(host, sessions, err)
	}
	ctx, done := context.WithTimeout(ctx, askTimeout)
	defer done()
	all, err := registry.Snapshot(ctx, p.link.JetStream(), patterns)
	if err != nil {
		if _, over := m.current(); over != nil {
			return nil, nil, over
		}
		return m.offlineAnswer(host, sessions, err)
	}
	hosts, list := ParseEntries(all)
	m.remember(hosts)
	for i := range hosts {
		hosts[i].IsLocal = hosts[i].Host == p.id.Name
	}
	// members that are offline and have no sessions are known locally
	if members, err := m.cfg.Dir.Members(); err == nil && host == "" {
		hosts = withOffline(hosts, members)
	}
	return hosts, list, nil
}

// offlineAnswer returns the answer while the fleet is unreachable. A name that no host of the fleet is known to have
// gets an empty list, so that the caller can treat it as another kind of host.
func (m *Member) offlineAnswer(host string, sessions bool, err error) ([]api.FleetHost, []api.FleetSession, error) {
	if host == "" || sessions || slices.Contains(m.cfg.Dir.Hosts(), host) {
		return nil, nil, unreachable(err)
	}
	members, _ := m.cfg.Dir.Members() // without a list, it has no members
	if slices.ContainsFunc(members, func(i certs.Issued) bool { return i.Name == host && i.Kind == certs.Host && i.Revoked.IsZero() }) {
		return nil, nil, unreachable(err)
	}
	return []api.FleetHost{}, nil, nil
}

// maxKnown bounds how many names are remembered.
const maxKnown = 20000

// remember stores the names of seen hosts for times when the fleet is unreachable.
func (m *Member) remember(hosts []api.FleetHost) {
	m.knownMu.Lock()
	defer m.knownMu.Unlock()
	known := m.cfg.Dir.Hosts()
	there := make(map[string]bool, len(known))
	for _, name := range known {
		there[name] = true
	}
	old := len(known)
	for i := range hosts {
		if name := hosts[i].Host; !there[name] && fleet.CheckName(name) == nil && len(known) < maxKnown {
			known, there[name] = append(known, name), true
		}
	}
	if len(known) == old {
		return
	}
	slices.Sort(known)
	if err := m.cfg.Dir.SaveHosts(known); err != nil {
		m.cfg.Log.Warn("names of the fleet's hosts are not kept", "err", err)
	}
}

// learnHosts reads the names of the fleet's hosts once.
func (p *membership) learnHosts(ctx context.Context) {
	ctx, done := context.WithTimeout(ctx, askTimeout)
	defer done()
	if all, err := registry.Snapshot(ctx, p.link.JetStream(), registry.HostsPatterns()); err == nil {
		hosts, _ := ParseEntries(all)
		p.m.remember(hosts)
	}
}

// ParseEntries parses entries of the registry, which any member may have written. Entries of a host are adjacent.
func ParseEntries(all []registry.Entry) ([]api.FleetHost, []api.FleetSession) {
	hosts, list := make([]api.FleetHost, 0), make([]api.FleetSession, 0, len(all))
	var newest time.Time // the servers' time, independent of this machine's clock
	for i := range all {
		if e := &all[i]; e.Record == "" && e.Time.After(newest) {
			newest = e.Time
		}
	}
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(e registry.Entry) bool { return e.Host != all[0].Host })
		if n < 0 {
			n = len(all)
		}
		var h *api.FleetHost
		if h, list = readHost(all[:n], list, newest.Add(-staleTime)); h != nil {
			hosts = append(hosts, *h)
		}
		all = all[n:]
	}
	return hosts, list
}

// staleTime is how far a host's entry may be behind the newest one before the host counts as offline. The servers
// remove such entries much sooner, but a restarted server may bring them back.
const staleTime = 3 * registry.HostTime

// readHost returns the host of a group of entries, or nil if none describes it, and appends its sessions to list. A
// host last seen before since is offline.
func readHost(all []registry.Entry, list []api.FleetSession, since time.Time) (*api.FleetHost, []api.FleetSession) {
	var h *api.FleetHost
	name := all[0].Host
	for i := range all {
		if e := &all[i]; e.Record == "" {
			h = readOwn(e)
		}
	}
	if h != nil && h.Seen.Before(since) {
		*h = api.FleetHost{Host: name, State: "away", Seen: h.Seen}
	}
	away := h == nil || h.State == "away"
	from := len(list)
	for i := range all {
		e := &all[i]
		if e.Record == "" {
			continue
		}
		list = append(list, api.FleetSession{})
		s := &list[len(list)-1]
		if s.Decode(e.Value) != nil || s.ID != e.Record {
			list = list[:len(list)-1]
			continue
		}
		if s.Host, s.Unreachable = name, away; !away {
			continue
		}
		if s.State == "running" { // until it is heard of again
			s.State = "lost"
		}
		if h == nil {
			h = &api.FleetHost{Host: name, State: "away"}
		}
		if h.Sessions++; e.Time.After(h.Seen) {
			h.Seen = e.Time
		}
	}
	slices.SortFunc(list[from:], func(a, b api.FleetSession) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	return h, list
}

// readOwn returns a host's entry about itself, or nil if another member had JetStream write it there.
func readOwn(e *registry.Entry) *api.FleetHost {
	var h api.FleetHost
	if json.Unmarshal(e.Value, &h) != nil || h.Host != e.Host {
		return nil
	}
	h.Host, h.State, h.Seen = e.Host, "connected", e.Time
	if skew := h.Time.Sub(e.Time); !h.Time.IsZero() && skew.Abs() > skewShown {
		h.Skew = skew.Milliseconds()
	}
	return &h
}

// withOffline adds the members that published nothing, as offline hosts.
func withOffline(hosts []api.FleetHost, members []certs.Issued) []api.FleetHost {
	for i := range members {
		known := slices.ContainsFunc(hosts, func(h api.FleetHost) bool { return h.Host == members[i].Name })
		if !known && members[i].Kind == certs.Host && members[i].Revoked.IsZero() {
			hosts = append(hosts, api.FleetHost{Host: members[i].Name, State: "away"})
		}
	}
	slices.SortFunc(hosts, func(a, b api.FleetHost) int { return cmp.Compare(a.Host, b.Host) })
	return hosts
}

// Events returns the events that a reader has not acknowledged.
func (m *Member) Events(ctx context.Context, in api.FleetRead) (api.FleetEvents, error) {
	out := api.FleetEvents{Events: []api.FleetEvent{}}
	p, err := m.current()
	if err != nil {
		return out, err
	}
	if err := fleet.CheckName(in.Reader); err != nil {
		return out, api.Errorf(api.CodeInvalid, "%v", err)
	}
	if _, err := p.link.State(); errors.Is(err, link.ErrRevoked) { // a revoked certificate does not become valid again
		return out, api.Errorf(api.CodeDenied, "fleet access denied: %v", err).WithHint("run `longterm fleet invite` on the fleet's first machine to admit this one again")
	}
	js := p.link.JetStream()
	if in.Ack > 0 {
		if err := registry.Acknowledge(ctx, js, p.id.Name, in.Reader, in.Ack); err != nil {
			return out, unreachable(err)
		}
		out.Cursor = in.Ack
	} else if out.Cursor, err = registry.Cursor(ctx, js, p.id.Name, in.Reader); err != nil {
		return out, unreachable(err)
	}
	all, lost, err := registry.EventsAfter(ctx, js, out.Cursor, cmp.Or(in.Limit, 100), time.Duration(in.WaitMS)*time.Millisecond)
	if err != nil && ctx.Err() == nil {
		return out, unreachable(err)
	}
	out.Lost = lost
	for i := range all {
		e := api.FleetEvent{Host: all[i].Host, Cursor: all[i].Seq}
		if json.Unmarshal(all[i].Value, &e.Completion) == nil && e.Kind == all[i].Kind {
			out.Events = append(out.Events, e)
		}
		out.Cursor = all[i].Seq
	}
	return out, nil
}

// withoutPasswords returns the addresses without passwords.
func withoutPasswords(servers []string) []string {
	all := make([]string, len(servers))
	for i, s := range servers {
		all[i] = link.WithoutCredentials(s)
	}
	return all
}
