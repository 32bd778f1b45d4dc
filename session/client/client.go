//go:build unix

// Package client is the typed Go client of the daemon's API. It starts the daemon when
// none runs and finds it again when it was restarted under it.
//
//	Client, Session ── get, send, do (client.go) ──→ HTTP at the daemon's socket
//	Run, Exec, AwaitJob ── call, again (jobs.go) ──→ the same, over restarts
//	Attach, Watch (stream.go) ──→ a WebSocket; Events, Records ──→ an answer that goes on
//	Ensure (start.go) ──→ the daemon runs; else the main keeper starts it, else it is started
//
// # What is asked again
//
// A call of which nothing was done, as there was no daemon, or one that says so (Retry), is
// asked again whatever it is. One whose answer broke off may have been done: it is asked again
// if it changes nothing, or if it says which call it is (Run and Exec by the job's id, NewSession by
// its own, Type by the input's), or if it ends or removes something (Kill, StopJob, Remove); the error
// of all others says to look first. patience.go bounds that in time, not in tries.
//
// A call ends with its context. It ends, too, where its answer is due at once and the daemon is stopped or hangs (silence.go);
// whatever waits for something goes on, and OnSilent is told. Nothing is sent to a socket that another user serves.
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

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sys/unixsock"
	"github.com/longterm-dev/longterm/session/sys/unixsock/netsock"
	"github.com/longterm-dev/longterm/session/turns"
)

// Options say how to reach the daemon.
type Options struct {
	Dirs paths.Dirs
	// KeeperArgv makes the command line of the main keeper, which starts the daemon.
	// nil: never start anything.
	KeeperArgv func() []string
	// Program is the path of the executable that runs the command line of KeeperArgv. If it is empty, this program runs it.
	Program string
	Build   func() string // version of this program
	// Agent is the label of the agent on whose behalf is asked; empty: a person's.
	Agent string
	// Token is the name of the token that was shown to this process: what it asks for is done within what that
	// allows, and recorded under its name. Empty: none was.
	Token string
	// Way is how a daemon of another host is reached; nil: this host's.
	Way Way
	// From is who we are to a daemon of another host, as in ssh:user@host. Empty: we are on its own.
	From string
	// Begun is a request that was made before there was a client. nil: none was.
	Begun *Begun
	// OnApproval is told that a call waits for a person, by the approval's id, before it waits. nil: nobody is.
	OnApproval func(id string)
	// OnCopy is told of each answer that is from a fleet's copy of a host that cannot be reached. nil: nobody is.
	OnCopy func(api.FleetCopy)
	// OnAway is told when another host has not been reached for a while and is asked again, once until it is reached. nil:
	// nobody is.
	OnAway func(why error)
	// OnSilent is told, once, that this host's daemon answers nothing while it is waited for. nil: nobody is.
	OnSilent func(Silence)
	// OneVerb says that the client is made for one thing that a person does. When longterm is ended with its sessions
	// meanwhile, it does not start it again: whoever does something else later does.
	OneVerb bool
}

// Way is how a daemon of another host is reached. What it has to tell that nobody serves it is the error of a
// socket nobody serves.
type Way interface {
	Dial(context.Context) (net.Conn, error)
	// Ensure has the way be there.
	Ensure(context.Context) error
	// Place is where what is started there starts.
	Place(context.Context) (Place, error)
}

// Place is what another host gives to who logs in there.
type Place struct {
	Host, Home string
	Env        []string
}

// Path is a path of that host: absolute, or below the home directory there.
func (p Place) Path(given string) (string, error) {
	switch {
	case path.IsAbs(given):
		return given, nil
	case p.Home == "":
		return "", api.Errorf(api.CodeInvalid, "there is no home directory on %s, and %q is not absolute", p.Host, given)
	}
	return path.Join(p.Home, strings.TrimPrefix(strings.TrimPrefix(given, "~"), "/")), nil
}

// Client talks to the daemon. It may be used from any goroutine.
type Client struct {
	o    Options
	http *http.Client
	made time.Time
	away away
	// stoppedPID is the daemon that answered nothing, the last time that one did; 0: none.
	stoppedPID atomic.Int64
}

// New makes a client. Nothing is contacted yet.
func New(o Options) *Client {
	c := &Client{o: o, made: time.Now()}
	t := &http.Transport{
		DialContext:        c.dial,
		DisableCompression: true,
		// Many calls at once keep their connections: a local one costs little, making it more.
		MaxIdleConnsPerHost: 256,
		IdleConnTimeout:     time.Minute,
	}
	c.http = &http.Client{Transport: t}
	if o.Begun != nil {
		c.http.Transport = &goesOn{Transport: t, begun: o.Begun}
	}
	return c
}

func (c *Client) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if c.o.Way != nil {
		return c.o.Way.Dial(ctx)
	}
	return netsock.Dial(c.o.Dirs.Socket())
}

// IsFar says that the daemon is another host's: connections to it are lost where nothing is wrong with it.
func (c *Client) IsFar() bool { return c.o.Way != nil }

// IsAway says that the host was not reached when it was asked last: there is little sense in asking it more than once.
func (c *Client) IsAway() bool { return c.IsFar() && c.away.is() }

// Close gives idle connections up.
func (c *Client) Close() {
	c.http.CloseIdleConnections()
	if c.o.Begun != nil {
		_ = c.o.Begun.Answer.Close()
	}
}

// Status describes daemon and keepers.
func (c *Client) Status(ctx context.Context) (api.Status, error) {
	return get[api.Status](ctx, c, "/status", nil)
}

// Metrics are figures for monitoring, in the text format of Prometheus.
func (c *Client) Metrics(ctx context.Context) ([]byte, error) { return c.Get(ctx, "/metrics") }

// Stop ends the daemon.
func (c *Client) Stop(ctx context.Context, s api.Stop) error {
	_, err := send[struct{}](ctx, c, "POST", "/stop", nil, s)
	return err
}

// List describes the sessions that carry the labels, NAME or NAME=VALUE.
func (c *Client) List(ctx context.Context, labels ...string) ([]api.Session, error) {
	q := url.Values{}
	for _, l := range labels {
		q.Add("label", l)
	}
	return get[[]api.Session](ctx, c, "/sessions", q)
}

// Table is the table of sessions that `longterm ls` prints; it is for people, List is for programs.
func (c *Client) Table(ctx context.Context, labels ...string) ([]byte, error) {
	q := url.Values{"label": labels}
	return c.Get(ctx, strings.TrimSuffix("/sessions.txt?"+q.Encode(), "?"))
}

// TableWithin returns Table with rows of at most width cells; 0: rows are not cut.
func (c *Client) TableWithin(ctx context.Context, width int, labels ...string) ([]byte, error) {
	if width <= 0 {
		return c.Table(ctx, labels...)
	}
	q := url.Values{"label": labels, "width": {strconv.Itoa(width)}}
	return c.Get(ctx, "/sessions.txt?"+q.Encode())
}

// NewSession starts a session. It goes on by itself over a restart of the daemon, and over a lost connection to another
// host; the session is started once. Where a daemon of another host is one of before there was that, it goes on over neither.
func (c *Client) NewSession(ctx context.Context, n api.NewSession) (api.Session, error) {
	if err := c.settle(ctx, &n); err != nil {
		return api.Session{}, err
	}
	n.AskID = cmp.Or(n.AskID, uuid.NewString())
	tell := c.o.OnApproval != nil && n.OnApproval == ""
	if tell {
		n.OnApproval = "return"
	}
	var lost error // the way to another host was, before the answer was seen
	for p := newPatience(); ; {
		s, err := send[api.Session](ctx, c, "POST", "/sessions", nil, n)
		var e *api.Error
		var cut *cutError
		switch {
		case tell && errors.As(err, &e) && e.Code == api.CodeNeedsApproval:
			c.o.OnApproval(e.Approval)
			tell, n.OnApproval = false, "wait"
			continue
		case n.Again && isInvalid(err): // it cannot tell whether it has done it
			return s, lost
		case c.o.Way != nil && errors.As(err, &cut):
			n.Again, lost = true, err
		case c.o.Way != nil && lost == nil && !mayRepeat(err):
			return s, err
		}
		if err == nil || !c.again(ctx, p, err) {
			return s, err
		}
	}
}

// Events calls f with everything that happens until ctx ends, f returns an error or
// the daemon leaves.
func (c *Client) Events(ctx context.Context, f func(api.Event) error) error {
	return c.events(ctx, nil, f)
}

// EventsWithOutput is Events with those of what sessions print, at most ten of a kind in a second for each.
func (c *Client) EventsWithOutput(ctx context.Context, f func(api.Event) error) error {
	return c.events(ctx, url.Values{"output": {"true"}}, f)
}

func (c *Client) events(ctx context.Context, q url.Values, f func(api.Event) error) error {
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

// Get asks for a path of the API and returns the body, for what has no type.
func (c *Client) Get(ctx context.Context, path string) ([]byte, error) {
	resp, err := c.do(ctx, "GET", path, nil, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

func get[T any](ctx context.Context, c *Client, path string, q url.Values) (T, error) {
	return send[T](ctx, c, "GET", path, q, nil)
}

// send makes a request and decodes its answer. An answer that breaks off is as good as none.
func send[T any](ctx context.Context, c *Client, method, path string, q url.Values, body any) (T, error) {
	var v T
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return v, err
		}
	}
	for p := newPatience(); ; {
		resp, err := c.do(ctx, method, path, q, data)
		if err != nil {
			return v, err
		}
		err = decodeAnswer(resp.Body, &v)
		switch {
		case err == nil:
			return v, nil
		case ctx.Err() != nil:
			return v, ctx.Err()
		case !isCut(err):
			return v, fmt.Errorf("answer to %s %s: %w", method, path, err)
		case method != "GET" || !p.pause(ctx):
			return v, wentAway(err)
		}
		c.http.CloseIdleConnections()
	}
}

// decodeAnswer reads a JSON value and what comes after it: the end of an answer says that
// what was to be done after it was done.
func decodeAnswer(body io.ReadCloser, v any) error {
	defer body.Close()
	if v, ok := v.(interface{ ReadJSON(from io.Reader) error }); ok {
		return v.ReadJSON(body)
	}
	err := json.NewDecoder(body).Decode(v)
	if err == nil {
		_, _ = io.Copy(io.Discard, body) // a value that came whole is an answer
	}
	return err
}

// isCut says that a connection broke off.
func isCut(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed)
}

// cutError is a request whose answer was not seen: it may have been done.
type cutError struct{ err *api.Error }

func (e *cutError) Error() string { return e.err.Error() }
func (e *cutError) Unwrap() error { return e.err }

// WentAway says that the daemon went away before its answer was seen: what was asked for may have been done.
func WentAway(err error) bool {
	var cut *cutError
	return errors.As(err, &cut)
}

func wentAway(err error) error {
	return &cutError{api.Errorf(api.CodeUnavailable, "the daemon went away during the request: %v", err).
		WithHint("look whether it was done before you repeat it")}
}

// identify says in a request's headers who asks.
func (c *Client) identify(h http.Header) {
	for name, value := range map[string]string{actor.Header: c.o.Agent, actor.TokenHeader: c.o.Token, actor.HostHeader: c.o.From} {
		if value != "" {
			h.Set(name, value)
		}
	}
}

// do makes a request, starting the daemon if it is not there. Requests that change
// nothing are repeated when the daemon was replaced in the middle of them, and so is what a
// leaving daemon did not do.
func (c *Client) do(ctx context.Context, method, path string, q url.Values, body []byte) (*http.Response, error) {
	if strings.HasPrefix(path+"/", "/sessions//") { // no route has a session without a name
		return nil, api.Errorf(api.CodeInvalid, "the session's name is empty").WithHint("`longterm ls` lists the sessions")
	}
	if strings.HasPrefix(path+"/", "/jobs//") {
		return nil, api.Errorf(api.CodeInvalid, "the job's id is empty").WithHint("`longterm jobs` lists the jobs")
	}
	u := address(path, q)
	for p := newPatience(); ; {
		req, err := http.NewRequestWithContext(ctx, method, u, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		if body != nil {
			req.Header.Set("Content-Type", "application/json")
		}
		c.identify(req.Header)
		over := func() {}
		if method != http.MethodGet || q.Has("await_ms") || q.Has("wait_ms") {
			over = turns.Wait(ctx) // it may be answered when something happens: who is worked on in turn keeps no other from it
		}
		resp, err := c.patiently(req, isDue(path, q, body))
		over()
		if err == nil && resp.StatusCode < 400 {
			c.tellCopy(resp.Header)
			c.away.over()
			return resp, nil
		}
		if err == nil {
			err = readError(resp)
		}
		var refused *api.Error
		switch {
		case errors.As(err, &refused) && refused.Code == api.CodeNeedsApproval && q.Get("on_approval") == "return" && q.Has("reveal"):
			c.o.OnApproval(refused.Approval)
			q.Set("on_approval", "wait")
			u = address(path, q)
			continue
		case isFinal(err): // it answers nothing
			return nil, err
		case errors.As(err, &refused):
			if !refused.Retry {
				return nil, err
			}
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, unixsock.ErrForeign):
			return nil, foreign(err)
		case notThere(err):
			err = unavailable(err, c.o.Dirs)
			if ensureErr := c.Ensure(ctx); ensureErr != nil {
				if isFinal(ensureErr) || !c.killedAtStart(ctx, p) {
					return nil, ensureErr
				}
				continue
			}
		case method != "GET":
			return nil, wentAway(err)
		default:
			err = unavailable(err, c.o.Dirs)
		}
		if c.o.OnAway != nil && c.IsFar() && c.away.begins() {
			c.o.OnAway(err)
		}
		if !p.pause(ctx) {
			return nil, c.whyStopped(err)
		}
		c.http.CloseIdleConnections()
	}
}

// killedAtStart says of a daemon that could not be had that it may only have been killed at its start, after a pause: it is
// to be asked again.
func (c *Client) killedAtStart(ctx context.Context, p *patience) bool {
	return c.o.KeeperArgv != nil && c.stopped() == nil && c.o.Way == nil && ctx.Err() == nil && p.pauseWithin(ctx, shortPatience)
}

func address(path string, q url.Values) string {
	u := "http://longterm" + api.Version + path
	if len(q) > 0 {
		u += "?" + q.Encode()
	}
	return u
}

// tellCopy tells of an answer that is from a fleet's copy.
func (c *Client) tellCopy(h http.Header) {
	var of api.FleetCopy
	if b := h.Get(api.CopyHeader); b != "" && c.o.OnCopy != nil && json.Unmarshal([]byte(b), &of) == nil {
		c.o.OnCopy(of)
	}
}

// mayRepeat says that the daemon did nothing and wants to be asked again.
func mayRepeat(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Retry
}

// notThere says that no process serves the socket, so nothing was done.
func notThere(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrNotExist)
}

func unavailable(err error, dirs paths.Dirs) error {
	return api.Errorf(api.CodeUnavailable, "the daemon cannot be reached: %v", err).
		WithHint("see %s, or run `longterm doctor`", dirs.DaemonLog())
}

// readError is the error that an answer is: the API's, if it came whole.
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
	return api.Errorf(api.CodeInternal, "the daemon answered %s: %s", resp.Status, inLine(b))
}

// maxShown bounds what people are shown of an answer that is none, in characters.
const maxShown = 200

// inLine is text as part of a message: in one line, without what would act on a terminal.
func inLine(b []byte) string {
	text := bytes.ToValidUTF8(b[:min(len(b), 4*maxShown)], []byte("?"))
	words := strings.FieldsFunc(string(text), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	runes := []rune(strings.Join(words, " "))
	if len(runes) > maxShown || len(b) > 4*maxShown {
		return string(runes[:min(len(runes), maxShown)]) + "…"
	}
	return string(runes)
}

// socketTime bounds how long a daemon that serves may take to make its socket again when it was
// removed.
const socketTime = 5 * time.Second

// waitForSocket waits until the daemon, which serves, is there to be asked.
func (c *Client) waitForSocket(ctx context.Context) error {
	deadline := time.Now().Add(socketTime)
	for {
		conn, err := netsock.Dial(c.o.Dirs.Socket())
		if err == nil {
			return conn.Close()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(deadline) {
			return api.Errorf(api.CodeUnavailable, "the daemon runs and its socket is not there: %v", err).
				WithHint("end the daemon's process; another one starts by itself, and sessions go on")
		}
		time.Sleep(2 * time.Millisecond)
	}
}
