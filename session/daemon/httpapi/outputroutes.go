//go:build unix

package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/termimage"
	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/excerpt"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/secrets"
	"github.com/longterm-dev/longterm/vterm"
)

// Bounds of one answer with output, in bytes.
const (
	defaultPage = 256 << 10
	maxPage     = 4 << 20
)

// outputQuery asks for output from an offset.
type outputQuery struct {
	SessionPath
	RevealQuery
	From  uint64 `query:"from" doc:"offset of the first byte wanted"`
	At    string `query:"at" doc:"instead of from, the moment to begin at: a time, -5m, +90s after the start, line:1000 (of the text; 0 is the oldest), line:-20 (the last 20)"`
	Max   int    `query:"max" minimum:"0" maximum:"4194304" doc:"bytes at most; default 262144"`
	Await int64  `query:"await_ms" minimum:"0" maximum:"60000" doc:"wait so long for output when there is none yet"`

	Stream string `query:"stream" enum:"stdout,stderr" doc:"of a session on pipes: only this; from and next count all output"`
}

func (s *Server) getOutput(ctx context.Context, in *outputQuery) (api.Output, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return api.Output{}, err
	}
	if ctx, err = s.reveal(ctx, in.RevealQuery, e, "output"); err != nil {
		return api.Output{}, err
	}
	return readOutput(ctx, e, in, !s.veil(ctx).Empty())
}

// readOutput reads one page, waiting for the first byte if it was asked to. end says
// that nothing will ever come after it; hide masks secrets.
func readOutput(ctx context.Context, e *registry.Handle, q *outputQuery, hide bool) (api.Output, error) {
	read, err := readerOf(e, q.Stream)
	if hide && err == nil {
		read = maskingReader(ctx, e, read)
	}
	if err != nil {
		return api.Output{}, err
	}
	c, runs, end, err := readChunk(ctx, e, q, read)
	if err != nil {
		return api.Output{}, err
	}
	o := api.Output{Data: c.Data, From: c.From, Next: c.Next, Gap: c.Gap, End: end}
	o.Streams = streamRuns(runs)
	if q.Stream != "" {
		o.Data, o.Streams = only(q.Stream, o.Data, o.Streams), nil
	}
	return o, nil
}

func streamRuns(runs []session.StreamRun) []api.StreamRun {
	var all []api.StreamRun
	for _, r := range runs {
		all = append(all, api.StreamRun{Stream: r.Stream.String(), Bytes: r.Bytes})
	}
	return all
}

// chunkReader reads output from an offset, with what it is where that is known.
type chunkReader func(from uint64, buf []byte) (session.Chunk, []session.StreamRun, error)

// maskingReader returns a reader that masks the secrets in output once it has settled.
func maskingReader(ctx context.Context, e *registry.Handle, read chunkReader) chunkReader {
	return func(from uint64, buf []byte) (session.Chunk, []session.StreamRun, error) {
		c, runs, err := read(from, buf)
		if err == nil {
			err = maskSettled(ctx, e.Session, c)
		}
		return c, runs, err
	}
}

func readerOf(e *registry.Handle, stream string) (chunkReader, error) {
	switch {
	case e.Record().Pipe:
		return e.Session.OutputApart, nil
	case stream != "":
		return nil, api.Errorf(api.CodeInvalid, "session %s has a terminal, which merges stdout and stderr", e.Record().Name).
			WithHint("leave the stream out, or start it with --pipe")
	}
	return func(from uint64, buf []byte) (session.Chunk, []session.StreamRun, error) {
		c, err := e.Session.Output(from, buf)
		return c, nil, err
	}, nil
}

// only is the part of data that is of a stream.
func only(stream string, data []byte, runs []api.StreamRun) []byte {
	part := data[:0]
	for _, r := range runs {
		if r.Stream == stream {
			part = append(part, data[:r.Bytes]...)
		}
		data = data[r.Bytes:]
	}
	return part
}

func readChunk(ctx context.Context, e *registry.Handle, q *outputQuery, read chunkReader) (c session.Chunk, runs []session.StreamRun, end bool, err error) {
	s := e.Session
	if q.At != "" {
		if q.From, err = offsetOf(ctx, e, q.At); err != nil {
			return c, nil, false, err
		}
	}
	size := q.Max
	if size == 0 {
		size = defaultPage
	}
	buf := make([]byte, size)
	w := s.Watch()
	defer w.Close()
	timeout := time.After(time.Duration(q.Await) * time.Millisecond)
	for {
		final := finished(s) // before reading: what is read afterwards is all there is
		c, runs, err = read(q.From, buf)
		_, last := s.OutputRange()
		over := final && c.Next >= last
		if err != nil || len(c.Data) > 0 || c.Gap > 0 || over || q.Await == 0 {
			return c, runs, over, err
		}
		select {
		case <-w.Output:
		case <-timeout:
			return c, runs, false, nil
		case <-w.Done:
			return c, runs, false, session.ErrStopped
		case <-ctx.Done():
			return c, runs, false, ctx.Err()
		}
	}
}

// textQuery asks for output as text.
type textQuery struct {
	SessionPath
	RevealQuery
	From      uint64 `query:"from" doc:"offset of the first byte wanted"`
	To        uint64 `query:"to" doc:"offset of the first byte not wanted any more; default: the end"`
	At        string `query:"at" doc:"instead of from, the moment to begin at: a time, -5m, +90s after the start, line:1000 (of the text; 0 is the oldest), line:-20 (the last 20)"`
	MaxOutput int    `query:"max_output" minimum:"0" maximum:"16777216" doc:"bytes of text, head and tail; default: exec.max_output of the configuration, 16384"`
	MaxLine   int    `query:"max_line" minimum:"0" maximum:"16777216" doc:"bytes of one line, head and tail; default: no limit of its own"`
	Stream    string `query:"stream" enum:"stdout,stderr" doc:"of a session on pipes: only this"`
	Digest    bool   `query:"digest" doc:"within max_output keep the first failure, errors, warnings and the end before the rest, instead of head and tail; of output of terminals"`
	Fold      bool   `query:"fold" doc:"with digest, of more than fits: only a few of the lines that are alike but for their numbers"`
	Whole     int    `query:"whole" minimum:"0" maximum:"16777216" doc:"with fold: of more bytes than these, too, also where they fit"`

	Transcript bool `query:"transcript" doc:"what the terminal showed as lines, of full-screen programs too: what scrolled off or was replaced, without what was only drawn anew; within max_output the end is kept"`
}

// getText reads output as text within a budget.
func (s *Server) getText(ctx context.Context, in *textQuery) (api.OutputText, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return api.OutputText{}, err
	}
	if _, err := readerOf(e, in.Stream); err != nil {
		return api.OutputText{}, err
	}
	if ctx, err = s.reveal(ctx, in.RevealQuery, e, "output"); err != nil {
		return api.OutputText{}, err
	}
	if in.At != "" {
		if in.From, err = offsetOf(ctx, e, in.At); err != nil {
			return api.OutputText{}, err
		}
	}
	over := finished(e.Session) // before the range is asked for
	start, end := e.Session.OutputRange()
	from, to := max(in.From, start), end
	if in.To > 0 {
		to = min(in.To, end)
	}
	from = min(from, to)
	if in.Transcript {
		return s.transcript(ctx, e, in, from, to)
	}
	limits := excerpt.Limits{Bytes: cmp.Or(in.MaxOutput, int(s.conf.Get().Exec.MaxOutput)), Line: in.MaxLine, Session: e.ID(), Stream: in.Stream, Digest: in.Digest, Fold: in.Fold, Whole: in.Whole, Hide: !s.veil(ctx).Empty(), Live: true}
	out := api.OutputText{From: from, Next: to, End: over && to == end}
	if from > in.From {
		out.Gap = from - in.From
	}
	var t excerpt.Text
	if e.Record().Pipe {
		var r api.Result
		p := excerpt.NewPiped(limits)
		err = p.Read(ctx, e.Session, from, to)
		p.Into(&r)
		out.Binary, out.BinaryBytes = r.Binary, r.BinaryBytes
		if t = (excerpt.Text{Text: r.Output, Omitted: r.Omitted}); in.Stream != "" {
			t = p.Own[in.Stream]
		}
		t.Next = p.Next
	} else {
		t, err = excerpt.Plain(ctx, e.Session, from, to, limits)
		out.Binary, out.BinaryBytes = t.Binary > 0, t.Binary
	}
	if in.To == 0 && !out.End {
		out.Next = t.Next
	}
	out.Text, out.Omitted, out.Truncated = t.Text, t.Omitted, t.Omitted != nil
	return out, err
}

// transcript is what a session's terminal showed between two offsets.
func (s *Server) transcript(ctx context.Context, e *registry.Handle, in *textQuery, from, to uint64) (api.OutputText, error) {
	out := api.OutputText{From: from, Next: to, End: finished(e.Session)}
	if from > in.From {
		out.Gap = from - in.From
	}
	if e.Record().Pipe {
		return out, fmt.Errorf("%w: session %s runs on pipes and has no screen", session.ErrNoTranscript, e.Record().Name)
	}
	t := excerpt.Tail{Limit: cmp.Or(in.MaxOutput, int(s.conf.Get().Exec.MaxOutput))}
	stats, err := e.Session.Transcript(ctx, from, to, !s.veil(ctx).Empty(), t.Add)
	if err != nil {
		return out, err
	}
	out.Text, out.Omitted = t.Text()
	out.Truncated = out.Omitted != nil
	if stats.InPlace() {
		out.Note = fmt.Sprintf("the program draws over what it drew (%d rows so far): what it showed before is in no transcript; "+
			"`longterm play %s` shows it", stats.Redrawn, e.Record().Name)
	}
	return out, nil
}

// finished reports that a session's child has ended. What descendants print on its
// terminal later is still kept, but the answer does not wait for it.
func finished(s *session.Session) bool { return s.Status().State != session.Running }

// rawOutput is output as it is, with what belongs to it in headers.
type rawOutput struct {
	ContentType string `header:"Content-Type"`
	From        uint64 `header:"Longterm-From" doc:"offset of the first byte"`
	Next        uint64 `header:"Longterm-Next" doc:"offset to read on from"`
	Gap         uint64 `header:"Longterm-Gap" doc:"bytes lost before the first"`
	End         bool   `header:"Longterm-End" doc:"nothing comes after this"`
	Streams     string `header:"Longterm-Streams" doc:"of a session on pipes: what the bytes are, in order, as in out=12,err=40; all=N: not kept apart"`
	Body        []byte
}

func (s *Server) getRawOutput(ctx context.Context, in *outputQuery) (*rawOutput, error) {
	o, err := s.getOutput(ctx, in)
	if err != nil {
		return nil, err
	}
	return &rawOutput{"application/octet-stream", o.From, o.Next, o.Gap, o.End, api.FormatStreams(o.Streams), o.Data}, nil
}

// ScreenQuery asks for a screen.
type ScreenQuery struct {
	SessionPath
	RevealQuery
	Since      uint64 `query:"since" doc:"only rows that changed after this version"`
	Screen     string `query:"screen" enum:"active,primary,alternate" default:"active"`
	Scrollback string `query:"scrollback" doc:"history lines A:B, 0 is the oldest; negative counts from the newest"`
	NoColor    bool   `query:"no_color" doc:"every colour is the terminal's default; attributes stay"`
	Trim       bool   `query:"trim" doc:"leave empty rows at the end out, but not the cursor's (JSON, gemini)"`
	Pictures   bool   `query:"pictures" doc:"lines also tell what they show of images (JSON); the page's socket and a session's stream send those by their key"`
	At         string `query:"at" doc:"as it stood at a moment: offset, time, -5m, +90s after the start"`
}

// spansQuery asks for a screen as spans.
type spansQuery struct {
	ScreenQuery
	Images string `query:"images" enum:"blocks" doc:"images are half blocks in spans; absent: blanks"`
}

// Screen is a session's screen, and whether somebody is waited for there.
type Screen struct {
	render.Screen
	Needs *ScreenNeeds `json:"needs_input,omitempty" doc:"the program in the foreground waits for input; null: it does not. Not there for past screens, nor in answers of daemons before this was told"`
}

// ScreenNeeds is what is waited for, or null: who asks a daemon that does not tell it sees that it does not.
type ScreenNeeds struct{ *api.Needs }

// MarshalJSON implements json.Marshaler.
func (n ScreenNeeds) MarshalJSON() ([]byte, error) { return json.Marshal(n.Needs) }

// Schema implements huma.SchemaProvider.
func (ScreenNeeds) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{r.Schema(reflect.TypeFor[api.Needs](), true, "Needs"), {Type: "null"}}}
}

func (s *Server) getScreen(ctx context.Context, in *spansQuery) (Screen, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return Screen{}, err
	}
	if ctx, err = s.reveal(ctx, in.RevealQuery, e, "screen"); err != nil {
		return Screen{}, err
	}
	var screen Screen
	err = s.look(ctx, e, &in.ScreenQuery, func(f *vterm.Frame, history []vterm.Line, _ vterm.Modes) {
		render.FromFrame(&screen.Screen, f)
		screen.Scrollback = render.Lines(nil, f, history)
	})
	switch {
	case in.Images != "":
		s.stills.show(ctx, &screen.Screen, in.Pictures)
	case in.Pictures:
		render.TellPictures(screen.Lines, s.pictures.of)
		render.TellPictures(screen.Scrollback, s.pictures.of)
	}
	if in.NoColor {
		screen.DropColors()
	}
	if in.Trim {
		screen.Trim()
	}
	if in.At == "" {
		screen.Needs = &ScreenNeeds{registry.NeedsOf(e.Session.Status())}
	}
	return screen, err
}

// look takes a frame, and history lines if any were asked for, at one moment.
func (s *Server) look(ctx context.Context, e *registry.Handle, q *ScreenQuery, use func(*vterm.Frame, []vterm.Line, vterm.Modes)) error {
	var f vterm.Frame
	var history, around, above []vterm.Line // history is of around
	var modes vterm.Modes
	var rangeErr error
	set := s.veil(ctx)
	since := q.Since
	if !set.Empty() {
		since = 0 // a secret may go on in a row that did not change
	}
	take := func(engine vterm.Engine) {
		modes = engine.Modes()
		h, kind := engine.Recent(0), screenKinds[q.Screen]
		if q.Scrollback != "" {
			h = engine.History()
		}
		from, to, err := historyRange(h, q.Scrollback)
		if rangeErr = err; err != nil {
			return
		}
		var before int
		var joins bool
		around, before, joins = secrets.Around(h, from, to)
		history = around[before : before+to-from]
		switch alt := kind == vterm.ScreenAlternate || kind == vterm.ScreenActive && modes.AltScreen; {
		case alt: // it goes on below nothing
		case joins && q.Scrollback != "":
			above, around = around, nil
		default:
			above = secrets.AbovePrimary(engine)
		}
		engine.Frame(&f, vterm.Query{Since: since, Screen: kind, HistoryFrom: from, HistoryTo: to}) // after the lines, with what they refer to
	}
	if err := s.lookAt(ctx, e, q.At, take); err != nil {
		return err
	}
	if rangeErr != nil {
		return rangeErr
	}
	if !set.Empty() {
		set.Lines(&f, around)
		set.Frame(&f, above)
		if q.Since != 0 {
			f.Lines = slices.DeleteFunc(f.Lines, func(l vterm.Line) bool { return l.Version <= q.Since })
			f.Full = false
		}
	}
	use(&f, history, modes)
	return nil
}

// pictureKeys are the keys of images that screens tell of.
type pictureKeys struct {
	mu   sync.Mutex // guards keys
	keys termimage.Keys
}

func (k *pictureKeys) of(img *vterm.Image) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keys.Of(img)
}

// lookAt calls f with the emulator as it is, or as it stood at a moment.
func (s *Server) lookAt(ctx context.Context, e *registry.Handle, at string, f func(vterm.Engine)) error {
	if at == "" {
		return e.Session.Look(ctx, func(v session.View) { f(v.Engine) })
	}
	off, err := offsetOf(ctx, e, at)
	if err == nil {
		err = hadBegun(e, at)
	}
	if err != nil {
		return err
	}
	engine, err := e.Session.Past(ctx, off)
	if err == nil {
		f(engine)
	}
	return err
}

var screenKinds = map[string]vterm.ScreenKind{
	"": vterm.ScreenActive, "active": vterm.ScreenActive,
	"primary": vterm.ScreenPrimary, "alternate": vterm.ScreenAlternate,
}

// historyRange is the lines that a range "A:B" names (B exclusive; either may be left out, negative numbers count from
// the end); an empty one names none.
func historyRange(h vterm.History, spec string) (from, to int, err error) {
	if spec == "" {
		return h.Len(), h.Len(), nil
	}
	a, b, ok := strings.Cut(spec, ":")
	from, errA := bound(a, 0, h.Len())
	to, errB := bound(b, h.Len(), h.Len())
	if !ok || errA != nil || errB != nil {
		return 0, 0, api.Errorf(api.CodeInvalid, "scrollback range %q", spec).
			WithHint("give A:B in lines, as in 0:100 or -50: ")
	}
	return from, max(from, to), nil
}

func bound(s string, def, n int) (int, error) {
	if s == "" {
		return def, nil
	}
	v, err := strconv.Atoi(s)
	if v < 0 {
		v += n
	}
	return min(max(v, 0), n), err
}
