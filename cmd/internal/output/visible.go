//go:build unix

package output

import (
	"io"
	"os"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// forAgent returns the sink for w. Agents receive invisible characters made visible, as in all text for agents. Regular
// files and users receive unchanged bytes.
func forAgent(w io.Writer) sink {
	if f, ok := w.(*os.File); ok {
		if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
			return plainSink{Writer: w}
		}
	}
	if os.Getenv(identity.Env) == "" {
		return plainSink{Writer: w}
	}
	return &visibleSink{w: w}
}

// visibleSink makes invisible characters in a stream visible, across the boundaries of its pieces.
type visibleSink struct {
	w    io.Writer
	held []byte // incomplete character at the end of the last write
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
