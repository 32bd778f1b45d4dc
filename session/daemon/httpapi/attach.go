//go:build unix

package httpapi

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/daemon/sizepolicy"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/sys/rawio/netconn"
	"github.com/longterm-dev/longterm/vterm"
)

// writeTime bounds one write to a client: one that never reads is cut off.
const writeTime = 30 * time.Second

// maxLag is how far an attached client may be behind before it gets a new drawing instead of the missed output, in
// bytes.
const maxLag = 1 << 20

// maxHistoryLag is maxLag for a client whose terminal keeps scrollback.
const maxHistoryLag = 64 << 20

// stream is a client's WebSocket, attached to a session.
type stream struct {
	srv    *Server
	e      *registry.Handle
	ws     *websocket.Conn
	ctx    context.Context // context of the request, with its caller
	client *sizepolicy.Client
	// readOnly clients cannot type and do not affect the size.
	readOnly   bool
	blocks     *render.Blocks // converts images; nil: images are not wanted
	size       attach.Control // of the client at its start; 0×0: unknown
	resume     attach.Resume  // empty key: the client cannot resume
	accepted   atomic.Uint64  // number of input messages accepted
	acked      atomic.Uint64  // number of input messages acknowledged to the client
	ackPending atomic.Bool    // an acknowledgement is scheduled (resume.Late)
	acceptedC  chan struct{}  // signals a change of accepted; nil: not requested
	pictures   *pictures      // serves images; nil: not requested
	rejectedC  chan struct{}  // signals rejected input of a view-only client
	sending    sync.Mutex     // one message at a time
}

var upgrader = websocket.Upgrader{ReadBufferSize: 4096, WriteBufferSize: 4096, Error: refuseUpgrade}

// withoutDeadlines wraps a response whose hijacked connection has no read and write deadlines.
type withoutDeadlines struct{ http.ResponseWriter }

// Hijack implements http.Hijacker.
func (p withoutDeadlines) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(p.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	return netconn.Wrap(c), rw, nil
}

// refuseUpgrade answers a request that was to become a WebSocket and cannot.
func refuseUpgrade(w http.ResponseWriter, _ *http.Request, _ int, reason error) {
	writeError(w, api.Errorf(api.CodeInvalid, "%v", reason).WithHint("a client of WebSockets (RFC 6455) makes this request"))
}

// openStream upgrades a request to a stream.
func (s *Server) openStream(w http.ResponseWriter, r *http.Request, kind string) (*stream, error) {
	e, err := s.reg.Resolve(r.PathValue("session"))
	if err != nil {
		writeError(w, err)
		return nil, err
	}
	q := r.URL.Query()
	cols, _ := strconv.Atoi(q.Get("cols"))
	rows, _ := strconv.Atoi(q.Get("rows"))
	if (cols != 0 || rows != 0) && !vterm.ValidSize(cols, rows) {
		err := api.Errorf(api.CodeInvalid, "size %d×%d", cols, rows)
		writeError(w, err)
		return nil, err
	}
	policy := sizepolicy.Policy(q.Get("size"))
	if !slices.Contains(sizepolicy.Policies, policy) {
		err := api.Errorf(api.CodeInvalid, "size policy %q", policy).WithHint("there are latest, largest, smallest, fixed and none")
		writeError(w, err)
		return nil, err
	}
	resume, err := resumeOf(q)
	if err != nil {
		writeError(w, err)
		return nil, err
	}
	inside := q["inside"]
	if err := s.checkNesting(e, inside); err != nil {
		writeError(w, err)
		return nil, err
	}
	told := http.Header{attach.IDHeader: {e.ID()}}
	if s.redactorFor(r.Context()) == nil { // a name may hold a secret
		told.Set(attach.NameHeader, url.PathEscape(e.Record().Name))
	}
	if st := e.Session.Status(); st.State != session.Running {
		told.Set(attach.EndedHeader, string(st.State))
	}
	ws, err := upgrader.Upgrade(withoutDeadlines{w}, r, told)
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(maxBody)
	c := &stream{srv: s, e: e, ws: ws, ctx: r.Context(), readOnly: q.Get("read_only") == "true", rejectedC: make(chan struct{}, 1)}
	if g := grantOf(r.Context()); g != nil && g.Rights()&apitoken.Type == 0 {
		c.readOnly = true
	}
	if q.Get("images") == "blocks" {
		c.blocks = &render.Blocks{Images: q.Get("pictures") == "true"}
	}
	c.size.Cols, c.size.Rows = cols, rows
	if c.resume = resume; resume.Key != "" {
		c.accepted.Store(resume.Acknowledged)
		c.acked.Store(resume.Acknowledged)
		c.acceptedC = make(chan struct{}, 1)
	}
	if c.readOnly {
		policy = sizepolicy.None
	}
	by := identity.Of(r.Context())
	c.client = e.Clients.Join(&sizepolicy.Client{Cols: cols, Rows: rows, Policy: policy, Inside: inside, Identity: sizepolicy.Identity{
		Kind: kind, By: by, Terminal: terminalOf(by.PID), Since: time.Now(), ViewOnly: c.readOnly,
	}})
	return c, nil
}

// resumeOf parses a request's parameters for resuming.
func resumeOf(q url.Values) (r attach.Resume, err error) {
	if r.Key = q.Get("resume"); r.Key == "" {
		return r, nil
	}
	typed, err := strconv.ParseUint(cmp.Or(q.Get("typed"), "0"), 10, 64)
	from, fromErr := strconv.ParseUint(cmp.Or(q.Get("from"), "0"), 10, 64)
	if err := errors.Join(err, fromErr); err != nil || !attach.ValidKey(r.Key) {
		return r, api.Errorf(api.CodeInvalid, "resume %q, typed %q, from %q", r.Key, q.Get("typed"), q.Get("from")).
			WithHint("resume is 1 to 64 letters, digits and hyphens, the others are numbers")
	}
	r.Acknowledged, r.From, r.AcksLate = typed, from, q.Get("taken") == "late"
	return r, nil
}

func writeError(w http.ResponseWriter, err error) {
	var e *api.Error
	if !errors.As(toAPI(err), &e) {
		e = api.Errorf(api.CodeInternal, "%v", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.GetStatus())
	_ = json.NewEncoder(w).Encode(e)
}

// leave removes the client: the sizes of others count again, and an ended temporary session is removed.
func (s *stream) leave(ctx context.Context) {
	empty := s.e.Clients.Leave(s.client)
	_ = s.ws.Close()
	s.applySize(context.WithoutCancel(ctx))
	if empty && s.e.IsTemporary() && hasEnded(s.e.Session) {
		s.srv.reg.RemoveEnded(s.e)
	}
}

// applySize sets the session's size according to its clients.
func (s *stream) applySize(ctx context.Context) { s.srv.fitSize(ctx, s.e) }

func (s *stream) send(kind int, b []byte) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	if err := s.ws.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return err
	}
	return s.ws.WriteMessage(kind, b)
}

func (s *stream) sendJSON(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.send(websocket.TextMessage, b)
}

// sendEnd sends the client the reason of the end, if it has one.
func (s *stream) sendEnd(err error) {
	code, text := websocket.CloseGoingAway, "daemon stopping"
	switch {
	case errors.Is(err, errSessionEnded):
		code, text = websocket.CloseNormalClosure, "the session has ended"
	case errors.Is(err, errDetached):
		code, text = attach.CloseDetached, "detached by another client"
	case !errors.Is(err, session.ErrStopped):
		return
	}
	_ = s.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, text), time.Now().Add(time.Second))
}

// serveAttach connects a user's terminal to a session: a drawing of the screen, then raw output without queries.
func (s *Server) serveAttach(w http.ResponseWriter, r *http.Request) {
	alone := r.URL.Query().Get("detach_others") == "true"
	if alone {
		if err := mayDetach(r.Context()); err != nil {
			writeError(w, err)
			return
		}
	}
	c, err := s.openStream(w, r, "terminal")
	if err != nil {
		return
	}
	ctx, cancelFor := context.WithCancelCause(r.Context())
	cancel := func() { cancelFor(nil) }
	defer cancel()
	defer c.leave(ctx)
	c.e.Clients.OnDetach(c.client, func() { cancelFor(errDetached) })
	if alone && !c.readOnly {
		c.e.Clients.DetachOthers(c.client)
	}
	c.applySize(ctx)
	a := &attached{stream: c, cols: c.size.Cols, rows: c.size.Rows, lag: maxLag, filter: attach.Filter{FollowsScheme: true}}
	if a.filter.Contain = r.URL.Query().Get("screen") == "own"; !a.filter.Contain {
		a.lag = maxHistoryLag
		a.painted = r.URL.Query().Get("again") == "true"
		a.history, _ = strconv.Atoi(r.URL.Query().Get("history"))
	}
	resized := make(chan attach.Control, 1)
	go func() {
		defer cancel()
		c.listen(ctx, resized)
	}()
	err = a.draw(ctx, resized)
	if errors.Is(context.Cause(ctx), errDetached) {
		err = errDetached
	}
	c.sendEnd(err)
}

// listen handles the client's input and size changes.
func (s *stream) listen(ctx context.Context, resized chan attach.Control) {
	for {
		kind, b, err := s.ws.ReadMessage()
		if err != nil {
			return
		}
		if kind == websocket.BinaryMessage {
			if s.typeOnce(ctx, session.TypeRequest{Bytes: b}, time.Now()) != nil {
				return
			}
			continue
		}
		var c attach.Control
		if json.Unmarshal(b, &c) != nil {
			continue
		}
		s.setOuter(ctx, c.Outer)
		if !vterm.ValidSize(c.Cols, c.Rows) {
			continue
		}
		if !s.readOnly {
			s.e.Clients.NoteActivity(s.client, c.Cols, c.Rows)
			s.applySize(ctx)
		}
		select { // the newest size counts
		case <-resized:
		default:
		}
		resized <- c
	}
}

var (
	errSessionEnded = errors.New("the session is over")
	errDetached     = errors.New("another client had this one leave")
)

// attached is the drawing side of an attached client.
type attached struct {
	*stream
	cols, rows int // of the client's terminal; 0: unknown, taken as fitting
	offset     uint64
	lag        uint64         // bytes it may be behind
	history    int            // scrollback lines to print before the first drawing
	painted    bool           // the client got a drawing
	titled     bool           // the last drawing set a title
	settings   string         // those of the last drawing (vterm.Terminal.AppendSettings)
	inSync     bool           // the client's terminal has all output up to offset
	drawn      attach.Control // size of the session it showed
	filter     attach.Filter
	frame      vterm.Frame
	info       attach.Info
	buf        []byte
	out        []byte
}

// draw sends drawings until the session or the client ends. While the client's size is the session's, raw output
// follows the first drawing; otherwise it draws each frame, cropped.
func (a *attached) draw(ctx context.Context, resized <-chan attach.Control) error {
	w := a.e.Session.Watch()
	defer w.Close()
	a.buf = make([]byte, 64<<10)
	news, leave := a.srv.reg.Terminals.Join()
	defer leave()
	fresh := true
	a.resumeOutput()
	for {
		over := hasEnded(a.e.Session)
		var err error
		if fresh || !a.fits() {
			err = a.repaint(ctx)
		} else {
			fresh, err = a.sendOutput(math.MaxUint64)
			if fresh && err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		if over {
			return errors.Join(a.sendInfo(true), errSessionEnded)
		}
		fresh = false
		output, frames := w.Output, (<-chan struct{})(nil)
		if !a.fits() {
			output, frames = nil, w.Frames
		}
		select {
		case <-output:
		case <-frames:
		case c := <-resized:
			a.cols, a.rows = c.Cols, c.Rows
			fresh = true
		case <-a.acceptedC:
			if err := a.sendInfo(false); err != nil {
				return err
			}
		case <-a.rejectedC: // the bell signals rejected input
			if err := a.send(websocket.BinaryMessage, []byte{'\a'}); err != nil {
				return err
			}
		case b := <-news:
			if err := a.send(websocket.BinaryMessage, b); err != nil {
				return err
			}
		case <-w.Done:
			return session.ErrStopped
		case <-ctx.Done():
			return ctx.Err()
		}
		// Another size or screen: the text under a full-screen program was never drawn on the client's terminal.
		if st := a.e.Session.Status(); st.Cols != a.drawn.Cols || st.Rows != a.drawn.Rows || st.Alt != a.frame.Alt {
			fresh = true
		}
	}
}

// resumeOutput sends a reconnecting client the output since its offset, then a drawing.
func (a *attached) resumeOutput() {
	from := a.resume.From
	if start, end := a.e.Session.OutputRange(); from >= start && from > 0 && from <= end && a.fits() {
		a.offset, a.inSync = from, true
		a.filter.Prime(a.outputBefore()) // a drawing may stand within a sequence
	}
}

// fits reports whether the client's terminal has the session's size.
func (a *attached) fits() bool {
	st := a.e.Session.Status()
	return a.cols == 0 || a.cols == st.Cols && a.rows == st.Rows
}

// sendOutput sends the output up to an offset. fresh requests a drawing instead, because bytes were lost or the client
// is too far behind.
func (a *attached) sendOutput(to uint64) (fresh bool, err error) {
	for a.offset < to {
		if _, end := a.e.Session.OutputRange(); min(end, to)-a.offset > a.lag {
			return true, nil
		}
		c, err := a.e.Session.Output(a.offset, a.buf[:min(uint64(len(a.buf)), to-a.offset)])
		if err == nil {
			err = a.srv.maskChunk(a.ctx, a.e, c)
		}
		if err != nil {
			return false, err
		}
		if c.Gap > 0 {
			return true, nil
		}
		if len(c.Data) == 0 {
			return false, nil
		}
		a.offset = c.Next
		a.out = a.filter.Append(a.out[:0], c.Data)
		if a.filter.TakeRedraw() {
			return true, nil
		}
		if len(a.out) == 0 {
			continue
		}
		if a.acceptedC != nil && !a.resume.AcksLate {
			a.info.Next = a.offset - uint64(a.filter.Pending())
			if err := a.sendInfo(false); err != nil {
				return false, err
			}
			a.info.Next = 0
		}
		if err := a.send(websocket.BinaryMessage, a.out); err != nil {
			return false, err
		}
	}
	return false, nil
}

// sendInfo sends what the client needs besides the drawing.
func (a *attached) sendInfo(ended bool) error {
	st := a.e.Session.Status()
	a.info = attach.Info{
		Cols: st.Cols, Rows: st.Rows, Offset: a.offset, State: string(st.State), Ended: ended, Next: a.info.Next, Accepted: a.accepted.Load(),
	}
	a.acked.Store(a.info.Accepted)
	if st.Exit != nil {
		a.info.Signal = st.Exit.Signal
		if st.Exit.Signal == "" {
			a.info.Code = &st.Exit.Code
		}
	}
	return a.sendJSON(a.info)
}

// checkNesting rejects showing a session within itself, directly or through others: it would print its own output
// forever. inside lists the sessions in between on other hosts, known to the client.
func (s *Server) checkNesting(e *registry.Handle, inside []string) error {
	seen := map[string]bool{}
	var shows func(id string) bool // whether a session shows e, or shows one that does
	shows = func(id string) bool {
		if id == e.ID() {
			return true
		}
		in := s.reg.ByID(id)
		if in == nil || seen[id] || !in.IsReady() {
			return false
		}
		seen[id] = true
		return slices.ContainsFunc(in.Clients.ShownIn(), shows)
	}
	if !slices.ContainsFunc(inside, shows) {
		return nil
	}
	return api.Errorf(api.CodeInvalid, "this terminal is inside session %s: attached here it would show itself for ever", e.Record().Name).
		WithHint("detach first, or attach from another terminal; if LONGTERM_SESSION is stale, unset it")
}
