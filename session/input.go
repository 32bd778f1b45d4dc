package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/internal/echo"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

const (
	// maxQueued bounds the input that waits for the program to read it, in bytes.
	maxQueued = 16 << 20
	// maxReplies bounds the unread answers to queries: a program that asks and never
	// reads gets no more.
	maxReplies = 64 << 10
)

// inputQueue types into the device, in order, one write after the other. Its
// goroutine exists only while there is something to type.
type inputQueue struct {
	device Device

	mu      sync.Mutex
	queue   []*typed
	bytes   int // in queue
	replies int // bytes of it that are replies
	sent    int // bytes that the terminal took since all of them were last known to be read
	writing bool
	closed  bool
}

// typed is one write.
type typed struct {
	data  []byte
	reply bool
	ctx   context.Context
	done  chan error // buffered; nil for replies
}

// add queues data; the channel tells when it was taken by the terminal.
func (q *inputQueue) add(ctx context.Context, data []byte) (<-chan error, error) {
	return q.addNoted(ctx, data, nil)
}

// addNoted is add; note is called right before data is typed, unless it has to wait for other
// input.
func (q *inputQueue) addNoted(ctx context.Context, data []byte, note func()) (<-chan error, error) {
	t := &typed{data: data, ctx: ctx, done: make(chan error, 1)}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed || q.device == nil:
		return nil, ErrEnded
	case q.bytes+len(data) > maxQueued:
		return nil, fmt.Errorf("%w (%d bytes)", ErrOverloaded, q.bytes)
	}
	if t.data = q.tryLocked(data, note); len(t.data) == 0 {
		t.done <- nil
		return t.done, nil
	}
	q.push(t)
	return t.done, nil
}

// tryLocked types what the terminal takes at once when nothing is queued before it, and
// returns the rest. A key costs no goroutine that way.
func (q *inputQueue) tryLocked(data []byte, note func()) (rest []byte) {
	if q.writing {
		return data
	}
	n := q.tryNoted(data, note)
	q.sent += n
	return data[n:]
}

// notedWriter is a device that calls note where nothing lies between it and the write: no lock,
// no memory to be had, no turn to wait for. Whoever is killed in between has lost the input.
type notedWriter interface {
	TryWriteNoted(p []byte, note func()) int
}

func (q *inputQueue) tryNoted(data []byte, note func()) int {
	if note == nil {
		return q.device.TryWrite(data)
	}
	if d, ok := q.device.(notedWriter); ok {
		return d.TryWriteNoted(data, note)
	}
	note()
	return q.device.TryWrite(data)
}

// reply queues an answer of the emulator; it is dropped when too many wait.
func (q *inputQueue) reply(data []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.device == nil || q.replies+len(data) > maxReplies {
		return
	}
	if data = q.tryLocked(data, nil); len(data) == 0 {
		return
	}
	q.replies += len(data)
	q.push(&typed{data: data, reply: true, ctx: context.Background()})
}

func (q *inputQueue) push(t *typed) {
	q.queue = append(q.queue, t)
	q.bytes += len(t.data)
	if !q.writing {
		q.writing = true
		go q.write()
	}
}

// write empties the queue and ends.
func (q *inputQueue) write() {
	for {
		q.mu.Lock()
		if len(q.queue) == 0 || q.closed {
			q.writing, q.queue = false, nil
			q.mu.Unlock()
			return
		}
		t := q.queue[0]
		q.queue = q.queue[1:]
		q.mu.Unlock()
		err := q.typeOut(t)
		q.mu.Lock()
		q.bytes, q.sent = q.bytes-len(t.data), q.sent+len(t.data)
		if t.reply {
			q.replies -= len(t.data)
		}
		q.mu.Unlock()
		if t.done != nil {
			t.done <- err
		}
	}
}

// typeOut writes t until done, refused, or its caller gives up.
func (q *inputQueue) typeOut(t *typed) error {
	if err := t.ctx.Err(); err != nil {
		return fmt.Errorf("nothing was typed: %w", err)
	}
	set := make(chan struct{})
	stop := context.AfterFunc(t.ctx, func() {
		defer close(set)
		_ = q.device.SetWriteDeadline(time.Unix(1, 0))
	})
	n, err := q.device.Write(t.data)
	if !stop() {
		<-set // it may be under way still, and must not have the last word
		_ = q.device.SetWriteDeadline(time.Time{})
	}
	switch {
	case err == nil:
		return nil
	case t.ctx.Err() != nil:
		return fmt.Errorf("the program took %d of %d bytes: %w", n, len(t.data), t.ctx.Err())
	default:
		return fmt.Errorf("%w: the terminal took %d of %d bytes: %w", ErrEnded, n, len(t.data), err)
	}
}

// end refuses and fails everything from now on.
func (q *inputQueue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, t := range q.queue {
		if t.done != nil {
			t.done <- ErrEnded
		}
	}
	if q.device != nil && q.writing {
		_ = q.device.SetWriteDeadline(time.Unix(1, 0)) // ends the write under way
	}
}

// Typing describes input that is made into bytes by the owner, who knows the modes.
type Typing struct {
	// Bytes are typed as they are, after Encode's.
	Bytes []byte
	// Encode, if set, makes the bytes under the terminal's current modes.
	Encode func(dst []byte, v View) []byte
	Paste  bool // it is pasted, for the record
	// Version, if not 0, must be the screen's current version.
	Version uint64
	// Secret input is not recorded, and refused with ErrEcho while the terminal shows what
	// is typed, unless it is forced. It waits a while for what was typed before it to be
	// read: ErrTypedAhead.
	Secret, Force bool
	// ID, if there is one, has the input typed once, however often it is asked for.
	ID string
}

// Typed is what there is to say of something that was typed.
type Typed struct {
	Cursor uint64            // offset of the output then: what answers it lies after
	Echo   respond.EchoState // who showed it
}

// Type types something and returns when the terminal has taken it all. cursor is the
// output offset at the moment of typing: what the program prints in answer lies after.
func (s *Session) Type(ctx context.Context, t Typing) (cursor uint64, err error) {
	r, err := s.TypeIn(ctx, t)
	return r.Cursor, err
}

// TypeIn is Type, and tells who showed what was typed.
func (s *Session) TypeIn(ctx context.Context, t Typing) (r Typed, err error) {
	for until := time.Now().Add(unreadTime); ; {
		r, err = s.typeIn(ctx, t)
		if !errors.Is(err, ErrTypedAhead) || time.Now().After(until) {
			return r, err
		}
		look := time.NewTimer(poll)
		select {
		case <-look.C:
		case <-ctx.Done():
			look.Stop()
			return r, errors.Join(err, ctx.Err())
		}
	}
}

func (s *Session) typeIn(ctx context.Context, t Typing) (r Typed, err error) {
	var done <-chan error
	opErr := s.do(ctx, func() {
		if st := s.Status(); st.State != Running {
			err = fmt.Errorf("%w (%s)", ErrEnded, st.State)
			return
		}
		if before, was := s.typedBefore(t.ID); was {
			r = before
			return
		}
		if v := s.engine.Version(); t.Version != 0 && t.Version != v {
			err = fmt.Errorf("%w: it is at version %d, not %d", ErrStale, v, t.Version)
			return
		}
		if r.Echo = s.echoState(); t.Secret && !t.Force && r.Echo != respond.EchoOff {
			err = ErrEcho
			return
		}
		if t.Secret && !t.Force && s.typedAhead() {
			err = ErrTypedAhead
			return
		}
		data := t.Bytes
		if t.Encode != nil {
			data = append(t.Encode(nil, s.view()), t.Bytes...)
		}
		r.Cursor = s.off
		s.typedAt, s.typedByExec = anchor{s.off, s.engine.Version()}, false
		s.noteEntered(data)
		noted := len(data)
		if t.Secret {
			noted = 0 // its length is nobody's business either
		} else if !s.streams.apart { // pipes echo nothing
			s.rememberTyped(data)
		}
		s.answersTyped(data, t.Secret)
		if !s.streams.apart {
			s.typedSomething()
		}
		if len(data) > 0 {
			note := s.onceNote(t.ID, r)
			if t.Secret && !t.Force {
				err = s.inputs.addNow(data, note)
			} else {
				done, err = s.inputs.addNoted(ctx, data, note)
			}
			kind := journal.InputTyped
			if t.Paste {
				kind = journal.InputPaste
			}
			s.noteInput(kind, noted)
			s.noteOnce(t.ID, r)
		}
	})
	if err = errors.Join(opErr, err); err != nil || done == nil {
		return r, err
	}
	return r, <-done
}

// rememberTyped notes what is being typed, for those who look for its answer.
func (s *Session) rememberTyped(data []byte) {
	if s.shell != nil && s.shell.Phase() == shell.PhasePrompt {
		s.input.Typed(s.off)
	}
	lines := echo.Lines(data)
	if lines == nil {
		return
	}
	var f vterm.Frame
	s.engine.Frame(&f, vterm.Query{Since: s.engine.Version()}) // the cursor only
	h := s.engine.History()
	s.typed.Add(echo.Text{At: s.off, Lines: lines, Row: h.FirstID() + uint64(h.Len()) + uint64(f.Cursor.Row), Col: f.Cursor.Col})
}
