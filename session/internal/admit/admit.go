package admit

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/internal/inputqueue"
	"github.com/longterm-dev/longterm/session/respond"
)

// Errors of rejected input, besides those of package inputqueue.
var (
	// ErrStale is returned for input that is meant for another version of the screen.
	ErrStale = errors.New("the screen has changed")
	// ErrPartialLine is returned for input that must start a line while the program has a partial line.
	ErrPartialLine = errors.New("a line is half typed there")
)

// Input is a caller's input.
type Input struct {
	Bytes  []byte
	Encode func() []byte // returns bytes for the terminal's modes, to type before Bytes; may be nil
	Digest uint64        // of the input, to compare requests with the same id; 0: unknown
	// Version is the version that the screen must have; 0: any.
	Version       uint64
	Secret        bool // it must not be echoed
	Force         bool // typed also where a secret is echoed or the user has a partial line
	FromUser      bool // it comes from a user's keyboard
	MustStartLine bool // it must start a line, as an answer does
}

// State holds what the owner knows when input arrives.
type State struct {
	Ended     string                  // state of a session that does not run, or ""
	Earlier   Earlier                 // state that belongs to the request's id
	Now       time.Time               // time at which the input arrived
	Offset    uint64                  // of the output that the emulator has seen
	Version   uint64                  // of the screen now
	EditsLine bool                    // the program keeps a line while it is edited, as shells do at their prompts
	Pipes     bool                    // the program runs on pipes, which echo nothing
	Text      *LineText               // line typed since the last line end
	Partial   *inputqueue.PartialLine // the user's unfinished line
	Length    inputqueue.LineLength   // bytes of the line that the terminal holds
	Terminal  Terminal                // facts that cost a system call
}

// Earlier is the state of earlier input with the request's id.
type Earlier struct {
	Pending *inputqueue.Pending // the same input is being typed, or was typed
	Known   bool                // input with the id was typed, with the result First
	First   inputqueue.TypeResult
}

// Terminal returns facts that cost a system call or a copy of the screen.
type Terminal interface {
	// Echo returns what echoes input now.
	Echo() respond.EchoState
	// IsCanonical reports whether the terminal is in line mode.
	IsCanonical() bool
	// HasUnreadInput reports whether earlier input may still be unread.
	HasUnreadInput() bool
	// CursorLine returns the text before the cursor without a partial line. partial reports whether one was removed.
	CursorLine() (line string, partial bool)
	// Prompt returns the words of the prompt that the program waits at, or "".
	Prompt() string
}

// Verdict is the kind of a decision.
type Verdict uint8

// Verdicts; the comment names the fields of Decision in use.
const (
	Reject    Verdict = iota // Err, Result.Echo
	Accept                   // Data, Result
	Duplicate                // Result: the input was typed before
	Await                    // Result: the input is being typed, wait for Earlier.Pending
	Skip                     // Result: the terminal's modes leave nothing to type
)

// Decision is the answer to a caller's input.
type Decision struct {
	Verdict Verdict
	Err     error
	Data    []byte // to type
	Result  inputqueue.TypeResult
}

// Admit decides about input. The first rule that applies counts. After ErrUnreadInput and ErrMayEcho the caller may retry soon.
func Admit(st *State, in *Input) Decision {
	if st.Ended != "" {
		return Decision{Err: fmt.Errorf("%w (%s)", inputqueue.ErrEnded, st.Ended)}
	}
	result := inputqueue.TypeResult{Cursor: st.Offset}
	switch e := &st.Earlier; {
	case e.Pending != nil:
		return Decision{Verdict: Await, Result: result}
	case e.Known && !e.First.Matches(in.Digest):
		return Decision{Err: inputqueue.ErrIDReused}
	case e.Known:
		result = e.First
		result.Duplicate = true
		return Decision{Verdict: Duplicate, Result: result}
	}
	if in.Version != 0 && in.Version != st.Version {
		return Decision{Err: fmt.Errorf("%w: it is at version %d, not %d", ErrStale, st.Version, in.Version)}
	}
	result.Echo = st.Terminal.Echo()
	rejected := inputqueue.TypeResult{Echo: result.Echo}
	if in.Secret && !in.Force {
		if err := admitSecret(result.Echo, st.Terminal); err != nil {
			return Decision{Err: err, Result: rejected}
		}
	}
	result.Digest = in.Digest
	data := in.Bytes
	if in.Encode != nil {
		if data = append(in.Encode(), in.Bytes...); len(data) == 0 { // for example a focus event that the program does not want
			return Decision{Verdict: Skip, Result: result}
		}
	}
	if err := admitLine(st, in, data, result.Echo); err != nil {
		return Decision{Err: err, Result: rejected}
	}
	return Decision{Verdict: Accept, Data: data, Result: result}
}

// admitSecret rejects a secret that is echoed, or may be.
func admitSecret(echo respond.EchoState, t Terminal) error {
	switch {
	case echo == respond.EchoApp:
		return inputqueue.ErrMayEcho
	case echo != respond.EchoOff:
		return inputqueue.ErrEcho
	case t.HasUnreadInput():
		return inputqueue.ErrUnreadInput
	}
	return nil
}

// admitLine rejects input that is too long for the terminal's line, or that would be added to another author's partial line.
func admitLine(st *State, in *Input, data []byte, echo respond.EchoState) error {
	if !in.FromUser {
		if err := CheckLength(st.Length, data, st.Terminal); err != nil {
			return err
		}
	}
	if in.MustStartLine {
		if st.hasPartialLine(echo) {
			return ErrPartialLine
		}
		return nil
	}
	if !in.FromUser && !in.Force && st.Partial.IsUnfinished(st.Now, st.EditsLine) {
		return inputqueue.ErrUserTyping
	}
	return nil
}

// CheckLength returns inputqueue.ErrLongLine if the terminal is in line mode and would cut a line of data.
func CheckLength(l inputqueue.LineLength, data []byte, t Terminal) error {
	if err := l.Check(data); err != nil && t.IsCanonical() {
		return err
	}
	return nil
}

// hasPartialLine reports whether a line is typed in part and the program will read it. A program that reads single keys does not
// leave them for its next line. So the keys' text must be visible before the cursor, if input is echoed.
func (st *State) hasPartialLine(echo respond.EchoState) bool {
	empty := st.Text.IsEmpty()
	if empty && !st.Text.Inherited || st.Pipes {
		return false
	}
	line, shown := st.Terminal.CursorLine()
	line = strings.TrimSpace(line)
	prompt := st.Terminal.Prompt()
	switch {
	case empty: // only the screen shows whether a line is unfinished
		_, after, found := strings.Cut(line, prompt)
		return found && prompt != "" && after != ""
	case shown, echo == respond.EchoOff:
		return true
	}
	return st.Text.Text() == "" && line != "" && (prompt == "" || !strings.HasSuffix(line, prompt))
}
