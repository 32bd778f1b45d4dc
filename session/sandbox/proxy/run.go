package proxy

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/longterm-dev/longterm/session/sandbox"
)

// Run serves a sandbox according to its configuration (sandbox.ProxyConfig) until the listener is closed: the proxy, or a
// listed loopback address. With an invalid configuration it rejects everything.
func Run(l net.Listener, config json.RawMessage) {
	var s sandbox.ProxyConfig
	if err := json.Unmarshal(config, &s); err != nil {
		fmt.Fprintln(os.Stderr, "longterm: the sandbox's network:", err)
	}
	var ask Approver
	if s.Ask != "" {
		ask = (&daemonApprover{socket: s.Ask, session: s.Session, client: unixClient(s.Ask)}).ask
	}
	p, err := New(s.Hosts, ask)
	if err != nil {
		p, _ = New(nil, nil)
	}
	p.profile, p.file = s.Profile, s.File
	if at, ok := l.Addr().(*net.TCPAddr); ok && at.Port != sandbox.ProxyPort {
		_ = p.Forward(l)
		return
	}
	_ = p.Serve(l) // it ends with this process
}

// daemonApprover requests approval from the daemon, and retries while the daemon restarts.
type daemonApprover struct {
	socket, session string
	client          *http.Client
}

// retryPause is the pause before a retry.
const retryPause = time.Second

// unixClient returns an HTTP client for a Unix socket.
func unixClient(socket string) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}, DisableKeepAlives: true}}
}

func (a *daemonApprover) ask(ctx context.Context, host string, port int) (bool, string) {
	// Retries send one request with one id.
	body, err := json.Marshal(map[string]any{"id": rand.Text(), "host": host, "port": port})
	if err != nil {
		return false, err.Error()
	}
	for {
		allowed, why, err := a.askOnce(ctx, body)
		if err == nil {
			return allowed, why
		}
		select {
		case <-ctx.Done():
			return false, "no daemon to ask"
		case <-time.After(retryPause):
		}
	}
}

// maxAnswer bounds the daemon's response, in bytes.
const maxAnswer = 64 << 10

// askOnce sends one request; an error means that the daemon did not respond.
func (a *daemonApprover) askOnce(ctx context.Context, body []byte) (allowed bool, why string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://longterm/v1/sessions/"+a.session+"/network", bytes.NewReader(body))
	if err != nil {
		return false, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := a.client.Do(req)
	if err != nil {
		return false, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return false, "", err
	}
	if resp.StatusCode == http.StatusServiceUnavailable {
		return false, "", fmt.Errorf("the daemon is being replaced")
	}
	var answer struct {
		Message string `json:"message"`
		Detail  string `json:"detail"`
	}
	_ = json.Unmarshal(text, &answer)
	switch {
	case resp.StatusCode == http.StatusOK:
		return true, "", nil
	case answer.Message != "":
		return false, answer.Message, nil
	case answer.Detail != "":
		return false, answer.Detail, nil
	}
	return false, "it was not allowed", nil
}
