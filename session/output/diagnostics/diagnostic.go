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

// Diagnostic is a message of a compiler or linter about a place. Missing parts are empty or 0.
type Diagnostic struct {
	// File is as printed, relative to the directory that make or a similar tool reported.
	File string `json:"file,omitempty"`
	// Directories are those that File may be in: several makes worked at a time.
	Directories []string `json:"directories,omitempty"`
	// Package is the import path of the Go package whose directory a failed test's file is in. File has the directory
	// in which go test ran.
	Package string `json:"package,omitempty"`

	Line     int      `json:"line,omitempty"`
	Column   int      `json:"column,omitempty"`
	Severity Severity `json:"severity"`
	Code     string   `json:"code,omitempty"`
	Message  string   `json:"message"`
	Matcher  string   `json:"matcher"` // name of the matcher
	At       int      `json:"at"`      // index of the output's line
	// Related are the notes that belong to it.
	Related []Diagnostic `json:"related,omitempty"`
}

// severityOf reads a severity's word; what is unknown counts as an error, since programs
// name the worse ones most inventively.
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
