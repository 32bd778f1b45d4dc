//go:build unix

package fleets

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
)

// HostResult is the result of a command on one host.
type HostResult struct {
	Host    string      `json:"host"`
	Session string      `json:"session,omitempty"`
	Name    string      `json:"name,omitempty"`
	Result  *api.Result `json:"result,omitempty"`
	Error   string      `json:"error,omitempty"`
}

// RunEach runs a command on hosts and prints each result as it arrives. It returns a silent error if the command failed
// on a host.
func RunEach(ctx context.Context, p *output.Printer, hosts []api.FleetHost, clients ClientFactory, r api.Run) error {
	var mu sync.Mutex
	failed := false
	show := func(r HostResult) {
		mu.Lock()
		defer mu.Unlock()
		bad := r.Error != "" || r.Result.ExitCode == nil || *r.Result.ExitCode != 0
		failed = failed || bad
		if p.JSON {
			_ = json.NewEncoder(p.Stdout).Encode(r)
			return
		}
		if r.Error != "" {
			fmt.Fprintf(p.Stderr, "%s: %s\n", r.Host, output.Printable(r.Error))
			return
		}
		for line := range strings.Lines(r.Result.Output) {
			fmt.Fprintf(p.Stdout, "%s: %s\n", r.Host, output.Printable(strings.TrimRight(line, "\r\n")))
		}
		if bad {
			fmt.Fprintf(p.Stderr, "%s: %s\n", r.Host, r.Result.Message)
		}
	}
	Each(ctx, hosts, func(ctx context.Context, h api.FleetHost) error {
		c := clients(h, nil)
		defer c.Close()
		got, err := c.Run(ctx, r)
		if err != nil {
			show(HostResult{Host: h.Host, Error: Why(err)})
			return nil
		}
		show(HostResult{Host: h.Host, Result: &got})
		return nil
	})
	if failed {
		return exit.Silent(api.ExitFailure)
	}
	return nil
}
