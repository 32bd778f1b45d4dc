package compare

import (
	"hash/maphash"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds.
const (
	maxTemplates = 1 << 19 // of each run; some 20 MB
	maxGoodText  = 2 << 20 // of the good run's lines, in bytes
	maxText      = 400     // of a line that is kept, in bytes
	maxNew       = 20      // new lines, and again as many telling ones
	maxMissing   = 20
	maxVersions  = 256
)

// Line is a line of a run's output.
type Line struct {
	Number int    `json:"number"` // from 1
	Text   string `json:"text"`
	// Telling is set if the line reads like a failure, and as much as any other new line.
	Telling bool `json:"telling,omitempty"`

	score int
}

// Version is a version that a tool printed in both runs.
type Version struct {
	Name   string `json:"name"` // the word before it
	Before string `json:"before"`
	After  string `json:"after"`
}

// Result is how the failed run's output differs from the good run's.
type Result struct {
	// New are the first lines without a counterpart in the good run, and the most telling of the others, in the order of the
	// output. NewLines counts all.
	New      []Line
	NewLines int
	// Missing are the first lines of the good run without a counterpart in the failed run. MissingLines counts all.
	Missing      []Line
	MissingLines int
	Versions     []Version
	// Partial is set if a run had more different lines than are compared.
	Partial bool
}

// Good is the output of the good run.
type Good struct {
	seed     maphash.Seed
	known    map[uint64]int32 // of a template: the index of its line; -1: not kept
	lines    []goodLine
	text     int // bytes in lines
	read     int // lines
	versions map[uint64][]version
	limit    int // on templates
	partial  bool
	buf      []byte
}

type goodLine struct {
	Line
	seen bool // by the failed run
}

// NewGood returns the output of a good run without lines.
func NewGood() *Good {
	return &Good{seed: maphash.MakeSeed(), known: map[uint64]int32{}, versions: map[uint64][]version{}, limit: maxTemplates}
}

// hash returns the hash of a line's template, and false for an empty one.
func (g *Good) hash(line []byte) (uint64, bool) {
	g.buf = appendTemplate(g.buf[:0], line)
	return maphash.Bytes(g.seed, g.buf), len(g.buf) > 0
}

// Add takes the next line of the good run, without its end.
func (g *Good) Add(line []byte) {
	g.read++
	h, ok := g.hash(line)
	if !ok {
		return
	}
	if _, ok := g.known[h]; ok {
		return
	}
	if len(g.known) >= g.limit {
		g.partial = true
		return
	}
	at := int32(-1)
	if text := clip(line); g.text+len(text) <= maxGoodText {
		g.text += len(text)
		at = int32(len(g.lines))
		g.lines = append(g.lines, goodLine{Line: Line{Number: g.read, Text: text}})
	}
	g.known[h] = at
	if len(g.versions) < maxVersions {
		if v := versionsIn(line); v != nil {
			g.versions[h] = v
		}
	}
}

// Comparison compares the output of the failed run with that of the good run.
type Comparison struct {
	good    *Good
	read    int
	fresh   map[uint64]struct{} // templates of new lines
	result  Result
	telling []Line
	opens   int             // number of the newest line that announces the next one
	named   map[string]bool // versions
}

// NewComparison returns a comparison with g, which must be complete and is used up.
func NewComparison(g *Good) *Comparison {
	return &Comparison{good: g, fresh: map[uint64]struct{}{}, named: map[string]bool{}, result: Result{Partial: g.partial}}
}

// Add takes the next line of the failed run, without its end.
func (c *Comparison) Add(line []byte) {
	c.read++
	h, ok := c.good.hash(line)
	if !ok {
		return
	}
	if at, ok := c.good.known[h]; ok {
		if at >= 0 {
			c.good.lines[at].seen = true
		}
		if was, ok := c.good.versions[h]; ok {
			c.compareVersions(was, line)
		}
		return
	}
	if _, ok := c.fresh[h]; ok {
		return
	}
	if len(c.fresh) >= c.good.limit {
		c.result.Partial = true
		return
	}
	c.fresh[h] = struct{}{}
	c.result.NewLines++
	l := Line{Number: c.read, Text: clip(line)}
	l.score = score(l.Text)
	if c.opens == c.read-1 && c.opens > 0 {
		l.score = max(l.score, scoreCause)
	}
	if l.score > scoreNone && strings.HasSuffix(l.Text, ":") { // the next line has the reason
		l.score = min(l.score, scoreWord)
		c.opens = c.read
	}
	if len(c.result.New) < maxNew {
		c.result.New = append(c.result.New, l)
	} else if l.score > scoreNone {
		c.keepTelling(l)
	}
}

// keepTelling keeps the lines with the highest scores, the first of equal ones.
func (c *Comparison) keepTelling(l Line) {
	if len(c.telling) < maxNew {
		c.telling = append(c.telling, l)
		return
	}
	worst := 0
	for i := range c.telling {
		if c.telling[i].score <= c.telling[worst].score {
			worst = i
		}
	}
	if c.telling[worst].score < l.score {
		c.telling = append(slices.Delete(c.telling, worst, worst+1), l)
	}
}

func (c *Comparison) compareVersions(was []version, line []byte) {
	is := versionsIn(line)
	if len(is) != len(was) {
		return
	}
	for i := range is {
		if is[i].text != was[i].text && is[i].name == was[i].name && !c.named[is[i].name] && len(c.result.Versions) < maxNew {
			c.named[is[i].name] = true
			c.result.Versions = append(c.result.Versions, Version{is[i].name, was[i].text, is[i].text})
		}
	}
}

// Finish returns the differences.
func (c *Comparison) Finish() Result {
	r := c.result
	r.New = append(r.New, c.telling...)
	top := scoreAfter
	for i := range r.New {
		top = max(top, r.New[i].score)
	}
	for i := range r.New {
		r.New[i].Telling = r.New[i].score >= top
	}
	for i := range c.good.lines {
		if l := &c.good.lines[i]; !l.seen {
			if r.MissingLines++; len(r.Missing) < maxMissing {
				r.Missing = append(r.Missing, l.Line)
			}
		}
	}
	return r
}

// Pick returns the new lines that explain the most, at most n: the first one, then the most telling ones, in the order of the
// output.
func (r *Result) Pick(n int) []Line {
	if len(r.New) <= n {
		return r.New
	}
	order := make([]int, len(r.New))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order[1:], func(a, b int) int { return r.New[b].score - r.New[a].score })
	order = order[:n]
	slices.Sort(order)
	list := make([]Line, n)
	for i, at := range order {
		list[i] = r.New[at]
	}
	return list
}

// clip returns a line as it is kept: without escape sequences at its ends, and truncated.
func clip(line []byte) string {
	text := strings.TrimRight(string(line[:min(len(line), maxText)]), " \t\r")
	if len(line) <= maxText {
		return text
	}
	for text != "" {
		if r, size := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || size > 1 {
			break
		}
		text = text[:len(text)-1]
	}
	return text + "…"
}
