package respond

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/internal/echodetect"
)

// savedState is the engine's state without its rules. It holds no secret.
type savedState struct {
	Rules     uint64 `json:"rules"` // fingerprint of the set
	HasOutput bool   `json:"begun"` // output was processed: the offsets are valid
	// Resume is the offset at which the current line started, End the end of the processed output.
	Resume uint64 `json:"resume"`
	End    uint64 `json:"seen"`

	Started     time.Time    `json:"began"`
	Now         time.Time    `json:"now"`
	Done        bool         `json:"done,omitempty"`
	Exited      bool         `json:"exited,omitempty"`
	Echo        EchoState    `json:"echo"`
	Cols        int          `json:"cols,omitempty"`
	RuleStates  []ruleState  `json:"uses"`
	NextOrdered int          `json:"turn,omitempty"`
	Matches     int          `json:"firings,omitempty"`
	Queue       []replyQueue `json:"queue,omitempty"`
	Dirty       bool         `json:"dirty,omitempty"`
	FirstChange time.Time    `json:"changed,omitzero"`
	LastChange  time.Time    `json:"last_read,omitzero"`

	LineNumber   uint64                 `json:"line"`
	StartDropped bool                   `json:"cut,omitempty"`
	Carry        []byte                 `json:"carry,omitempty"`
	Answered     []byte                 `json:"read,omitempty"`
	PendingRows  int                    `json:"rows,omitempty"`  // cursor movement not yet applied to the redraw tracker
	PendingMove  bool                   `json:"moved,omitempty"` // and whether it was absolute
	Typed        []echodetect.TypedLine `json:"typed,omitempty"`
	TypedAhead   []echodetect.TypedLine `json:"again,omitempty"`
	Prompts      []answeredPrompt       `json:"drawn,omitempty"`
	Row          int                    `json:"row,omitempty"`
	EndedLines   int                    `json:"ended,omitempty"`

	ScreenMatches []screenMatch          `json:"shown,omitempty"`
	ScreenTyped   []echodetect.TypedLine `json:"on_rows,omitempty"`
	Places        []echoPlace            `json:"places,omitempty"`
}

// State returns the engine's state without its rules, as JSON.
func (e *Engine) State() ([]byte, error) {
	return e.marshalState(func(l *echodetect.TypedLine) bool { return !l.Secret })
}

// DurableState returns the state for the disk. Of the input it has only what the terminal itself echoed: a program that
// reads raw input may have read a password.
func (e *Engine) DurableState() ([]byte, error) {
	return e.marshalState(func(l *echodetect.TypedLine) bool { return !l.Secret && l.Tty })
}

// marshalState returns the state as JSON, with the typed lines for which keep returns true.
func (e *Engine) marshalState(keep func(*echodetect.TypedLine) bool) ([]byte, error) {
	s := savedState{
		Rules: e.set.fingerprint(), Started: e.started, Now: e.now, Done: e.done, Exited: e.exited, Echo: e.echo,
		Cols: e.cols, RuleStates: e.ruleStates, NextOrdered: e.nextOrdered, Matches: e.matches, Queue: e.queue,
		Dirty: e.dirty, FirstChange: e.firstChange, LastChange: e.lastChange,
		Prompts: e.redraws.prompts, Row: e.redraws.row, EndedLines: e.redraws.endedLines, ScreenMatches: e.screen.answered,
	}
	if t := e.text; t != nil {
		s.HasOutput, s.Resume, s.End = true, t.begin, t.end
		s.LineNumber, s.StartDropped, s.Carry, s.Answered = t.lineNumber, t.startDropped, t.carry, t.answered
		for _, m := range t.moves.pending {
			s.PendingRows += m.rows
			s.PendingMove = s.PendingMove || m.absolute
		}
	}
	for _, l := range e.echoes.Lines {
		if keep(&l) {
			s.Typed = append(s.Typed, l)
		}
	}
	for _, l := range e.echoes.TypeAhead {
		if keep(&l) {
			s.TypedAhead = append(s.TypedAhead, l)
		}
	}
	for i, l := range e.screen.echo.finder.Lines {
		if keep(&l) {
			s.ScreenTyped = append(s.ScreenTyped, l)
			s.Places = append(s.Places, e.screen.echo.places[i])
		}
	}
	return json.Marshal(&s)
}

// Errors of Restore.
var (
	ErrOtherRules = errors.New("the state belongs to other rules")
	ErrBadState   = errors.New("not a responder's state")
)

// Restore returns an engine that continues from a saved state. The caller passes it the output from offset resume on
// again, where the unfinished line started. Answered prompts stay answered.
func Restore(set Set, data []byte) (e *Engine, resume uint64, err error) {
	if e, err = New(set); err != nil {
		return nil, 0, err
	}
	var s savedState
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrBadState, err)
	}
	if s.Rules != e.set.fingerprint() {
		return nil, 0, ErrOtherRules
	}
	if err := s.validate(len(e.ruleStates)); err != nil {
		return nil, 0, err
	}
	if s.StartDropped { // the start of such a long line is no longer available
		s.Resume, s.Carry, s.Answered = s.End, nil, nil
	}
	e.restore(&s)
	return e, s.Resume, nil
}

// validate returns an error for an invalid state: indices must be in range.
func (s *savedState) validate(rules int) error {
	bad := len(s.RuleStates) != rules || s.NextOrdered < 0 || s.NextOrdered > rules || s.Resume > s.End || len(s.ScreenTyped) != len(s.Places)
	for _, j := range s.Queue {
		bad = bad || j.Rule < 0 || j.Rule >= rules
	}
	for _, l := range slices.Concat(s.Typed, s.TypedAhead, s.ScreenTyped) {
		bad = bad || len(l.Parts) == 0 || l.At < 0
	}
	for _, p := range s.Places {
		bad = bad || p.Col < 0
	}
	if bad {
		return ErrBadState
	}
	return nil
}

// restore sets the engine's fields from a valid state.
func (e *Engine) restore(s *savedState) {
	e.started, e.now, e.done, e.echo, e.cols = s.Started, s.Now, s.Done, s.Echo, s.Cols
	e.exited, e.nextOrdered, e.matches, e.queue = s.Exited, s.NextOrdered, s.Matches, s.Queue
	e.dirty, e.firstChange, e.lastChange = s.Dirty, s.FirstChange, s.LastChange
	copy(e.ruleStates, s.RuleStates)
	e.redraws = redrawTracker{s.Prompts, s.Row, s.EndedLines}
	e.screen.answered = s.ScreenMatches
	e.echoes.Restore(s.Typed)
	e.echoes.TypeAhead = s.TypedAhead
	e.screen.echo.finder.Restore(s.ScreenTyped)
	e.screen.echo.places = s.Places
	if !s.HasOutput {
		return
	}
	t := newLineText(s.Resume)
	t.lineNumber, t.startDropped, t.carry, t.answered = s.LineNumber, s.StartDropped, s.Carry, s.Answered
	t.moves.reportFrom = s.End
	if s.PendingMove || s.PendingRows != 0 {
		t.moves.pending = append(t.moves.pending, cursorMove{offset: s.Resume, rows: s.PendingRows, absolute: s.PendingMove})
	}
	e.text, e.restoredEnd = t, s.End
}

// fingerprint returns a hash that distinguishes sets.
func (s *Set) fingerprint() uint64 {
	h := fnv.New64a()
	_ = json.NewEncoder(h).Encode(s) // plain data
	return h.Sum64()
}
