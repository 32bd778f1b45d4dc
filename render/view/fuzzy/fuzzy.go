// Package fuzzy finds what a person means by a few letters.
package fuzzy

import (
	"slices"
	"strings"
	"unicode"
)

// Score says how well an item is meant by a pattern, and which of its characters match;
// ok is false when not all of the pattern's occur in order,
// together or at the beginnings of words. Words of the pattern may
// come in any order. Of the names, which are not shown, each is the beginning of a word there: letters here and there in what
// nobody sees would not be understood. Their characters count on behind the text's.
func Score(pattern string, it Item) (score int, at []int, ok bool) {
	runes := []rune(it.Text)
	shown := len(runes)
	if it.Names != "" {
		runes = append(append(runes, ' '), []rune(it.Names)...)
	}
	for _, word := range strings.Fields(pattern) {
		s, where, found := one([]rune(strings.ToLower(word)), runes, shown)
		if !found {
			return 0, nil, false
		}
		score += s
		at = append(at, where...)
	}
	slices.Sort(at)
	return score, slices.Compact(at), true
}

// one scores a word: the best of the places it may begin at. Only so many characters of the text are shown.
func one(word, text []rune, shown int) (best int, at []int, ok bool) {
	dead := [2]map[place]bool{{}, {}} // places from which on the rest is not found: after a start within a word, and at one's beginning
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
		s, where, found := from(word, within, start, known)
		if end := start + len(word); found && begins(text, start) && where[len(where)-1] == end-1 && (end == len(text) || !letter(text[end])) {
			s += wholeWord
		}
		if found && (!ok || s > best) {
			best, at, ok = s, where, true
		}
	}
	return best, at, ok
}

// place is where in the text a letter of the word would stand.
type place struct{ letter, at int }

// from scores a word whose first letter stands at start. Letters that follow each other
// and those that begin a word count more; a late start and gaps count less. A letter that neither follows
// the one before nor begins a word was not meant.
func from(word, text []rune, start int, dead map[place]bool) (score int, at []int, ok bool) {
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

// wholeWord is what a word counts that stands there as it was typed: more than any that it only may mean, wherever that is.
const wholeWord = 1000

// begins reports whether a word begins at a place.
func begins(text []rune, x int) bool { return x == 0 || !letter(text[x-1]) }

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// Item is what may be meant.
type Item struct {
	Text  string // that is shown
	Names string // it has besides
}

// Hit is an item that was found.
type Hit struct {
	Index int
	At    []int // characters of its text, and of its names behind that, which match
	score int
}

// Find are the items that a pattern may mean, the best first; those that are equally good
// stay in order. An empty pattern means all.
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
