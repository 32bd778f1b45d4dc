//go:build unix

package output

import (
	"io"
	"os"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// forAgent is a stream as an agent reads it: what is not seen in it is made visible, as in all that agents are handed.
// What goes into a file stays as it is, and so does what a person reads.
func forAgent(w io.Writer) sink {
	if f, ok := w.(*os.File); ok {
		if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
			return plainSink{Writer: w}
		}
	}
	if os.Getenv(actor.Env) == "" {
		return plainSink{Writer: w}
	}
	return &visibleSink{w: w}
}

// visibleSink makes visible what is not seen in a stream, whatever pieces it comes in.
type visibleSink struct {
	w    io.Writer
	held []byte // the beginning of a character
}

func (v *visibleSink) Write(p []byte) (int, error) {
	all := append(v.held, p...)
	end := len(all)
	for back := 1; back < utf8.UTFMax && back <= len(all); back++ {
		if utf8.RuneStart(all[len(all)-back]) {
			if !utf8.FullRune(all[len(all)-back:]) {
				end = len(all) - back
			}
			break
		}
	}
	text := string(all[:end])
	v.held = append([]byte{}, all[end:]...)
	if _, err := io.WriteString(v.w, plaintext.Visible(text)); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (v *visibleSink) Flush() error {
	_, err := v.w.Write(v.held)
	v.held = nil
	return err
}
