//go:build unix

// Package attachclient puts a session on the person's terminal: bytes both ways, sizes, the keys that leave it or
// go to another session, and the way back to it when the daemon was replaced meanwhile. However it ends, the
// terminal is given back as it was (termio). The protocol is session/attach's; flags are the verb's.
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
	"github.com/longterm-dev/longterm/render/view/bars"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/vterm"
)

const (
	// reattachTime is how long an attached client tries to find its session again.
	reattachTime = time.Minute
	// historyLines is how much of a session's past --scrollback puts into the terminal's.
	historyLines = 5000
)

// Options say how a session is put on the terminal.
type Options struct {
	Client               *client.Client
	Taken                *takeover.Taken // the terminal, if it is taken already; nil: it is not
	Leaving              chan os.Signal  // signals to leave at that may have come already; nil: none are kept
	Stdin                *os.File
	Stderr               io.Writer
	Chords               *attach.Chords
	Leave                string         // the keys that detach, for people; empty: none do
	Policy               string         // whose size the session takes; empty: as others chose
	ReadOnly, Scrollback bool           // Scrollback: on the terminal's primary screen
	DetachOthers         bool           // once, at the beginning
	Host                 string         // that the session is on; empty: this one
	Here                 *client.Client // to this host's daemon, where the session is on another
	Key                  string         // by which the stream goes on that was opened already; empty: none was
	// Predict draws what is typed before its echo comes, on other hosts: auto (where the link is slow), always, never.
	Predict string
}

// attachment is a session on a person's terminal.
type attachment struct {
	Options
	s     *client.Session
	name  string
	id    string
	t     *termio.Terminal
	shown bool // once
	keys  chan []byte
	typed []byte      // typed before there was a session to take it
	info  attach.Info // the newest
	out   *outbox     // what was typed and may not have arrived
	far   *far        // how to go on where the connection was lost; nil: the daemon is this host's
	ahead *ahead      // what is drawn before its echo comes; nil: nothing
	outer *outerQuery // has the terminal's answers; may be nil

	mu sync.Mutex // held while something is typed, or the size told
	// open is the stream that keys are typed into where they are read; nil: there is none. Guarded by mu, as is
	// passing: so many reads are on their way through the channel, and all that follows them goes there.
	open    *client.Stream
	passing int
}

var (
	errDetached = errors.New("detached")
	errSwitched = errors.New("another session is wanted")
	errTaken    = errors.New("another client had this one leave")
	errHeard    = errors.New("what was drawn over it is to be covered")
)

// Run puts a session on the terminal, and others in its place as the person goes from one to the next.
func Run(ctx context.Context, s *client.Session, o Options) error {
	at := &attachment{Options: o, s: s, keys: make(chan []byte)}
	at.begins(o.Key)
	signals := o.Leaving
	if signals == nil {
		signals = make(chan os.Signal, 1) // main has the context end with others
	}
	signal.Notify(signals, takeover.Leaving...)
	defer signal.Stop(signals)
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	go func() {
		select {
		case sig := <-signals:
			cancel(leftBy{sig.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()

	if o.Taken != nil {
		at.t = termio.TakenOver(o.Taken)
		defer at.t.Restore(true)
	} else if !termio.AreTerminals(o.Stdin, os.Stdout) {
		if _, err := s.Info(ctx); err != nil { // what is wrong with the session is told first
			return err
		}
		return termio.ErrNoTerminal
	}
	var left leftBy
	st, err := at.join(ctx) // errors before the terminal is touched
	if errors.As(context.Cause(ctx), &left) && err != nil {
		return Left("", left.signal)
	}
	if err != nil {
		return err
	}
	if at.t == nil {
		if at.t, err = termio.Open(o.Stdin, os.Stdout); err != nil {
			return errors.Join(err, st.Close())
		}
		defer at.t.Restore(true)
		if o.Leave != "" && !st.Ended { // there is nothing to leave, and its end is told below
			_, _ = io.WriteString(o.Stderr, takeover.Banner(at.ref(), o.Leave))
		}
		at.t.Take(!o.Scrollback)
	}
	if at.far != nil && !o.Scrollback && !o.ReadOnly && o.Predict != "never" {
		at.ahead = newAhead(at.t, o.Predict == "always")
	}
	stop := make(chan struct{})
	defer close(stop)
	at.outer = queryTerminal(at.t, at.describe)
	go at.t.KeysOr(at.typeAtOnce, at.keys, stop)

	err = at.run(ctx, st)
	at.ahead.end()
	at.outer.leave(at.keys)
	at.t.Restore(true)
	if n := at.far.unsent(&at.mu); n > 0 {
		fmt.Fprintf(o.Stderr, "[not sent: %s typed into %s]\n", bars.Count(n, "byte"), at.ref())
	}
	switch {
	case errors.Is(err, errDetached):
		fmt.Fprintf(o.Stderr, "[detached from %s; `longterm attach %[1]s` comes back]\n", at.ref())
		return nil
	case errors.As(context.Cause(ctx), &left):
		return Left(at.ref(), left.signal)
	case errors.Is(err, errTaken):
		fmt.Fprintf(o.Stderr, "[detached from %s by another client; `longterm attach %[1]s` comes back]\n", at.ref())
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

// ref names the session as one attaches to it from here.
func (at *attachment) ref() string {
	if at.Host == "" {
		return at.name
	}
	return at.Host + "/" + at.name
}

// choose makes a session the one attached.
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
	o := client.StreamOptions{ReadOnly: at.ReadOnly, Size: at.Policy, OwnScreen: !at.Scrollback, Inside: at.inside(ctx)}
	o.Cols, o.Rows = termio.SizeOf(os.Stdout)
	o.DetachOthers = at.DetachOthers && !at.shown
	if o.Again = at.shown; at.Scrollback && !at.shown {
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
	case at.id == "": // a daemon that does not tell
		if err := at.choose(ctx, at.s); err != nil {
			return nil, errors.Join(err, st.Close())
		}
	}
	at.shown = true
	return st, nil
}

// leftBy is a signal that ends the client.
type leftBy struct{ signal syscall.Signal }

func (l leftBy) Error() string { return l.signal.String() }

// Left is the error of a client that a signal ended, at a session that has a name by then, or on the way to it.
func Left(ref string, signal syscall.Signal) error {
	if ref == "" {
		ref = "before the session was there"
	}
	return exit.With(128+int(signal), fmt.Errorf("left %s: %w; the session goes on", ref, leftBy{signal}))
}

func endText(i *attach.Info) string {
	switch {
	case i.Signal != "":
		return "ended by " + i.Signal
	case i.Code != nil:
		return fmt.Sprintf("exited with %d", *i.Code)
	}
	return i.State
}

// run joins the session again and again until it is over or the person leaves.
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
				at.ahead.clear()
				continue
			}
			if errors.Is(err, errSwitched) {
				at.mu.Lock()
				at.begins("")
				at.ahead.anew()
				at.mu.Unlock()
				continue
			}
		} else if lost.IsZero() {
			lost = time.Now()
		}
		var refused *api.Error
		if errors.As(err, &refused) && refused.Code != api.CodeUnavailable || at.far == nil && !lost.IsZero() && time.Since(lost) > reattachTime {
			return err
		}
		if at.far != nil {
			if err := at.away(ctx); err != nil {
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

// converse moves bytes both ways, and closes the stream. nil: the session is over.
func (at *attachment) converse(ctx context.Context, st *client.Stream) (err error) {
	if !st.Begun {
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
			at.settle(drawn)
		}
		_ = at.typeInto(nil)
		_ = st.Close()
		<-done // nothing of this stream is drawn over what comes next
		select {
		case why := <-drawn:
			if errors.Is(why, errTaken) { // what was typed just then found no stream
				err = why
			}
		default:
		}
	}()
	looks, stop := at.far.looks()
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
				at.passed()
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
			if at.heard() {
				return errHeard
			}
		case <-looks:
			at.look()
		case err := <-drawn:
			return err
		case in, ok := <-keys:
			if !ok { // the terminal is gone
				return errDetached
			}
			at.typed = in
		case <-at.t.Resized:
			cols, rows := at.t.Size()
			at.ahead.resize(cols, rows)
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

// typeInto says into what to type where keys are read. What another stream may not have brought is typed first.
func (at *attachment) typeInto(st *client.Stream) error {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.open = st; st == nil {
		return nil
	}
	if at.far != nil {
		at.far.again()
	}
	if o, known := at.outer.known(); known {
		_ = st.Describe(o) // the stream's reader sees the error
	}
	return at.out.again(st)
}

// describe sends the description of the terminal to the session.
func (at *attachment) describe(o vterm.Outer) {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.open != nil {
		_ = at.open.Describe(o) // the stream's reader sees the error
	}
}

// begins is for another session: what is typed into it is numbered from 1, under a key of its own.
func (at *attachment) begins(key string) {
	at.out = newOutbox(at.Host, key)
	if at.Host != "" {
		at.far = newFar(at.Host, at.out)
	}
}

// typeLocked types into a stream, and keeps what it typed until it has arrived: that it could not be sent is no error,
// the stream's reader sees it.
func (at *attachment) typeLocked(st *client.Stream, b []byte) {
	n := at.out.note(b)
	if at.ahead != nil {
		at.ahead.typed(at.out.typed[len(at.out.typed)-1], n) // before its echo can come
	}
	_ = st.Type(b)
}

// passed says that one read that came through the channel is done.
func (at *attachment) passed() {
	at.mu.Lock()
	defer at.mu.Unlock()
	at.passing--
}

// typeAtOnce types what was read, where nothing before it is on its way and no chord may be in it. The
// chords are the reader's while nothing is on its way.
func (at *attachment) typeAtOnce(typed []byte) bool {
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.open == nil || at.passing > 0 || !at.Chords.Plain(typed) || at.out.waits() {
		at.passing++
		return false
	}
	at.typeLocked(at.open, typed)
	return true
}

// take types what is for the session and does what is for us.
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

// move goes to the running session after or before this one. Where there is no other, it
// stays.
func (at *attachment) move(ctx context.Context, do attach.Action) error {
	all, err := at.Client.List(ctx)
	if err != nil {
		return nil // no daemon right now: the person can press the key again
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

// show draws what the session printed.
func (at *attachment) show(draw []byte) error {
	if at.ahead == nil {
		return at.t.Draw(draw)
	}
	return at.ahead.show(draw)
}

func (at *attachment) draw(st *client.Stream) error {
	for {
		draw, info, err := st.Read()
		switch {
		case client.Over(err):
			return nil
		case client.Detached(err):
			return errTaken
		case err != nil:
			return err
		case info != nil:
			at.info = *info
			at.out.told(&at.mu, info.Taken)
			if at.far != nil {
				at.far.told(&at.mu, info)
				at.ahead.taken(info.Taken)
			}
		default:
			if err := at.show(draw); err != nil {
				return errDetached
			}
			if at.far != nil {
				at.far.drawn(&at.mu, draw)
			}
		}
	}
}
