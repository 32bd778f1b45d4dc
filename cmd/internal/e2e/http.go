//go:build unix

package e2e

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sys/unixsock/netsock"
)

// HTTP returns a client that speaks plain HTTP to the daemon.
func (i *Instance) HTTP() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			return netsock.Dial(i.Dir + "/run/daemon.sock")
		},
		DisableKeepAlives: true,
	}}
}

// URL returns the address of a route.
func URL(path string) string { return "http://longterm" + api.Version + path }

// Post sends a body of JSON, and returns the answer and its status.
func (i *Instance) Post(path, body string) (string, int) {
	i.T.Helper()
	return i.answer(i.HTTP().Post(URL(path), "application/json", strings.NewReader(body)))
}

// Get requests a path, and returns the answer and its status.
func (i *Instance) Get(path string) (string, int) {
	i.T.Helper()
	return i.answer(i.HTTP().Get(URL(path)))
}

// answer returns the body and the status of a response.
func (i *Instance) answer(resp *http.Response, err error) (string, int) {
	i.T.Helper()
	if err != nil {
		i.T.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		i.T.Fatal(err)
	}
	return string(b), resp.StatusCode
}

// Listen returns a channel that is closed when the daemon publishes an event of a kind.
func (i *Instance) Listen(kind string) <-chan struct{} {
	i.T.Helper()
	req, err := http.NewRequestWithContext(i.T.Context(), http.MethodGet, URL("/events"), nil)
	if err != nil {
		i.T.Fatal(err)
	}
	resp, err := i.HTTP().Do(req)
	if err != nil {
		i.T.Fatal(err)
	}
	heard := make(chan struct{})
	go func() {
		defer resp.Body.Close()
		for sc := bufio.NewScanner(resp.Body); sc.Scan(); {
			if strings.Contains(sc.Text(), `"kind":"`+kind+`"`) {
				close(heard)
				return
			}
		}
	}()
	return heard
}
