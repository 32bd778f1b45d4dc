package search

// A trigram is three bytes of a folded line with two newlines added. So a trigram starts at every byte, and trigrams
// show how lines end.
type trigram uint32

const (
	allTrigrams = 1 << 24
	lineEnd     = "\n\n"
)

func trigramAt(b []byte) trigram { return trigram(b[0])<<16 | trigram(b[1])<<8 | trigram(b[2]) }

// gramSet collects the distinct trigrams of a block.
type gramSet struct {
	seen [allTrigrams / 64]uint64 // one bit per trigram
	list []trigram
	text []byte // scratch
}

// trigrams returns the trigrams of a block, unordered. The result is valid until the next call.
func (s *gramSet) trigrams(b *block) []trigram {
	for _, g := range s.list {
		s.seen[g>>6] = 0
	}
	s.list = s.list[:0]
	for i := range b.lines {
		s.text = append(appendFold(s.text[:0], b.line(i)), lineEnd...)
		s.collect()
	}
	return s.list
}

func (s *gramSet) collect() {
	if len(s.text) < 3 {
		return
	}
	g := trigram(s.text[0])<<8 | trigram(s.text[1])
	for _, c := range s.text[2:] {
		g = (g<<8 | trigram(c)) & (allTrigrams - 1)
		if word, bit := &s.seen[g>>6], uint64(1)<<(g&63); *word&bit == 0 {
			*word |= bit
			s.list = append(s.list, g)
		}
	}
}
