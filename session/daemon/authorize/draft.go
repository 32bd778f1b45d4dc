package authorize

import "bytes"

// TypedLine follows a line while it is typed, as far as its bytes show: only the line editor knows the effect of its keys.
// It has no side effects; the zero value is an empty line.
type TypedLine struct {
	Text   string // the line so far
	Opaque bool   // editing, completion or history keys were typed, so the line may differ
}

// maxTypedLine bounds the stored text of a line; a longer one is opaque.
const maxTypedLine = 64 << 10

// Keys that a line's meaning depends on.
const (
	keyInterrupt = 'C' & 0x1f
	keyKill      = 'U' & 0x1f
	keyRunAgain  = 'O' & 0x1f // readline: run it, and fetch the next one
)

var pasteBegins, pasteEnds = []byte("\x1b[200~"), []byte("\x1b[201~")

// Type returns the draft after typed bytes. lines holds the lines that they completed, as one text, if ended is true.
func (d TypedLine) Type(b []byte) (next TypedLine, lines TypedLine, ended bool) {
	text, done := []byte(d.Text), []byte(nil)
	for len(b) > 0 {
		for _, mark := range [][]byte{pasteBegins, pasteEnds} {
			b = bytes.TrimPrefix(b, mark)
		}
		if len(b) == 0 {
			break
		}
		c := b[0]
		b = b[1:]
		switch {
		case c == '\r', c == '\n', c == keyRunAgain:
			if ended {
				done = append(done, '\n')
			}
			ended = true
			done = append(done, text...)
			lines.Opaque = lines.Opaque || d.Opaque || c == keyRunAgain
			text, d.Opaque = text[:0], false
		case c == keyInterrupt, c == keyKill && !d.Opaque:
			text, d.Opaque = text[:0], false
		case c < ' ' || c == 0x7f || len(text) >= maxTypedLine:
			d.Opaque = true
		default:
			text = append(text, c)
		}
	}
	lines.Text = string(done)
	return TypedLine{string(text), d.Opaque}, lines, ended
}

// Recalls reports whether a shell may put words of earlier lines into a line that is typed: history expansion, as in !!:1-$ and
// ^this^that. What is in single quotes stays as it is, and so do ! before a blank, = or a bracket, and $! and ${!name}.
func (d TypedLine) Recalls() bool {
	quoted, double := false, false
	for i := 0; i < len(d.Text); i++ {
		begins := i == 0 || d.Text[i-1] == '\n'
		switch c := d.Text[i]; {
		case c == '\'' && !double:
			quoted = !quoted
		case quoted:
			continue
		case c == '"':
			double = !double
		case c == '\\':
			i++
		case c == '^' && begins:
			return true
		case c == '!' && i+1 < len(d.Text) && bytes.IndexByte([]byte(" \t\n=("), d.Text[i+1]) < 0 && (i == 0 || d.Text[i-1] != '$' && d.Text[i-1] != '{'):
			return true
		}
	}
	return false
}
