package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/longterm-dev/longterm/session/internal/echo"
	"github.com/longterm-dev/longterm/session/internal/rules"
	"github.com/longterm-dev/longterm/session/internal/typing"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store/atomicfile"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// ErrTypedAhead is returned for a secret before which other input waits to be read.
var ErrTypedAhead = typing.ErrAhead

// Typed is what there is to say of something that was typed.
type Typed = typing.Typed

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

// Type types something and returns when the terminal has taken it all. cursor is the
// output offset at the moment of typing: what the program prints in answer lies after.
func (s *Session) Type(ctx context.Context, t Typing) (cursor uint64, err error) {
	r, err := s.TypeIn(ctx, t)
	return r.Cursor, err
}

// TypeIn is Type, and tells who showed what was typed.
func (s *Session) TypeIn(ctx context.Context, t Typing) (r Typed, err error) {
	for until := time.Now().Add(typing.UnreadTime); ; {
		r, err = s.typeIn(ctx, t)
		if !errors.Is(err, ErrTypedAhead) || time.Now().After(until) {
			return r, err
		}
		look := time.NewTimer(rules.Poll)
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
		if before, was, mark := s.dedup.Before(t.ID); was {
			r = before
			s.noteID(mark)
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
		s.typedAt = s.moment(s.off)
		s.lines.noteEntered(data)
		noted := len(data)
		if t.Secret {
			noted = 0 // its length is nobody's business either
		} else if !s.record.Apart() { // pipes echo nothing
			s.rememberTyped(data)
		}
		s.rules.typed(data, t.Secret)
		if !s.record.Apart() {
			s.typedSomething()
		}
		if len(data) > 0 {
			note := s.inputNote(t.ID, r)
			if t.Secret && !t.Force {
				err = s.inputs.AddNow(data, note)
			} else {
				done, err = s.inputs.AddNoted(ctx, data, note)
			}
			kind := journal.InputTyped
			if t.Paste {
				kind = journal.InputPaste
			}
			s.noteInput(kind, noted)
			s.noteID(s.dedup.Remember(t.ID, r))
		}
	})
	if err = errors.Join(opErr, err); err != nil || done == nil {
		return r, err
	}
	return r, <-done
}

// rememberTyped notes what is being typed, for those who look for its answer.
func (s *Session) rememberTyped(data []byte) {
	if s.lines.shell != nil && s.lines.shell.Phase() == shell.PhasePrompt {
		s.input.Typed(s.off)
	}
	lines := echo.Lines(data)
	if lines == nil {
		return
	}
	var f vterm.Frame
	s.engine.Frame(&f, vterm.Query{Since: s.engine.Version()}) // the cursor only
	s.typed.Add(echo.Text{At: s.off, Lines: lines, Row: s.topRow() + uint64(f.Cursor.Row), Col: f.Cursor.Col})
}

// typedAhead says whether input that was typed may still wait to be read.
func (s *Session) typedAhead() bool {
	if s.cfg.Device == nil || s.record.Apart() { // pipes show nothing
		return false
	}
	return s.ahead.Waits(s.inputs, func() (n int) {
		_ = s.cfg.Device.Control(func(fd int) (err error) {
			n, err = sys.UnreadInput(fd)
			return err
		})
		return n
	})
}

// noteID has the journal remember by its id what was typed.
func (s *Session) noteID(mark []byte) {
	if len(mark) > 0 {
		s.note(mark)
	}
}

// inputNote notes in the ring that input is being typed. nil: nothing is to be noted.
func (s *Session) inputNote(id string, t Typed) func() {
	return s.ringNote(id, typing.InputNote(id, t))
}

// lineNote notes that a line is being typed that was marked.
func (s *Session) lineNote(id string) func() { return s.ringNote(id, typing.LineTyping(id, s.off)) }

func (s *Session) ringNote(id string, n ring.Typing) func() {
	if id == "" || s.ring == nil {
		return nil
	}
	return func() { s.ring.NoteTyping(n) }
}

// markLine notes in the ring that a line is being marked.
func (s *Session) markLine(id string) {
	if note := s.ringNote(id, typing.LineMarked(id, s.off)); note != nil {
		note()
	}
}

// takeLeftTyping takes what the owner before this one was typing when it ended.
func (s *Session) takeLeftTyping() {
	if s.ring == nil {
		return
	}
	if t, ok := s.ring.Typing(); ok {
		s.dedup.Left(t)
	}
}

// dedupFile has the ids that a checkpoint makes a replay pass by, in a session's directory. It
// is written before the checkpoint.
const dedupFile = "inputs.json"

// saveDedup writes the ids down, unless that was done.
func (s *Session) saveDedup() {
	b, err := s.dedup.State()
	if b == nil && err == nil {
		return
	}
	path := filepath.Join(s.cfg.Dir, dedupFile)
	if err == nil {
		err = atomicfile.Write(path, atomicfile.Options{}, b) // as the checkpoint that it belongs to: not synced
	}
	if err != nil {
		s.log.Warn("write down what was typed; it may be typed twice", "session", s.cfg.ID, "err", err)
		return
	}
	s.dedup.Saved()
}

// resumeDedup reads what saveDedup wrote.
func (s *Session) resumeDedup() {
	b, err := os.ReadFile(filepath.Join(s.cfg.Dir, dedupFile))
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err == nil {
		err = s.dedup.Resume(b)
	}
	if err != nil {
		s.log.Warn("what was typed is not known; it may be typed twice", "session", s.cfg.ID, "err", err)
	}
}
