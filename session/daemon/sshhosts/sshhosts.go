//go:build unix

// Package sshhosts has the daemon reach the hosts that the configuration names (hosts.names), over ssh, for the page in the
// browser: by the links that verbs use too (session/hosts). Nothing is connected before somebody asks for a host's
// sessions or its page. Nobody is asked for a password, and nothing is installed there: a host for which that would be
// needed cannot be reached from here.
package sshhosts

import (
	"context"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/daemon/member"
	"github.com/longterm-dev/longterm/session/hosts"
	"github.com/longterm-dev/longterm/session/paths"
)

// Hosts are those hosts. Any goroutine may use them; the zero value has none.
type Hosts struct {
	Settings func() *config.Settings
	Dirs     paths.Dirs
	// LinkArgv is the command line of the process that holds the connection to a host, whose longterm is at program.
	LinkArgv func(t hosts.Target, program string) []string
	Mask     func(string) string // secrets in command lines
}

// listTime bounds how long a host is waited for.
const listTime = 20 * time.Second

// List are the hosts, with what is known of them here; none is asked.
func (h *Hosts) List() []api.SSHHost {
	list := []api.SSHHost{}
	for _, name := range h.names() {
		v := api.SSHHost{Host: name, State: "idle"}
		if w, err := h.way(name); err == nil && w.Runs() {
			v.State = "connected"
		}
		list = append(list, v)
	}
	return list
}

func (h *Hosts) names() []string {
	if h.Settings == nil || h.LinkArgv == nil {
		return nil
	}
	return h.Settings().Hosts.Names
}

// way is the way to a host that the configuration names: whoever has the page gets no ssh to any other.
func (h *Hosts) way(name string) (*hosts.Way, error) {
	if names := h.names(); !slices.Contains(names, name) {
		return nil, api.Errorf(api.CodeNotFound, "%.60q is not among hosts.names", name).
			WithHint("`longterm config set hosts.names %s%.60s` adds it", strings.Join(append(slices.Clone(names), ""), " "), name)
	}
	t, err := hosts.ParseTarget(name)
	if err != nil {
		return nil, err
	}
	s := h.Settings().Hosts
	return &hosts.Way{Target: t, SSH: hosts.SSH{Argv: s.SSH, Keep: s.Keep, Dir: h.Dirs.Hosts()}, LinkArgv: h.LinkArgv, Log: h.Dirs.KeeperLog()}, nil
}

// Dial is a connection to the daemon of a host.
func (h *Hosts) Dial(ctx context.Context, name string) (net.Conn, error) {
	w, err := h.way(name)
	if err != nil {
		return nil, err
	}
	if conn, err := w.Dial(ctx); err == nil {
		return conn, nil
	}
	if err := w.Ensure(ctx); err != nil {
		return nil, err
	}
	return w.Dial(ctx)
}

// Sessions are the sessions of a host, as lists of several hosts have them.
func (h *Hosts) Sessions(ctx context.Context, name string) ([]api.FleetSession, error) {
	w, err := h.way(name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	c := client.New(client.Options{Dirs: h.Dirs, Way: w, From: hosts.As(), Build: func() string { return "" }})
	defer c.Close()
	all, err := c.List(ctx)
	if err != nil {
		if ctx.Err() != nil {
			err = api.Errorf(api.CodeUnavailable, "%s did not answer within %v", name, listTime)
		}
		return nil, err
	}
	list := make([]api.FleetSession, len(all))
	for i := range all {
		list[i] = member.View(&all[i], h.Mask)
		list[i].Host = name
	}
	return list, nil
}
