//go:build unix

package fleets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// ClientFactory creates a client for a host. onCopy, if not nil, is called when the fleet's replica answers for the host.
type ClientFactory func(h api.FleetHost, onCopy func(api.FleetCopy)) *client.Client

// Hit is a search hit with its host.
type Hit struct {
	Host string `json:"host"`
	api.Hit
}

// Missing is a host that did not answer, with the error.
type Missing struct {
	Host string `json:"host"`
	Why  string `json:"why"`
}

// Found is the summary of a search on all hosts.
type Found struct {
	Hosts   int       `json:"hosts" doc:"that answered"`
	Hits    int       `json:"hits"`
	More    []string  `json:"more,omitempty"` // hosts with more hits than the limit
	Missing []Missing `json:"missing,omitempty"`
	// Replicas are the replicas that were searched in place of unreachable hosts.
	Replicas []api.FleetCopy `json:"copies,omitempty"`
	// Behind lists hosts whose search index does not contain the newest output.
	Behind []Behind `json:"behind,omitempty"`
}

// Behind is a host whose search was incomplete, with a note on what is missing.
type Behind struct {
	Host string `json:"host"`
	Note string `json:"note"`
}

// Limits of queries. maxQueries is the number of hosts queried at a time; the durations are timeouts of one host. A host
// that has just died is dialled first and then read from its replica, which may have to be fetched.
const (
	maxQueries = 64
	dialTime   = 15 * time.Second // the daemon's own timeout is shorter
	copyTime   = time.Minute
)

// Each calls do for all hosts, many at a time, each in its own goroutine. It returns the number of answers and the
// hosts that did not answer.
func Each(ctx context.Context, hosts []api.FleetHost, do func(context.Context, api.FleetHost) error) (answered int, missing []Missing) {
	var mu sync.Mutex
	var work sync.WaitGroup
	slots := make(chan struct{}, maxQueries)
	miss := func(host, why string) {
		mu.Lock()
		defer mu.Unlock()
		missing = append(missing, Missing{host, why})
	}
	for _, h := range hosts {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			miss(h.Host, "not queried (interrupted)")
			continue
		}
		work.Go(func() {
			defer func() { <-slots }()
			if err := do(ctx, h); err != nil {
				miss(h.Host, Why(err))
				return
			}
			mu.Lock()
			defer mu.Unlock()
			answered++
		})
	}
	work.Wait()
	slices.SortFunc(missing, func(a, b Missing) int { return cmp.Compare(a.Host, b.Host) })
	return answered, missing
}

// Why returns an error's message without the request.
func Why(err error) string {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

// Search searches the output of sessions on all hosts. It calls publish with hits as they arrive, one call at a time.
func Search(ctx context.Context, hosts []api.FleetHost, clients ClientFactory, q client.SearchQuery, publish func([]Hit) error) (Found, error) {
	var f Found
	var mu sync.Mutex
	var failed error
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	f.Hosts, f.Missing = Each(ctx, hosts, func(ctx context.Context, h api.FleetHost) error {
		limit := copyTime
		if h.State != "away" {
			limit += dialTime
		}
		ctx, done := context.WithTimeout(ctx, limit)
		defer done()
		var from *api.FleetCopy
		c := clients(h, func(said api.FleetCopy) { from = &said })
		defer c.Close()
		got, err := c.Search(ctx, q)
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("no answer within %v", limit)
		}
		if err != nil {
			return err
		}
		hits := make([]Hit, len(got.Hits))
		for i := range got.Hits {
			hits[i] = Hit{h.Host, got.Hits[i]}
		}
		mu.Lock()
		defer mu.Unlock()
		f.Hits += len(hits)
		if got.Note != "" {
			f.Behind = append(f.Behind, Behind{h.Host, got.Note})
		}
		if from != nil {
			f.Replicas = append(f.Replicas, *from)
		}
		if got.Next != "" {
			f.More = append(f.More, h.Host)
		}
		if failed == nil && len(hits) > 0 {
			if failed = publish(hits); failed != nil { // the reader has closed the output
				stop()
			}
		}
		return nil
	})
	slices.Sort(f.More)
	slices.SortFunc(f.Behind, func(a, b Behind) int { return cmp.Compare(a.Host, b.Host) })
	slices.SortFunc(f.Replicas, func(a, b api.FleetCopy) int { return cmp.Compare(a.Host, b.Host) })
	return f, failed
}

// Want describes the host on which to run a command.
type Want struct {
	On   []string // required labels, NAME or NAME=VALUE
	Near string   // preferred host
}

// Fits returns the hosts that can run a command: the preferred one first, then by capacity.
func (o *Want) Fits(hosts []api.FleetHost) (fits []api.FleetHost, err error) {
	var away, drained int
	for i := range hosts {
		h := &hosts[i]
		switch {
		case !slices.ContainsFunc(o.On, func(l string) bool { return !hasLabel(h.Labels, l) }):
			switch {
			case h.State != "connected":
				away++
			case h.Drained:
				drained++
			default:
				fits = append(fits, *h)
			}
		}
	}
	if len(fits) == 0 {
		which := "no host"
		if len(o.On) > 0 {
			which += " has the labels " + strings.Join(o.On, ", ")
		}
		return nil, api.Errorf(api.CodeNotFound, "%s and takes sessions: %d away, %d drained", which, away, drained).WithHint("`longterm fleet hosts` lists them")
	}
	if o.Near != "" && !slices.ContainsFunc(hosts, func(h api.FleetHost) bool { return h.Host == o.Near }) {
		return nil, api.Errorf(api.CodeNotFound, "the fleet has no host %q", o.Near).WithHint("`longterm fleet hosts` lists them")
	}
	slices.SortStableFunc(fits, func(a, b api.FleetHost) int {
		if nearA, nearB := a.Host == o.Near, b.Host == o.Near; nearA != nearB {
			if nearA {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(capacity(&b), capacity(&a)), cmp.Compare(a.Host, b.Host))
	})
	return fits, nil
}

func hasLabel(labels map[string]string, want string) bool {
	key, value, exact := strings.Cut(want, "=")
	got, ok := labels[key]
	return ok && (!exact || got == value)
}

// capacity returns the idle processors of a host, with a small bonus for free memory, or 0 if it lacks memory.
func capacity(h *api.FleetHost) float64 {
	free := 0.5
	if h.Memory > 0 {
		free = float64(h.Free) / float64(h.Memory)
	}
	if free < 0.05 {
		return -1e6 + free
	}
	return float64(max(h.CPUs, 1)) - h.Load + free
}
