package digest

import "strings"

// textsBytes is how much text of lines is allocated at once. A line that is kept for itself is copied out of it (strings.Clone),
// lest it holds the others in memory.
const textsBytes = 16 << 10

// texts are the texts of the lines that are added: nearly all are dropped again soon, in the order they came.
type texts struct{ block strings.Builder }

// keep makes a string of a text.
func (t *texts) keep(text []byte) string {
	if len(text) > textsBytes/8 {
		return string(text)
	}
	if t.block.Cap()-t.block.Len() < len(text) {
		t.block = strings.Builder{}
		t.block.Grow(textsBytes)
	}
	from := t.block.Len()
	t.block.Write(text)
	return t.block.String()[from:]
}
