package gateway

import "bytes"

// Draft is a line that is being typed, as far as the bytes tell: what an editor makes of keys is known to nobody but
// the editor. It is a pure machine; the zero value is an empty line.
type Draft struct {
	Text   string
	Opaque bool // there were keys that edit, complete or recall: the line may be another one
}

// maxDraft bounds what is kept of a line; one that is longer is opaque.
const maxDraft = 64 << 10

// Keys that a line's meaning depends on.
const (
	keyInterrupt = 'C' & 0x1f
	keyKill      = 'U' & 0x1f
	keyRunAgain  = 'O' & 0x1f // readline: run it, and fetch the next one
)

var pasteBegins, pasteEnds = []byte("\x1b[200~"), []byte("\x1b[201~")

// Type is the draft after bytes were typed, and the lines that they ended, if any, as one text.
func (d Draft) Type(b []byte) (next Draft, lines Draft, ended bool) {
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
		case c < ' ' || c == 0x7f || len(text) >= maxDraft:
			d.Opaque = true
		default:
			text = append(text, c)
		}
	}
	lines.Text = string(done)
	return Draft{string(text), d.Opaque}, lines, ended
}

// Recalls reports whether a shell may put words of earlier lines into a line that is typed: history expansion, as in !!:1-$ and
// ^this^that. What is in single quotes stays as it is, and so do ! before a blank, = or a bracket, and $! and ${!name}.
func (d Draft) Recalls() bool {
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
