//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/fleets"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/output"
	"github.com/longterm-dev/longterm/session/api"
)

// ran is what was run on a host.
type ran struct {
	Host    string      `json:"host"`
	Session string      `json:"session,omitempty"`
	Name    string      `json:"name,omitempty"`
	Result  *api.Result `json:"result,omitempty"`
	Error   string      `json:"error,omitempty"`
}

// execOnEachHost runs a line in a shell of its own on each host of the fleet that takes sessions.
func (a *app) execOnEachHost(ctx context.Context, line string) error {
	if line == "" {
		return exit.Usagef("a line is needed, as in `longterm exec --each-host -- uptime`")
	}
	hosts, of, err := a.onFleet(ctx)
	if err != nil {
		return err
	}
	fits, err := (&fleets.Want{}).Fits(hosts)
	if err != nil {
		return err
	}
	return a.onEachHost(ctx, fits, of, api.NewSession{Line: line})
}

// onEachHost runs a command on hosts, and prints each one's answer as it comes.
func (a *app) onEachHost(ctx context.Context, hosts []api.FleetHost, of fleets.Clients, n api.NewSession) error {
	var mu sync.Mutex
	failed := false
	show := func(r ran) {
		mu.Lock()
		defer mu.Unlock()
		bad := r.Error != "" || r.Result.ExitCode == nil || *r.Result.ExitCode != 0
		failed = failed || bad
		if a.JSON {
			_ = json.NewEncoder(a.Stdout).Encode(r)
			return
		}
		if r.Error != "" {
			fmt.Fprintf(a.Stderr, "%s: %s\n", r.Host, output.Printable(r.Error))
			return
		}
		for line := range strings.Lines(r.Result.Output) {
			fmt.Fprintf(a.Stdout, "%s: %s\n", r.Host, output.Printable(strings.TrimRight(line, "\r\n")))
		}
		if bad {
			fmt.Fprintf(a.Stderr, "%s: %s\n", r.Host, r.Result.Message)
		}
	}
	fleets.Each(ctx, hosts, func(ctx context.Context, h api.FleetHost) error {
		c := of(h, nil)
		defer c.Close()
		got, err := c.Run(ctx, api.Run{NewSession: n})
		if err != nil {
			show(ran{Host: h.Host, Error: fleets.Why(err)})
			return nil
		}
		show(ran{Host: h.Host, Result: &got})
		return nil
	})
	if failed {
		return exit.Silent(api.ExitFailure)
	}
	return nil
}
