package compare

import (
	"hash/maphash"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of a comparison.
const (
	maxTemplates = 1 << 19 // of each run; some 20 MB
	maxGoodText  = 2 << 20 // of the good run's lines, in bytes
	maxText      = 400     // of a kept line, in bytes
	maxNew       = 20      // new lines, and as many more with a high score
	maxMissing   = 20
	maxVersions  = 256
)

// Line is a line of a run's output.
type Line struct {
	Number int    `json:"number"` // from 1
	Text   string `json:"text"`
	// IsLikelyCause is set if the line looks like a failure at least as much as any other new line.
	IsLikelyCause bool `json:"telling,omitempty"`

	// score rates how much the line explains a failure.
	score int
}

// Version is a version that a tool printed in both runs.
type Version struct {
	Name   string `json:"name"` // the word before the version
	Before string `json:"before"`
	After  string `json:"after"`
}

// Result describes how the failed run's output differs from the good run's.
type Result struct {
	// New contains the first lines without a counterpart in the good run, and of the others those with the highest scores, in the
	// order of the output. NewLines counts all.
	New      []Line
	NewLines int
	// Missing contains the first lines of the good run without a counterpart in the failed run. MissingLines counts all.
	Missing      []Line
	MissingLines int
	Versions     []Version
	// Partial is set if a run had more different lines than are compared.
	Partial bool
}

// GoodRun is the output of the good run.
type GoodRun struct {
	hasher
	templates    map[uint64]int32 // index in lines by template hash; -1: text not kept
	lines        []goodLine
	textBytes    int                  // bytes in lines
	linesRead    int                  // lines of the good run read so far
	versions     map[uint64][]version // versions by template hash
	maxTemplates int                  // bound on templates
	isPartial    bool
}

// hasher hashes the templates of lines.
type hasher struct {
	seed maphash.Seed
	buf  []byte
}

func newHasher() hasher { return hasher{seed: maphash.MakeSeed()} }

type goodLine struct {
	Line
	isMatched bool // the failed run printed it too
}

// NewGoodRun returns the output of a good run without lines.
func NewGoodRun() *GoodRun {
	return &GoodRun{hasher: newHasher(), templates: map[uint64]int32{}, versions: map[uint64][]version{}, maxTemplates: maxTemplates}
}

// hash returns the hash of a line's template, and false for an empty one.
func (g *hasher) hash(line []byte) (uint64, bool) {
	g.buf = appendTemplate(g.buf[:0], line)
	return maphash.Bytes(g.seed, g.buf), len(g.buf) > 0
}

// Add adds the next line of the good run, without its end.
func (g *GoodRun) Add(line []byte) {
	g.linesRead++
	h, ok := g.hash(line)
	if !ok {
		return
	}
	if _, ok := g.templates[h]; ok {
		return
	}
	if len(g.templates) >= g.maxTemplates {
		g.isPartial = true
		return
	}
	at := int32(-1)
	if text := clip(line); g.textBytes+len(text) <= maxGoodText {
		g.textBytes += len(text)
		at = int32(len(g.lines))
		g.lines = append(g.lines, goodLine{Line: Line{Number: g.linesRead, Text: text}})
	}
	g.templates[h] = at
	if len(g.versions) < maxVersions {
		if v := versionsIn(line); v != nil {
			g.versions[h] = v
		}
	}
}

// Comparison compares the output of the failed run with that of the good run.
type Comparison struct {
	scorer
	good          *GoodRun
	newTemplates  map[uint64]struct{} // templates of new lines
	result        Result
	highestScored []Line
	namedVersions map[string]bool // names of the versions already reported
}

// NewComparison returns a comparison with g, which must be complete and must not be used again.
func NewComparison(g *GoodRun) *Comparison {
	return &Comparison{good: g, newTemplates: map[uint64]struct{}{}, namedVersions: map[string]bool{}, result: Result{Partial: g.isPartial}}
}

// Add adds the next line of the failed run, without its end.
func (c *Comparison) Add(line []byte) {
	c.linesRead++
	h, ok := c.good.hash(line)
	if !ok {
		return
	}
	if at, ok := c.good.templates[h]; ok {
		if at >= 0 {
			c.good.lines[at].isMatched = true
		}
		if before, ok := c.good.versions[h]; ok {
			c.compareVersions(before, line)
		}
		return
	}
	if _, ok := c.newTemplates[h]; ok {
		return
	}
	if len(c.newTemplates) >= c.good.maxTemplates {
		c.result.Partial = true
		return
	}
	c.newTemplates[h] = struct{}{}
	c.result.NewLines++
	l := Line{Number: c.linesRead, Text: clip(line)}
	l.score = c.rate(l.Text)
	if len(c.result.New) < maxNew {
		c.result.New = append(c.result.New, l)
	} else if l.score > scoreNone {
		c.keepHighestScores(l)
	}
}

// keepHighestScores keeps the lines with the highest scores, the first of equal ones.
func (c *Comparison) keepHighestScores(l Line) {
	if len(c.highestScored) < maxNew {
		c.highestScored = append(c.highestScored, l)
		return
	}
	worst := 0
	for i := range c.highestScored {
		if c.highestScored[i].score <= c.highestScored[worst].score {
			worst = i
		}
	}
	if c.highestScored[worst].score < l.score {
		c.highestScored = append(slices.Delete(c.highestScored, worst, worst+1), l)
	}
}

// compareVersions records the versions that changed in a line of both runs.
func (c *Comparison) compareVersions(before []version, line []byte) {
	after := versionsIn(line)
	if len(after) != len(before) {
		return
	}
	for i := range after {
		if after[i].text != before[i].text && after[i].name == before[i].name && !c.namedVersions[after[i].name] && len(c.result.Versions) < maxNew {
			c.namedVersions[after[i].name] = true
			c.result.Versions = append(c.result.Versions, Version{after[i].name, before[i].text, after[i].text})
		}
	}
}

// Finish returns the differences.
func (c *Comparison) Finish() Result {
	r := c.result
	r.New = append(r.New, c.highestScored...)
	top := scoreConsequence
	for i := range r.New {
		top = max(top, r.New[i].score)
	}
	for i := range r.New {
		r.New[i].IsLikelyCause = r.New[i].score >= top
	}
	for i := range c.good.lines {
		if l := &c.good.lines[i]; !l.isMatched {
			if r.MissingLines++; len(r.Missing) < maxMissing {
				r.Missing = append(r.Missing, l.Line)
			}
		}
	}
	return r
}

// Pick returns the new lines that explain the most, at most n, in the order of the output: the first one, then those with the
// highest scores.
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

// clip returns a line in the form that is kept: without blanks at its end, and truncated.
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
