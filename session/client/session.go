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
	stream string // only this of its output; empty: all
	reveal string // secrets are shown, under this name of the asking; empty: they are not
}

// Session names a session; whether it exists shows when it is used.
func (c *Client) Session(ref string) *Session {
	return &Session{c: c, path: "/sessions/" + url.PathEscape(ref)}
}

// Info describes the session.
func (s *Session) Info(ctx context.Context) (api.Session, error) {
	return get[api.Session](ctx, s.c, s.path, nil)
}

// Env is the environment of the session's program.
func (s *Session) Env(ctx context.Context) (api.Environment, error) {
	return get[api.Environment](ctx, s.c, s.path+"/env", nil)
}

// Edit changes name and labels.
func (s *Session) Edit(ctx context.Context, e api.Edit) (api.Session, error) {
	return send[api.Session](ctx, s.c, "PATCH", s.path, nil, e)
}

// Remove forgets the session and its history; with force it is ended first.
func (s *Session) Remove(ctx context.Context, force bool) error {
	q := url.Values{"force": {strconv.FormatBool(force)}}
	again := false
	for p := newPatience(); ; again = true {
		_, err := send[struct{}](ctx, s.c, "DELETE", s.path, q, nil)
		var e *api.Error
		if again && errors.As(err, &e) && e.Code == api.CodeNotFound { // by the request whose answer we did not see
			return nil
		}
		if err == nil || !s.c.again(ctx, p, err) {
			return err
		}
	}
}

// Type types something and returns when the terminal took it. Input with an id goes on by
// itself over a restart of the daemon.
func (s *Session) Type(ctx context.Context, in api.Input) (api.Typed, error) {
	tell := s.c.o.OnApproval != nil && s.c.o.Agent != "" && in.OnApproval == "" // only agents are asked about what they type
	if tell {
		in.ID, in.OnApproval = cmp.Or(in.ID, uuid.NewString()), "return"
	}
	for p := newPatience(); ; {
		r, err := send[api.Typed](ctx, s.c, "POST", s.path+"/input", nil, in)
		var e *api.Error
		if tell && errors.As(err, &e) && e.Code == api.CodeNeedsApproval {
			s.c.o.OnApproval(e.Approval)
			tell, in.OnApproval = false, "wait"
			continue
		}
		if err == nil || in.ID == "" || !s.c.again(ctx, p, err) {
			return r, err
		}
	}
}

// Resize changes the size in cells.
func (s *Session) Resize(ctx context.Context, cols, rows int) error {
	_, err := send[struct{}](ctx, s.c, "POST", s.path+"/resize", nil, api.Resize{Cols: cols, Rows: rows})
	return err
}

// Clients lists who is attached to the session or looks at it.
func (s *Session) Clients(ctx context.Context) ([]api.Attached, error) {
	return get[[]api.Attached](ctx, s.c, s.path+"/clients", nil)
}

// ChangeClient has a client, by its number, look only, type again, or leave.
func (s *Session) ChangeClient(ctx context.Context, n int, e api.AttachedEdit) error {
	_, err := send[struct{}](ctx, s.c, "POST", s.path+"/clients/"+strconv.Itoa(n), nil, e)
	return err
}

// Renew has a person's shells take over variables before their next prompt.
func (c *Client) Renew(ctx context.Context, r api.Renewal) error {
	_, err := send[struct{}](ctx, c, "POST", "/renew", nil, r)
	return err
}

// Arrange has the viewers that are open change how sessions stand; asked: there are such viewers. That none of them
// could is an error.
func (c *Client) Arrange(ctx context.Context, a api.Arrange) (asked bool, err error) {
	r, err := send[api.Arranged](ctx, c, "POST", "/arrange", nil, a)
	return r.Viewers == nil || *r.Viewers > 0, err
}

// AnswerOrder says what came of an order to a viewer; why is empty where it was done.
func (c *Client) AnswerOrder(ctx context.Context, order, why string) error {
	_, err := send[struct{}](ctx, c, "POST", "/arrange/"+url.PathEscape(order), nil, api.OrderAnswer{Why: why})
	return err
}

// Signal signals the session's processes.
func (s *Session) Signal(ctx context.Context, sig api.Signal) error {
	_, err := send[struct{}](ctx, s.c, "POST", s.path+"/signal", nil, sig)
	return err
}

// Kill ends the process and all its descendants. It goes on by itself over a restart of the daemon.
func (s *Session) Kill(ctx context.Context, k api.Kill) (api.Session, error) {
	return ending(ctx, s.c, func() (api.Session, error) {
		return send[api.Session](ctx, s.c, "POST", s.path+"/kill", nil, k)
	}, func() (api.Session, error) { return s.Info(ctx) })
}

// ending ends something, also over a restart of the daemon: what has ended when that is asked for again was ended by the
// request whose answer was not seen, and ended tells of it.
func ending[T any](ctx context.Context, c *Client, end, ended func() (T, error)) (T, error) {
	again := false
	for p := newPatience(); ; again = true {
		r, err := end()
		var e *api.Error
		if again && errors.As(err, &e) && e.Code == api.CodeEnded {
			return ended()
		}
		if err == nil || !c.again(ctx, p, err) {
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

// Exec runs a line in the session's shell. It goes on by itself over a restart of the
// daemon; the line is run once.
func (s *Session) Exec(ctx context.Context, x api.Exec) (api.Result, error) {
	return s.c.call(ctx, s.path+"/exec", &x.Call, &x.Asking, func() any { return x })
}

// Batch runs lines one after the other in the session's shell.
func (s *Session) Batch(ctx context.Context, b api.Batch) (api.Batched, error) {
	return send[api.Batched](ctx, s.c, "POST", s.path+"/batch", nil, b)
}

// Command describes the n-th command of the session; 0 is the newest.
func (s *Session) Command(ctx context.Context, n int) (api.Command, error) {
	return get[api.Command](ctx, s.c, s.path+"/commands/"+strconv.Itoa(n), nil)
}

// Parsed is the output of the n-th command (0: the newest), read as what it is.
func (s *Session) Parsed(ctx context.Context, n int) (diagnostics.Result, error) {
	return get[diagnostics.Result](ctx, s.c, s.path+"/commands/"+strconv.Itoa(n)+"/parsed", nil)
}

// Suggest lists what one might do after the n-th command (0: the newest).
func (s *Session) Suggest(ctx context.Context, n int) ([]suggest.Suggestion, error) {
	return get[[]suggest.Suggestion](ctx, s.c, s.path+"/commands/"+strconv.Itoa(n)+"/suggestions", nil)
}

// Wait waits for conditions. It goes on by itself over a restart of the daemon, unless it
// was to type something.
func (s *Session) Wait(ctx context.Context, w api.Wait) (api.Waited, error) {
	limited := w.TimeoutMS > 0 // else the daemon has the limit, if there is one
	deadline := time.Now().Add(time.Duration(w.TimeoutMS) * time.Millisecond)
	for p := newPatience(); ; {
		r, err := send[api.Waited](ctx, s.c, "POST", s.path+"/wait", nil, w)
		if err == nil || w.Input != nil || limited && time.Until(deadline) <= 0 || !s.c.again(ctx, p, err) {
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

// OutputPart reads output from an offset, as far as another one at most.
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

// TextQuery says which output is wanted as text, and how much. Zero fields: all there is,
// the daemon's budget.
type TextQuery struct {
	From, To           uint64
	At                 string // a moment, instead of From
	MaxOutput, MaxLine int    // bytes
	Digest             bool   // keep failures and the end before the rest
	Fold               bool   // with it: of lines that are alike but for their numbers only a few, where not all fits
	Whole              int    // with that: or where there is more than so many bytes; 0: only where not all fits
	Transcript         bool   // what the terminal showed, of full-screen programs too; the end is kept
}

// Text is output as text within a budget.
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

// Stream is the session with only one stream of its output: stdout or stderr. It must run
// on pipes.
func (s *Session) Stream(name string) *Session { return &Session{s.c, s.path, name, s.reveal} }

// Reveal is the session with its secrets as they are, in output, screens and records. It is recorded, and
// where an agent asks a person is asked first.
func (s *Session) Reveal() *Session { return &Session{s.c, s.path, s.stream, uuid.NewString()} }

// revealing has a request ask for secrets, if that is wanted.
func (s *Session) revealing(v url.Values) url.Values {
	if s.reveal != "" {
		v.Set("reveal", s.reveal)
		if s.c.o.OnApproval != nil && s.c.o.Agent != "" { // only agents are asked for
			v.Set("on_approval", "return")
		}
	}
	return v
}

func (s *Session) output(ctx context.Context, q url.Values) (api.Output, error) {
	if s.stream != "" {
		q.Set("stream", s.stream)
	}
	for p := newPatience(); ; {
		o, err := s.outputOnce(ctx, s.revealing(q))
		if cut := errors.Is(err, errCut); !cut || !p.pause(ctx) {
			return o, err
		}
		s.c.http.CloseIdleConnections() // the daemon was replaced in the middle of the answer
	}
}

// errCut says that an answer broke off.
var errCut = errors.New("the answer broke off")

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

// offsets are where output stands, as the headers of an answer say. An answer without them is
// none to go on from: Follow would begin anew for ever.
func offsets(h http.Header) (from, next, gap uint64, err error) {
	from, fromErr := strconv.ParseUint(h.Get("Longterm-From"), 10, 64)
	next, nextErr := strconv.ParseUint(h.Get("Longterm-Next"), 10, 64)
	gap, _ = strconv.ParseUint(h.Get("Longterm-Gap"), 10, 64)
	if fromErr != nil || nextErr != nil || from > next {
		return 0, 0, 0, errors.New("it is no output of a session")
	}
	return from, next, gap, nil
}

// Follow calls f with output from an offset on, until the session ended, ctx ends or f
// returns an error. It goes on by itself over a restart of the daemon, and over a lost connection to another host,
// however long that takes.
func (s *Session) Follow(ctx context.Context, from uint64, f func(api.Output) error) error {
	for {
		o, err := s.Output(ctx, from, 20*time.Second)
		if err != nil {
			var e *api.Error
			lost := errors.Is(err, errCut) || errors.As(err, &e) && e.Code == api.CodeUnavailable
			if s.c.IsFar() && lost && sleep(ctx, farPause) {
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

// ScreenQuery says which part of a screen is wanted.
type ScreenQuery struct {
	Since      uint64
	Screen     string // active, primary, alternate
	Scrollback string // A:B
	At         string // a moment: offset, time, -5m, +90s; empty: now
	NoColor    bool   // attributes only
	Trim       bool   // no empty rows at the end, but for the cursor's (JSON)
	Picture    Picture
	MaxOutput  int  // bytes of text, head and tail; 0: all
	Blocks     bool // images as half blocks (JSON)
	Pictures   bool // with Blocks: lines also say which images they show; Act asks a stream for those
}

// Picture says how a screen looks in formats that show its looks. The zero value leaves
// all to the daemon.
type Picture struct {
	Theme    string  // as render.ThemeFor knows
	Scale    float64 // 1 is a font of 16 pixels
	Padding  int     // pixels at scale 1; -1 is none
	NoCursor bool
	Cursor   string // block, underline, bar; empty: the program's
	Fonts    string // system, embedded
	Styles   bool   // Markdown: list what stands out by its looks
}

func (p *Picture) values(v url.Values) {
	for name, value := range map[string]string{"theme": p.Theme, "cursor": p.Cursor, "fonts": p.Fonts} {
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
	Needs *api.Needs `json:"needs_input,omitempty"`
}

// Screen is the screen as spans. Of a daemon whose screens do not tell what is waited for, the session's description is asked
// for that.
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
		if v, err := s.Info(ctx); err == nil { // else the screen is what there is to tell
			screen.Needs = v.Needs
		}
	}
	return screen, err
}

// ScreenAs is the screen in another format (text, ansi, html, svg, png, md, json) as bytes.
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
