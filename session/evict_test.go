package session

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// endedSession returns a session over a mapped ring that printed something and ended.
func endedSession(t *testing.T, awake *EmulatorCache, output string) (*Session, *ring.Ring) {
	t.Helper()
	writer, file, err := ring.Create(ring.DefaultSize)
	if err != nil {
		t.Skip("needs shared memory: ", err)
	}
	reader, err := ring.Map(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = writer.Close(), file.Close() })
	dir := t.TempDir()
	j, _, err := journal.Open(dir+"/journal", journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeDevice{ring: writer, accept: -1, released: make(chan struct{})}
	s, err := New(Config{
		ID: "test", Dir: dir, Device: f, Ring: reader, Journal: j, EmulatorCache: awake,
		Options: vterm.Options{Cols: 80, Rows: 24}, Status: Status{State: Running, Cols: 80, Rows: 24},
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	s.Start()
	f.print(s, output)
	f.print(s, "the end")
	waitText(t, s, "the end")
	s.Exited(Exit{}, writer.Head())
	s.Closed()
	select {
	case <-f.released:
	case <-testContext(t).Done():
		t.Fatal("the keeper was not asked to release it")
	}
	return s, reader
}

// fullText returns everything that a session shows: scrollback, screen, cursor.
func fullText(t *testing.T, s *Session) string {
	t.Helper()
	var b strings.Builder
	if err := s.WithScreen(testContext(t), func(v View) {
		h := v.Engine.History()
		fmt.Fprintln(&b, h.Len(), h.FirstID(), v.Offset)
		b.WriteString(screenState(v.Engine))
	}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// hasEngine reports whether the session's emulator is in memory. The query restores none.
func hasEngine(t *testing.T, s *Session) bool {
	t.Helper()
	has := make(chan bool, 1)
	s.postRaw(func() { has <- s.engine != nil })
	select {
	case b := <-has:
		return b
	case <-testContext(t).Done():
		t.Fatal("no answer of the owner")
		return false
	}
}

// TestEmulatorCache_EvictsLeastRecent checks that only the most recently shown ended sessions have emulators in memory,
// that others are restored with the same screen, and that their rings are unmapped.
//
// FAULT: A20, A6
func TestEmulatorCache_EvictsLeastRecent(t *testing.T) {
	const most, sessions = 2, 7
	awake := NewEmulatorCache(most)
	var all []*Session
	var before []string
	for i := range sessions {
		s, r := endedSession(t, awake, strings.Repeat(fmt.Sprintf("\x1b[3%dmline of %d\x1b[m\r\n", i, i), 1000))
		if r.Cap() != 0 {
			t.Errorf("ring still mapped: %d bytes", r.Cap())
		}
		all, before = append(all, s), append(before, fullText(t, s))
	}
	resting := func(want int) {
		t.Helper()
		for ctx := testContext(t); ; {
			n := 0
			for _, s := range all {
				if !hasEngine(t, s) {
					n++
				}
			}
			if n == want {
				return
			}
			if ctx.Err() != nil {
				t.Fatalf("%d sessions evicted, want %d", n, want)
			}
		}
	}
	resting(sessions - most)
	for i, s := range all {
		if got := fullText(t, s); got != before[i] {
			t.Errorf("session %d: got\n%s\nwant\n%s", i, got, before[i])
		}
		buf := make([]byte, 20)
		if c, err := s.Output(5, buf); err != nil || string(c.Data[:7]) != "line of" {
			t.Errorf("output %q, %v", c.Data, err)
		}
		if w, err := s.Wait(testContext(t), WaitSpec{Conds: []Cond{{Kind: CondText, Text: "the end"}}, Since: new(uint64)}); err != nil || len(w.Fired) != 1 {
			t.Errorf("wait: %+v, %v", w, err)
		}
	}
	resting(sessions - most)
	for i, s := range all { // evicted sessions too must end in a state that their next owners can continue
		s.Stop()
		if why := s.Status().Quarantine; why != "" {
			t.Errorf("session %d: quarantined: %s", i, why)
		}
	}
}
