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

// Clients make clients of hosts. onCopy is told when it is the fleet's copy that answers; nil: nobody is.
type Clients func(h api.FleetHost, onCopy func(api.FleetCopy)) *client.Client

// Hit is a line that was found, and where.
type Hit struct {
	Host string `json:"host"`
	api.Hit
}

// Missing is a host that did not answer, and why.
type Missing struct {
	Host string `json:"host"`
	Why  string `json:"why"`
}

// Found is how a search of all hosts ended.
type Found struct {
	Hosts   int       `json:"hosts" doc:"that answered"`
	Hits    int       `json:"hits"`
	More    []string  `json:"more,omitempty"` // hosts with more hits than were asked for
	Missing []Missing `json:"missing,omitempty"`
	// Copies are of hosts that are away: what the fleet has copied of them was searched.
	Copies []api.FleetCopy `json:"copies,omitempty"`
	// Behind are hosts that have not searched yet what was printed last.
	Behind []Behind `json:"behind,omitempty"`
}

// Behind is a host that has not searched all yet, and what of it.
type Behind struct {
	Host string `json:"host"`
	Note string `json:"note"`
}

// atOnce is how many hosts are asked at once, and the others how long each may take: one that died just now is dialled
// first, and then read from its copy, which may have to be fetched.
const (
	atOnce   = 64
	dialTime = 15 * time.Second // the daemon gives up before
	copyTime = time.Minute
)

// Each asks all hosts, many at once, and names those that did not answer. What each does for a host is
// done on a goroutine of its own.
func Each(ctx context.Context, hosts []api.FleetHost, do func(context.Context, api.FleetHost) error) (answered int, missing []Missing) {
	var mu sync.Mutex
	var work sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	miss := func(host, why string) {
		mu.Lock()
		defer mu.Unlock()
		missing = append(missing, Missing{host, why})
	}
	for _, h := range hosts {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			miss(h.Host, "it was not asked any more")
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

// Why is what an error says, without what was asked.
func Why(err error) string {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

// Search searches what sessions of all hosts printed; tell gets hits as they come, one call at a time.
func Search(ctx context.Context, hosts []api.FleetHost, of Clients, q client.SearchQuery, tell func([]Hit) error) (Found, error) {
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
		c := of(h, func(said api.FleetCopy) { from = &said })
		defer c.Close()
		got, err := c.Search(ctx, q)
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("it did not answer within %v", limit)
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
			f.Copies = append(f.Copies, *from)
		}
		if got.Next != "" {
			f.More = append(f.More, h.Host)
		}
		if failed == nil && len(hits) > 0 {
			if failed = tell(hits); failed != nil { // nobody reads any more
				stop()
			}
		}
		return nil
	})
	slices.Sort(f.More)
	slices.SortFunc(f.Behind, func(a, b Behind) int { return cmp.Compare(a.Host, b.Host) })
	slices.SortFunc(f.Copies, func(a, b api.FleetCopy) int { return cmp.Compare(a.Host, b.Host) })
	return f, failed
}

// Want says on which host something is to be run.
type Want struct {
	On   []string // labels, NAME or NAME=VALUE
	Near string   // a host
}

// Fits are the hosts that may take something, the one with the most room first: free memory for each processor, less what
// waits for one. near is first if it may.
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
		return cmp.Or(cmp.Compare(room(&b), room(&a)), cmp.Compare(a.Host, b.Host))
	})
	return fits, nil
}

func hasLabel(labels map[string]string, want string) bool {
	key, value, exact := strings.Cut(want, "=")
	got, ok := labels[key]
	return ok && (!exact || got == value)
}

// room is how much of a host's processors nobody wants, a little more where memory is free; one that is short of memory
// has none.
func room(h *api.FleetHost) float64 {
	free := 0.5
	if h.Memory > 0 {
		free = float64(h.Free) / float64(h.Memory)
	}
	if free < 0.05 {
		return -1e6 + free
	}
	return float64(max(h.CPUs, 1)) - h.Load + free
}
