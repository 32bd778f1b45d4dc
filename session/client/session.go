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

// Session is a session by id, name or unique prefix.
type Session struct {
	c      *Client
	path   string
	stream string // the only output stream to read; empty for all
	reveal string // the name of the reveal request that shows secrets; empty: redacted
}

// Session names a session; whether it exists shows when it is used.
func (c *Client) Session(ref string) *Session {
	return &Session{c: c, path: "/sessions/" + url.PathEscape(ref)}
}

// Info describes the session.
func (s *Session) Info(ctx context.Context) (api.Session, error) {
	return get[api.Session](ctx, s.c, s.path, nil)
}

// Env returns the environment of the session's program.
func (s *Session) Env(ctx context.Context) (api.Environment, error) {
	return get[api.Environment](ctx, s.c, s.path+"/env", nil)
}

// Edit changes name and labels.
func (s *Session) Edit(ctx context.Context, e api.Edit) (api.Session, error) {
	return send[api.Session](ctx, s.c, "PATCH", s.path, nil, e)
}

// Remove forgets the session and its history; with force it is ended first.
func (s *Session) Remove(ctx context.Context, force bool) error {
	return s.remove(ctx, url.Values{"force": {strconv.FormatBool(force)}})
}

// RemoveWithDraft removes a session as Remove does, together with the changes of its draft.
func (s *Session) RemoveWithDraft(ctx context.Context, force bool) error {
	return s.remove(ctx, url.Values{"force": {strconv.FormatBool(force)}, "discard_draft": {"true"}})
}

func (s *Session) remove(ctx context.Context, q url.Values) error {
	again := false
	for p := newRetryPolicy(); ; again = true {
		_, err := send[struct{}](ctx, s.c, "DELETE", s.path, q, nil)
		var e *api.Error
		if again && errors.As(err, &e) && e.Code == api.CodeNotFound { // by the request whose answer we did not see
			return nil
		}
		if err == nil || !s.c.prepareRetry(ctx, p, err) {
			return err
		}
	}
}

// Type sends input and returns when the terminal has accepted it. Input with an id survives a daemon restart.
func (s *Session) Type(ctx context.Context, in api.Input) (api.Typed, error) {
	tell := s.c.o.OnApproval != nil && s.c.o.Agent != "" && in.OnApproval == "" // only agents need approval for input
	if tell {
		in.ID, in.OnApproval = cmp.Or(in.ID, uuid.NewString()), "return"
	}
	for p := newRetryPolicy(); ; {
		r, err := send[api.Typed](ctx, s.c, "POST", s.path+"/input", nil, in)
		var e *api.Error
		if tell && errors.As(err, &e) && e.Code == api.CodeNeedsApproval {
			s.c.o.OnApproval(e.Approval)
			tell, in.OnApproval = false, "wait"
			continue
		}
		if err == nil || in.ID == "" || !s.c.prepareRetry(ctx, p, err) {
			return r, err
		}
	}
}

// Resize changes the size in cells.
func (s *Session) Resize(ctx context.Context, cols, rows int) error {
	_, err := send[struct{}](ctx, s.c, "POST", s.path+"/resize", nil, api.Resize{Cols: cols, Rows: rows})
	return err
}

// Clients lists the clients that are attached to the session or watch it.
func (s *Session) Clients(ctx context.Context) ([]api.Attached, error) {
	return get[[]api.Attached](ctx, s.c, s.path+"/clients", nil)
}

// ChangeClient makes a client, by its number, view-only or read-write, or detaches it.
func (s *Session) ChangeClient(ctx context.Context, n int, e api.AttachedEdit) error {
	_, err := send[struct{}](ctx, s.c, "POST", s.path+"/clients/"+strconv.Itoa(n), nil, e)
	return err
}

// Renew makes a user's shells take over variables before their next prompt.
func (c *Client) Renew(ctx context.Context, r api.Renewal) error {
	_, err := send[struct{}](ctx, c, "POST", "/renew", nil, r)
	return err
}

// Arrange asks open viewers to change the layout of sessions. asked is false if no viewer is open. If no viewer could
// do it, that is an error.
func (c *Client) Arrange(ctx context.Context, a api.Arrange) (asked bool, err error) {
	r, err := send[api.Arranged](ctx, c, "POST", "/arrange", nil, a)
	return r.Viewers == nil || *r.Viewers > 0, err
}

// AnswerOrder reports the result of an order to a viewer; why is empty on success.
func (c *Client) AnswerOrder(ctx context.Context, order, why string) error {
	_, err := send[struct{}](ctx, c, "POST", "/arrange/"+url.PathEscape(order), nil, api.OrderAnswer{Why: why})
	return err
}

// Signal signals the session's processes.
func (s *Session) Signal(ctx context.Context, sig api.Signal) error {
	_, err := send[struct{}](ctx, s.c, "POST", s.path+"/signal", nil, sig)
	return err
}

// Kill ends the process and all its descendants. It survives a daemon restart.
func (s *Session) Kill(ctx context.Context, k api.Kill) (api.Session, error) {
	return ending(ctx, s.c, func() (api.Session, error) {
		return send[api.Session](ctx, s.c, "POST", s.path+"/kill", nil, k)
	}, func() (api.Session, error) { return s.Info(ctx) })
}

// ending ends something, across daemon restarts. If a retry finds it already ended, the first request ended it, and
// ended returns the result.
func ending[T any](ctx context.Context, c *Client, end, ended func() (T, error)) (T, error) {
	again := false
	for p := newRetryPolicy(); ; again = true {
		r, err := end()
		var e *api.Error
		if again && errors.As(err, &e) && e.Code == api.CodeEnded {
			return ended()
		}
		if err == nil || !c.prepareRetry(ctx, p, err) {
			return r, err
		}
	}
}

// KillSeveral ends several sessions at the same time.
func (c *Client) KillSeveral(ctx context.Context, k api.KillSeveral) (api.Killed, error) {
	return send[api.Killed](ctx, c, "POST", "/kill", nil, k)
}

// Restore starts the process of an ended session again.
func (s *Session) Restore(ctx context.Context, r api.Restore) (api.Session, error) {
	if s.c.o.Way != nil {
		at, err := s.c.o.Way.Place(ctx)
		if err != nil {
			return api.Session{}, err
		}
		r.Env = at.Env
	}
	return send[api.Session](ctx, s.c, "POST", s.path+"/restore", nil, r)
}

// Exec runs a line in the session's shell. It survives a daemon restart; the line runs once.
func (s *Session) Exec(ctx context.Context, x api.Exec) (api.Result, error) {
	return s.c.call(ctx, s.path+"/exec", &x.Call, &x.ApprovalOptions, func() any { return x })
}

// Batch runs lines one after the other in the session's shell.
func (s *Session) Batch(ctx context.Context, b api.Batch) (api.Batched, error) {
	return send[api.Batched](ctx, s.c, "POST", s.path+"/batch", nil, b)
}

// Command describes the n-th command of the session; 0 is the newest.
func (s *Session) Command(ctx context.Context, n int) (api.Command, error) {
	return get[api.Command](ctx, s.c, s.path+"/commands/"+strconv.Itoa(n), nil)
}

// ParsedOutput returns the parsed output of the n-th command (0: the newest).
func (s *Session) ParsedOutput(ctx context.Context, n int) (diagnostics.Result, error) {
	return get[diagnostics.Result](ctx, s.c, s.path+"/commands/"+strconv.Itoa(n)+"/parsed", nil)
}

// Suggest lists what one might do after the n-th command (0: the newest).
func (s *Session) Suggest(ctx context.Context, n int) ([]suggest.Suggestion, error) {
	return get[[]suggest.Suggestion](ctx, s.c, s.path+"/commands/"+strconv.Itoa(n)+"/suggestions", nil)
}

// Why compares the n-th command (0: the newest failed one, or the session's program) with the newest good run of the same
// command, or with the given run.
func (s *Session) Why(ctx context.Context, n int, against string, againstN int) (api.Why, error) {
	q := url.Values{}
	if against != "" {
		q.Set("against", against)
		q.Set("against_command", strconv.Itoa(againstN))
	}
	return get[api.Why](ctx, s.c, s.path+"/commands/"+strconv.Itoa(n)+"/why", q)
}

// Wait waits for conditions. It survives a daemon restart unless it types input.
func (s *Session) Wait(ctx context.Context, w api.Wait) (api.Waited, error) {
	limited := w.TimeoutMS > 0 // else the daemon has the limit, if there is one
	deadline := time.Now().Add(time.Duration(w.TimeoutMS) * time.Millisecond)
	for p := newRetryPolicy(); ; {
		r, err := send[api.Waited](ctx, s.c, "POST", s.path+"/wait", nil, w)
		if err == nil || w.Input != nil || limited && time.Until(deadline) <= 0 || !s.c.prepareRetry(ctx, p, err) {
			return r, err
		}
		if limited {
			w.TimeoutMS = max(1, time.Until(deadline).Milliseconds()) // without the time that the restart took
		}
	}
}

// Output reads output from an offset. With await it waits so long for the first byte.
func (s *Session) Output(ctx context.Context, from uint64, await time.Duration) (api.Output, error) {
	return s.output(ctx, url.Values{"from": {strconv.FormatUint(from, 10)}, "await_ms": {strconv.FormatInt(await.Milliseconds(), 10)}})
}

// OutputPart reads output from one offset up to another at most.
func (s *Session) OutputPart(ctx context.Context, from, to uint64) (api.Output, error) {
	n := min(to-min(from, to), maxPage)
	return s.output(ctx, url.Values{"from": {strconv.FormatUint(from, 10)}, "max": {strconv.FormatUint(n, 10)}})
}

// maxPage is what the daemon answers at most, in bytes.
const maxPage = 4 << 20

// OutputAt reads output from a moment: an offset, a time, -5m or +90s.
func (s *Session) OutputAt(ctx context.Context, at string) (api.Output, error) {
	return s.output(ctx, url.Values{"at": {at}})
}

// TextQuery selects output for Text. Zero fields mean all output and the daemon's budget.
type TextQuery struct {
	From, To           uint64
	At                 string // a moment, instead of From
	MaxOutput, MaxLine int    // bytes
	Digest             bool   // keep failures and the end before the rest
	Fold               bool   // with it: keep few of the lines that are alike but for numbers, if not all fit
	Whole              int    // with that: fold also above that many bytes; 0: only if not all fit
	Transcript         bool   // what the terminal showed, of full-screen programs too; the end is kept
}

// Text returns output as text within a budget.
func (s *Session) Text(ctx context.Context, q TextQuery) (api.OutputText, error) {
	v := url.Values{}
	for name, n := range map[string]uint64{"from": q.From, "to": q.To, "max_output": uint64(max(0, q.MaxOutput)), "max_line": uint64(max(0, q.MaxLine)), "whole": uint64(max(0, q.Whole))} {
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
	return get[api.OutputText](ctx, s.c, s.path+"/output/text", s.revealing(v))
}

// Stream returns the session restricted to one output stream: stdout or stderr. It must run on pipes.
func (s *Session) Stream(name string) *Session { return &Session{s.c, s.path, name, s.reveal} }

// Reveal returns the session with unredacted secrets in output, screens and records. The reveal is recorded, and an
// agent needs approval.
func (s *Session) Reveal() *Session { return &Session{s.c, s.path, s.stream, uuid.NewString()} }

// revealing adds the request for secrets, if wanted.
func (s *Session) revealing(v url.Values) url.Values {
	if s.reveal != "" {
		v.Set("reveal", s.reveal)
		if s.c.o.OnApproval != nil && s.c.o.Agent != "" { // only agents need approval
			v.Set("on_approval", "return")
		}
	}
	return v
}

func (s *Session) output(ctx context.Context, q url.Values) (api.Output, error) {
	if s.stream != "" {
		q.Set("stream", s.stream)
	}
	for p := newRetryPolicy(); ; {
		o, err := s.outputOnce(ctx, s.revealing(q))
		if cut := errors.Is(err, errCut); !cut || !p.pause(ctx) {
			return o, err
		}
		s.c.http.CloseIdleConnections() // the daemon was replaced in the middle of the answer
	}
}

// errCut reports a response that broke off.
var errCut = errors.New("response broke off")

func (s *Session) outputOnce(ctx context.Context, q url.Values) (api.Output, error) {
	resp, err := s.c.do(ctx, "GET", s.path+"/output/raw", q, nil)
	if err != nil {
		return api.Output{}, err
	}
	defer resp.Body.Close()
	var o api.Output
	if o.From, o.Next, o.Gap, err = offsets(resp.Header); err != nil {
		return api.Output{}, fmt.Errorf("answer to GET %s/output/raw: %w", s.path, err)
	}
	o.End = resp.Header.Get("Longterm-End") == "true"
	if o.Data, err = io.ReadAll(resp.Body); err != nil {
		return api.Output{}, fmt.Errorf("%w: %w", errCut, err)
	}
	o.Streams, err = api.ParseStreams(resp.Header.Get("Longterm-Streams"), len(o.Data))
	return o, err
}

// offsets parses the output position in the headers of a response. Without them Follow could not continue and would
// start from the beginning forever.
func offsets(h http.Header) (from, next, gap uint64, err error) {
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
			lost := errors.Is(err, errCut) || errors.As(err, &e) && e.Code == api.CodeUnavailable
			if s.c.IsRemote() && lost && sleep(ctx, farPause) {
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
	Since      uint64
	Screen     string // active, primary, alternate
	Scrollback string // A:B
	At         string // a moment: offset, time, -5m, +90s; empty for now
	NoColor    bool   // attributes only
	Trim       bool   // drop empty trailing rows, except the cursor's (JSON)
	Picture    Picture
	MaxOutput  int  // bytes of text, head and tail; 0: all
	Blocks     bool // images as half blocks (JSON)
	Pictures   bool // with Blocks: lines also name their images; Act requests those from a stream
}

// Picture configures the look of a screen in graphical formats. The zero value uses the daemon's defaults.
type Picture struct {
	Theme       string  // as render.ThemeFor knows
	Scale       float64 // 1 is a font of 16 pixels
	Padding     int     // pixels at scale 1; -1 for none
	Window      bool    // SVG, PNG: a window with a title bar
	Margin      int     // pixels at scale 1; -1 for none
	MarginColor string  // #rrggbb
	NoCursor    bool
	Cursor      string // block, underline, bar; empty for the program's
	Fonts       string // system, embedded
	Styles      bool   // Markdown: list what stands out by its looks
}

func (p *Picture) values(v url.Values) {
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

// Screen is a session's screen, and what its program waits for; not known of past screens.
type Screen struct {
	render.Screen
	Needs *api.InputRequest `json:"needs_input,omitempty"`
}

// Screen returns the screen as spans. If the daemon's screens lack the pending prompt, it is read from the session's
// description.
func (s *Session) Screen(ctx context.Context, q ScreenQuery) (Screen, error) {
	a, err := get[struct {
		render.Screen
		Needs json.RawMessage `json:"needs_input"` // null, or not there
	}](ctx, s.c, s.path+"/screen", s.revealing(q.values()))
	screen := Screen{Screen: a.Screen}
	switch {
	case err != nil:
		return screen, err
	case a.Needs != nil:
		err = json.Unmarshal(a.Needs, &screen.Needs)
		if err != nil {
			err = fmt.Errorf("what the program on the screen waits for: %w", err)
		}
	case q.At == "":
		if v, err := s.Info(ctx); err == nil { // otherwise the screen alone is the answer
			screen.Needs = v.Needs
		}
	}
	return screen, err
}

// ScreenAs returns the screen in another format (text, ansi, html, svg, png, md, json).
func (s *Session) ScreenAs(ctx context.Context, q ScreenQuery, format string) ([]byte, error) {
	path, v := s.path+"/screen", s.revealing(q.values())
	if format != "json" {
		path += "/" + format
		q.Picture.values(v)
		v.Set("max_output", strconv.Itoa(cmp.Or(q.MaxOutput, -1)))
	}
	resp, err := s.c.do(ctx, "GET", path, v, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}
