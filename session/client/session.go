//go:build unix

package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
	"github.com/longterm-dev/longterm/session/output/suggest"
)

// Session is a session of the daemon, by id, name or unique prefix.
type Session struct {
	client   *Client
	path     string
	stream   string // stdout or stderr; empty: both
	revealID string // id of the request that reveals secrets; empty: output is redacted
}

// Session returns the session with a reference. Its existence is checked by the first request.
func (c *Client) Session(ref string) *Session {
	return &Session{client: c, path: "/sessions/" + url.PathEscape(ref)}
}

// Info returns the session's description.
func (s *Session) Info(ctx context.Context) (api.Session, error) {
	return get[api.Session](ctx, s.client, s.path, nil)
}

// Env returns the environment of the session's program.
func (s *Session) Env(ctx context.Context) (api.Environment, error) {
	return get[api.Environment](ctx, s.client, s.path+"/env", nil)
}

// Edit changes the name and labels.
func (s *Session) Edit(ctx context.Context, e api.Edit) (api.Session, error) {
	return send[api.Session](ctx, s.client, "PATCH", s.path, nil, e)
}

// Remove deletes the session and its history. With force it is ended first.
func (s *Session) Remove(ctx context.Context, force bool) error {
	return s.remove(ctx, url.Values{"force": {strconv.FormatBool(force)}})
}

// RemoveWithDraft removes the session as Remove does, and discards the changes of its draft.
func (s *Session) RemoveWithDraft(ctx context.Context, force bool) error {
	return s.remove(ctx, url.Values{"force": {strconv.FormatBool(force)}, "discard_draft": {"true"}})
}

// remove deletes the session. A retry that does not find it was preceded by a successful request.
func (s *Session) remove(ctx context.Context, q url.Values) error {
	isRetry := false
	for p := newRetryPolicy(); ; isRetry = true {
		_, err := send[struct{}](ctx, s.client, "DELETE", s.path, q, nil)
		var e *api.Error
		if isRetry && errors.As(err, &e) && e.Code == api.CodeNotFound { // the request without a response removed it
			return nil
		}
		if err == nil || !s.client.prepareRetry(ctx, p, err) {
			return err
		}
	}
}

// Type sends input and returns when the terminal has accepted it. Input with an id survives a daemon restart.
func (s *Session) Type(ctx context.Context, in api.Input) (api.Typed, error) {
	reportApproval := s.client.options.OnApproval != nil && s.client.options.Agent != "" && in.OnApproval == "" // only agents need approval for input
	if reportApproval {
		in.ID, in.OnApproval = cmp.Or(in.ID, uuid.NewString()), "return"
	}
	for p := newRetryPolicy(); ; {
		r, err := send[api.Typed](ctx, s.client, "POST", s.path+"/input", nil, in)
		var e *api.Error
		if reportApproval && errors.As(err, &e) && e.Code == api.CodeNeedsApproval {
			s.client.options.OnApproval(e.Approval)
			reportApproval, in.OnApproval = false, "wait"
			continue
		}
		if err == nil || in.ID == "" || !s.client.prepareRetry(ctx, p, err) {
			return r, err
		}
	}
}

// Resize sets the size in cells.
func (s *Session) Resize(ctx context.Context, cols, rows int) error {
	_, err := send[struct{}](ctx, s.client, "POST", s.path+"/resize", nil, api.Resize{Cols: cols, Rows: rows})
	return err
}

// Clients returns the clients that are attached to the session or watch it.
func (s *Session) Clients(ctx context.Context) ([]api.Attached, error) {
	return get[[]api.Attached](ctx, s.client, s.path+"/clients", nil)
}

// ChangeClient makes a client, by its number, view-only or read-write, or detaches it.
func (s *Session) ChangeClient(ctx context.Context, n int, e api.AttachedEdit) error {
	_, err := send[struct{}](ctx, s.client, "POST", s.path+"/clients/"+strconv.Itoa(n), nil, e)
	return err
}

// UpdateShellEnv makes a user's shells adopt variables before their next prompt.
func (c *Client) UpdateShellEnv(ctx context.Context, r api.Renewal) error {
	_, err := send[struct{}](ctx, c, "POST", "/renew", nil, r)
	return err
}

// Arrange asks open viewers to change the layout of sessions. asked is false if no viewer is open. It returns an error
// if no viewer could do it.
func (c *Client) Arrange(ctx context.Context, a api.Arrange) (asked bool, err error) {
	r, err := send[api.Arranged](ctx, c, "POST", "/arrange", nil, a)
	return r.Viewers == nil || *r.Viewers > 0, err
}

// AnswerOrder reports the result of an order to a viewer; why is empty on success.
func (c *Client) AnswerOrder(ctx context.Context, order, why string) error {
	_, err := send[struct{}](ctx, c, "POST", "/arrange/"+url.PathEscape(order), nil, api.OrderAnswer{Why: why})
	return err
}

// Signal sends a signal to the session's processes.
func (s *Session) Signal(ctx context.Context, sig api.Signal) error {
	_, err := send[struct{}](ctx, s.client, "POST", s.path+"/signal", nil, sig)
	return err
}

// Kill ends the process and all its descendants. It survives a daemon restart.
func (s *Session) Kill(ctx context.Context, k api.Kill) (api.Session, error) {
	return endIdempotent(ctx, s.client, func() (api.Session, error) {
		return send[api.Session](ctx, s.client, "POST", s.path+"/kill", nil, k)
	}, func() (api.Session, error) { return s.Info(ctx) })
}

// endIdempotent sends a request that ends a session or job, and repeats it across daemon restarts. If a repeated request finds the
// target already ended, an earlier attempt ended it. Then ended returns the result.
func endIdempotent[T any](ctx context.Context, c *Client, end, ended func() (T, error)) (T, error) {
	isRetry := false
	for p := newRetryPolicy(); ; isRetry = true {
		r, err := end()
		var e *api.Error
		if isRetry && errors.As(err, &e) && e.Code == api.CodeEnded {
			return ended()
		}
		if err == nil || !c.prepareRetry(ctx, p, err) {
			return r, err
		}
	}
}

// KillSeveral ends several sessions concurrently.
func (c *Client) KillSeveral(ctx context.Context, k api.KillSeveral) (api.Killed, error) {
	return send[api.Killed](ctx, c, "POST", "/kill", nil, k)
}

// Restore starts the process of an ended session again.
func (s *Session) Restore(ctx context.Context, r api.Restore) (api.Session, error) {
	if s.client.options.Remote != nil {
		at, err := s.client.options.Remote.Login(ctx)
		if err != nil {
			return api.Session{}, err
		}
		r.Env = at.Env
	}
	return send[api.Session](ctx, s.client, "POST", s.path+"/restore", nil, r)
}

// Exec runs a line in the session's shell. It survives a daemon restart; the line runs once.
func (s *Session) Exec(ctx context.Context, x api.Exec) (api.Result, error) {
	return s.client.submitJob(ctx, s.path+"/exec", &x.Call, &x.ApprovalOptions, func() any { return x })
}

// Batch runs lines one after the other in the session's shell.
func (s *Session) Batch(ctx context.Context, b api.Batch) (api.Batched, error) {
	return send[api.Batched](ctx, s.client, "POST", s.path+"/batch", nil, b)
}

// Command returns the n-th command of the session; 0 is the newest.
func (s *Session) Command(ctx context.Context, n int) (api.Command, error) {
	return get[api.Command](ctx, s.client, s.path+"/commands/"+strconv.Itoa(n), nil)
}

// ParsedOutput returns the parsed output of the n-th command (0: the newest).
func (s *Session) ParsedOutput(ctx context.Context, n int) (diagnostics.Result, error) {
	return get[diagnostics.Result](ctx, s.client, s.path+"/commands/"+strconv.Itoa(n)+"/parsed", nil)
}

// Suggest returns suggestions for what to do after the n-th command (0: the newest).
func (s *Session) Suggest(ctx context.Context, n int) ([]suggest.Suggestion, error) {
	return get[[]suggest.Suggestion](ctx, s.client, s.path+"/commands/"+strconv.Itoa(n)+"/suggestions", nil)
}

// Why compares the n-th command (0: the newest failed one, or the session's program) with the newest good run of the same
// command, or with the given run.
func (s *Session) Why(ctx context.Context, n int, against string, againstN int) (api.Why, error) {
	q := url.Values{}
	if against != "" {
		q.Set("against", against)
		q.Set("against_command", strconv.Itoa(againstN))
	}
	return get[api.Why](ctx, s.client, s.path+"/commands/"+strconv.Itoa(n)+"/why", q)
}

// Wait waits for conditions. It survives a daemon restart unless it types input.
func (s *Session) Wait(ctx context.Context, w api.Wait) (api.Waited, error) {
	isLimited := w.TimeoutMS > 0 // otherwise the daemon may apply its own limit
	deadline := time.Now().Add(time.Duration(w.TimeoutMS) * time.Millisecond)
	for p := newRetryPolicy(); ; {
		r, err := send[api.Waited](ctx, s.client, "POST", s.path+"/wait", nil, w)
		if err == nil || w.Input != nil || isLimited && time.Until(deadline) <= 0 || !s.client.prepareRetry(ctx, p, err) {
			return r, err
		}
		if isLimited {
			w.TimeoutMS = max(1, time.Until(deadline).Milliseconds()) // the remaining time after the restart
		}
	}
}

// Output returns output from an offset on. It waits at most await for the first byte.
func (s *Session) Output(ctx context.Context, from uint64, await time.Duration) (api.Output, error) {
	return s.readOutput(ctx, url.Values{"from": {strconv.FormatUint(from, 10)}, "await_ms": {strconv.FormatInt(await.Milliseconds(), 10)}})
}

// OutputPart returns output between two offsets, at most maxOutputPage bytes.
func (s *Session) OutputPart(ctx context.Context, from, to uint64) (api.Output, error) {
	n := min(to-min(from, to), maxOutputPage)
	return s.readOutput(ctx, url.Values{"from": {strconv.FormatUint(from, 10)}, "max": {strconv.FormatUint(n, 10)}})
}

// maxOutputPage bounds the output in one response, in bytes.
const maxOutputPage = 4 << 20

// OutputAt returns output from a moment on: an offset, a time, -5m or +90s.
func (s *Session) OutputAt(ctx context.Context, at string) (api.Output, error) {
	return s.readOutput(ctx, url.Values{"at": {at}})
}

// TextQuery selects output for Text. Zero fields mean all output and the daemon's budget.
type TextQuery struct {
	From, To           uint64
	At                 string // a moment, instead of From
	MaxOutput, MaxLine int    // bytes
	Digest             bool   // prefer failures and the end of the output
	Fold               bool   // with Digest: omit most lines that differ only in numbers, if not all fit
	FoldAbove          int    // with Fold: fold output of more than this many bytes; 0: only if not all fits
	Transcript         bool   // what the terminal showed, including full-screen programs; the end is kept
}

// Text returns output as text within a budget.
func (s *Session) Text(ctx context.Context, q TextQuery) (api.OutputText, error) {
	v := url.Values{}
	for name, n := range map[string]uint64{"from": q.From, "to": q.To, "max_output": uint64(max(0, q.MaxOutput)), "max_line": uint64(max(0, q.MaxLine)), "whole": uint64(max(0, q.FoldAbove))} {
		if n > 0 {
			v.Set(name, strconv.FormatUint(n, 10))
		}
	}
	if q.At != "" {
		v.Set("at", q.At)
	}
	if q.Digest {
		v.Set("digest", "true")
	}
	if q.Fold {
		v.Set("fold", "true")
	}
	if q.Transcript {
		v.Set("transcript", "true")
	}
	if s.stream != "" {
		v.Set("stream", s.stream)
	}
	return get[api.OutputText](ctx, s.client, s.path+"/output/text", s.addReveal(v))
}

// Stream returns the session restricted to one output stream: stdout or stderr. It must run on pipes.
func (s *Session) Stream(name string) *Session { return &Session{s.client, s.path, name, s.revealID} }

// Reveal returns the session with unredacted secrets in output, screens and records. The reveal is recorded, and an
// agent needs approval.
func (s *Session) Reveal() *Session { return &Session{s.client, s.path, s.stream, uuid.NewString()} }

// addReveal adds the request for unredacted secrets, if the session reveals them.
func (s *Session) addReveal(v url.Values) url.Values {
	if s.revealID != "" {
		v.Set("reveal", s.revealID)
		if s.client.options.OnApproval != nil && s.client.options.Agent != "" { // only agents need approval
			v.Set("on_approval", "return")
		}
	}
	return v
}

// readOutput requests output, again if the response is incomplete.
func (s *Session) readOutput(ctx context.Context, q url.Values) (api.Output, error) {
	if s.stream != "" {
		q.Set("stream", s.stream)
	}
	for p := newRetryPolicy(); ; {
		o, err := s.requestOutput(ctx, s.addReveal(q))
		if cut := errors.Is(err, errIncompleteResponse); !cut || !p.pause(ctx) {
			return o, err
		}
		s.client.http.CloseIdleConnections() // the daemon was replaced during the response
	}
}

// errIncompleteResponse is the error of a response that ended early.
var errIncompleteResponse = errors.New("response broke off")

// requestOutput sends one request for output.
func (s *Session) requestOutput(ctx context.Context, q url.Values) (api.Output, error) {
	resp, err := s.client.do(ctx, "GET", s.path+"/output/raw", q, nil)
	if err != nil {
		return api.Output{}, err
	}
	defer resp.Body.Close()
	var o api.Output
	if o.From, o.Next, o.Gap, err = parseOffsets(resp.Header); err != nil {
		return api.Output{}, fmt.Errorf("answer to GET %s/output/raw: %w", s.path, err)
	}
	o.End = resp.Header.Get("Longterm-End") == "true"
	if o.Data, err = io.ReadAll(resp.Body); err != nil {
		return api.Output{}, fmt.Errorf("%w: %w", errIncompleteResponse, err)
	}
	o.Streams, err = api.ParseStreams(resp.Header.Get("Longterm-Streams"), len(o.Data))
	return o, err
}

// parseOffsets parses the output position in the headers of a response. Without them Follow could not continue and would
// start from the beginning forever.
func parseOffsets(h http.Header) (from, next, gap uint64, err error) {
	from, fromErr := strconv.ParseUint(h.Get("Longterm-From"), 10, 64)
	next, nextErr := strconv.ParseUint(h.Get("Longterm-Next"), 10, 64)
	gap, _ = strconv.ParseUint(h.Get("Longterm-Gap"), 10, 64)
	if fromErr != nil || nextErr != nil || from > next {
		return 0, 0, 0, errors.New("not the output of a session")
	}
	return from, next, gap, nil
}

// Follow calls f with output from an offset on, until the session or ctx ends or f returns an error. It survives daemon
// restarts and lost connections to a remote host, however long they last.
func (s *Session) Follow(ctx context.Context, from uint64, f func(api.Output) error) error {
	for {
		o, err := s.Output(ctx, from, 20*time.Second)
		if err != nil {
			var e *api.Error
			lost := errors.Is(err, errIncompleteResponse) || errors.As(err, &e) && e.Code == api.CodeUnavailable
			if s.client.IsRemote() && lost && sleep(ctx, remoteRetryInterval) {
				continue
			}
			return err
		}
		if len(o.Data) > 0 || o.Gap > 0 {
			if err := f(o); err != nil {
				return err
			}
		}
		if o.End {
			return nil
		}
		from = o.Next
	}
}

// ScreenQuery selects a part of a screen.
type ScreenQuery struct {
	Since      uint64 // version of the screen that the caller has
	Screen     string // active, primary, alternate
	Scrollback string // range of lines, A:B
	At         string // a moment: offset, time, -5m, +90s; empty for now
	NoColor    bool   // text attributes only, no colours
	Trim       bool   // drop empty trailing rows, except the cursor's (JSON)
	Picture    Picture
	MaxOutput  int  // bytes of text, head and tail; 0: all
	Blocks     bool // images as half blocks (JSON)
	Pictures   bool // with Blocks: lines also have the keys of their images, which Stream.Act requests
}

// Picture configures the look of a screen in graphical formats. The zero value uses the daemon's defaults.
type Picture struct {
	Theme       string  // name known to render.ThemeFor
	Scale       float64 // 1 is a font of 16 pixels
	Padding     int     // pixels at scale 1; -1 for none
	Window      bool    // SVG, PNG: a window with a title bar
	Margin      int     // pixels at scale 1; -1 for none
	MarginColor string  // #rrggbb
	NoCursor    bool
	Cursor      string // block, underline, bar; empty for the program's
	Fonts       string // system, embedded
	Styles      bool   // Markdown: list text with conspicuous attributes
}

// addTo adds the fields that are set to a query.
func (p *Picture) addTo(v url.Values) {
	for name, value := range map[string]string{"theme": p.Theme, "cursor": p.Cursor, "fonts": p.Fonts, "margin_color": p.MarginColor} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if p.Scale != 0 {
		v.Set("scale", strconv.FormatFloat(p.Scale, 'g', -1, 64))
	}
	if p.Padding != 0 {
		v.Set("padding", strconv.Itoa(p.Padding))
	}
	if p.Margin != 0 {
		v.Set("margin", strconv.Itoa(p.Margin))
	}
	if p.Window {
		v.Set("window", "true")
	}
	if p.NoCursor {
		v.Set("no_cursor", "true")
	}
	if p.Styles {
		v.Set("styles", "true")
	}
}

// values returns the query as URL parameters.
func (q ScreenQuery) values() url.Values {
	v := url.Values{}
	if q.NoColor {
		v.Set("no_color", "true")
	}
	if q.Trim {
		v.Set("trim", "true")
	}
	if q.Since > 0 {
		v.Set("since", strconv.FormatUint(q.Since, 10))
	}
	if q.Screen != "" {
		v.Set("screen", q.Screen)
	}
	if q.Scrollback != "" {
		v.Set("scrollback", q.Scrollback)
	}
	if q.At != "" {
		v.Set("at", q.At)
	}
	if q.Blocks {
		v.Set("images", "blocks")
	}
	if q.Pictures {
		v.Set("pictures", "true")
	}
	return v
}

// Screen is a session's screen, and the prompt that its program waits at. The prompt is unknown for past screens.
type Screen struct {
	render.Screen
	NeedsInput *api.InputRequest `json:"needs_input,omitempty"`
}

// Screen returns the screen as spans. If the daemon's screens lack the pending prompt, it is read from the session's
// description.
func (s *Session) Screen(ctx context.Context, q ScreenQuery) (Screen, error) {
	a, err := get[struct {
		render.Screen
		Needs json.RawMessage `json:"needs_input"` // null, or missing in responses of older daemons
	}](ctx, s.client, s.path+"/screen", s.addReveal(q.values()))
	screen := Screen{Screen: a.Screen}
	switch {
	case err != nil:
		return screen, err
	case a.Needs != nil:
		err = json.Unmarshal(a.Needs, &screen.NeedsInput)
		if err != nil {
			err = fmt.Errorf("what the program on the screen waits for: %w", err)
		}
	case q.At == "":
		if v, err := s.Info(ctx); err == nil { // without it the screen alone is returned
			screen.NeedsInput = v.Needs
		}
	}
	return screen, err
}

// ScreenAs returns the screen in another format (text, ansi, html, svg, png, md, json).
func (s *Session) ScreenAs(ctx context.Context, q ScreenQuery, format string) ([]byte, error) {
	path, v := s.path+"/screen", s.addReveal(q.values())
	if format != "json" {
		path += "/" + format
		q.Picture.addTo(v)
		v.Set("max_output", strconv.Itoa(cmp.Or(q.MaxOutput, -1)))
	}
	resp, err := s.client.do(ctx, "GET", path, v, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}
