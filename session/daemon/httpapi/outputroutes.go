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
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/vterm"
)

// Bounds of one answer with output, in bytes.
const (
	defaultPage = 256 << 10
	maxPage     = 4 << 20
)

// outputQuery selects output from an offset.
type outputQuery struct {
	SessionPath
	RevealQuery
	From  uint64 `query:"from" doc:"offset of the first byte"`
	At    string `query:"at" doc:"start, instead of from: a time, -5m, +90s after the start, line:1000 (0 is the oldest line), line:-20 (the last 20)"`
	Max   int    `query:"max" minimum:"0" maximum:"4194304" doc:"bytes at most; default 262144"`
	Await int64  `query:"await_ms" minimum:"0" maximum:"60000" doc:"wait up to this time for output if there is none"`

	Stream string `query:"stream" enum:"stdout,stderr" doc:"only this stream of a session on pipes; from and next count all output"`
}

func (s *Server) getOutput(ctx context.Context, in *outputQuery) (api.Output, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return api.Output{}, err
	}
	if ctx, err = s.reveal(ctx, in.RevealQuery, e, "output"); err != nil {
		return api.Output{}, err
	}
	return readOutput(ctx, e, in, !s.redactorFor(ctx).Empty())
}

// readOutput reads one page and waits for its first byte if requested. End means that no output can follow; hide masks
// secrets.
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
		o.Data, o.Streams = streamPart(q.Stream, o.Data, o.Streams), nil
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

// chunkReader reads output from an offset, and its streams if known.
type chunkReader func(from uint64, buf []byte) (session.Chunk, []session.StreamRun, error)

// maskingReader returns a reader that masks the secrets in settled output.
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
		return e.Session.OutputByStream, nil
	case stream != "":
		return nil, api.Errorf(api.CodeInvalid, "session %s has a terminal, which merges stdout and stderr", e.Record().Name).
			WithHint("leave the stream out, or start it with --pipe")
	}
	return func(from uint64, buf []byte) (session.Chunk, []session.StreamRun, error) {
		c, err := e.Session.Output(from, buf)
		return c, nil, err
	}, nil
}

// streamPart returns the part of data that belongs to one stream.
func streamPart(stream string, data []byte, runs []api.StreamRun) []byte {
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
		final := hasEnded(s) // before reading: what is read afterwards is all there is
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

// textQuery selects output as text.
type textQuery struct {
	SessionPath
	RevealQuery
	From      uint64 `query:"from" doc:"offset of the first byte"`
	To        uint64 `query:"to" doc:"offset to stop before; default: the end"`
	At        string `query:"at" doc:"start, instead of from: a time, -5m, +90s after the start, line:1000 (0 is the oldest line), line:-20 (the last 20)"`
	MaxOutput int    `query:"max_output" minimum:"0" maximum:"16777216" doc:"bytes of text, head and tail; default: exec.max_output of the configuration, 16384"`
	MaxLine   int    `query:"max_line" minimum:"0" maximum:"16777216" doc:"bytes of one line, head and tail; default: no limit"`
	Stream    string `query:"stream" enum:"stdout,stderr" doc:"only this stream of a session on pipes"`
	Digest    bool   `query:"digest" doc:"keep the first failure, errors, warnings and the end within max_output, instead of head and tail; terminals only"`
	Fold      bool   `query:"fold" doc:"with digest, if output exceeds the budget: keep only a few of the lines that differ in numbers only"`
	Whole     int    `query:"whole" minimum:"0" maximum:"16777216" doc:"with fold: fold above this number of bytes, even if the output fits"`

	Transcript bool `query:"transcript" doc:"lines that the terminal showed, including full-screen programs: scrolled-off and replaced ones, without redraws; max_output keeps the end"`
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
	over := hasEnded(e.Session) // read before the range is taken
	start, end := e.Session.OutputRange()
	from, to := max(in.From, start), end
	if in.To > 0 {
		to = min(in.To, end)
	}
	from = min(from, to)
	if in.Transcript {
		return s.transcript(ctx, e, in, from, to)
	}
	limits := excerpt.Limits{Bytes: cmp.Or(in.MaxOutput, int(s.conf.Get().Exec.MaxOutput)), Line: in.MaxLine, Session: e.ID(), Stream: in.Stream, Digest: in.Digest, Fold: in.Fold, FoldAbove: in.Whole, Hide: !s.redactorFor(ctx).Empty(), Live: true}
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
			t = p.StreamTexts[in.Stream]
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

// transcript returns what a session's terminal showed between two offsets.
func (s *Server) transcript(ctx context.Context, e *registry.Handle, in *textQuery, from, to uint64) (api.OutputText, error) {
	out := api.OutputText{From: from, Next: to, End: hasEnded(e.Session)}
	if from > in.From {
		out.Gap = from - in.From
	}
	if e.Record().Pipe {
		return out, fmt.Errorf("%w: session %s runs on pipes and has no screen", session.ErrNoTranscript, e.Record().Name)
	}
	t := excerpt.Tail{Limit: cmp.Or(in.MaxOutput, int(s.conf.Get().Exec.MaxOutput))}
	stats, err := e.Session.Transcript(ctx, from, to, !s.redactorFor(ctx).Empty(), t.Add)
	if err != nil {
		return out, err
	}
	out.Text, out.Omitted = t.Text()
	out.Truncated = out.Omitted != nil
	if stats.IsInPlace() {
		out.Note = fmt.Sprintf("the program draws over what it drew (%d rows so far): what it showed before is in no transcript; "+
			"`longterm play %s` shows it", stats.Redrawn, e.Record().Name)
	}
	return out, nil
}

// hasEnded reports whether a session's process has ended. Later output of its descendants is stored, but answers do not
// wait for it.
func hasEnded(s *session.Session) bool { return s.Status().State != session.Running }

// rawOutput is output as it is, with what belongs to it in headers.
type rawOutput struct {
	ContentType string `header:"Content-Type"`
	From        uint64 `header:"Longterm-From" doc:"offset of the first byte"`
	Next        uint64 `header:"Longterm-Next" doc:"offset of the next read"`
	Gap         uint64 `header:"Longterm-Gap" doc:"bytes lost before the first"`
	End         bool   `header:"Longterm-End" doc:"no output follows"`
	Streams     string `header:"Longterm-Streams" doc:"streams of a session on pipes, in order, for example out=12,err=40; all=N: not separated"`
	Body        []byte
}

func (s *Server) getRawOutput(ctx context.Context, in *outputQuery) (*rawOutput, error) {
	o, err := s.getOutput(ctx, in)
	if err != nil {
		return nil, err
	}
	return &rawOutput{"application/octet-stream", o.From, o.Next, o.Gap, o.End, api.FormatStreams(o.Streams), o.Data}, nil
}

// ScreenQuery selects a screen.
type ScreenQuery struct {
	SessionPath
	RevealQuery
	Since      uint64 `query:"since" doc:"only rows that changed after this version"`
	Screen     string `query:"screen" enum:"active,primary,alternate" default:"active"`
	Scrollback string `query:"scrollback" doc:"history lines A:B, 0 is the oldest; negative counts from the newest"`
	NoColor    bool   `query:"no_color" doc:"use default colours only; attributes stay"`
	Trim       bool   `query:"trim" doc:"omit empty rows at the end, except the cursor's (JSON, gemini)"`
	Pictures   bool   `query:"pictures" doc:"lines name their images by key (JSON); the page's socket and a session's stream send the images"`
	At         string `query:"at" doc:"screen at a past moment: offset, time, -5m, +90s after the start"`
}

// spansQuery selects a screen as spans.
type spansQuery struct {
	ScreenQuery
	Images string `query:"images" enum:"blocks" doc:"show images as half blocks; default: blanks"`
}

// Screen is a session's screen, and the input that its program needs.
type Screen struct {
	render.Screen
	Needs *ScreenNeeds `json:"needs_input,omitempty" doc:"input that the foreground program waits for; null: none; absent for past screens and from older daemons"`
}

// ScreenNeeds is the needed input, or null. Absence means that the daemon does not report it.
type ScreenNeeds struct{ *api.InputRequest }

// MarshalJSON implements json.Marshaler.
func (n ScreenNeeds) MarshalJSON() ([]byte, error) { return json.Marshal(n.InputRequest) }

// Schema implements huma.SchemaProvider.
func (ScreenNeeds) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{r.Schema(reflect.TypeFor[api.InputRequest](), true, "Needs"), {Type: "null"}}}
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
	err = s.copyScreen(ctx, e, &in.ScreenQuery, func(f *vterm.Frame, history []vterm.Line, _ vterm.Modes) {
		render.FromFrame(&screen.Screen, f)
		screen.Scrollback = render.Lines(nil, f, history)
	})
	switch {
	case in.Images != "":
		s.blocks.show(ctx, &screen.Screen, in.Pictures)
	case in.Pictures:
		render.ListPictures(screen.Lines, s.pictures.key)
		render.ListPictures(screen.Scrollback, s.pictures.key)
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

// copyScreen copies a frame, and requested history lines, at one moment.
func (s *Server) copyScreen(ctx context.Context, e *registry.Handle, q *ScreenQuery, use func(*vterm.Frame, []vterm.Line, vterm.Modes)) error {
	var f vterm.Frame
	var history, around, above []vterm.Line // history is of around
	var modes vterm.Modes
	var rangeErr error
	set := s.redactorFor(ctx)
	since := q.Since
	if !set.Empty() {
		since = 0 // a secret may continue in an unchanged row
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
		around, before, joins = redact.LinesAround(h, from, to)
		history = around[before : before+to-from]
		switch alt := kind == vterm.ScreenAlternate || kind == vterm.ScreenActive && modes.AltScreen; {
		case alt: // nothing precedes the alternate screen
		case joins && q.Scrollback != "":
			above, around = around, nil
		default:
			above = redact.LinesAbovePrimary(engine)
		}
		engine.Frame(&f, vterm.Query{Since: since, Screen: kind, HistoryFrom: from, HistoryTo: to}) // after the lines, with what they refer to
	}
	if err := s.withEmulator(ctx, e, q.At, take); err != nil {
		return err
	}
	if rangeErr != nil {
		return rangeErr
	}
	if !set.Empty() {
		set.RedactRows(&f, around)
		set.RedactFrame(&f, above)
		if q.Since != 0 {
			f.Lines = slices.DeleteFunc(f.Lines, func(l vterm.Line) bool { return l.Version <= q.Since })
			f.Full = false
		}
	}
	use(&f, history, modes)
	return nil
}

// pictureKeys holds the keys of the images in screens.
type pictureKeys struct {
	mu   sync.Mutex // guards keys
	keys termimage.Keys
}

// key returns the key of an image.
func (k *pictureKeys) key(img *vterm.Image) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keys.Key(img)
}

// withEmulator calls f with the emulator's current state, or that of a past moment.
func (s *Server) withEmulator(ctx context.Context, e *registry.Handle, at string, f func(vterm.Engine)) error {
	if at == "" {
		return e.Session.WithScreen(ctx, func(v session.View) { f(v.Engine) })
	}
	off, err := offsetOf(ctx, e, at)
	if err == nil {
		err = checkStarted(e, at)
	}
	if err != nil {
		return err
	}
	engine, err := e.Session.EmulatorAt(ctx, off)
	if err == nil {
		f(engine)
	}
	return err
}

var screenKinds = map[string]vterm.ScreenKind{
	"": vterm.ScreenActive, "active": vterm.ScreenActive,
	"primary": vterm.ScreenPrimary, "alternate": vterm.ScreenAlternate,
}

// historyRange returns the lines of a range "A:B": B is exclusive, either may be omitted, negative numbers count from
// the end. An empty range has no lines.
func historyRange(h vterm.History, spec string) (from, to int, err error) {
	if spec == "" {
		return h.Len(), h.Len(), nil
	}
	a, b, ok := strings.Cut(spec, ":")
	from, errA := parseBound(a, 0, h.Len())
	to, errB := parseBound(b, h.Len(), h.Len())
	if !ok || errA != nil || errB != nil {
		return 0, 0, api.Errorf(api.CodeInvalid, "scrollback range %q", spec).
			WithHint("use A:B in lines, for example 0:100 or -50:")
	}
	return from, max(from, to), nil
}

// parseBound parses one end of a history range of n lines; def is the value of an omitted one.
func parseBound(s string, def, n int) (int, error) {
	if s == "" {
		return def, nil
	}
	v, err := strconv.Atoi(s)
	if v < 0 {
		v += n
	}
	return min(max(v, 0), n), err
}
