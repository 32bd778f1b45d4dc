// Package fuzzy ranks items by how well they match a few typed letters.
package fuzzy

import (
	"slices"
	"strings"
	"unicode"
)

// Score returns how well an item matches a pattern, and the indexes of the matching characters. ok is false unless all
// characters of the pattern occur in order, adjacent or at the starts of words. Words of the pattern may be in any
// order. Names, which are not shown, must match from the start of a word: users would not understand scattered matches in
// them. Indexes in the names count from the end of the text.
func Score(pattern string, it Item) (score int, at []int, ok bool) {
	runes := []rune(it.Text)
	shown := len(runes)
	if it.Names != "" {
		runes = append(append(runes, ' '), []rune(it.Names)...)
	}
	for _, word := range strings.Fields(pattern) {
		s, where, found := scoreWord([]rune(strings.ToLower(word)), runes, shown)
		if !found {
			return 0, nil, false
		}
		score += s
		at = append(at, where...)
	}
	slices.Sort(at)
	return score, slices.Compact(at), true
}

// scoreWord scores a word at its best position. Only the first shown characters of the text are visible.
func scoreWord(word, text []rune, shown int) (best int, at []int, ok bool) {
	// places from which the rest does not match: after a start within a word, and at a word's start
	dead := [2]map[place]bool{{}, {}}
	for start := range text {
		if unicode.ToLower(text[start]) != word[0] {
			continue
		}
		known, within := dead[0], text[:shown]
		switch begun := begins(text, start); {
		case start > shown && !begun:
			continue
		case start > shown:
			within = text[:min(start+len(word), len(text))]
		case begun:
			known = dead[1]
		}
		s, where, found := scoreFrom(word, within, start, known)
		if end := start + len(word); found && begins(text, start) && where[len(where)-1] == end-1 && (end == len(text) || !letter(text[end])) {
			s += wholeWord
		}
		if found && (!ok || s > best) {
			best, at, ok = s, where, true
		}
	}
	return best, at, ok
}

// place is a position in the text for a letter of the word.
type place struct{ letter, at int }

// scoreFrom scores a word whose first letter is at start. Adjacent letters and letters that start a word count more; a late
// start and gaps count less. Other letters do not match.
func scoreFrom(word, text []rune, start int, dead map[place]bool) (score int, at []int, ok bool) {
	wordStart := begins(text, start)
	var rest func(i, x int) bool
	rest = func(i, x int) bool {
		at = append(at, x)
		if i == len(word)-1 {
			return true
		}
		for next := x + 1; next < len(text) && (wordStart || next == x+1); next++ {
			meant := next == x+1 || !letter(text[next-1])
			if meant && unicode.ToLower(text[next]) == word[i+1] && !dead[place{i + 1, next}] && rest(i+1, next) {
				return true
			}
		}
		dead[place{i, x}] = true
		at = at[:len(at)-1]
		return false
	}
	if !rest(0, start) {
		return 0, nil, false
	}
	for n, x := range at {
		switch {
		case n > 0 && x == at[n-1]+1:
			score += 8
		default:
			score += 10
		}
		if n == 0 && !begins(text, x) {
			score -= 9
		}
	}
	return score*4 - start - (at[len(at)-1] - start), at, true
}

// wholeWord is the score of an exact whole word: more than any partial match.
const wholeWord = 1000

// begins reports whether a word starts at a position.
func begins(text []rune, x int) bool { return x == 0 || !letter(text[x-1]) }

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// Item is a searchable item.
type Item struct {
	Text  string // visible text
	Names string // further names, searched but not shown
}

// Hit is a matching item.
type Hit struct {
	Index int
	At    []int // matching characters of its text, followed by those of its names
	score int
}

// Find returns the items that match a pattern, best first; equal ones keep their order. An empty pattern matches all.
func Find(pattern string, items []Item) []Hit {
	var out []Hit
	for i, item := range items {
		if s, at, ok := Score(pattern, item); ok {
			out = append(out, Hit{i, at, s})
		}
	}
	slices.SortStableFunc(out, func(a, b Hit) int { return b.score - a.score })
	return out
}
