//go:build unix

// Package attachclient shows a session on the user's terminal: bytes in both directions, sizes, the keys that detach or
// switch sessions, and reconnects after the daemon was replaced.
//
// attachclient.go has the loop of one attachment; outbox.go unacknowledged input; reconnect.go reconnects to remote hosts;
// localecho.go local echo. However the attachment ends, termio restores the terminal. Package session/attach has the
// protocol; the verb has the flags.
package attachclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/cmd/internal/termio/takeover"
	"github.com/longterm-dev/longterm/render/view/statusbar"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/vterm"
)

const (
	// reattachTime limits how long a client tries to find its session again after the daemon was replaced.
	reattachTime = time.Minute
	// historyLines is the number of scrollback lines that --scrollback copies into the user's terminal.
	historyLines = 5000
)

// Options configure an attachment.
type Options struct {
	Client               *client.Client
	Taken                *takeover.Terminal // terminal that was already switched to raw mode; nil: not yet
	Leaving              chan os.Signal     // termination signals received since the terminal was taken over; nil if unset
	Stdin                *os.File
	Stderr               io.Writer
	Chords               *attach.Chords
	Leave                string         // readable form of the detach keys; empty means none
	Policy               string         // size policy of the session; empty means unchanged
	ReadOnly, Scrollback bool           // Scrollback: on the terminal's primary screen
	DetachOthers         bool           // once, at the beginning
	Host                 string         // host of the session; empty means local
	Local                *client.Client // client of the local daemon, if the session is on another host
	Key                  string         // key of a stream that was opened earlier; empty means none
	// Predict enables local echo for remote hosts: auto (on slow links), always, never.
	Predict string
}

// attachment is a session shown on a user's terminal.
type attachment struct {
	Options
	s           *client.Session
	name        string
	id          string
	t           *termio.Terminal
	wasShown    bool // the session was shown at least once: one-time options have been applied
	keys        chan []byte
	typed       []byte       // input typed before a stream existed
	info        attach.Info  // newest session state
	out         *outbox      // input not yet acknowledged by the daemon
	reconnector *reconnector // reconnects after a lost connection; nil: the daemon runs on this host
	echo        *localEcho   // draws local echo; nil: disabled
	outer       *outerQuery  // queries the user's terminal; may be nil

	mu sync.Mutex // held while input or a size is sent
	// open is the stream that receives typed keys, or nil. passing counts reads that are still in the keys channel;
	// later reads must not overtake them. Both are guarded by mu.
	open        *client.Stream
	queuedReads int
}

var (
	// errDetached, errSwitched, errTaken and errHeard are the reasons for which converse ends a stream.
	errDetached = errors.New("detached")
	errSwitched = errors.New("another session is wanted")
	errTaken    = errors.New("another client had this one leave")
	errHeard    = errors.New("the screen needs a redraw")
)

// Run shows a session on the terminal until the user detaches or the session ends. When the user switches sessions it
// shows the next one.
func Run(ctx context.Context, s *client.Session, o Options) error {
	at := &attachment{Options: o, s: s, keys: make(chan []byte)}
	at.startSession(o.Key)
	signals := o.Leaving
	if signals == nil {
		signals = make(chan os.Signal, 1) // main ends the context on other signals
	}
	signal.Notify(signals, takeover.TerminationSignals...)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	go func() {
		select {
		case sig := <-signals:
			cancel(signalError{sig.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()

	if o.Taken != nil {
		at.t = termio.FromTakeover(o.Taken)
		defer at.t.Restore(true)
	} else if !termio.AreTerminals(o.Stdin, os.Stdout) {
		if _, err := s.Info(ctx); err != nil { // report a missing session first
			return err
		}
		return termio.ErrNoTerminal
	}
	var left signalError
	st, err := at.join(ctx) // errors before the terminal is touched
	if errors.As(context.Cause(ctx), &left) && err != nil {
		return SignalError("", left.signal)
	}
	if err != nil {
		return err
	}
	if at.t == nil {
		if at.t, err = termio.Open(o.Stdin, os.Stdout); err != nil {
			return errors.Join(err, st.Close())
		}
		defer at.t.Restore(true)
		if o.Leave != "" && !st.Ended { // no keys are needed, and the end is reported below
			_, _ = io.WriteString(o.Stderr, takeover.Banner(at.ref(), o.Leave))
		}
		at.t.Enter(!o.Scrollback)
	}
	if at.reconnector != nil && !o.Scrollback && !o.ReadOnly && o.Predict != "never" {
		at.echo = newLocalEcho(at.t, o.Predict == "always")
	}
	stop := make(chan struct{})
	defer close(stop)
	at.outer = queryTerminal(at.t, at.describe)
	go at.t.KeysOr(at.typeAtOnce, at.keys, stop)

	err = at.run(ctx, st)
	at.echo.end()
	at.outer.leave(at.keys)
	at.t.Restore(true)
	if n := at.reconnector.unsent(&at.mu); n > 0 {
		fmt.Fprintf(o.Stderr, "[not sent: %s typed into %s]\n", statusbar.Count(n, "byte"), at.ref())
	}
	switch {
	case errors.Is(err, errDetached):
		fmt.Fprintf(o.Stderr, "[detached from %s; return with `longterm attach %[1]s`]\n", at.ref())
		return nil
	case errors.As(context.Cause(ctx), &left):
		return SignalError(at.ref(), left.signal)
	case errors.Is(err, errTaken):
		fmt.Fprintf(o.Stderr, "[detached from %s by another client; return with `longterm attach %[1]s`]\n", at.ref())
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	}
	if st.Ended {
		fmt.Fprintf(o.Stderr, "[%s has ended before: %s; `longterm output %[1]s` has what it printed]\n", at.ref(), endText(&at.info))
		return nil
	}
	fmt.Fprintf(o.Stderr, "[%s %s]\n", at.ref(), endText(&at.info))
	return nil
}

// ref returns the name by which a user on this machine attaches to the session, with its host.
func (at *attachment) ref() string {
	if at.Host == "" {
		return at.name
	}
	return at.Host + "/" + at.name
}

// choose sets the session to attach to.
func (at *attachment) choose(ctx context.Context, s *client.Session) error {
	info, err := s.Info(ctx)
	if err != nil {
		return err
	}
	at.s, at.id, at.name = at.Client.Session(info.ID), info.ID, info.Name
	return nil
}

// join opens the session's stream.
func (at *attachment) join(ctx context.Context) (*client.Stream, error) {
	o := client.StreamOptions{ReadOnly: at.ReadOnly, Size: at.Policy, OwnScreen: !at.Scrollback, Inside: at.enclosingSessions(ctx)}
	o.Cols, o.Rows = termio.SizeOf(os.Stdout)
	o.DetachOthers = at.DetachOthers && !at.wasShown
	if o.AlreadyShown = at.wasShown; at.Scrollback && !at.wasShown {
		o.History = historyLines
	}
	o.Resume = at.out.resume(&at.mu)
	st, err := at.s.Attach(ctx, o)
	if err != nil {
		return nil, err
	}
	switch {
	case st.ID != "" && st.Name != "":
		at.s, at.id, at.name = at.Client.Session(st.ID), st.ID, st.Name
	case at.id == "": // an older daemon sends no id
		if err := at.choose(ctx, at.s); err != nil {
			return nil, errors.Join(err, st.Close())
		}
	}
	at.wasShown = true
	return st, nil
}

// signalError is the error of a client that a signal ended.
type signalError struct{ signal syscall.Signal }

func (l signalError) Error() string { return l.signal.String() }

// SignalError returns the error of a client that a signal ended. ref is empty if the session was not reached yet.
func SignalError(ref string, signal syscall.Signal) error {
	if ref == "" {
		ref = "before the session was shown"
	}
	return exit.With(128+int(signal), fmt.Errorf("left %s: %w; the session keeps running", ref, signalError{signal}))
}

// endText describes how the session's program ended.
func endText(i *attach.Info) string {
	switch {
	case i.Signal != "":
		return "ended by " + i.Signal
	case i.Code != nil:
		return fmt.Sprintf("exited with %d", *i.Code)
	}
	return i.State
}

// run rejoins the session after each lost stream, until it ends or the user leaves.
func (at *attachment) run(ctx context.Context, st *client.Stream) (err error) {
	lost := time.Time{}
	for ; ; st, err = at.join(ctx) {
		if err == nil {
			lost = time.Time{}
			err = at.converse(ctx, st)
			if err == nil || errors.Is(err, errDetached) || errors.Is(err, errTaken) || ctx.Err() != nil {
				return err
			}
			if errors.Is(err, errHeard) {
				at.echo.clear()
				continue
			}
			if errors.Is(err, errSwitched) {
				at.mu.Lock()
				at.startSession("")
				at.echo.reset()
				at.mu.Unlock()
				continue
			}
		} else if lost.IsZero() {
			lost = time.Now()
		}
		var refused *api.Error
		if errors.As(err, &refused) && refused.Code != api.CodeUnavailable || at.reconnector == nil && !lost.IsZero() && time.Since(lost) > reattachTime {
			return err
		}
		if at.reconnector != nil {
			if err := at.waitReconnect(ctx); err != nil {
				return err
			}
			continue
		}
		select { // the daemon is being restarted
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// converse moves bytes between terminal and session, and closes the stream. It returns nil when the session has ended.
func (at *attachment) converse(ctx context.Context, st *client.Stream) (err error) {
	if !st.IsPrefetched {
		at.t.DrawAll()
	}
	drawn, done := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(done)
		drawn <- at.draw(st)
	}()
	if err := at.typeInto(st); err != nil {
		_ = st.Close()
		<-done
		return err
	}
	defer func() {
		if errors.Is(err, errDetached) {
			at.awaitAcks(drawn)
		}
		_ = at.typeInto(nil)
		_ = st.Close()
		<-done // nothing of this stream is drawn over later output
		select {
		case why := <-drawn:
			if errors.Is(why, errTaken) { // what was typed just then found no stream
				err = why
			}
		default:
		}
	}()
	looks, stop := at.reconnector.ackTimer()
	defer stop()
	for {
		if typed := at.typed; typed != nil {
			at.typed = nil
			if waits, _ := at.out.waiting(&at.mu); waits {
				if err := at.keep(typed, math.MaxInt); err != nil {
					return err
				}
				continue
			}
			err := at.take(ctx, st, typed)
			if at.typed == nil { // else a part of the read is on its way still
				at.finishRead()
			}
			if err != nil {
				return err
			}
			continue
		}
		keys := at.keys
		if _, full := at.out.waiting(&at.mu); full { // it waits in the terminal
			keys = nil
		}
		select {
		case <-at.out.acked:
			at.mu.Lock()
			_ = at.out.catchUp(st) // that it could not be sent is seen by the stream's reader
			at.mu.Unlock()
			if at.hasResumed() {
				return errHeard
			}
		case <-looks:
			at.checkAcks()
		case err := <-drawn:
			return err
		case in, ok := <-keys:
			if !ok { // the terminal is closed
				return errDetached
			}
			at.typed = in
		case <-at.t.Resized:
			cols, rows := at.t.Size()
			at.echo.resize(cols, rows)
			at.outer.readWindow()
			at.mu.Lock()
			err := st.Resize(cols, rows)
			at.mu.Unlock()
			if err != nil {
				return err
			}
		}
	}
}

// typeInto sets the stream that receives typed keys. Unacknowledged input of the previous stream is sent first.
func (at *attachment) typeInto(st *client.Stream) error {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.open = st; st == nil {
		return nil
	}
	if at.reconnector != nil {
		at.reconnector.reset()
	}
	if o, known := at.outer.description(); known {
		_ = st.Describe(o) // the stream's reader sees the error
	}
	return at.out.resend(st)
}

// describe sends the description of the terminal to the session.
func (at *attachment) describe(o vterm.Outer) {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.open != nil {
		_ = at.open.Describe(o) // the stream's reader sees the error
	}
}

// startSession prepares for another session: its input is numbered from 1, under a new key.
func (at *attachment) startSession(key string) {
	at.out = newOutbox(at.Host, key)
	if at.Host != "" {
		at.reconnector = newReconnector(at.Host, at.out)
	}
}

// typeLocked sends input to a stream and keeps it until it is acknowledged. It ignores send errors: the stream's reader
// detects them.
func (at *attachment) typeLocked(st *client.Stream, b []byte) {
	n := at.out.note(b)
	if at.echo != nil {
		at.echo.predict(at.out.unacked[len(at.out.unacked)-1], n) // before its echo can come
	}
	_ = st.Type(b)
}

// finishRead records that one read through the channel was handled.
func (at *attachment) finishRead() {
	at.mu.Lock()
	defer at.mu.Unlock()
	at.queuedReads--
}

// typeAtOnce sends input directly, bypassing the keys channel, if no earlier read is in the channel and the input
// cannot be part of a chord. It reports whether it did.
func (at *attachment) typeAtOnce(typed []byte) bool {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.open == nil || at.queuedReads > 0 || !at.Chords.IsPlain(typed) || at.out.mustWait() {
		at.queuedReads++
		return false
	}
	at.typeLocked(at.open, typed)
	return true
}

// take handles typed input: keys for the session are sent, chords are executed.
func (at *attachment) take(ctx context.Context, st *client.Stream, typed []byte) error {
	out, do, rest := at.Chords.Feed(typed)
	if len(out) > 0 {
		at.mu.Lock()
		at.typeLocked(st, out)
		at.mu.Unlock()
	}
	switch do {
	case attach.Detach:
		return errDetached
	case attach.Next, attach.Previous:
		if len(rest) > 0 {
			at.typed = rest
		}
		return at.move(ctx, do)
	}
	return nil
}

// move switches to the next or previous running session. Without a further one it keeps the current session.
func (at *attachment) move(ctx context.Context, do attach.Action) error {
	all, err := at.Client.List(ctx)
	if err != nil {
		return nil // no daemon right now: the user can press the key again
	}
	inside := os.Getenv("LONGTERM_SESSION")
	list := slices.DeleteFunc(all, func(s api.Session) bool {
		return s.ID != at.id && (s.State != "running" || s.ID == inside)
	})
	here := slices.IndexFunc(list, func(s api.Session) bool { return s.ID == at.id })
	if len(list) < 2 || here < 0 {
		return nil
	}
	step := 1
	if do == attach.Previous {
		step = len(list) - 1
	}
	to := list[(here+step)%len(list)]
	at.s, at.id, at.name = at.Client.Session(to.ID), to.ID, to.Name
	return errSwitched
}

// show draws session output.
func (at *attachment) show(draw []byte) error {
	if at.echo == nil {
		return at.t.Draw(draw)
	}
	return at.echo.show(draw)
}

// draw draws the stream's messages on the terminal until the stream ends.
func (at *attachment) draw(st *client.Stream) error {
	for {
		draw, info, err := st.Read()
		switch {
		case client.IsSessionEnded(err):
			return nil
		case client.IsDetached(err):
			return errTaken
		case err != nil:
			return err
		case info != nil:
			at.info = *info
			at.out.acknowledge(&at.mu, info.Accepted)
			if at.reconnector != nil {
				at.reconnector.noteOffset(&at.mu, info)
				at.echo.acknowledge(info.Accepted)
			}
		default:
			if err := at.show(draw); err != nil {
				return errDetached
			}
			if at.reconnector != nil {
				at.reconnector.drawn(&at.mu, draw)
			}
		}
	}
}
