package digest

import "strings"

// arenaBytes is the size of one allocation for texts of lines. A line that is kept longer is cloned (strings.Clone), so that it does
// not keep the whole allocation in memory.
const arenaBytes = 16 << 10

// textArena allocates the texts of added lines in blocks: nearly all lines are dropped soon, in the order of arrival.
type textArena struct{ block strings.Builder }

// add returns a copy of text.
func (t *textArena) add(text []byte) string {
	if len(text) > arenaBytes/8 {
		return string(text)
	}
	if t.block.Cap()-t.block.Len() < len(text) {
		t.block = strings.Builder{}
		t.block.Grow(arenaBytes)
	}
	from := t.block.Len()
	t.block.Write(text)
	return t.block.String()[from:]
}
