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

// listTime is the timeout of one host in a list of several.
const listTime = 20 * time.Second

// ListAll lists the sessions of this host and of the configured ones, in that order, and returns the errors of hosts
// that did not answer. local has the options for this host's daemon.
func (h *Hosts) ListAll(ctx context.Context, local client.Options, labels []string) (list []api.Session, missing []error) {
	return queryHosts(ctx, h, local, func(ctx context.Context, c *client.Client, host string) ([]api.Session, error) {
		list, err := c.List(ctx, labels...)
		for i := range list {
			list[i].Host = host
		}
		return list, err
	})
}

// InboxAll lists the inboxes of the same hosts, with the same errors.
func (h *Hosts) InboxAll(ctx context.Context, local client.Options, all bool, labels []string) (list []api.InboxItem, missing []error) {
	return queryHosts(ctx, h, local, func(ctx context.Context, c *client.Client, host string) ([]api.InboxItem, error) {
		list, err := c.Inbox(ctx, all, labels...)
		for i := range list {
			list[i].Host = host
		}
		return list, err
	})
}

// queryHosts queries this host, whose name is "", and the configured ones in parallel, and joins their lists in that order.
func queryHosts[T any](ctx context.Context, h *Hosts, local client.Options, query func(context.Context, *client.Client, string) ([]T, error)) (list []T, missing []error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	names := append([]string{""}, h.Settings.Hosts.Names...)
	answers, errs := make([][]T, len(names)), make([]error, len(names))
	var asked sync.WaitGroup
	for i, name := range names {
		asked.Go(func() {
			o := local
			if errs[i] = h.reach(name, &o); errs[i] != nil {
				return
			}
			c := client.New(o)
			defer c.Close()
			if answers[i], errs[i] = query(ctx, c, name); errs[i] != nil && ctx.Err() != nil {
				errs[i] = api.Errorf(api.CodeTimeout, "%s: no answer within %v", name, listTime)
			}
		})
	}
	asked.Wait()
	list = []T{}
	for i, err := range errs {
		if err != nil {
			missing = append(missing, err)
		}
		list = append(list, answers[i]...)
	}
	return list, missing
}

// reach sets the options of a client to those for a host; "" is this one.
func (h *Hosts) reach(name string, o *client.Options) error {
	if name == "" {
		return nil
	}
	w, err := h.Way(name)
	if err != nil {
		return err
	}
	w.Prompts, w.InstallMissing = false, nil // several would ask at once
	o.Remote, o.From, o.KeeperArgv = w, hosts.ClientLabel(), nil
	return nil
}
