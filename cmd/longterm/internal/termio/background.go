//go:build unix

package termio

import (
	"os"
	"strconv"
	"time"

	"github.com/longterm-dev/longterm/session/pattern"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// AskBackground asks a terminal whether its background is light (OSC 11). What it is asked next, DA1, every terminal
// answers, so that one which does not know colours is not waited for. Keys typed meanwhile are lost.
func AskBackground(in, out *os.File, patience time.Duration) (light bool) {
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return false
	}
	defer func() { _ = term.Restore(int(in.Fd()), state) }()
	if _, err := out.WriteString("\x1b]11;?\x1b\\\x1b[c"); err != nil {
		return false
	}
	var answer []byte
	buf := make([]byte, 256)
	for end := time.Now().Add(patience); len(answer) < 4096 && !attributesEnd.Match(answer); {
		poll := []unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, max(int(time.Until(end).Milliseconds()), 0))
		if err == unix.EINTR { //nolint:errorlint // a system call's
			continue
		}
		if n < 1 || err != nil {
			break
		}
		if n, err = in.Read(buf); n < 1 || err != nil {
			break
		}
		answer = append(answer, buf[:n]...)
	}
	return isLight(answer)
}

var (
	backgroundAnswer = pattern.Lazy(`\x1b\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})`)
	attributesEnd    = pattern.Lazy(`\x1b\[\?[0-9;]*c`)
)

// isLight reads the answer to OSC 11. A colour is light when its luminance (ITU-R BT.709) is nearer to white than to
// black.
func isLight(answer []byte) bool {
	m := backgroundAnswer.FindSubmatch(answer)
	if m == nil {
		return false
	}
	luminance := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v, _ := strconv.ParseUint(string(m[i+1]), 16, 16) // the pattern is a number
		luminance += weight * float64(v) / float64(uint64(1)<<(4*len(m[i+1]))-1)
	}
	return luminance > 0.5
}
