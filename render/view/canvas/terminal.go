package canvas

import (
	"fmt"
	"os"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/theme"
)

// Terminal is a screen, or this process's terminal when it is nil, which is opened by open, or as usual when that is nil. What
// it says of its background is told from a goroutine of the screen's.
func Terminal(screen tcell.Screen, open func() (tcell.Tty, error), tell func(theme.Ground)) (tcell.Screen, error) {
	if screen != nil {
		return screen, nil
	}
	s, err := newScreen(open, tell)
	if err != nil {
		return nil, fmt.Errorf("the terminal: %w", err)
	}
	for r, text := range lookalikes() {
		s.RegisterRuneFallback(r, text)
	}
	return s, nil
}

// lookalikes are drawn on a terminal without UTF-8 for characters that programs print often, instead of a question mark; the
// screen has those of lines and of borders by itself.
func lookalikes() map[rune]string {
	return map[rune]string{
		'▀': "#", '▄': "#", '▌': "#", '▐': "#", '█': "#", '▓': "#", '■': "#", '●': "*", '•': "*", '·': ".", '…': "~", '‘': "'", '’': "'", '‚': ",",
		'“': "\"", '”': "\"", '„': "\"", '«': "<", '»': ">", '‹': "<", '›': ">", '–': "-", '—': "-", '−': "-", '‐': "-", '‑': "-", '\u00a0': " ",
		'✓': "+", '✔': "+", '✗': "x", '✘': "x", '✖': "x", '×': "x", '❯': ">", '➜': ">", '▶': ">", '►': ">", '▸': ">", '╭': "+", '╮': "+", '╰': "+", '╯': "+",
		'═': "=", '║': "|", '╔': "+", '╗': "+", '╚': "+", '╝': "+", '━': "-", '┃': "|", '┏': "+", '┓': "+", '┗': "+", '┛': "+", '╌': "-",
	}
}

// NoColor reports whether the environment asks for attributes only (no-color.org).
func NoColor() bool { return os.Getenv("NO_COLOR") != "" }
