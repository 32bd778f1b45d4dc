//go:build unix

package fleets

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// slow is a way to a host that died just now: it is dialled for as long as the daemon does that, then its copy is fetched.
type slow struct{ client.Way }

func (slow) Dial(ctx context.Context) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(10 * time.Second):
	}
	go func() {
		if _, err := http.ReadRequest(bufio.NewReader(there)); err != nil {
			return
		}
		<-time.After(50 * time.Second)
		_, _ = there.Write([]byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\nConnection: close\r\n\r\n{\"hits\":[]}"))
	}()
	return here, nil
}

// A search waits for the copy of a host that is not known to be away yet.
//
// FEATURES: R94
func TestSearchWaitsForTheCopyOfAHostThatDied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where no time passes
		of := func(api.FleetHost, func(api.FleetCopy)) *client.Client {
			return client.New(client.Options{Build: func() string { return "test" }, Way: slow{}})
		}
		f, err := Search(t.Context(), []api.FleetHost{{Host: "died", State: "connected"}}, of, client.SearchQuery{Text: "x"}, func([]Hit) error { return nil })
		if err != nil || f.Hosts != 1 || len(f.Missing) != 0 {
			t.Errorf("%+v, %v", f, err)
		}
	})
}
