// Package fuzzy finds what a person means by a few letters.
package fuzzy

import (
	"slices"
	"strings"
	"unicode"
)

// Score says how well a text is meant by a pattern, and which of its characters match;
// ok is false when not all of the pattern's occur in order. Words of the pattern may
// come in any order.
func Score(pattern, text string) (score int, at []int, ok bool) {
	runes := []rune(text)
	for _, word := range strings.Fields(pattern) {
		s, where, found := one([]rune(strings.ToLower(word)), runes)
		if !found {
			return 0, nil, false
		}
		score += s
		at = append(at, where...)
	}
	slices.Sort(at)
	return score, slices.Compact(at), true
}

// one scores a word: the best of the places it may begin at.
func one(word, text []rune) (best int, at []int, ok bool) {
	for start := range text {
		if unicode.ToLower(text[start]) != word[0] {
			continue
		}
		if s, where, found := from(word, text, start); found && (!ok || s > best) {
			best, at, ok = s, where, true
		}
	}
	return best, at, ok
}

// from scores a word whose first letter stands at start. Letters that follow each other
// and those that begin a word count more; a late start and gaps count less.
func from(word, text []rune, start int) (score int, at []int, ok bool) {
	i := 0
	last := -1
	for x := start; x < len(text) && i < len(word); x++ {
		if unicode.ToLower(text[x]) != word[i] {
			continue
		}
		switch {
		case last >= 0 && x == last+1:
			score += 8
		case x == 0 || !letter(text[x-1]):
			score += 10
		default:
			score++
		}
		at = append(at, x)
		last = x
		i++
	}
	return score*4 - start - (last - start), at, i == len(word)
}

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// Hit is an item that was found.
type Hit struct {
	Index int
	At    []int // characters of its text that match
	score int
}

// Find are the items that a pattern may mean, the best first; those that are equally good
// stay in order. An empty pattern means all.
func Find(pattern string, items []string) []Hit {
	var out []Hit
	for i, item := range items {
		if s, at, ok := Score(pattern, item); ok {
			out = append(out, Hit{i, at, s})
		}
	}
	slices.SortStableFunc(out, func(a, b Hit) int { return b.score - a.score })
	return out
}
