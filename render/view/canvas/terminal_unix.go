//go:build unix

package canvas

import (
	"fmt"
	"os"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/theme"
)

// newScreen returns a screen on this process's terminal; tell gets its background.
func newScreen(open func() (tcell.Tty, error), tell func(theme.Background)) (tcell.Screen, error) {
	if open == nil {
		open = tcell.NewDevTty
	}
	tty, err := open()
	if err != nil {
		return nil, err
	}
	heard := &terminalTap{Tty: tty, onBackground: tell}
	charset := charsetOf(os.Getenv)
	heard.typed = typedText{decode: useCharset(charset), eager: !isUTF8(charset)}
	if name := betterName(os.Getenv); name != "" {
		if described, err := tcell.LookupTerminfo(name); err == nil {
			heard.screen, err = tcell.NewTerminfoScreenFromTtyTerminfo(heard, described)
			return heard.screen, err
		}
	}
	heard.screen, err = tcell.NewTerminfoScreenFromTty(heard)
	return heard.screen, err
}

// xterm256 is the first xterm patch that has 256 colours by default.
const xterm256 = 331

// betterName returns a TERM value for a terminal that has more colours than its own TERM implies, or "" to keep it.
// xterm's default TERM of xterm implies eight colours.
func betterName(env func(string) string) string {
	patch := 0
	if _, err := fmt.Sscanf(env("XTERM_VERSION"), "XTerm(%d)", &patch); err == nil && patch >= xterm256 && env("TERM") == "xterm" {
		return "xterm-256color"
	}
	return ""
}
