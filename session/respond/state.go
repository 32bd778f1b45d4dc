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

// state is the engine's state without its rules. It holds no secret.
type state struct {
	Rules uint64 `json:"rules"` // fingerprint of the set
	Begun bool   `json:"begun"` // output was taken: the offsets mean something
	// Resume is the offset where the current line started, Seen the end of the processed output.
	Resume uint64 `json:"resume"`
	Seen   uint64 `json:"seen"`

	Began    time.Time `json:"began"`
	Now      time.Time `json:"now"`
	Done     bool      `json:"done,omitempty"`
	Exited   bool      `json:"exited,omitempty"`
	Echo     EchoState `json:"echo"`
	Cols     int       `json:"cols,omitempty"`
	Uses     []use     `json:"uses"`
	Turn     int       `json:"turn,omitempty"`
	Firings  int       `json:"firings,omitempty"`
	Queue    []job     `json:"queue,omitempty"`
	Dirty    bool      `json:"dirty,omitempty"`
	Changed  time.Time `json:"changed,omitzero"`
	LastRead time.Time `json:"last_read,omitzero"`

	Line  uint64                 `json:"line"`
	Cut   bool                   `json:"cut,omitempty"`
	Carry []byte                 `json:"carry,omitempty"`
	Read  []byte                 `json:"read,omitempty"`
	Rows  int                    `json:"rows,omitempty"`  // moves that the redraws have not got yet
	Moved bool                   `json:"moved,omitempty"` // absolute ones
	Typed []echodetect.TypedLine `json:"typed,omitempty"`
	Again []echodetect.TypedLine `json:"again,omitempty"`
	Drawn []drawn                `json:"drawn,omitempty"`
	Row   int                    `json:"row,omitempty"`
	Ended int                    `json:"ended,omitempty"` // lines

	Shown  []shown                `json:"shown,omitempty"`
	OnRows []echodetect.TypedLine `json:"on_rows,omitempty"`
	Places []place                `json:"places,omitempty"`
}

// State returns the engine's state without its rules, as JSON.
func (e *Engine) State() ([]byte, error) {
	return e.state(func(l *echodetect.TypedLine) bool { return !l.Secret })
}

// DurableState returns a State for the disk: of the input it has only what the terminal itself echoed. A program that
// reads raw may have got a password.
func (e *Engine) DurableState() ([]byte, error) {
	return e.state(func(l *echodetect.TypedLine) bool { return !l.Secret && l.Tty })
}

func (e *Engine) state(keep func(*echodetect.TypedLine) bool) ([]byte, error) {
	s := state{
		Rules: e.set.fingerprint(), Began: e.began, Now: e.now, Done: e.done, Exited: e.exited, Echo: e.echo,
		Cols: e.cols, Uses: e.uses, Turn: e.turn, Firings: e.firings, Queue: e.queue,
		Dirty: e.dirty, Changed: e.changed, LastRead: e.lastRead,
		Drawn: e.redraws.drawn, Row: e.redraws.row, Ended: e.redraws.line, Shown: e.screen.shown,
	}
	if t := e.text; t != nil {
		s.Begun, s.Resume, s.Seen = true, t.begin, t.end
		s.Line, s.Cut, s.Carry, s.Read = t.number, t.cut, t.carry, t.read
		for _, m := range t.moves.found {
			s.Rows += m.rows
			s.Moved = s.Moved || m.absolute
		}
	}
	for _, l := range e.echoes.Lines {
		if keep(&l) {
			s.Typed = append(s.Typed, l)
		}
	}
	for _, l := range e.echoes.Again {
		if keep(&l) {
			s.Again = append(s.Again, l)
		}
	}
	for i, l := range e.screen.echo.typedIn.Lines {
		if keep(&l) {
			s.OnRows = append(s.OnRows, l)
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

// Restore returns an engine that continues from a state. Feed it the output from resume on again, where its unfinished
// line started; answered prompts stay answered.
func Restore(set Set, data []byte) (e *Engine, resume uint64, err error) {
	if e, err = New(set); err != nil {
		return nil, 0, err
	}
	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrBadState, err)
	}
	if s.Rules != e.set.fingerprint() {
		return nil, 0, ErrOtherRules
	}
	if err := s.check(len(e.uses)); err != nil {
		return nil, 0, err
	}
	if s.Cut { // the start of such a long line is no longer available
		s.Resume, s.Carry, s.Read = s.Seen, nil, nil
	}
	e.restore(&s)
	return e, s.Resume, nil
}

// check returns an error for an invalid state: indices must be in range.
func (s *state) check(rules int) error {
	bad := len(s.Uses) != rules || s.Turn < 0 || s.Turn > rules || s.Resume > s.Seen || len(s.OnRows) != len(s.Places)
	for _, j := range s.Queue {
		bad = bad || j.Rule < 0 || j.Rule >= rules
	}
	for _, l := range slices.Concat(s.Typed, s.Again, s.OnRows) {
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

func (e *Engine) restore(s *state) {
	e.began, e.now, e.done, e.echo, e.cols = s.Began, s.Now, s.Done, s.Echo, s.Cols
	e.exited, e.turn, e.firings, e.queue = s.Exited, s.Turn, s.Firings, s.Queue
	e.dirty, e.changed, e.lastRead = s.Dirty, s.Changed, s.LastRead
	copy(e.uses, s.Uses)
	e.redraws = redraws{s.Drawn, s.Row, s.Ended}
	e.screen.shown = s.Shown
	e.echoes.Take(s.Typed)
	e.echoes.Again = s.Again
	e.screen.echo.typedIn.Take(s.OnRows)
	e.screen.echo.places = s.Places
	if !s.Begun {
		return
	}
	t := newText(s.Resume)
	t.number, t.cut, t.carry, t.read = s.Line, s.Cut, s.Carry, s.Read
	t.moves.skip = s.Seen
	if s.Moved || s.Rows != 0 {
		t.moves.found = append(t.moves.found, move{at: s.Resume, rows: s.Rows, absolute: s.Moved})
	}
	e.text, e.replay = t, s.Seen
}

// fingerprint returns a hash that distinguishes sets.
func (s *Set) fingerprint() uint64 {
	h := fnv.New64a()
	_ = json.NewEncoder(h).Encode(s) // plain data
	return h.Sum64()
}
