//go:build unix

package canvas

import (
	"fmt"
	"os"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/theme"
)

// newScreen is this process's terminal, which says by tell what its background is.
func newScreen(open func() (tcell.Tty, error), tell func(theme.Ground)) (tcell.Screen, error) {
	if open == nil {
		open = tcell.NewDevTty
	}
	tty, err := open()
	if err != nil {
		return nil, err
	}
	heard := &hearing{Tty: tty, tell: tell}
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

// xterm256 is the first patch of xterm that has 256 colours unless it is built otherwise.
const xterm256 = 331

// betterName is what a terminal should be called that says less of itself than it can; empty: what it says is right. xterm
// calls itself xterm, by which others have eight colours.
func betterName(env func(string) string) string {
	patch := 0
	if _, err := fmt.Sscanf(env("XTERM_VERSION"), "XTerm(%d)", &patch); err == nil && patch >= xterm256 && env("TERM") == "xterm" {
		return "xterm-256color"
	}
	return ""
}
