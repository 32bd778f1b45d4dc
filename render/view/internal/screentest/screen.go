// Package screentest holds terminals for tests of the viewer's drawing: tcell's simulation (screen.go), whose rows
// other goroutines may read, and which counts drawn characters; and longterm's own emulator (emulated.go), which
// receives the bytes that tcell sends to a real terminal.
package screentest

import (
	"strings"
	"sync"
	"testing"

	"github.com/gdamore/tcell/v2"
)

// Screen is a simulated terminal. Its rows are those of the last Show.
type Screen struct {
	tcell.SimulationScreen
	FewColors bool // the terminal has only 256 colours
	mu        sync.Mutex
	puts      int
	shows     int
	finis     int
	style     tcell.CursorStyle
	rows      []string
	// screen is held while the screen is shown or removed: the simulation does not check that itself.
	screen sync.Mutex
}

// New returns a terminal that is not started; the viewer starts it.
func New() *Screen { return &Screen{SimulationScreen: tcell.NewSimulationScreen("UTF-8")} }

// Started returns a started terminal of a size, in cells.
func Started(t testing.TB, cols, rows int) *Screen {
	t.Helper()
	s := New()
	if err := s.Init(); err != nil {
		t.Fatal(err)
	}
	s.SetSize(cols, rows)
	return s
}

// Vanish removes the terminal while the viewer runs.
func (s *Screen) Vanish() {
	s.screen.Lock()
	defer s.screen.Unlock()
	s.SimulationScreen.Fini()
}

// Colors returns the number of colours.
func (s *Screen) Colors() int {
	if s.FewColors {
		return 256
	}
	return 1 << 24
}

// Put counts drawn characters.
func (s *Screen) Put(x, y int, text string, st tcell.Style) (string, int) {
	s.mu.Lock()
	s.puts++
	s.mu.Unlock()
	return s.SimulationScreen.Put(x, y, text, st)
}

// Show stores the shown rows.
func (s *Screen) Show() {
	s.screen.Lock()
	s.SimulationScreen.Show()
	s.screen.Unlock()
	w, h := s.Size()
	rows := make([]string, h)
	for y := range rows {
		var b strings.Builder
		for x := 0; x < w; x++ {
			text, _, width := s.Get(x, y)
			b.WriteString(text)
			x += width - 1
		}
		rows[y] = strings.TrimRight(b.String(), " ")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = rows
	s.shows++
}

// SetCursorStyle stores the cursor's style.
func (s *Screen) SetCursorStyle(st tcell.CursorStyle, colors ...tcell.Color) {
	s.style = st
	s.SimulationScreen.SetCursorStyle(st, colors...)
}

// Style returns the cursor's style.
func (s *Screen) Style() tcell.CursorStyle { return s.style }

// Fini counts how often the terminal was released.
func (s *Screen) Fini() {
	s.mu.Lock()
	s.finis++
	s.mu.Unlock()
	s.SimulationScreen.Fini()
}

// Released reports whether the terminal was released.
func (s *Screen) Released() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.finis > 0
}

// Text returns the shown text, a line per row, without trailing blanks.
func (s *Screen) Text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.rows, "\n")
}

// Row returns a row of the shown text.
func (s *Screen) Row(y int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rows[y]
}

// Drawn returns how many characters were put and how often the screen was shown since the last call.
func (s *Screen) Drawn() (puts, shows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	puts, shows = s.puts, s.shows
	s.puts, s.shows = 0, 0
	return puts, shows
}
