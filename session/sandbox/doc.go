// Package sandbox determines what a sandboxed program may access, and the restrictions that enforce it.
//
//	sandbox.toml → File (profiles, strict, with line and column) → Profile, or a built-in one
//	Profile + Place (home, directory, longterm's own directories) → Rules: absolute existing paths, with protected ones
//	Rules + Level + kernel features → Confinement: fields of confine.Spec, or an argument vector; and a Report
//
// A user writes a profile. Rules are its meaning here and now: nothing in them is looked up again, and later changes of
// the file do not affect running sessions. A Level is a way to enforce rules. An unavailable level, or one that cannot
// enforce the rules, is an error: longterm never silently runs unsandboxed or at a weaker level than required. Without
// a required level the strongest available one is used.
//
// The Report lists what is enforced and what is not, in the words of a table (restrictions.go) that escape tests verify;
// docs/sandbox.md contains it.
//
// The package reads directories, to expand globs and to find protected files, and queries kernel features. It starts
// nothing and knows no session. Package confine runs in the child.
package sandbox
