package canvas

import (
	"fmt"
	"os"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/theme"
)

// Terminal returns screen, or if that is nil a screen on this process's terminal, opened by open (nil: the default).
// tell receives the terminal's background on a goroutine of the screen.
func Terminal(screen tcell.Screen, open func() (tcell.Tty, error), tell func(theme.Background)) (tcell.Screen, error) {
	if screen != nil {
		return screen, nil
	}
	s, err := newScreen(open, tell)
	if err != nil {
		return nil, fmt.Errorf("terminal: %w", err)
	}
	for r, text := range lookalikes() {
		s.RegisterRuneFallback(r, text)
	}
	return s, nil
}

// lookalikes returns replacements of common characters for terminals without UTF-8. The screen itself replaces lines
// and borders.
func lookalikes() map[rune]string {
	return map[rune]string{
		'▀': "#", '▄': "#", '▌': "#", '▐': "#", '█': "#", '▓': "#", '■': "#", '●': "*", '•': "*", '·': ".", '…': "~", '‘': "'", '’': "'", '‚': ",",
		'“': "\"", '”': "\"", '„': "\"", '«': "<", '»': ">", '‹': "<", '›': ">", '–': "-", '—': "-", '−': "-", '‐': "-", '‑': "-", '\u00a0': " ",
		'✓': "+", '✔': "+", '✗': "x", '✘': "x", '✖': "x", '×': "x", '❯': ">", '➜': ">", '▶': ">", '►': ">", '▸': ">", '╭': "+", '╮': "+", '╰': "+", '╯': "+",
		'═': "=", '║': "|", '╔': "+", '╗': "+", '╚': "+", '╝': "+", '━': "-", '┃': "|", '┏': "+", '┓': "+", '┗': "+", '┛': "+", '╌': "-",
	}
}

// NoColor reports whether NO_COLOR is set (no-color.org).
func NoColor() bool { return os.Getenv("NO_COLOR") != "" }
