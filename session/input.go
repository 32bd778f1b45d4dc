package session

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/internal/admit"
	"github.com/longterm-dev/longterm/session/internal/inputqueue"
	"github.com/longterm-dev/longterm/session/internal/rules"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store/journal"
)

// ErrUserTyping is returned for input while the user has a partial line.
var ErrUserTyping = inputqueue.ErrUserTyping

// ErrPartialLine is returned for input that must start a line while the program has a partial line.
var ErrPartialLine = admit.ErrPartialLine

// ErrUnreadInput is returned for a secret if input typed before it is still unread.
var ErrUnreadInput = inputqueue.ErrUnreadInput

// ErrLongLine is returned for input with a line that a terminal in line mode would cut.
var ErrLongLine = inputqueue.ErrLongLine

// ErrIDReused is returned for input with the id of different input.
var ErrIDReused = inputqueue.ErrIDReused

// TypeResult is the result of typing input.
type TypeResult = inputqueue.TypeResult

// TypeRequest describes input. The owner turns it into bytes, as it knows the modes.
type TypeRequest struct {
	// Bytes are typed unchanged, after the bytes of Encode.
	Bytes []byte
	// Encode, if set, returns bytes for the terminal's current modes.
	Encode func(dst []byte, v View) []byte
	Paste  bool // recorded as a paste
	// Version, if not 0, must be the screen's current version.
	Version uint64
	// Secret input is not recorded. It is rejected with ErrEcho or ErrMayEcho if it is or may be shown, unless forced.
	// It waits until earlier input is read, for a limited time: ErrUnreadInput.
	Secret, Force bool
	// ID, if not empty, makes repeated requests type the input only once.
	ID string
	// Digest identifies the input: different input with the same id is rejected with ErrIDReused. 0 disables the check.
	Digest uint64
	// By names the author of the input, unless it is a user: see Command.By.
	By string
	// FromUser marks input from a user's keyboard. Other input is rejected with ErrUserTyping while the user has a
	// partial line, unless it is forced.
	FromUser bool
	// MustStartLine marks input that must start a line, such as an answer. It is rejected with ErrPartialLine if a line
	// is typed in part, by any author and at any time.
	MustStartLine bool
}

// Type types input and returns when the terminal has accepted all of it. cursor is the output offset at that moment:
// the program's answer comes after it.
func (s *Session) Type(ctx context.Context, t TypeRequest) (cursor uint64, err error) {
	r, err := s.TypeIn(ctx, t)
	return r.Cursor, err
}

// passwordBoxTime is how long a secret waits for a full-screen program to show a password box.
const passwordBoxTime = time.Second

// TypeIn works like Type and returns more about the result. A secret waits until earlier input is read, and for a
// password box.
func (s *Session) TypeIn(ctx context.Context, t TypeRequest) (r TypeResult, err error) {
	for began := time.Now(); ; {
		r, err = s.typeIn(ctx, t)
		waited := time.Since(began)
		if !(errors.Is(err, ErrUnreadInput) && waited < inputqueue.UnreadTimeout || errors.Is(err, ErrMayEcho) && waited < passwordBoxTime) {
			return r, err
		}
		look := time.NewTimer(rules.EchoPollInterval)
		select {
		case <-look.C:
		case <-ctx.Done():
			look.Stop()
			return r, errors.Join(err, ctx.Err())
		}
	}
}

// typeIn types input once, without waiting for the conditions of a secret.
func (s *Session) typeIn(ctx context.Context, t TypeRequest) (r TypeResult, err error) {
	var sent pendingInput
	opErr := s.do(ctx, func() { r, sent, err = s.typing.handle(ctx, &t) })
	if err = errors.Join(opErr, err); err == nil {
		err = sent.wait()
	}
	if errors.Is(err, ErrEnded) && s.isStopping() && s.Status().State == Running {
		err = errors.Join(ErrStopped, err) // this owner has ended: the next one types the input
	}
	return r, err
}

// pendingInput is input that the terminal has not accepted yet. At most one field is set.
type pendingInput struct {
	pending *inputqueue.Pending
	done    <-chan error
}

// wait waits until the terminal has accepted the input.
func (s pendingInput) wait() error {
	switch {
	case s.pending != nil:
		return s.pending.Wait()
	case s.done != nil:
		return <-s.done
	}
	return nil
}

// handle decides about a caller's input. If it is admitted, handle records it, sends it and schedules a probe, in this
// order.
func (h *inputState) handle(ctx context.Context, t *TypeRequest) (r TypeResult, sent pendingInput, err error) {
	numbered := h.numberedInput(t)
	now := time.Now()
	d, earlier := h.admit(t, numbered, now)
	if d.Verdict != admit.Accept {
		sent.pending = earlier
		return d.Result, sent, d.Err
	}
	h.noteAdmitted(t, &d, now)
	var probeAt time.Time
	pipes := h.s.history.recorder.HasStreams() // pipes have no echo and no prompt
	if !pipes {
		probeAt = h.s.inputwait.invalidateProbes()
	}
	if len(d.Data) > 0 {
		sent, err = h.send(ctx, t, &d, numbered)
	}
	if !pipes { // the program has the input: bookkeeping from here delays no caller
		h.s.inputwait.scheduleProbe(probeAt)
		h.s.inputwait.clearPrompt(d.Data, t.FromUser)
	}
	return d.Result, sent, err
}

// admit calls admit.Admit with the owner's state. It journals the id of input that is known from before, and returns the
// earlier request that still types the same input.
func (h *inputState) admit(t *TypeRequest, numbered *inputqueue.NumberedInput, now time.Time) (admit.Decision, *inputqueue.Pending) {
	s := h.s
	st := admit.State{
		Now: now, Offset: s.offset, Version: s.engine.Version(), EditsLine: s.editsLine(), Pipes: s.history.recorder.HasStreams(),
		Text: &h.lineText, Partial: &h.partial, Length: h.lineLength, Terminal: h,
	}
	var mark []byte
	if state := s.Status().State; state != Running {
		st.Ended = string(state)
	} else {
		st.Earlier, mark = h.findEarlier(t, numbered)
	}
	in := admit.Input{
		Bytes: t.Bytes, Digest: t.Digest, Version: t.Version, Secret: t.Secret, Force: t.Force, FromUser: t.FromUser, MustStartLine: t.MustStartLine,
	}
	if t.Encode != nil {
		in.Encode = func() []byte { return t.Encode(nil, s.view()) }
	}
	d := admit.Admit(&st, &in)
	if d.Verdict == admit.Duplicate {
		h.noteID(mark)
	}
	return d, st.Earlier.Pending
}

// findEarlier returns earlier input with the same id, and the mark to journal if it counts.
func (h *inputState) findEarlier(t *TypeRequest, numbered *inputqueue.NumberedInput) (e admit.Earlier, mark []byte) {
	if numbered != nil {
		var known bool
		if e.Pending, known = numbered.Lookup(); e.Pending != nil || known { // an older owner had no record of it either
			return e, nil
		}
	}
	e.First, e.Known, mark = h.dedup.Lookup(t.ID)
	return e, mark
}

// noteAdmitted records admitted input: as part of a line, as an answer to rules, and for the detection of its echo.
func (h *inputState) noteAdmitted(t *TypeRequest, d *admit.Decision, now time.Time) {
	s, data := h.s, d.Data
	if t.FromUser {
		h.partial.NoteTyped(data, now)
	} else if len(data) > 0 {
		h.partial.Clear()
	}
	if len(data) > 0 {
		h.lastByte = data[len(data)-1]
		s.clock.expectEcho()
	}
	h.countLine(data, d.Result.Echo)
	h.lineText.Type(data, t.Secret, s.Status().Shell.Phase == shell.PhaseRunning)
	h.lastInput = s.anchorAt(s.offset)
	if bytes.ContainsAny(data, "\r\n") {
		h.lineAuthor = t.By
		s.update(ChangeOutput, func(st *Status) { st.LastTyped = now })
	}
	s.lines.noteTypedInput(data, d.Result.Echo)
	if t.Secret {
		s.cfg.Vault.Learn(strings.TrimRight(string(data), "\r\n"))
	} else if !s.history.recorder.HasStreams() { // pipes echo nothing
		h.rememberTyped(data)
	}
	s.rules.onInput(data, t.Secret)
}

// send passes admitted input to the queue and journals it.
func (h *inputState) send(ctx context.Context, t *TypeRequest, d *admit.Decision, numbered *inputqueue.NumberedInput) (sent pendingInput, err error) {
	switch note := h.inputNote(t.ID, d.Result); {
	case numbered != nil:
		sent.pending, err = numbered.Add(ctx, h.queue, d.Data)
	case t.Secret && !t.Force:
		err = h.queue.AddNow(d.Data, note)
	default:
		sent.done, err = h.queue.AddNoted(ctx, d.Data, note)
	}
	kind, length := journal.InputTyped, len(d.Data)
	if t.Paste {
		kind = journal.InputPaste
	}
	if t.Secret {
		length = 0 // its length is not recorded either
	}
	h.s.history.recordInput(kind, length)
	if numbered == nil {
		h.noteID(h.dedup.Remember(t.ID, d.Result))
	}
	return sent, err
}
