// Package bench measures longterm on the machine it runs on and checks what cannot be checked quickly: sessions
// beside tmux, emulators, the viewer, dialogues beside pexpect and expect, a corpus of commands in living shells
// (corpus/), the daemon killed again and again, everything for hours. Each bench is a command of its own, with an
// instance of its own (sessionBench) that is ended and removed with it.
//
// Figures are medians; compare ratios within one run, not absolute times.
package bench

import (
	"github.com/longterm-dev/longterm/cmd/longterm/internal/output"
	"github.com/longterm-dev/longterm/session/paths"
)

// Program is what benches are given of the program they measure.
type Program struct {
	*output.Printer
	Version    func() string
	KeeperArgv func(dirs paths.Dirs, key string, daemon bool) []string
}
