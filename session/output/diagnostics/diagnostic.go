package diagnostics

import "strings"

// Severity of a diagnostic.
type Severity string

// Severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Diagnostic is a message of a compiler or linter about a position. Missing parts are empty or 0.
type Diagnostic struct {
	// File is as printed, relative to the directory that make or a similar tool reported.
	File string `json:"file,omitempty"`
	// Directories are the possible directories of File, if several makes ran at a time.
	Directories []string `json:"directories,omitempty"`
	// Package is the import path of the Go package of a failed test. File is then relative to the directory of the package.
	Package string `json:"package,omitempty"`

	Line     int      `json:"line,omitempty"`
	Column   int      `json:"column,omitempty"`
	Severity Severity `json:"severity"`
	Code     string   `json:"code,omitempty"`
	Message  string   `json:"message"`
	Matcher  string   `json:"matcher"` // name of the matcher
	At       int      `json:"at"`      // index of the output's line
	// Related contains the notes that belong to the diagnostic.
	Related []Diagnostic `json:"related,omitempty"`
}

// severityOf converts a severity word, or returns otherwise for an empty one. Unknown words count as errors: programs have
// the most words for severe problems.
func severityOf(word string, otherwise Severity) Severity {
	w := strings.ToLower(word)
	switch {
	case w == "":
		return otherwise
	case strings.HasPrefix(w, "warn"):
		return Warning
	case w == "note", w == "info", w == "help", w == "hint", w == "message", w == "suggestion", w == "remark":
		return Note
	}
	return Error
}
