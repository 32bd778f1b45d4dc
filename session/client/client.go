//go:build unix

// Package client is the typed Go client of the daemon's API. It starts the daemon if none runs and reconnects after a
// daemon restart.
//
//	Client, Session ── get, send, do (client.go) ──→ HTTP at the daemon's socket
//	Run, Exec, AwaitJob ── submitJob, prepareRetry (jobs.go) ──→ the same, over restarts
//	Attach, Watch (stream.go) ──→ a WebSocket; Events, Records ──→ a streamed response
//	Ensure (start.go) ──→ the daemon runs; else the main keeper starts it, else a new keeper
//
// # Retries
//
// A request that was not executed is retried: no daemon ran, or the daemon asked for a retry (Retry). A request whose
// response broke off may have been executed. It is retried if it changes nothing, if it carries its own id (Run and
// Exec by the job's, NewSession by its own, Type by the input's), or if it ends or removes something (Kill, StopJob,
// Remove). Other requests fail with a hint to check first. retry.go bounds retries by time, not by count.
//
// A request ends with its context. It also ends if its response is due at once and the daemon is stopped or hangs
// (unresponsive.go); a wait continues, and OnUnresponsive is called. The client sends nothing to a socket that another user
// serves.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/fairsched"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sys/unixsock"
	"github.com/longterm-dev/longterm/session/sys/unixsock/netsock"
)

// Options configure how to reach the daemon.
type Options struct {
	Dirs paths.Dirs
	// KeeperArgv returns the command line of the main keeper, which starts the daemon. If nil, the client starts
	// nothing.
	KeeperArgv func() []string
	// Program is the path of the executable for KeeperArgv. Empty: this program's.
	Program string
	Build   func() string // version of this program
	// Agent is the label of the agent that makes the requests; empty for a user.
	Agent string
	// Token is the name of the API token that this process presented. Requests stay within its scope and are recorded
	// under its name. Empty: none.
	Token string
	// Remote connects to the daemon of a remote host. If nil, the client uses this host's daemon.
	Remote RemoteHost
	// From identifies this client to a remote daemon, as in ssh:user@host. Empty for the local one.
	From string
	// Prefetched is a request that was sent before the client existed, or nil.
	Prefetched *PrefetchedRequest
	// OnApproval, if set, receives the approval's id before a request waits for that approval.
	OnApproval func(id string)
	// OnReplica, if set, is called for each response from a replica of an unreachable host.
	OnReplica func(api.FleetCopy)
	// OnOutage, if set, is called once per outage of a remote host that lasts a while; retries continue.
	OnOutage func(why error)
	// OnUnresponsive, if set, is called once while the local daemon does not respond.
	OnUnresponsive func(UnresponsiveError)
	// IsOneCommand marks a client made for one user command. If the user stops longterm and its sessions meanwhile,
	// this client does not start it again; a later command does.
	IsOneCommand bool
}

// RemoteHost connects to the daemon of a remote host. If no daemon serves there, Dial returns the same error as for an
// unserved socket.
type RemoteHost interface {
	Dial(context.Context) (net.Conn, error)
	// Ensure prepares the connection.
	Ensure(context.Context) error
	// Login returns the login in which programs on the host start.
	Login(context.Context) (Login, error)
}

// Login describes a login on a remote host.
type Login struct {
	Host, Home string
	Env        []string // environment of the login
}

// Path resolves a path on the host: absolute, or relative to the home directory there.
func (p Login) Path(given string) (string, error) {
	switch {
	case path.IsAbs(given):
		return given, nil
	case p.Home == "":
		return "", api.Errorf(api.CodeInvalid, "path %[2]q is not absolute, and the home directory on %[1]s is unknown", p.Host, given)
	}
	return path.Join(p.Home, strings.TrimPrefix(strings.TrimPrefix(given, "~"), "/")), nil
}

// Client sends requests to the daemon. It is safe for concurrent use.
type Client struct {
	options Options
	http    *http.Client
	created time.Time // compared with the time at which longterm was stopped
	outage  outage    // of the remote host
	// unresponsivePID is the last daemon process found unresponsive; 0: none.
	unresponsivePID atomic.Int64
}

// New returns a client. It connects with the first request.
func New(o Options) *Client {
	c := &Client{options: o, created: time.Now()}
	t := &http.Transport{
		DialContext:        c.dial,
		DisableCompression: true,
		// Concurrent requests keep their connections: an idle one costs less than a new one.
		MaxIdleConnsPerHost: 256,
		IdleConnTimeout:     time.Minute,
		// A request with Expect: 100-continue sends its body once the daemon reads it, or after this time.
		ExpectContinueTimeout: 10 * time.Second,
	}
	c.http = &http.Client{Transport: t}
	if o.Prefetched != nil {
		c.http.Transport = &prefetchTransport{Transport: t, prefetched: o.Prefetched}
	}
	return c
}

// dial connects to the daemon.
func (c *Client) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if c.options.Remote != nil {
		return c.options.Remote.Dial(ctx)
	}
	return netsock.Dial(c.options.Dirs.Socket())
}

// IsRemote reports whether the daemon runs on a remote host. Connections to it may break while the daemon is fine.
func (c *Client) IsRemote() bool { return c.options.Remote != nil }

// IsUnreachable reports whether the last request failed to reach the remote host. Callers should not retry it often.
func (c *Client) IsUnreachable() bool { return c.IsRemote() && c.outage.isActive() }

// Close closes idle connections.
func (c *Client) Close() {
	c.http.CloseIdleConnections()
	if c.options.Prefetched != nil {
		_ = c.options.Prefetched.Response.Close()
	}
}

// Status returns the state of daemon and keepers.
func (c *Client) Status(ctx context.Context) (api.Status, error) {
	return get[api.Status](ctx, c, "/status", nil)
}

// Metrics returns monitoring figures in the text format of Prometheus.
func (c *Client) Metrics(ctx context.Context) ([]byte, error) { return c.Get(ctx, "/metrics") }

// Stop stops the daemon.
func (c *Client) Stop(ctx context.Context, s api.Stop) error {
	_, err := send[struct{}](ctx, c, "POST", "/stop", nil, s)
	return err
}

// List returns the sessions with all of the labels, NAME or NAME=VALUE.
func (c *Client) List(ctx context.Context, labels ...string) ([]api.Session, error) {
	q := url.Values{}
	for _, l := range labels {
		q.Add("label", l)
	}
	return get[[]api.Session](ctx, c, "/sessions", q)
}

// Table returns the table of `longterm ls`, for users; programs use List.
func (c *Client) Table(ctx context.Context, labels ...string) ([]byte, error) {
	q := url.Values{"label": labels}
	return c.Get(ctx, strings.TrimSuffix("/sessions.txt?"+q.Encode(), "?"))
}

// TableWithin returns Table with rows of at most width cells (0: unlimited), coloured if colour is set.
func (c *Client) TableWithin(ctx context.Context, width int, colour bool, labels ...string) ([]byte, error) {
	q := url.Values{"label": labels}
	if width > 0 {
		q.Set("width", strconv.Itoa(width))
	}
	if colour {
		q.Set("color", "true")
	}
	return c.Get(ctx, strings.TrimSuffix("/sessions.txt?"+q.Encode(), "?"))
}

// NewSession starts a session, once: the request survives a daemon restart and a lost connection to a remote host. It
// survives neither if the remote daemon is too old for that.
func (c *Client) NewSession(ctx context.Context, n api.NewSession) (api.Session, error) {
	if err := c.fillStartContext(ctx, &n); err != nil {
		return api.Session{}, err
	}
	n.AskID = cmp.Or(n.AskID, uuid.NewString())
	reportApproval := c.options.OnApproval != nil && n.OnApproval == ""
	if reportApproval {
		n.OnApproval = "return"
	}
	var lost error // the connection to the remote host, before the response
	for p := newRetryPolicy(); ; {
		s, err := send[api.Session](ctx, c, "POST", "/sessions", nil, n)
		var e *api.Error
		var cut *disconnectError
		switch {
		case reportApproval && errors.As(err, &e) && e.Code == api.CodeNeedsApproval:
			c.options.OnApproval(e.Approval)
			reportApproval, n.OnApproval = false, "wait"
			continue
		case n.Again && isInvalid(err): // the daemon does not know whether it started the session
			return s, lost
		case c.options.Remote != nil && errors.As(err, &cut):
			n.Again, lost = true, err
		case c.options.Remote != nil && lost == nil && !isRetryable(err):
			return s, err
		}
		if err == nil || !c.prepareRetry(ctx, p, err) {
			return s, err
		}
	}
}

// Events calls f with each event until ctx ends, f returns an error or the daemon disconnects.
func (c *Client) Events(ctx context.Context, f func(api.Event) error) error {
	return c.streamEvents(ctx, nil, f)
}

// EventsWithOutput calls f as Events does, also with output events, at most ten per second of each kind and session.
func (c *Client) EventsWithOutput(ctx context.Context, f func(api.Event) error) error {
	return c.streamEvents(ctx, url.Values{"output": {"true"}}, f)
}

// streamEvents calls f with each event of a streamed response.
func (c *Client) streamEvents(ctx context.Context, q url.Values, f func(api.Event) error) error {
	resp, err := c.do(ctx, "GET", "/events", q, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return readEvents(resp.Body, func(data []byte) error {
		var e api.Event
		if err := json.Unmarshal(data, &e); err != nil {
			return fmt.Errorf("event: %w", err)
		}
		return f(e)
	})
}

// Get requests an API path without a typed method and returns the body.
func (c *Client) Get(ctx context.Context, path string) ([]byte, error) {
	resp, err := c.do(ctx, "GET", path, nil, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

// get sends a GET request and decodes the response.
func get[T any](ctx context.Context, c *Client, path string, q url.Values) (T, error) {
	return send[T](ctx, c, "GET", path, q, nil)
}

// send sends a request and decodes the response. A GET is retried if the response is incomplete.
func send[T any](ctx context.Context, c *Client, method, path string, q url.Values, body any) (T, error) {
	var v T
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return v, err
		}
	}
	for p := newRetryPolicy(); ; {
		resp, err := c.do(ctx, method, path, q, data)
		if err != nil {
			return v, err
		}
		err = decodeResponse(resp.Body, &v)
		switch {
		case err == nil:
			return v, nil
		case ctx.Err() != nil:
			return v, ctx.Err()
		case !isDisconnect(err):
			return v, fmt.Errorf("answer to %s %s: %w", method, path, err)
		case method != "GET" || !p.pause(ctx):
			return v, newDisconnectError(err)
		}
		c.http.CloseIdleConnections()
	}
}

// decodeResponse reads a JSON value and the rest of the response. The response ends only after the daemon's follow-up
// work.
func decodeResponse(body io.ReadCloser, v any) error {
	defer body.Close()
	if v, ok := v.(interface{ ReadJSON(from io.Reader) error }); ok {
		return v.ReadJSON(body)
	}
	err := json.NewDecoder(body).Decode(v)
	if err == nil {
		_, _ = io.Copy(io.Discard, body) // the value is complete
	}
	return err
}

// isDisconnect reports whether an error means that the connection was lost.
func isDisconnect(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed)
}

// disconnectError is returned for a request without a complete response: the daemon may have executed it.
type disconnectError struct{ err *api.Error }

func (e *disconnectError) Error() string { return e.err.Error() }
func (e *disconnectError) Unwrap() error { return e.err }

// IsDisconnected reports whether the daemon disconnected before its response arrived. The request may have been
// executed.
func IsDisconnected(err error) bool {
	var cut *disconnectError
	return errors.As(err, &cut)
}

// newDisconnectError returns a disconnectError for a lost connection.
func newDisconnectError(err error) error {
	return &disconnectError{api.Errorf(api.CodeUnavailable, "daemon disconnected during the request: %v", err).
		WithHint("look whether it was done before you repeat it")}
}

// identify sets the request headers that identify the caller.
func (c *Client) identify(h http.Header) {
	for name, value := range map[string]string{identity.Header: c.options.Agent, identity.TokenHeader: c.options.Token, identity.HostHeader: c.options.From} {
		if value != "" {
			h.Set(name, value)
		}
	}
}

// do sends a request and returns a successful response. It starts the daemon if none runs. It retries a GET after a
// disconnect, and any request that a closing daemon has rejected.
func (c *Client) do(ctx context.Context, method, path string, q url.Values, body []byte) (*http.Response, error) {
	if strings.HasPrefix(path+"/", "/sessions//") { // no route matches an empty name
		return nil, api.Errorf(api.CodeInvalid, "the session's name is empty").WithHint("`longterm ls` lists the sessions")
	}
	if strings.HasPrefix(path+"/", "/jobs//") {
		return nil, api.Errorf(api.CodeInvalid, "the job's id is empty").WithHint("`longterm jobs` lists the jobs")
	}
	u := requestURL(path, q)
	for p := newRetryPolicy(); ; {
		req, err := http.NewRequestWithContext(ctx, method, u, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		if body != nil {
			req.Header.Set("Content-Type", "application/json")
		}
		c.identify(req.Header)
		release := func() {}
		if method != http.MethodGet || q.Has("await_ms") || q.Has("wait_ms") {
			release = fairsched.Wait(ctx) // the request may wait for an event, and must not occupy the caller's slot
		}
		resp, err := c.doWithWatchdog(req, isImmediate(path, q, body))
		release()
		if err == nil && resp.StatusCode < 400 {
			c.warnReplica(resp.Header)
			c.outage.recordSuccess()
			return resp, nil
		}
		if err == nil {
			err = readError(resp)
		}
		var refused *api.Error
		switch {
		case errors.As(err, &refused) && refused.Code == api.CodeNeedsApproval && q.Get("on_approval") == "return" && q.Has("reveal"):
			c.options.OnApproval(refused.Approval)
			q.Set("on_approval", "wait")
			u = requestURL(path, q)
			continue
		case isPermanent(err): // the daemon does not respond
			return nil, err
		case errors.As(err, &refused):
			if !refused.Retry {
				return nil, err
			}
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, unixsock.ErrForeign):
			return nil, newForeignSocketError(err)
		case isNotServed(err):
			err = newUnavailableError(err, c.options.Dirs)
			if ensureErr := c.Ensure(ctx); ensureErr != nil {
				if isPermanent(ensureErr) || !c.shouldRetryStart(ctx, p) {
					return nil, ensureErr
				}
				continue
			}
		case method != "GET":
			return nil, newDisconnectError(err)
		default:
			err = newUnavailableError(err, c.options.Dirs)
		}
		if c.options.OnOutage != nil && c.IsRemote() && c.outage.recordFailure() {
			c.options.OnOutage(err)
		}
		if !p.pause(ctx) {
			return nil, c.explainStopped(err)
		}
		c.http.CloseIdleConnections()
	}
}

// shouldRetryStart reports, after a pause, whether to retry because the daemon may have been killed at its start.
func (c *Client) shouldRetryStart(ctx context.Context, p *retryPolicy) bool {
	return c.options.KeeperArgv != nil && c.stoppedByUserError() == nil && c.options.Remote == nil && ctx.Err() == nil && p.pauseWithin(ctx, shortRetryTime)
}

// requestURL returns the URL of an API path.
func requestURL(path string, q url.Values) string {
	u := "http://longterm" + api.Version + path
	if len(q) > 0 {
		u += "?" + q.Encode()
	}
	return u
}

// warnReplica calls OnReplica if a response comes from a replica.
func (c *Client) warnReplica(h http.Header) {
	var of api.FleetCopy
	if b := h.Get(api.CopyHeader); b != "" && c.options.OnReplica != nil && json.Unmarshal([]byte(b), &of) == nil {
		c.options.OnReplica(of)
	}
}

// isRetryable reports whether the daemon did nothing and asked for a retry.
func isRetryable(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Retry
}

// isNotServed reports whether no process serves the socket, so that the request was not executed.
func isNotServed(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrNotExist)
}

// newUnavailableError returns the error of an unreachable daemon.
func newUnavailableError(err error, dirs paths.Dirs) error {
	return api.Errorf(api.CodeUnavailable, "the daemon cannot be reached: %v", err).
		WithHint("see %s, or run `longterm doctor`", dirs.DaemonLog())
}

// readError returns the error in a response: the API's, if it is complete.
func readError(resp *http.Response) error {
	defer resp.Body.Close()
	var e api.Error
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("the answer %s broke off: %w", resp.Status, err)
	}
	if json.Unmarshal(b, &e) == nil && e.Code != "" {
		return &e
	}
	return api.Errorf(api.CodeInternal, "the daemon answered %s: %s", resp.Status, singleLine(b))
}

// maxErrorText bounds the quoted part of an invalid response, in characters.
const maxErrorText = 200

// singleLine returns text for a message: one line, without control characters.
func singleLine(b []byte) string {
	text := bytes.ToValidUTF8(b[:min(len(b), 4*maxErrorText)], []byte("?"))
	words := strings.FieldsFunc(string(text), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	runes := []rune(strings.Join(words, " "))
	if len(runes) > maxErrorText || len(b) > 4*maxErrorText {
		return string(runes[:min(len(runes), maxErrorText)]) + "…"
	}
	return string(runes)
}

// maxSocketWait bounds the time in which a running daemon creates a removed socket again.
const maxSocketWait = 5 * time.Second

// waitForSocket waits until the running daemon accepts connections.
func (c *Client) waitForSocket(ctx context.Context) error {
	deadline := time.Now().Add(maxSocketWait)
	for {
		conn, err := netsock.Dial(c.options.Dirs.Socket())
		if err == nil {
			return conn.Close()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(deadline) {
			return api.Errorf(api.CodeUnavailable, "the daemon runs and its socket is not there: %v", err).
				WithHint("end the daemon's process; a new one starts automatically, and sessions continue")
		}
		time.Sleep(2 * time.Millisecond)
	}
}
