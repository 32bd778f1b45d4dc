//go:build unix

package remote

import (
	"context"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/hosts"
)

// listTime bounds how long a host is waited for in a list of many.
const listTime = 20 * time.Second

// ListAll lists the sessions of this host and of those of the configuration, in that order, and says which did not
// answer. here is how this host's daemon is asked.
func (h *Hosts) ListAll(ctx context.Context, here client.Options, labels []string) (list []api.Session, missing []error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	names := append([]string{""}, h.Settings.Hosts.Names...)
	answers, errs := make([][]api.Session, len(names)), make([]error, len(names))
	var asked sync.WaitGroup
	for i, name := range names {
		asked.Go(func() {
			answers[i], errs[i] = h.listOf(ctx, name, here, labels)
		})
	}
	asked.Wait()
	list = []api.Session{}
	for i, err := range errs {
		if err != nil {
			missing = append(missing, err)
		}
		list = append(list, answers[i]...)
	}
	return list, missing
}

func (h *Hosts) listOf(ctx context.Context, name string, o client.Options, labels []string) ([]api.Session, error) {
	if name != "" {
		w, err := h.Way(name)
		if err != nil {
			return nil, err
		}
		w.Asks, w.Bare = false, nil // several would ask at once
		o.Way, o.From, o.KeeperArgv = w, hosts.As(), nil
	}
	c := client.New(o)
	defer c.Close()
	list, err := c.List(ctx, labels...)
	if err != nil && ctx.Err() != nil {
		err = api.Errorf(api.CodeTimeout, "%s did not answer within %v", name, listTime)
	}
	for i := range list {
		list[i].Host = name
	}
	return list, err
}
