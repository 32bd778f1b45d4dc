// Package screentest has terminals for tests of what the viewer draws: tcell's simulation (screen.go), whose rows can be
// looked at from another goroutine, and which counts what is drawn; and our own emulator (emulated.go), behind what tcell
// sends a real one.
package screentest

import (
	"strings"
	"sync"
	"testing"

	"github.com/gdamore/tcell/v2"
)

// Screen is the terminal. Its rows are those of the last Show.
type Screen struct {
	tcell.SimulationScreen
	Few   bool // it has 256 colours
	mu    sync.Mutex
	puts  int
	shows int
	finis int
	style tcell.CursorStyle
	rows  []string
	// screen is held while the screen is shown or taken away: the simulation does not look after that.
	screen sync.Mutex
}

// New is a terminal that has yet to be started, as the viewer does.
func New() *Screen { return &Screen{SimulationScreen: tcell.NewSimulationScreen("UTF-8")} }

// Started is a terminal of a size, in cells.
func Started(t testing.TB, cols, rows int) *Screen {
	t.Helper()
	s := New()
	if err := s.Init(); err != nil {
		t.Fatal(err)
	}
	s.SetSize(cols, rows)
	return s
}

// Vanish takes the terminal away under the viewer.
func (s *Screen) Vanish() {
	s.screen.Lock()
	defer s.screen.Unlock()
	s.SimulationScreen.Fini()
}

// Colors is how many colours it has.
func (s *Screen) Colors() int {
	if s.Few {
		return 256
	}
	return 1 << 24
}

// Put counts what is drawn.
func (s *Screen) Put(x, y int, text string, st tcell.Style) (string, int) {
	s.mu.Lock()
	s.puts++
	s.mu.Unlock()
	return s.SimulationScreen.Put(x, y, text, st)
}

// Show keeps the rows that are shown.
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

// SetCursorStyle keeps the cursor's style.
func (s *Screen) SetCursorStyle(st tcell.CursorStyle, colors ...tcell.Color) {
	s.style = st
	s.SimulationScreen.SetCursorStyle(st, colors...)
}

// Style is the cursor's style.
func (s *Screen) Style() tcell.CursorStyle { return s.style }

// Fini counts how often the terminal was given back.
func (s *Screen) Fini() {
	s.mu.Lock()
	s.finis++
	s.mu.Unlock()
	s.SimulationScreen.Fini()
}

// GivenBack reports whether the terminal was given back.
func (s *Screen) GivenBack() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.finis > 0
}

// Text is what is shown, a line a row, without blanks at the ends.
func (s *Screen) Text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.rows, "\n")
}

// Row is a row of what is shown.
func (s *Screen) Row(y int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rows[y]
}

// Drawn is how many characters were put and how often the screen was shown since the last
// call.
func (s *Screen) Drawn() (puts, shows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	puts, shows = s.puts, s.shows
	s.puts, s.shows = 0, 0
	return puts, shows
}
