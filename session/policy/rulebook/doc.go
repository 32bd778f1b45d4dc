// Package rulebook provides the rules in effect: it reads the files of the user and of projects, chooses by subject and
// directory, compiles engines (package policy), and keeps the last valid files while newer ones have errors.
//
//	policy.toml of the user ────┐
//	.longterm/policy.toml of    ├─▶ Decode ─▶ File ─▶ choose for a Subject ─▶ policy.Engine
//	projects, trusted or not  ──┘   checks             sections, presets,      cached for equal
//	                                                   expiry, trust           subjects
//
// A file only makes things stricter, with one exception. An allow rule in the user's file, or in a project file that
// the user trusts, lifts a preset's approval requirement. It never lifts a denial, nor anything from the preset hard.
//
// A file is opened once: the content read is the content checked, hashed and trusted. Each request checks the files, so
// that a changed rule applies to the next line. A file with errors changes nothing; Sources and Book.Status report
// them. Several goroutines may use a Book.
package rulebook
