package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/internal/rules"
	"github.com/longterm-dev/longterm/session/internal/typing"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store/journal"
)

// ErrBegun is returned for input while a line is unfinished that a person has begun.
var ErrBegun = typing.ErrBegun

// ErrHalf is returned for input that is to begin a line while one is typed in part.
var ErrHalf = errors.New("a line is half typed there")

// ErrTypedAhead is returned for a secret before which other input waits to be read.
var ErrTypedAhead = typing.ErrAhead

// ErrLongLine is returned for input with a line that a terminal in line mode would cut.
var ErrLongLine = typing.ErrLongLine

// ErrOtherInput is returned for input whose id is that of other input.
var ErrOtherInput = typing.ErrOther

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
	// Secret input is not recorded, and rejected with ErrEcho or ErrMayEcho while what is typed is shown or may be, unless it
	// is forced. It waits a while for what was typed before it to be
	// read: ErrTypedAhead.
	Secret, Force bool
	// ID, if there is one, has the input typed once, however often it is asked for.
	ID string
	// Of is a digest of what is typed: input with the id of other input is refused with ErrOtherInput. 0: anything.
	Of uint64
	// By is who types it, where that is no person: see Command.By.
	By string
	// Person says that it comes from a person's keyboard. Other input is refused with ErrBegun while a
	// person's line is unfinished, unless it is forced.
	Person bool
	// Fresh says that it begins a line, as an answer does: it is refused with ErrHalf while one is typed in part there,
	// by whomever and however long ago.
	Fresh bool
}

// Type types something and returns when the terminal has taken it all. cursor is the
// output offset at the moment of typing: what the program prints in answer lies after.
func (s *Session) Type(ctx context.Context, t Typing) (cursor uint64, err error) {
	r, err := s.TypeIn(ctx, t)
	return r.Cursor, err
}

// boxTime is how long a secret waits until a full-screen program is found to show a password box.
const boxTime = time.Second

// TypeIn types like Type, and returns more about the result. A secret waits for what was typed before it to be read, and for a password
// box to be found.
func (s *Session) TypeIn(ctx context.Context, t Typing) (r Typed, err error) {
	for began := time.Now(); ; {
		r, err = s.typeIn(ctx, t)
		waited := time.Since(began)
		if !(errors.Is(err, ErrTypedAhead) && waited < typing.UnreadTime || errors.Is(err, ErrMayEcho) && waited < boxTime) {
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
	var pending *typing.Pending
	opErr := s.do(ctx, func() {
		if st := s.Status(); st.State != Running {
			err = fmt.Errorf("%w (%s)", ErrEnded, st.State)
			return
		}
		numbered, known := s.typing.inOrder(&t), false
		if numbered != nil {
			if pending, known = numbered.Before(); pending != nil {
				r.Cursor = s.off
				return
			}
		}
		if !known { // nor is it of an owner that had no such memory
			if before, was, mark := s.typing.dedup.Before(t.ID); was {
				if !before.Same(t.Of) {
					err = ErrOtherInput
					return
				}
				r, r.Again = before, true
				s.typing.noteID(mark)
				return
			}
		}
		if v := s.engine.Version(); t.Version != 0 && t.Version != v {
			err = fmt.Errorf("%w: it is at version %d, not %d", ErrStale, v, t.Version)
			return
		}
		if r.Echo = s.echoState(); t.Secret && !t.Force && r.Echo != respond.EchoOff {
			if err = ErrEcho; r.Echo == respond.EchoApp {
				err = ErrMayEcho
			}
			return
		}
		if t.Secret && !t.Force && s.typing.typedAhead() {
			err = ErrTypedAhead
			return
		}
		data := t.Bytes
		if t.Encode != nil {
			if data = append(t.Encode(nil, s.view()), t.Bytes...); len(data) == 0 { // the focus, say, of which the program wants no word
				r.Cursor, r.Of = s.off, t.Of
				return
			}
		}
		if !t.Person {
			if err = s.typing.checkLine(data); err != nil {
				return
			}
		}
		now := time.Now()
		if t.Fresh && s.typing.halfTyped(r.Echo) {
			err = ErrHalf
			return
		}
		if !t.Person && !t.Force && !t.Fresh && s.typing.begun.Line(now, s.editsLine()) {
			err = ErrBegun
			return
		}
		if t.Person {
			s.typing.begun.Typed(data, now)
		} else if len(data) > 0 {
			s.typing.begun.Ends()
		}
		if len(data) > 0 {
			s.typing.last = data[len(data)-1]
			s.clock.typed()
		}
		s.typing.countLine(data, r.Echo)
		s.typing.half.typed(data, t.Secret, s.Status().Shell.Phase == shell.PhaseRunning)
		if bytes.ContainsAny(data, "\r\n") {
			s.typing.by = t.By
		}
		r.Cursor, r.Of = s.off, t.Of
		s.typing.at = s.moment(s.off)
		if bytes.ContainsAny(data, "\r\n") {
			s.update(ChangeOutput, func(st *Status) { st.LastTyped = now })
		}
		s.lines.noteEntered(data)
		noted := len(data)
		if t.Secret {
			s.cfg.Known.Learn(strings.TrimRight(string(data), "\r\n"))
			noted = 0 // its length is not recorded either
		} else if !s.history.record.Apart() { // pipes echo nothing
			s.typing.rememberTyped(data)
		}
		s.rules.typed(data, t.Secret)
		var look time.Time
		if !s.history.record.Apart() {
			look = s.inputwait.typed()
		}
		if len(data) > 0 {
			switch note := s.typing.inputNote(t.ID, r); {
			case numbered != nil:
				pending, err = numbered.Add(ctx, s.typing.queue, data)
			case t.Secret && !t.Force:
				err = s.typing.queue.AddNow(data, note)
			default:
				done, err = s.typing.queue.AddNoted(ctx, data, note)
			}
			kind := journal.InputTyped
			if t.Paste {
				kind = journal.InputPaste
			}
			s.history.noteInput(kind, noted)
			if numbered == nil {
				s.typing.noteID(s.typing.dedup.Remember(t.ID, r))
			}
		}
		if !s.history.record.Apart() { // the program has it by now: what is told of it keeps nobody waiting
			s.inputwait.lookAt(look)
			s.inputwait.answered(data, t.Person)
		}
	})
	switch err = errors.Join(opErr, err); {
	case err != nil:
	case pending != nil:
		err = pending.Wait()
	case done != nil:
		err = <-done
	}
	if errors.Is(err, ErrEnded) && s.stopping() && s.Status().State == Running {
		err = errors.Join(ErrStopped, err) // this owner has ended: the next one types it
	}
	return r, err
}
