// Package rulebook is the rules in effect: read from the files of the person and of projects, chosen for
// who asks and where, compiled to engines (package policy), and kept for the time that a file has mistakes.
//
//	policy.toml of the person ──┐
//	.longterm/policy.toml of    ├─▶ Decode ─▶ File ─▶ choose for a Subject ─▶ policy.Engine
//	projects, trusted or not  ──┘   checks             sections, presets,      kept for the next
//	                                                   expiry, trust           who is like this one
//
// What a file says only makes things stricter, with one exception: a rule that allows, in the file of the
// person or in a project's file that he trusts, lifts the question of a preset. It lifts no denial, and
// nothing that the preset hard says.
//
// A file is opened once: what was read is what is checked, hashed and trusted. Files are looked at when
// somebody asks, so that a changed rule counts for the next line. One with mistakes changes nothing; what
// is wrong with it is in Sources and in Book.Status. A Book may be used by several goroutines.
package rulebook
