//go:build unix

package termio

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/longterm-dev/longterm/render"
)

// Reset resets a terminal that was left with wrong modes.
func Reset(in, out *os.File) error {
	if !AreTerminals(in, out) {
		return errors.New("standard input and output must be the terminal to reset")
	}
	b := append(render.AppendModesReset(nil), "\x1b[9999;1H\r\n"...) // below all that is there: the cursor may be anywhere
	if _, err := out.Write(render.AppendSettingsReset(b)); err != nil {
		return fmt.Errorf("reset the terminal: %w", err)
	}
	stty := exec.Command("stty", "sane")
	stty.Stdin = in
	if msg, err := stty.CombinedOutput(); err != nil {
		return fmt.Errorf("reset the terminal: stty: %w %s", err, msg)
	}
	return nil
}
