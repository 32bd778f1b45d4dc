package search

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

type testPage struct {
	first trigram
	data  []byte
}

func pagesOf(t testing.TB, blocks int, postings map[trigram][]uint16) (pages []testPage) {
	w := pageWriter{blocks: blocks, emit: func(first trigram, page []byte) error {
		pages = append(pages, testPage{first, bytes.Clone(page)})
		return nil
	}}
	var grams []trigram
	for g := range postings {
		grams = append(grams, g)
	}
	slices.Sort(grams)
	for _, g := range grams {
		must(t, w.add(g, postings[g]))
	}
	must(t, w.flush())
	return pages
}

func (m bitmap) list() (list []uint16) {
	for i := range len(m) * 64 {
		if m.has(uint64(i)) {
			list = append(list, uint16(i))
		}
	}
	return list
}

func TestPostings(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, blocks := range []int{1, 7, 8, 63, 64, 65, 500, 4096} {
		postings := map[trigram][]uint16{0: {0}, allTrigrams - 1: {uint16(blocks - 1)}}
		for range 1000 {
			var list []uint16
			share := rnd.Float64() * rnd.Float64()
			for b := range blocks {
				if rnd.Float64() < share {
					list = append(list, uint16(b))
				}
			}
			if list != nil {
				postings[trigram(rnd.IntN(allTrigrams))] = list
			}
		}
		pages := pagesOf(t, blocks, postings)
		for i, p := range pages {
			if len(p.data) > pageBytes+8 || i > 0 && pages[i-1].first >= p.first {
				t.Fatalf("%d blocks: page %d of %d has %d bytes from %d", blocks, i, len(pages), len(p.data), p.first)
			}
		}
		for g, want := range postings {
			m := newBitmap(blocks)
			i, _ := slices.BinarySearchFunc(pages, g+1, func(p testPage, g trigram) int { return int(p.first) - int(g) })
			must(t, readPage(pages[i-1].data, pages[i-1].first, g, g, m, blocks))
			if got := m.list(); !slices.Equal(got, want) {
				t.Fatalf("%d blocks: trigram %d is in %v, want %v", blocks, g, got, want)
			}
		}
		m := newBitmap(blocks)
		for _, p := range pages {
			must(t, readPage(p.data, p.first, 1, allTrigrams-2, m, blocks))
		}
		if low, high, ok := m.bounds(); !ok || low != int(m.list()[0]) || high != int(m.list()[len(m.list())-1]) {
			t.Errorf("bounds %d %d", low, high)
		}
	}
}

// TestTrigrams checks that a line's end is in the trigrams, so that short texts are found there too.
func TestTrigrams(t *testing.T) {
	var b block
	for _, l := range lines(0, "aBa", "b") {
		b.add(l, l.Text)
	}
	var got []string
	for _, g := range new(gramSet).trigrams(&b) {
		got = append(got, string([]byte{byte(g >> 16), byte(g >> 8), byte(g)}))
	}
	slices.Sort(got)
	if want := []string{"a\n\n", "aba", "b\n\n", "ba\n"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSortPairs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	var all []pair
	for block := range 50 {
		for range 100 {
			all = append(all, pair(rnd.IntN(allTrigrams))<<16|pair(block))
		}
	}
	want := slices.Clone(all)
	slices.Sort(want)
	if got := sortPairs(all); !slices.Equal(got, want) {
		t.Error("not sorted")
	}
}

func FuzzPage(f *testing.F) {
	f.Add([]byte{0, 2, 0, 1, 3, 0xff}, uint32(5), uint16(3))
	f.Add([]byte{0, 2, 9}, uint32(0), uint16(3))
	f.Add([]byte{0, 1}, uint32(0), uint16(300))
	for _, p := range pagesOf(f, 100, map[trigram][]uint16{9: {1, 2, 3}, 10: {99}, 500: {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}}) {
		f.Add(p.data, uint32(p.first), uint16(100))
	}
	f.Fuzz(func(t *testing.T, page []byte, first uint32, n uint16) {
		blocks := int(n) + 1
		m := newBitmap(blocks)
		_ = readPage(page, trigram(first%allTrigrams), 0, allTrigrams-1, m, blocks)
		if _, high, ok := m.bounds(); ok && high >= blocks {
			t.Fatalf("block %d of %d", high, blocks)
		}
	})
}
