package budget

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// DefaultHeadShare is the share of a budget that the beginning of a text gets. The rest is for the end, which has the
// results.
const DefaultHeadShare = 0.3

// CutInfo describes the part that Cut omitted: text[HeadEnd:TailStart], if Cut is set.
type CutInfo struct {
	Cut                bool
	HeadEnd, TailStart int
	Bytes, Lines       int    // omitted; Lines includes partly omitted ones
	LongLines          int    // set by Budget: number of shortened lines
	From, To           uint64 // set by Budget: output offsets of the omitted lines
}

// Cut truncates a text to max bytes, with a note in the middle that gives the omitted amount if there is room. It cuts
// between grapheme clusters, and between lines where that costs little. A head share outside 0 to 1 means
// DefaultHeadShare.
func Cut(text string, max int, headShare float64) (string, CutInfo) {
	return cutText(text, max, headShare, plainText{})
}

// CutANSI is Cut for text with escape sequences. It cuts no sequence, resets colours and links before the note, and
// restores the colours of the tail.
func CutANSI(text string, max int, headShare float64) (string, CutInfo) {
	return cutText(text, max, headShare, ansiText{})
}

// textKind finds the cut points of a kind of text.
type textKind interface {
	// cutPoints returns the last cut point up to head, the first one from tail on, and the sequences that close the head
	// and open the tail there.
	cutPoints(text string, head, tail int) (headEnd, tailStart int, closing, opening string)
	// reserve returns the bytes to reserve for the closing and opening sequences.
	reserve() int
}

// plainText is text without escape sequences.
type plainText struct{}

func (plainText) cutPoints(text string, head, tail int) (int, int, string, string) {
	return boundaryBefore(text, 0, head), boundaryAfter(text, tail, len(text)), "", ""
}

func (plainText) reserve() int { return 0 }

// cutText implements Cut and CutANSI.
func cutText(text string, limit int, share float64, m textKind) (string, CutInfo) {
	switch {
	case share == 0:
		share = -1
	case share < 0:
		share = DefaultHeadShare
	}
	e := Budget{Max: max(0, limit), HeadShare: share}
	_, e.ANSI = m.(ansiText)
	if len(text) <= e.Max {
		return text, CutInfo{}
	}
	room, share := e.textRoom()
	form, _ := e.form()
	head := int(float64(room) * share)
	headEnd, tailStart, closing, opening := m.cutPoints(text, head, len(text)-(room-head))
	info := CutInfo{Cut: true, HeadEnd: headEnd, TailStart: tailStart, Bytes: tailStart - headEnd}
	omitted := text[headEnd:tailStart]
	info.Lines = strings.Count(omitted, "\n")
	if omitted != "" && omitted[len(omitted)-1] != '\n' {
		info.Lines++
	}
	return joinParts(text[:headEnd], closing, form.text(info.Bytes, info.Lines, ""), opening, text[tailStart:], e.Max), info
}

// joinParts joins head, note and tail, with the note on its own line. It drops the sequences that restore colours if they
// do not fit.
func joinParts(head, closing, note, opening, tail string, limit int) string {
	if note != "" {
		note += "\n"
		if head != "" && head[len(head)-1] != '\n' {
			note = "\n" + note
		}
	}
	if len(head)+len(closing)+len(note)+len(opening)+len(tail) > limit {
		closing, opening = "", ""
	}
	return head + closing + note + opening + tail
}

// noteForm is the level of detail of a note. Small budgets get short notes.
type noteForm uint8

const (
	noteNone        noteForm = iota
	noteMark                 // […]
	noteCounts               // omitted amount
	noteWithCommand          // omitted amount and the command that reads it
)

// text returns the note for an omitted amount, or "" for noteNone.
func (f noteForm) text(bytes, lines int, command string) string {
	counts := func() string {
		return fmt.Sprintf("%s, %s left out", quantity(bytes, "byte"), quantity(lines, "line"))
	}
	switch {
	case f == noteWithCommand && command != "":
		return "[… " + counts() + ": " + command + " …]"
	case f >= noteCounts:
		return "[… " + counts() + " …]"
	case f == noteMark:
		return "[…]"
	}
	return ""
}

// lineEndShare is the reciprocal of the share of a part that may be given up to cut at a line's end: a quarter.
const lineEndShare = 4

// boundaryBefore returns the last cut point in text[from:at]: a line end if one is near, else a grapheme boundary.
func boundaryBefore(text string, from, at int) int {
	if at <= from {
		return from
	}
	near := max(from, at-(at-from)/lineEndShare)
	if i := strings.LastIndexByte(text[near:at], '\n'); i >= 0 {
		return near + i + 1
	}
	before, _ := graphemesAround(text, from, at, len(text))
	return before
}

// boundaryAfter returns the first cut point in text[at:end].
func boundaryAfter(text string, at, end int) int {
	if at >= end {
		return end
	}
	if at > 0 && text[at-1] == '\n' {
		return at
	}
	near := at + (end-at)/lineEndShare
	if i := strings.IndexByte(text[at:near], '\n'); i >= 0 {
		return at + i + 1
	}
	_, after := graphemesAround(text, 0, at, end)
	return after
}

// maxLookBack bounds the search for the beginning of a grapheme before a cut, in bytes.
const maxLookBack = 4 << 10

// graphemesAround returns the grapheme boundaries nearest to at within text[from:end]: the last one not after it, and
// the first one not before it.
func graphemesAround(text string, from, at, end int) (before, after int) {
	at = min(max(at, from), end)
	start := safeStart(text, from, at)
	before = start
	state := -1
	for rest := text[start:end]; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		next := before + len(cluster)
		if next > at {
			if before == at {
				return at, at
			}
			return before, next
		}
		before = next
	}
	return before, before
}

// safeStart returns a place at or before at where a grapheme certainly starts: after a line feed or between two ASCII
// characters.
func safeStart(text string, from, at int) int {
	low := max(from, at-maxLookBack)
	for i := min(at, len(text)-1); i > low; i-- {
		if text[i-1] == '\n' || text[i] < utf8.RuneSelf && text[i-1] < utf8.RuneSelf && text[i] != '\n' {
			return i
		}
	}
	for low > from && low < len(text) && !utf8.RuneStart(text[low]) && at-low < maxLookBack+utf8.UTFMax {
		low--
	}
	return low
}

// quantity returns a number with its unit, in the plural if needed.
func quantity(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}
