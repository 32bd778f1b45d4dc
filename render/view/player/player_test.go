package player

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/internal/screentest"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// tape is a recording of one line a second.
type tape []string

func (r tape) Span() (start, end time.Time) {
	return epoch, epoch.Add(time.Duration(len(r)-1) * time.Second)
}

// Open starts with the earlier output, as a session does.
func (r tape) Open(_ context.Context, at time.Time) (Steps, error) {
	first := Step{At: at, Clear: true, Cols: 20, Rows: 8}
	for i, s := range r {
		when := epoch.Add(time.Duration(i) * time.Second)
		if !when.Before(at) {
			return &reel{[]Step{first}, r[i:], when}, nil
		}
		first.Data = append(first.Data, s+"\r\n"...)
	}
	return &reel{steps: []Step{first}}, nil
}

type reel struct {
	steps []Step
	rest  []string
	at    time.Time
}

func (r *reel) Next() (Step, error) {
	switch {
	case len(r.steps) > 0:
		s := r.steps[0]
		r.steps = nil
		return s, nil
	case len(r.rest) == 0:
		return Step{}, io.EOF
	}
	s := Step{At: r.at, Data: []byte(r.rest[0] + "\r\n")}
	r.rest, r.at = r.rest[1:], r.at.Add(time.Second)
	return s, nil
}
func (r *reel) Close() error { return nil }

// playing is a player with a running loop.
type playing struct {
	t     *testing.T
	term  *screentest.Screen
	done  chan error
	clock chan time.Time
	now   time.Time
}

func play(t *testing.T, rec Recording, o Options) *playing {
	p := &playing{t: t, done: make(chan error, 1), clock: make(chan time.Time), now: epoch}
	p.term = screentest.New()
	o.Screen, o.Clock = p.term, p.clock
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go func() { p.done <- Play(ctx, rec, o) }()
	return p
}

// until lets time pass, in steps, until something is shown.
func (p *playing) until(step time.Duration, shown func(string) bool) {
	p.t.Helper()
	for turns := 0; !shown(p.term.Text()); turns++ {
		if turns == 5_000 {
			p.t.Fatalf("not shown:\n%s", p.term.Text())
		}
		p.now = p.now.Add(step)
		select {
		case p.clock <- p.now:
		case err := <-p.done:
			p.t.Fatalf("the player has ended: %v", err)
		}
	}
}

func (p *playing) key(k tcell.Key, r rune, m tcell.ModMask) { p.term.InjectKey(k, r, m) }

// ended waits for Play and checks that the terminal was given back.
func (p *playing) ended() error {
	p.t.Helper()
	err := <-p.done
	if !p.term.Released() {
		p.t.Error("the terminal was not given back")
	}
	return err
}

func has(text string) func(string) bool {
	return func(s string) bool { return strings.Contains(s, text) }
}

// FEATURES: R38
func TestPlay(t *testing.T) {
	p := play(t, tape{"one", "two", "three", "four", "five"}, Options{Title: "demo"})
	p.until(0, has("one"))
	if s := p.term.Text(); strings.Contains(s, "two") || !strings.Contains(s, "demo") {
		t.Errorf("at the start:\n%s", s)
	}
	p.until(100*time.Millisecond, has("three"))
	if s := p.term.Text(); strings.Contains(s, "four") {
		t.Errorf("after 2 s:\n%s", s)
	}
	p.key(tcell.KeyRune, ' ', 0)
	p.until(0, has("║"))
	p.until(time.Minute, func(s string) bool { return !strings.Contains(s, "four") }) // time stops
	p.key(tcell.KeyRune, '.', 0)
	p.until(time.Minute, has("four"))
	p.key(tcell.KeyHome, 0, 0)
	p.until(0, func(s string) bool { return strings.Contains(s, "one") && !strings.Contains(s, "two") })
	for _, r := range "/five" {
		p.key(tcell.KeyRune, r, 0)
	}
	p.until(0, has("find: five"))
	p.key(tcell.KeyEnter, 0, 0)
	p.until(0, func(s string) bool { return strings.Contains(s, "five") && !strings.Contains(s, "find") })
	p.key(tcell.KeyRune, 'n', 0)
	p.until(0, has("not found from here: five"))
	p.key(tcell.KeyRune, '+', 0)
	p.until(0, has("×2"))
	p.key(tcell.KeyRune, 'q', 0)
	if err := p.ended(); err != nil {
		t.Error(err)
	}
}

// TestPlayImages checks that images of a recording are shown as blocks, and that text over them replaces them.
//
// FEATURES: R38
func TestPlayImages(t *testing.T) {
	sixel := "\x1bPq\"1;1;40;36#0;2;100;0;0" + strings.Repeat("#0!40~-", 6) + "\x1b\\"
	p := play(t, tape{"before", sixel, "\x1b[2J\x1b[Hafter"}, Options{})
	p.until(0, has("before"))
	p.until(100*time.Millisecond, has("▀▀"))
	p.until(100*time.Millisecond, func(s string) bool { return strings.Contains(s, "after") && !strings.Contains(s, "▀") })
	p.key(tcell.KeyRune, 'q', 0)
	if err := p.ended(); err != nil {
		t.Error(err)
	}
}

func TestPlayIdleLimit(t *testing.T) {
	p := play(t, tape{"one", "two", "three"}, Options{IdleLimit: 10 * time.Millisecond})
	p.until(0, has("one"))
	begin := p.now
	p.until(10*time.Millisecond, has("three"))
	if took := p.now.Sub(begin); took > 500*time.Millisecond {
		t.Errorf("two pauses of a second took %v", took)
	}
	p.key(tcell.KeyRune, 'q', 0)
	_ = p.ended()
}

// broken fails after a step.
type broken struct{ tape }

func (b broken) Open(ctx context.Context, at time.Time) (Steps, error) {
	s, err := b.tape.Open(ctx, at)
	return brokenSteps{s, new(int)}, err
}

type brokenSteps struct {
	Steps
	n *int
}

func (b brokenSteps) Next() (Step, error) {
	if *b.n++; *b.n > 2 {
		return Step{}, errors.New("the daemon went away")
	}
	return b.Steps.Next()
}

func TestPlay_ReportsErrors(t *testing.T) {
	p := play(t, broken{tape{"one", "two", "three"}}, Options{})
	p.until(100*time.Millisecond, has("the daemon went away"))
	p.key(tcell.KeyEscape, 0, 0)
	if err := p.ended(); err != nil {
		t.Error(err)
	}
}

// TestBarOfANarrowTerminal checks that parts of the bar that do not fit are omitted as a whole, the keys by their
// importance.
func TestBarOfANarrowTerminal(t *testing.T) {
	for w, want := range map[int]string{
		120: " ║ 0:00 / 0:02  ×1  a title  2026-01-02 03:04:05     Space play · ←→ 5 s · ↑↓ 1 min · q quit · . step · / find · n next ",
		66:  " ║ 0:00 / 0:02  ×1  a title  2026-01-02 03:04:05       Space play ",
		40:  " ║ 0:00 / 0:02  ×1  a title  Space play ",
		25:  " ║ 0:00 / 0:02  ×1       ",
		12:  "            ",
	} {
		screen := screentest.Started(t, w, 5)
		start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
		p := &player{canvas: canvas.New(screen, true), o: Options{Speed: 1, Title: "a title"}, start: start, at: start, end: start.Add(2 * time.Second), paused: true}
		p.drawBar(w, 5)
		p.canvas.Show()
		rows := strings.Split(screen.Text(), "\n")
		if got := strings.TrimRight(rows[4], " "); got != strings.TrimRight(want, " ") {
			t.Errorf("%d columns: %q", w, got)
		}
	}
}
