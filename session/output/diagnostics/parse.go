// Package diagnostics reads the output of a finished command: the kind of command, and what a user would conclude from
// its output.
//
//	command line ── ParseCommand ──→ Command ─┐
//	exit status  ─────────────────────────────┼─→ Parser.Parse ──→ Result
//	plain text   ── one pass, line by line ───┘
//	lines as they arrive ── Stream ──→ errors and warnings so far, and the first
//	two runs ── Compare ──→ changes between them
//
// command.go finds the command of a line; parse.go chooses the readers of its output: problems.go (by the table of
// matcher_table.go), tests_*.go, listing.go, git_*.go.
//
// Everything is pure. Parsing takes time and memory linear in the text. It keeps a bounded number of findings of each
// sort and counts the rest; it stops looking for problems in endless ones (Result.Truncated). The text is a plain-text
// rendering: no escape sequences, and carriage returns only before line feeds.
//
// Line indices count from 0; lines and columns within Diagnostic are as printed, from 1.
package diagnostics

import (
	"strings"
	"sync"
)

// Kind names the part of a Result that is filled.
type Kind string

// Kinds.
const (
	Text        Kind = "text"
	Diagnostics Kind = "diagnostics"
	TestRun     Kind = "tests"
	Listing     Kind = "listing"
	GitStatus   Kind = "git-status"
	GitLog      Kind = "git-log"
)

// Bounds on what is kept. What is beyond is counted where there is a count.
const (
	maxLineBytes    = 8 << 10 // of a line that is looked at
	maxDiagnostics  = 500
	maxRelated      = 20
	maxFailures     = 200
	maxExcerptBytes = 2 << 10
	maxEntries      = 10_000
	maxLast         = 10
	maxSummaryBytes = 400 // of a line in a summary

	// maxJudgedLine is the longest problem line given to slow regular expressions; a longer one is cut.
	maxJudgedLine = 4 << 10
	// maxJudgedBytes bounds the text of all such lines. A build log of 10 MiB contains a tenth of it.
	maxJudgedBytes = 2 << 20
)

// Result is a command's output, read.
type Result struct {
	Kind    Kind    `json:"kind"`
	Command Command `json:"command"`
	Exit    *int    `json:"exit_code"` // nil: not known
	Summary Summary `json:"summary"`

	Diagnostics []Diagnostic `json:"diagnostics,omitempty"`
	Tests       *Tests       `json:"tests,omitempty"`
	Listing     []Entry      `json:"listing,omitempty"`
	GitStatus   *Status      `json:"git_status,omitempty"`
	GitLog      []Commit     `json:"git_log,omitempty"`
	Truncated   bool         `json:"truncated,omitempty"` // there was more than is kept
}

// Parser reads results. It is immutable and safe for concurrent use.
type Parser struct {
	matchers []*compiled
}

// builtin is made when it is first used.
var builtin = sync.OnceValue(func() *Parser {
	p, err := NewParser()
	if err != nil {
		panic(err) // the table in this package is wrong
	}
	return p
})

// Parse reads a command's output with the built-in problem matchers.
func Parse(line string, exit *int, text string) Result { return builtin().Parse(line, exit, text) }

// reader takes the lines of an output, in order.
type reader interface {
	read(index int, line string)
}

// Parse reads a command's output.
func (p *Parser) Parse(line string, exit *int, text string) Result {
	r := Result{Kind: Text, Command: ParseCommand(line), Exit: exit}
	var sum summarizer
	readers := []reader{&sum}
	var special specialResult
	if singleCommand(line) { // else there may be other lines among them
		special = specialReader(r.Command)
	}
	if special != nil {
		readers = append(readers, special)
	}
	var probs *problems
	var tests []testReader
	if special == nil && specialReader(r.Command) == nil && !quotesOthers[r.Command.Name] {
		probs = p.problems(r.Command)
		probs.dirs.keep = true
		readers = append(readers, probs)
		tests = testReaders(r.Command)
		for _, t := range tests {
			readers = append(readers, t)
		}
	}
	eachLine(text, func(i int, line string) {
		for _, rd := range readers {
			rd.read(i, line)
		}
	})
	if probs != nil {
		r.Diagnostics = probs.finish()
		r.Truncated = probs.lost > 0 || probs.judged > maxJudgedBytes
		if len(r.Diagnostics) > 0 {
			r.Kind = Diagnostics
		}
	}
	if t := bestTests(tests); t != nil {
		r.Kind, r.Tests = TestRun, t
		r.Diagnostics = withTests(r.Diagnostics, tests, t, &probs.dirs)
		for i := range t.Failures {
			t.Failures[i].Directory = probs.dirs.when(t.Failures[i].At)
		}
	}
	if special != nil {
		special.into(&r)
	}
	r.Summary = sum.finish(&r, probs)
	return r
}

// eachLine calls f for each line without its end, each at most maxLineBytes long.
func eachLine(text string, f func(index int, line string)) {
	for i := 0; text != ""; i++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		line = strings.TrimSuffix(line, "\r")
		if len(line) > maxLineBytes {
			line = line[:maxLineBytes]
		}
		f(i, line)
	}
}

// specialResult is a reader for the output of one command.
type specialResult interface {
	reader
	into(*Result)
}

func specialReader(c Command) specialResult {
	switch {
	case c.Name == "ls" || c.Name == "dir" || c.Name == "vdir" || c.Name == "ll" || c.Name == "la":
		return newListing(c)
	case c.Name == "git" && c.Sub() == "status":
		return &statusReader{}
	case c.Name == "git" && c.Sub() == "log":
		return &logReader{}
	}
	return nil
}

// quotesOthers are commands whose output repeats other text: errors in it are not theirs.
var quotesOthers = set("cat", "grep", "egrep", "fgrep", "rg", "ag", "ack", "sed", "awk", "head", "tail", "less", "more", "find", "fd",
	"git", "diff", "echo", "printf", "sort", "uniq", "cut", "tr", "wc", "tee", "journalctl", "dmesg", "man", "history", "bat", "jq",
	"curl", "wget", "ps", "top", "tree", "column", "strings", "xxd", "hexdump", "lsof", "du", "df", "env", "cd", "which", "type")

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}
