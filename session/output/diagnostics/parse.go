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

// Bounds of what is kept. Findings beyond a bound are counted where there is a count.
const (
	maxLineBytes    = 8 << 10 // of a line that is read
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

// Result is the parsed output of a command.
type Result struct {
	Kind    Kind    `json:"kind"`
	Command Command `json:"command"`
	Exit    *int    `json:"exit_code"` // nil: unknown
	Summary Summary `json:"summary"`

	Diagnostics []Diagnostic `json:"diagnostics,omitempty"`
	Tests       *Tests       `json:"tests,omitempty"`
	Listing     []Entry      `json:"listing,omitempty"`
	GitStatus   *Status      `json:"git_status,omitempty"`
	GitLog      []Commit     `json:"git_log,omitempty"`
	Truncated   bool         `json:"truncated,omitempty"` // findings beyond a bound were dropped
}

// Parser reads results. It is immutable and safe for concurrent use.
type Parser struct {
	matchers []*compiledMatcher
}

// builtin is the parser with the built-in matchers, made on first use.
var builtin = sync.OnceValue(func() *Parser {
	p, err := NewParser()
	if err != nil {
		panic(err) // the table of this package is invalid
	}
	return p
})

// Parse reads a command's output with the built-in problem matchers.
func Parse(line string, exit *int, text string) Result { return builtin().Parse(line, exit, text) }

// reader receives the lines of an output, in order.
type reader interface {
	read(index int, line string)
}

// Parse reads a command's output.
func (p *Parser) Parse(line string, exit *int, text string) Result {
	r := Result{Kind: Text, Command: ParseCommand(line), Exit: exit}
	var sum summarizer
	readers := []reader{&sum}
	var special commandReader
	if isSingleCommand(line) { // lines of other commands may be among them otherwise
		special = newCommandReader(r.Command)
	}
	if special != nil {
		readers = append(readers, special)
	}
	var probs *problemFinder
	var tests []testReader
	if special == nil && newCommandReader(r.Command) == nil && !quotingCommands[r.Command.Name] {
		probs = p.newProblemFinder(r.Command)
		probs.dirs.keepMoves = true
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
		r.Truncated = probs.dropped > 0 || probs.scannedBytes > maxJudgedBytes
		if len(r.Diagnostics) > 0 {
			r.Kind = Diagnostics
		}
	}
	if t := bestTests(tests); t != nil {
		r.Kind, r.Tests = TestRun, t
		r.Diagnostics = addTestPositions(r.Diagnostics, tests, t, &probs.dirs)
		for i := range t.Failures {
			t.Failures[i].Directory = probs.dirs.directoryAt(t.Failures[i].At)
		}
	}
	if special != nil {
		special.fill(&r)
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

// commandReader reads the output of one command and fills its part of a Result.
type commandReader interface {
	reader
	fill(*Result)
}

// newCommandReader returns the reader for a command, or nil.
func newCommandReader(c Command) commandReader {
	switch {
	case c.Name == "ls" || c.Name == "dir" || c.Name == "vdir" || c.Name == "ll" || c.Name == "la":
		return newListingReader(c)
	case c.Name == "git" && c.Subcommand() == "status":
		return &statusReader{}
	case c.Name == "git" && c.Subcommand() == "log":
		return &logReader{}
	}
	return nil
}

// quotingCommands are commands whose output repeats other text: errors in it are not theirs.
var quotingCommands = set("cat", "grep", "egrep", "fgrep", "rg", "ag", "ack", "sed", "awk", "head", "tail", "less", "more", "find", "fd",
	"git", "diff", "echo", "printf", "sort", "uniq", "cut", "tr", "wc", "tee", "journalctl", "dmesg", "man", "history", "bat", "jq",
	"curl", "wget", "ps", "top", "tree", "column", "strings", "xxd", "hexdump", "lsof", "du", "df", "env", "cd", "which", "type")

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}
